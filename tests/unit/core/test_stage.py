"""The stage contract, in this process and from the command line."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest

from evenhand.core import code, hermetic, stage
from evenhand.core.inputs import Checksums
from evenhand.core.phrases import SENTENCES
from evenhand.core.stage import Input, Output, Plugin, Range, Setting, Share, Source
from evenhand.errors import InputError

CALLS = []


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    CALLS.clear()
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.delenv("EVENHAND_STATE", raising=False)


def as_stage(function):
    """Let a function of this file stand for one of a module that the digest can find."""
    function.__module__ = "evenhand.errors"
    return function


@as_stage
def repeat(
    *,
    text: Input,
    extra: list[Input] | None = None,
    origin: Source | None = None,
    out: Output,
    times: int = 2,
    threads: Annotated[int, Setting] = 1,
):
    CALLS.append((times, threads))
    more = "".join(path.read_text() for path in extra or [])
    out.write_text((text.read_text() + more) * times)
    return {"written": times}


@as_stage
def two(*, text: Input, first: Output, second: Output, fail: bool = False, skip: bool = False):
    CALLS.append(())
    first.write_text(text.read_text())
    if fail:
        raise RuntimeError("no")
    if not skip:
        second.mkdir()
        (second / "inner").mkdir()
        (second / "inner" / "a.txt").write_text("a")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in.txt").write_text("x")
    (tmp_path / "more.txt").write_text("y")
    return tmp_path


def arguments(files: Path, **changes):
    return {"text": files / "in.txt", "out": files / "results" / "out.txt"} | changes


# what an argument is


def test_the_record_says_what_made_the_result(files):
    record = stage.execute(repeat, arguments(files, extra=[files / "more.txt"]))
    assert re.fullmatch("[0-9a-f]{16}", record.pop("key"))
    assert record == {
        "stage": "evenhand.errors",
        "code": code.digest("evenhand.errors"),
        "parameters": {"times": 2},
        "config": {},
        "packages": {"python": f"{sys.version_info.major}.{sys.version_info.minor}"},
        "inputs": {
            "text": [{"name": ".txt", "sha256": sha256("x"), "file": str(files / "in.txt")}],
            "extra": [{"name": ".txt", "sha256": sha256("y"), "file": str(files / "more.txt")}],
            "origin": [],
        },
        "outputs": {"out": {"file": str(files / "results" / "out.txt"), "sha256": sha256("xyxy")}},
        "counts": {"written": 2},
    }
    assert (files / "results" / "out.txt").read_text() == "xyxy"


def test_an_input_that_changed_after_the_plan_is_refused(files, monkeypatch):
    monkeypatch.setenv("EVENHAND_STATE", str(files / "state"))
    (files / "state").mkdir()
    planned = {str(files / "in.txt"): [1, 2, 3, 4, sha256("x")]}
    (files / "state" / "checksums.json").write_text(json.dumps(planned))
    stage.execute(repeat, arguments(files))
    (files / "in.txt").write_text("z")
    with pytest.raises(InputError, match=r"in\.txt: changed after the run was planned; start"):
        stage.execute(repeat, arguments(files))


def test_a_file_that_may_change_again_has_no_planned_checksum(files):
    path, store = str(files / "in.txt"), files / "checksums.json"
    store.write_text(json.dumps({path: [1, 2, 3, 4, "before"], "other": [1, 2, 3, 4, "kept"]}))
    checksums = Checksums(store)
    assert checksums(path) == sha256("x")
    checksums.save()
    assert json.loads(store.read_text()) == {"other": [1, 2, 3, 4, "kept"]}


def test_a_record_names_the_run_s_own_files_and_keys_when_it_is_served(files, cached, capsys):
    stage.execute(repeat, arguments(files), {"times": "a.times", "nothing": "a.nothing"})
    (files / "in.txt").rename(files / "moved.txt")
    moved = arguments(files, text=files / "moved.txt", out=files / "other.txt")
    record = stage.execute(repeat, moved, {"times": "b.times"})
    assert "served" in capsys.readouterr().err
    assert [one["file"] for one in record["inputs"]["text"]] == [str(files / "moved.txt")]
    assert record["outputs"]["out"]["file"] == str(files / "other.txt")
    assert record["config"] == {"times": "b.times"}


def sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def test_a_missing_input_is_told_before_anything_runs(files):
    with pytest.raises(InputError, match=r"nothing\.txt: there is no such file"):
        stage.execute(repeat, arguments(files, text=files / "nothing.txt"))
    assert CALLS == []


def test_modules_of_plugins_count():
    def train(
        *,
        objective: Annotated[str, Plugin("evenhand.core")],
        others: list[Annotated[str, Plugin("evenhand.text")]] | None = None,
        plain: str = "",
    ):
        pass

    modules = stage.modules_of(train, "evenhand.x", {"objective": "files", "plain": "errors"})
    assert modules == ["evenhand.x", "evenhand.core.files"]
    modules = stage.modules_of(train, "evenhand.x", {"objective": "files", "others": ["a", "b"]})
    assert modules == ["evenhand.x", "evenhand.core.files", "evenhand.text.a", "evenhand.text.b"]


def test_a_plugin_s_code_is_in_the_code_digest(files):
    @as_stage
    def chosen(*, plugin: Annotated[str, Plugin("evenhand.core")], out: Output):
        out.write_text(plugin)

    record = stage.execute(chosen, {"plugin": "files", "out": files / "o"})
    assert record["code"] == code.digest("evenhand.errors", "evenhand.core.files")
    assert record["parameters"] == {"plugin": "files"}


def test_a_path_without_a_role_is_our_defect(files):
    @as_stage
    def careless(*, where: Path, out: Output):
        out.write_text("")

    with pytest.raises(TypeError, match="a path with a role"):
        stage.execute(careless, {"where": files, "out": files / "o"})


@pytest.mark.parametrize(
    ("allowed", "inside", "outside", "words"),
    [
        (Range(), [-1e9, 0], [math.nan, math.inf], "a finite number"),
        (Range(least=0), [0, 2], [-0.1, math.inf], "a finite number, at least 0"),
        (Range(above=0, most=1), [0.01, 1], [0, 1.01], "a finite number, above 0 and at most 1"),
        (Range(least=3, below=5), [3, 4.9], [2.9, 5], "a finite number, at least 3 and below 5"),
    ],
)
def test_a_range_holds_its_bounds_and_says_them(allowed, inside, outside, words):
    assert all(map(allowed.holds, inside)) and not any(map(allowed.holds, outside))
    assert str(allowed) == words


def test_a_checked_stage_looks_at_each_number_and_plugin():
    @stage.checked
    def draw(
        *,
        sizes: Annotated[list[int], Range(least=1)],
        share: Share | None = None,
        kinds: Annotated[list[str], Plugin("evenhand.core")] | None = None,
        how: Literal["all", "some"] = "all",
    ):
        """Draw."""
        return {"sizes": sizes}

    assert draw(sizes=(1, 2), share=1.0, kinds=["a", "b"], how="some") == {"sizes": (1, 2)}
    for wrong, problem in (
        ({"sizes": (1, 0)}, "`sizes` is 0; it must be a finite number, at least 1"),
        ({"sizes": [1], "share": 0.0}, "`share` is 0.0; it must be"),
        ({"sizes": [1], "how": "none"}, "`how` is none, not one of all, some"),
        ({"sizes": [1], "kinds": ["a", "b", "a"]}, "`kinds` names a twice; remove one of them"),
    ):
        with pytest.raises(InputError, match=problem):
            draw(**wrong)
    assert (draw.__name__, draw.__doc__) == ("draw", "Draw.")


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, False),
        ({"threads": 4}, False),
        ({"times": 3}, True),
        ({"extra": []}, False),
        ({"extra": ["more.txt"]}, True),
        ({"extra": ["in.txt"]}, True),
        ({"text": "moved/other_name.txt"}, False),
        ({"text": "in.csv"}, True),
        ({"origin": "in.txt"}, True),
    ],
)
def test_what_counts_for_the_run_cache(files, monkeypatch, changes, again):
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    (files / "moved").mkdir()
    for name in ("moved/other_name.txt", "in.csv"):
        (files / name).write_text("x")
    stage.execute(repeat, arguments(files))
    changes = {
        key: [files / one for one in value]
        if isinstance(value, list)
        else files / value
        if isinstance(value, str)
        else value
        for key, value in changes.items()
    }
    stage.execute(repeat, arguments(files, out=files / "again.txt", **changes))
    assert len(CALLS) == (2 if again else 1)
    if not again:
        assert (files / "again.txt").read_bytes() == b"xx"


def test_where_a_source_lies_counts(files, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    (files / "moved.txt").write_text("y")
    for origin in ("more.txt", "moved.txt", "more.txt"):
        stage.execute(repeat, arguments(files, origin=files / origin))
    assert len(CALLS) == 2


def test_the_order_of_listed_inputs_counts(files, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    both = [files / "in.txt", files / "more.txt"]
    for extra in (both, both[::-1]):
        stage.execute(repeat, arguments(files, extra=extra))
    assert len(CALLS) == 2
    assert (files / "results" / "out.txt").read_text() == "xyxxyx"


# outputs are whole or absent


def test_a_stage_can_have_a_list_of_outputs(files, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    places = [files / "a" / "o.txt", files / "b" / "o.txt"]

    @as_stage
    def several(*, text: Input, out: list[Output], fail: bool = False):
        for number, path in enumerate(out):
            path.write_text(f"{text.read_text()}{number}")
            if fail:
                raise RuntimeError("no")

    given = {"text": files / "in.txt", "out": places}
    with pytest.raises(RuntimeError):
        stage.execute(several, given | {"fail": True})
    assert [path for place in places for path in place.parent.iterdir()] == []
    for expected in (["x0", "x1"], ["x0", "x1"]):  # computed, then served
        record = stage.execute(several, given)
        assert [path.read_text() for path in places] == expected
        assert [one["file"] for one in record["outputs"].values()] == [str(p) for p in places]
        for path in places:
            path.unlink()


def test_a_folder_can_be_an_output_and_an_input(files):
    outputs = {"first": files / "o.txt", "second": files / "folder"}
    stage.execute(two, {"text": files / "in.txt", **outputs})
    stage.execute(two, {"text": files / "in.txt", **outputs})  # over what was there
    assert (files / "folder" / "inner" / "a.txt").read_text() == "a"
    (files / "folder" / "inner" / "b.txt").write_text("b")

    @as_stage
    def count(*, folder: Input, out: Output):
        out.write_text(str(len(list(folder.rglob("*.txt")))))

    before = stage.execute(count, {"folder": files / "folder", "out": files / "n"})
    assert (files / "n").read_text() == "2"
    (files / "folder" / "inner" / "b.txt").rename(files / "folder" / "b.txt")
    after = stage.execute(count, {"folder": files / "folder", "out": files / "n"})
    assert before["inputs"] != after["inputs"]


@pytest.mark.parametrize("fault", ["fail", "skip"])
def test_a_failed_stage_leaves_nothing_new_and_keeps_what_was_there(files, fault, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    outputs = {"first": files / "out" / "o.txt", "second": files / "out" / "folder"}
    (files / "out").mkdir()
    (files / "out" / "o.txt").write_text("former")
    with pytest.raises(RuntimeError, match=r"^no$|did not write second"):
        stage.execute(two, {"text": files / "in.txt", fault: True, **outputs})
    assert [path.name for path in (files / "out").iterdir()] == ["o.txt"]
    assert (files / "out" / "o.txt").read_text() == "former"
    assert not (files / "cache").exists()


# the run cache


@pytest.fixture
def cached(files, monkeypatch):
    """A run whose results lie in the cache; the folder of its entry."""
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    outputs = {"first": files / "o.txt", "second": files / "folder"}
    stage.execute(two, {"text": files / "in.txt", **outputs})
    (entry,) = (files / "cache").glob("??/*")
    return entry


def run_two_again(files: Path) -> bool:
    """Run in a fresh place; whether the function was called."""
    before = len(CALLS)
    place = files / f"again{before}{time.monotonic_ns()}"
    outputs = {"first": place / "o.txt", "second": place / "folder"}
    record = stage.execute(two, {"text": files / "in.txt", **outputs})
    assert (place / "o.txt").read_text() == "x"
    assert (place / "folder" / "inner" / "a.txt").read_text() == "a"
    assert sorted(path.name for path in place.iterdir()) == ["folder", "o.txt"]
    assert record["outputs"]["first"]["file"] == str(place / "o.txt")
    return len(CALLS) > before


def test_a_hit_is_told_and_brings_files_and_folders(files, cached, capsys):
    assert not run_two_again(files)
    assert f"served from the run cache ({cached.name})" in capsys.readouterr().err


def in_record(change):
    """Harm the record of an entry by a change of its document."""
    return lambda entry: (entry / "entry.json").write_text(
        json.dumps(change(json.loads((entry / "entry.json").read_text())))
    )


def add_a_file(entry):
    (entry / "second" / "b.txt").write_text("b")


HARMS = {
    "another byte": lambda entry: (entry / "first").write_bytes(b"z"),
    "a lost file": lambda entry: (entry / "first").unlink(),
    "a lost file of a folder": lambda entry: (entry / "second" / "inner" / "a.txt").unlink(),
    "one file more in a folder": add_a_file,
    "a lost record": lambda entry: (entry / "entry.json").unlink(),
    "a record cut short": lambda entry: (entry / "entry.json").write_text('{"key": "'),
    "a binary record": lambda entry: (entry / "entry.json").write_bytes(b"\xff\xfe\x00"),
    "another key": in_record(lambda document: document | {"key": "0123456789abcdef"}),
    "other outputs": in_record(lambda document: document | {"digests": {"other": "0"}}),
    "no record": in_record(lambda document: {"key": document["key"]}),
    "a list": in_record(lambda document: [document]),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_harmed_entry_is_reported_made_again_and_then_served(files, cached, capsys, harm):
    harm(cached)
    assert run_two_again(files)
    assert f"entry {cached.name} is not used" in capsys.readouterr().err
    assert not run_two_again(files)


def test_an_edited_result_does_not_reach_the_cache(files, cached):
    with (files / "o.txt").open("a") as stream:
        stream.write(" edited in place")
    (files / "folder" / "inner" / "a.txt").write_text("edited in place")
    assert not run_two_again(files)


def test_other_code_or_another_installed_version_is_not_served(files, cached, monkeypatch):
    @as_stage
    def other(
        *, text: Input, first: Output, second: Output, fail: bool = False, skip: bool = False
    ):
        two(text=text, first=first, second=second)

    assert not run_two_again(files)
    monkeypatch.setitem(code._read("evenhand.errors")[0], "InputError", "0" * 16)
    assert run_two_again(files)
    monkeypatch.undo()


def test_a_cache_that_cannot_be_written_does_no_harm(files, monkeypatch, capsys):
    (files / "file").write_text("a file, not a folder")
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "file"))
    assert run_two_again(files)
    assert run_two_again(files)
    assert "run cache: nothing is kept" in capsys.readouterr().err
    assert (files / "file").read_text() == "a file, not a folder"


def test_a_cache_that_can_only_be_read_is_read(files, cached, monkeypatch):
    def refusing(function):
        def refuse(path, *rest, **more):
            if Path(path).is_relative_to(files / "cache"):
                raise PermissionError(13, "Permission denied")
            return function(path, *rest, **more)

        return refuse

    for owner, name in ((os, "utime"), (Path, "rename"), (Path, "mkdir")):
        monkeypatch.setattr(owner, name, refusing(getattr(owner, name)))
    assert not run_two_again(files)
    HARMS["another byte"](cached)
    assert run_two_again(files)  # the bad entry cannot be removed, and is never served
    assert run_two_again(files)
    assert [entry.name for entry in (files / "cache").glob("??/*")] == [cached.name]


def test_a_full_disk_takes_no_good_entry_away(files, cached, monkeypatch, capsys):
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr("evenhand.core.cache.link_or_copy", full)
        assert run_two_again(files)
        assert "No space left" in capsys.readouterr().err
    assert not run_two_again(files)


# records


def test_records_and_manifests_are_left_for_whoever_asks(files, monkeypatch):
    state = files / "state"
    monkeypatch.setenv("EVENHAND_STATE", str(state))
    monkeypatch.setenv("EVENHAND_CACHE", str(files / "cache"))
    first = stage.execute(repeat, arguments(files))
    (kept,) = (state / "records").iterdir()
    assert json.loads(kept.read_text()) == first
    manifest = json.loads((state / "code" / f"{first['code']}.json").read_text())
    assert code.fingerprint(manifest) == first["code"]
    shutil.rmtree(state)
    assert stage.execute(repeat, arguments(files)) == first  # also when served from the cache
    assert json.loads(kept.read_text()) == first
    stage.execute(repeat, arguments(files, out=files / "other.txt"))
    assert len(list((state / "records").iterdir())) == 2


# the command line

TOY = '''\
"""A toy."""
import sys
import time
from typing import Annotated, Literal

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.core.stage import Count, Input, Output, Setting


@stage.checked
def toy(
    *,
    text: list[Input],
    out: Output,
    threshold: float = 0.5,
    words: list[str] | None = None,
    swap: bool = True,
    name: str | None = None,
    mode: Literal["one", "two"] = "one",
    fail: str = "no",
    times: Count = 1,
    threads: Annotated[int, Setting] = 1,
) -> dict:
    """Write what it was given."""
    out.write_text(repr([threshold, words, swap, name, mode]), encoding="utf-8")
    if fail == "user":
        raise InputError("is odd", file=text[0], line=3, remedy="mend it")
    if fail == "ours":
        raise ZeroDivisionError("a defect")
    if fail == "full":
        raise OSError(28, "No space left on device")
    if fail == "read":
        open("undeclared.txt").read()
    if fail == "import":
        __import__("evenhand.core." + "sources")
    if fail == "sleep":
        print("asleep", flush=True)
        time.sleep(60)
    return {"texts": len(text)}
'''


@pytest.fixture(scope="module")
def library(tmp_path_factory, repository):
    """A copy of the library with a stage `evenhand.toy`; the folder to put on the path."""
    root = tmp_path_factory.mktemp("library")
    for part in ("workflow/evenhand", "requirements"):
        shutil.copytree(
            repository / part, root / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    (root / "workflow" / "evenhand" / "toy.py").write_text(TOY, encoding="utf-8")
    return root / "workflow"


def command(library: Path, *words: str, **environment: str) -> dict:
    return {
        "args": [sys.executable, "-m", "evenhand.core.run", "toy", *words],
        "env": {**os.environ, "PYTHONPATH": str(library), **environment},
        "text": True,
        "encoding": "utf-8",
    }


def call(library: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(**command(library, *words, **environment), capture_output=True)


def paths(files: Path) -> list[str]:
    return ["--text", str(files / "in.txt"), str(files / "more.txt"), "--out", str(files / "o")]


def test_a_stage_runs_from_the_shell(library, files):
    state = files / "state"
    done = call(library, *paths(files), "--no-swap", EVENHAND_STATE=str(state))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (files / "o").read_text() == "[0.5, None, False, None, 'one']"
    (kept,) = (state / "records").iterdir()
    record = json.loads(kept.read_text())
    assert record["stage"] == "evenhand.toy"
    assert record["counts"] == {"texts": 2}
    assert "threads" not in record["parameters"]
    again = call(library, *paths(files), "--no-swap", EVENHAND_STATE=str(state))
    assert again.returncode == 0
    assert json.loads(kept.read_text()) == record


@pytest.mark.parametrize("name", ["slguset.unknown", "unknown.stage", "core.config", "slguset"])
def test_a_module_that_is_no_stage_is_refused(name, capsys):
    with pytest.raises(SystemExit) as ended:
        stage.run(name)
    assert ended.value.code == 2
    assert f"error: there is no stage {name}; name its module" in capsys.readouterr().err


def test_a_full_disk_is_reported_where_the_log_cannot_be_written(library, files):
    with open("/dev/full", "w") as log:  # noqa: PTH123
        done = subprocess.run(
            **command(library, *paths(files), "--fail", "full"), stdout=subprocess.PIPE, stderr=log
        )
    assert done.returncode == 2
    assert done.stdout.startswith("error: the disk or your share of it is full")


@pytest.mark.parametrize(
    ("fail", "found"), [("no", ""), ("read", "undeclared.txt"), ("import", "evenhand.core.sources")]
)
def test_a_job_that_uses_what_it_does_not_declare_fails_if_asked(library, files, fail, found):
    (files / "undeclared.txt").touch()
    told = command(library, *paths(files), "--fail", fail)
    assert subprocess.run(**told, cwd=files).returncode == 0
    told["env"]["EVENHAND_HERMETIC"] = "1"
    done = subprocess.run(**told, cwd=files, capture_output=True)
    assert done.returncode == (1 if found else 0), done.stderr
    assert ("uses what it does not declare" in done.stderr) == bool(found)
    assert found in done.stderr


def test_the_sentences_of_modules_need_no_declaration(monkeypatch):
    monkeypatch.chdir(SENTENCES.parents[1])
    opened = {
        str(SENTENCES / "api.jinja"),
        str(SENTENCES.parent / "report/cards/model_card.md.jinja"),
    }
    [other] = hermetic.Watch.undeclared(SimpleNamespace(opened=opened), [])
    assert other.endswith("model_card.md.jinja")


def test_the_metadata_that_pip_leaves_in_a_checkout_needs_none(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hermetic, "LIBRARY", tmp_path)
    opened = {"evenhand.egg-info/PKG-INFO", "other/PKG-INFO"}
    for name in opened:
        Path(name).parent.mkdir()
        Path(name).touch()
    assert hermetic.Watch.undeclared(SimpleNamespace(opened=opened), []) == ["other/PKG-INFO"]


def test_options_arrive_as_they_were_configured(library, files):
    from evenhand.core.config import Options

    state = files / "state"
    values = {
        "threshold": -0.25,
        "words": ["a b", "“男”", "it's", "-x", ""],
        "swap": False,
        "name": "--out",
        "mode": "two",
    }
    keys = {"threshold": "d.e", "mode": None}
    text = " ".join(paths(files)) + f" {Options('a.b:c', values, keys)}"
    done = subprocess.run(
        f"{sys.executable} -m evenhand.core.run toy {text}",
        shell=True,
        env={**os.environ, "PYTHONPATH": str(library), "EVENHAND_STATE": str(state)},
    )
    assert done.returncode == 0
    (kept,) = (state / "records").iterdir()
    assert json.loads(kept.read_text())["config"] == {
        **{name: f"a.b:c.{name}" for name in ("words", "swap", "name")},
        "threshold": "d.e",
    }
    assert (files / "o").read_text(encoding="utf-8") == repr(
        [-0.25, ["a b", "“男”", "it's", "-x", ""], False, "--out", "two"]
    )
    done = call(library, *paths(files), *str(Options("toy", {"words": [], "name": None})).split())
    assert (files / "o").read_text() == "[0.5, [], True, None, 'one']"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("--fail user", 2, r"error: .*in\.txt:3: is odd; mend it\.\n"),
        ("--fail ours", 1, r"(?s)Traceback.*ZeroDivisionError: a defect\n"),
        ("--times 0", 2, r"error: `times` is 0; it must be a finite number, at least 1\.\n"),
        ("--times 0 --from-config=toy:times=a.b", 2, r"error: `a\.b` is 0; it must be .*\n"),
    ],
)
def test_a_failed_stage_prints_its_error_and_removes_its_files(
    library, files, words, status, message
):
    done = call(library, *paths(files), *words.split())
    assert done.returncode == status and re.fullmatch(message, done.stderr)
    assert not (files / "o").exists() and not list(files.glob(".partial*"))
    assert call(library, "--help").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_stage_removes_its_partial_files(library, files, number):
    process = subprocess.Popen(
        **command(library, *paths(files), "--fail", "sleep"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == "asleep\n"
        assert list(files.glob(".partial*"))
        process.send_signal(number)
        assert process.communicate(timeout=20)[1] == ""
    assert process.returncode == 128 + number
    assert not list(files.glob(".partial*"))


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device", "results/a.parquet"),
        OSError(122, "Disk quota exceeded"),
        RuntimeError("IO Error: could not write: No space left on device\nand more"),
    ],
)
def test_a_full_disk_is_told_in_a_sentence(error, monkeypatch):
    monkeypatch.setenv("EVENHAND_STATE", "results/.evenhand")
    words = str(stage.full_disk(error))
    assert words.startswith("the disk or your share of it is full: ")
    assert "results/.evenhand (results)" in words and "(TMPDIR)" in words and "\n" not in words
    try:
        raise ValueError("a library's own error") from error
    except ValueError as outer:
        assert stage.full_disk(outer) is not None
    assert stage.full_disk(OSError(13, "Permission denied")) is None
