import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io.quarantine import REASONS
from evenhand.slguset import shards
from evenhand.slguset.shards import MOST_FILES, MOST_PATHS, MOST_RANGES, Shard, plan_shards


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: str, size: int = 10) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("wb") as file:
        file.truncate(size)


def files_of(plan: shards.Plan) -> list[str]:
    return [file for shard in plan.shards for file in shard.files]


def test_folders_globs_files_and_archives(here: Path) -> None:
    names = ["n/a.md", "n/b/2.txt", "n/c.tar.gz", "w/1.jsonl.zst", "x.zip", "y.csv"]
    for name in (*names, "w/2.jsonl"):
        put(name)
    patterns = ["n", "w/*.zst", "x.zip", "y.*"]
    again = ["./n", "n/*.md", "n/../n/a.md", str(here / "n"), "n/"]
    plan = plan_shards("c", patterns + again, target_mb=1)
    assert (files_of(plan), plan.skipped) == (names, ())
    put("p/.hidden")
    put("p/19980101")
    assert files_of(plan_shards("c", ["p"], target_mb=1, format="pku")) == ["p/19980101"]


def test_skipped_files_have_a_reason(here: Path) -> None:
    for name in (
        "n/a.txt",
        "n/.b.txt",
        "n/.git/c.txt",
        "n/LICENSE",
        "n/d.pdf",
        "n/e\n.txt",
        "n/<f>.txt",
    ):
        put(name)
    (here / "other").mkdir()
    (here / "n/link").symlink_to(here / "other")
    (here / "n/gone.txt").symlink_to(here / "nowhere")
    (here / "n/loop.txt").symlink_to("loop.txt")
    os.mkfifo(here / "n/pipe.txt")
    plan = plan_shards("c", ["n"], target_mb=1)
    assert files_of(plan) == ["n/a.txt"]
    assert {file.path: file.reason for file in plan.skipped} == {
        "n/.b.txt": "hidden_file",
        "n/.git": "hidden_file",
        "n/LICENSE": "unknown_format",
        "n/d.pdf": "unknown_format",
        "n/e\n.txt": "unusable_name",
        "n/<f>.txt": "unusable_name",
        "n/loop.txt": "unreadable_file",
        "n/link": "unreadable_file",
        "n/gone.txt": "unreadable_file",
        "n/pipe.txt": "unreadable_file",
    }
    assert {file.reason for file in plan.skipped} <= set(REASONS)
    named = plan_shards("c", ["n/a.txt", "n/pipe.txt"], target_mb=1)
    assert [file.path for file in named.skipped] == ["n/pipe.txt"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (["nowhere"], "nowhere"),
        (["n", "gone.txt"], r"gone\.txt"),
        (["empty"], "empty"),
        (["n/*.md"], r"n/\*\.md"),
        (["odd"], r"no file that can be read; skipped: odd/a\.pdf"),
        ([], "no file"),
    ],
)
def test_a_corpus_without_files_is_an_error(here: Path, files: list[str], problem: str) -> None:
    put("n/a.txt")
    put("odd/a.pdf")
    (here / "empty").mkdir()
    with pytest.raises(InputError, match=problem) as caught:
        plan_shards("renmin", files, target_mb=1)
    assert "renmin" in str(caught.value)


# --- where shards end


def divide(files: dict[str, int], target: int = 1000) -> list[list[str]]:
    cuttable = frozenset({"txt"})
    return [
        names for names, _, _ in shards._divide(sorted(files.items()), target, "auto", cuttable)
    ]


NAMES = st.integers(0, 5000).map(lambda n: f"n/{hashlib.md5(str(n).encode()).hexdigest()[:6]}.md")
FILES = st.dictionaries(NAMES, st.integers(0, 400), min_size=1, max_size=80)


