import hashlib
import os
import subprocess
import sys
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
    for name in (
        "n/b/2.txt",
        "n/a.md",
        "n/c.tar.gz",
        "w/1.jsonl.zst",
        "w/2.jsonl",
        "x.zip",
        "y.csv",
    ):
        put(name)
    plan = plan_shards("c", ["n", "w/*.zst", "x.zip", "y.*"], target_mb=1)
    assert files_of(plan) == [
        "n/a.md",
        "n/b/2.txt",
        "n/c.tar.gz",
        "w/1.jsonl.zst",
        "x.zip",
        "y.csv",
    ]
    assert plan.skipped == ()


def test_what_is_skipped_is_told_with_its_reason(here: Path) -> None:
    for name in ("n/a.txt", "n/.b.txt", "n/.git/c.txt", "n/LICENSE", "n/d.pdf", "n/e\n.txt"):
        put(name)
    (here / "other").mkdir()
    (here / "n/link").symlink_to(here / "other")
    (here / "n/gone.txt").symlink_to(here / "nowhere")
    os.mkfifo(here / "n/pipe.txt")
    plan = plan_shards("c", ["n"], target_mb=1)
    assert files_of(plan) == ["n/a.txt"]
    assert {one.path: one.reason for one in plan.skipped} == {
        "n/.b.txt": "hidden_file",
        "n/.git": "hidden_file",
        "n/LICENSE": "unknown_format",
        "n/d.pdf": "unknown_format",
        "n/e\n.txt": "unusable_name",
        "n/link": "unreadable_file",
        "n/gone.txt": "unreadable_file",
        "n/pipe.txt": "unreadable_file",
    }
    assert {one.reason for one in plan.skipped} <= set(REASONS)
    assert all(one.detail for one in plan.skipped)
    named = plan_shards("c", ["n/a.txt", "n/pipe.txt"], target_mb=1)
    assert [one.path for one in named.skipped] == ["n/pipe.txt"]


def test_a_stated_format_reads_any_suffix(here: Path) -> None:
    for name in ("n/19980101", "n/a.seg", "n/.hidden"):
        put(name)
    plan = plan_shards("c", ["n"], target_mb=1, format="pku")
    assert files_of(plan) == ["n/19980101", "n/a.seg"]


def test_no_file_is_read_twice(here: Path) -> None:
    put("n/a.txt")
    put("n/b.txt")
    patterns = ["n", "./n", "n/*.txt", "n/../n/a.txt", str(here / "n"), "n/"]
    assert files_of(plan_shards("c", patterns, target_mb=1)) == ["n/a.txt", "n/b.txt"]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (["nowhere"], "nowhere"),
        (["n", "gone.txt"], r"gone\.txt"),
        (["empty"], "empty"),
        (["n/*.md"], r"n/\*\.md"),
        (["odd"], r"no file that can be read; skipped: odd/a\.pdf"),
        ([], "no file"),
    ],
)
def test_what_cannot_be_is_named(here: Path, files: list[str], told: str) -> None:
    put("n/a.txt")
    put("odd/a.pdf")
    (here / "empty").mkdir()
    with pytest.raises(InputError, match=told) as caught:
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


@settings(max_examples=200, deadline=None)
@given(FILES, NAMES, st.integers(0, 400))
def test_another_file_changes_only_the_shard_in_which_it_falls(
    files: dict[str, int], name: str, size: int
) -> None:
    files.pop(name, None)
    before, after = divide(files), divide(files | {name: size})
    if any(sum(files[f] for f in shard) + 800 > 4000 for shard in before):
        return  # a cap may be met: the next test
    kept = [shard for shard in after if shard in before]
    changed = [shard for shard in before if shard not in after]
    assert len(changed) <= 1
    assert len(after) - len(kept) <= 2
    assert any(name in shard for shard in after)


@settings(max_examples=200, deadline=None)
@given(FILES, NAMES, st.integers(0, 400), st.integers(150, 1000))
def test_caps_move_borders_only_up_to_the_next_natural_one(
    files: dict[str, int], name: str, size: int, target: int
) -> None:
    files.pop(name, None)
    natural = [f for f, n in sorted(files.items()) if shards._die(f) < max(n / target, 1 / 200)]
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


def test_shards_have_about_the_target_size() -> None:
    files = {f"n/{i:05}.md": 50 for i in range(4000)}
    assert 200_000 / len(divide(files, 2000)) == pytest.approx(2000, rel=0.3)


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


def test_there_are_not_too_many_ranges(here: Path) -> None:
    put("a.txt", 100_000_001)
    plan = plan_shards("c", ["a.txt"], target_mb=1)
    assert len(plan.shards) == MOST_RANGES
    assert plan.shards[-1].end_byte == 100_000_001


@pytest.mark.parametrize(
    "name", ["a.txt.gz", "a.md", "a.csv", "a.tsv", "a.json", "a.html", "a.tar"]
)
def test_files_that_cannot_be_cut_are_not(here: Path, name: str) -> None:
    put(name, 5_000_000)
    assert plan_shards("c", [name], target_mb=1).shards[0].first_byte is None


def test_what_the_options_let_be_cut(here: Path) -> None:
    put("a.tsv", 2_000_000)
    put("a.txt", 2_000_000)
    assert len(plan_shards("c", ["a.tsv"], target_mb=1, header=False).shards) == 2
    assert len(plan_shards("c", ["a.txt"], target_mb=1, paragraphs="blank_line").shards) == 1


def test_ids_are_stable_and_tell_the_corpus(here: Path) -> None:
    for i in range(50):
        put(f"n/{i}.txt", 100_000)
    first = plan_shards("renmin", ["n"], target_mb=0.5)
    assert first == plan_shards("renmin", ["./n/*"], target_mb=0.5)
    ids = [shard.id for shard in first.shards]
    assert len(set(ids)) == len(ids) > 3
    assert all(id.startswith("renmin-") and len(id) == 15 for id in ids)


def test_equal_digests_get_different_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_digest", lambda path: "0" * 16 + path[0] * 16)
    found = list(shards._identify("c", [(["a"], None, None), (["b"], None, None)]))
    assert [shard.id for shard in found] == ["c-00000000", "c-00000000bbbbbbbb"]
    assert found[0] == Shard("c-00000000", ("a",))


def test_planning_imports_nothing_heavy(repository: Path) -> None:
    program = "import sys, evenhand.slguset.shards; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(repository / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"pyarrow", "numpy", "pandas", "ijson", "zstandard"} & set(done.stdout.split())