@given(FILES, NAMES, st.integers(0, 400), st.integers(150, 1000))
def test_caps_move_borders_only_up_to_the_next_natural_one(
    files: dict[str, int], name: str, size: int, target: int
) -> None:
    files.pop(name, None)
    natural = [
        f
        for f, n in sorted(files.items())
        if shards._die(f) < max(n / target, 1 / shards.TARGET_FILES)
    ]
    first = max((f for f in natural if f < name), default="")
    last = min((f for f in natural if f > name), default="~")

    def outside(found: list[list[str]]) -> list[list[str]]:
        return [shard for shard in found if shard[-1] <= first or shard[0] > last]

    assert outside(divide(files, target)) == outside(divide(files | {name: size}, target))


@settings(deadline=None)
@given(FILES, st.integers(100, 2000))
def test_every_file_is_in_one_shard_and_none_exceeds_the_cap(
    files: dict[str, int], target: int
) -> None:
    found = divide(files, target)
    assert [name for shard in found for name in shard] == sorted(files)
    assert all(len(s) == 1 or sum(files[f] for f in s) <= 4 * target for s in found)


def test_caps_on_files_and_paths() -> None:
    many = {f"n/{i:05}.md": 0 for i in range(40_000)}
    assert max(map(len, divide(many, 10**9))) <= MOST_FILES
    assert 40_000 / len(divide(many, 10**9)) == pytest.approx(865, rel=0.35)
    long = {f"n/{i:05}{'长' * 80}.md": 0 for i in range(2000)}
    assert max(sum(len(f.encode()) for f in shard) for shard in divide(long, 10**9)) <= MOST_PATHS


def test_a_huge_file_is_cut_into_ranges(here: Path) -> None:
    put("n/a.md")
    put("n/b.txt", 2_500_000)
    put("n/c.md")
    plan = plan_shards("c", ["n"], target_mb=1)
    ranges = [s for s in plan.shards if s.first_byte is not None]
    assert [(s.files, s.first_byte, s.end_byte) for s in ranges] == [
        (("n/b.txt",), 0, 1_000_000),
        (("n/b.txt",), 1_000_000, 2_000_000),
        (("n/b.txt",), 2_000_000, 2_500_000),
    ]
    assert len({s.id for s in plan.shards}) == len(plan.shards)
    assert [s.id.rsplit("-", 1)[1] for s in ranges] == ["0", "1", "2"]
    put("a.txt", 100_000_001)
    plan = plan_shards("c", ["a.txt"], target_mb=1)
    assert (len(plan.shards), plan.shards[-1].end_byte) == (MOST_RANGES, 100_000_001)


@pytest.mark.parametrize(
    ("name", "options", "shards"),
    [
        *(
            (f"a.{suffix}", {}, 1)
            for suffix in ("txt.gz", "md", "csv", "tsv", "json", "html", "tar")
        ),
        ("a.tsv", {"header": False}, 5),
        ("a.txt", {"paragraphs": "blank_line"}, 1),
        ("a.txt", {}, 5),
    ],
)
def test_files_that_can_be_cut(here: Path, name: str, options: dict, shards: int) -> None:
    put(name, 5_000_000)
    assert len(plan_shards("c", [name], target_mb=1, **options).shards) == shards


def test_ids_are_stable_and_tell_the_corpus(here: Path) -> None:
    for i in range(50):
        put(f"n/{i}.txt", 100_000)
    first = plan_shards("renmin", ["n"], target_mb=0.5)
    assert first == plan_shards("renmin", ["./n/*"], target_mb=0.5)
    ids = [shard.id for shard in first.shards]
    assert len(set(ids)) == len(ids) > 3
    assert ids[0] == "renmin-97feb500"  # whatever the version
    assert all(id.startswith("renmin-") and len(id) == 15 for id in ids)


def test_equal_digests_get_different_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_digest", lambda path: "0" * 16 + path[0] * 16)
    found = list(shards._identify("c", [(["a"], None, None), (["b"], None, None)]))
    assert [shard.id for shard in found] == ["c-00000000", "c-00000000bbbbbbbb"]
    assert found[0] == Shard("c-00000000", ("a",))
