"""The run cache as a store; what a stage makes of it is in `test_stage`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.core import cache

KEYS = ["aa11111111111111", "aa22222222222222", "bb33333333333333"]


@pytest.fixture
def filled(tmp_path):
    """A cache with three entries of 100, 200 and 300 bytes, used in this order."""
    for number, key in enumerate(KEYS, start=1):
        out = tmp_path / f"out{number}"
        out.write_bytes(b"x" * (100 * number))
        cache.store(tmp_path / "cache", key, {"out": out}, {"stage": f"stage{number}"})
        folder = tmp_path / "cache" / key[:2] / key
        os.utime(folder, (number, number))
    return tmp_path / "cache"


def keys(folder):
    return [entry["key"] for entry in cache.entries(folder)]


def test_entries_are_listed_from_the_least_recently_used(filled, tmp_path):
    assert keys(filled) == KEYS
    listed = cache.entries(filled)
    assert [entry["stage"] for entry in listed] == ["stage1", "stage2", "stage3"]
    assert [entry["used"] for entry in listed] == [1, 2, 3]
    assert all(entry["bytes"] > size for entry, size in zip(listed, (100, 200, 300), strict=True))
    cache.restore(filled, KEYS[0], {"out": tmp_path / "o"})
    assert keys(filled) == [*KEYS[1:], KEYS[0]]


def test_an_entry_that_is_there_stays_as_it_is(filled, tmp_path):
    (tmp_path / "other").write_text("other")
    cache.store(filled, KEYS[0], {"out": tmp_path / "other"}, {"stage": "other"})
    out = tmp_path / "new/folder/o"
    assert cache.restore(filled, KEYS[0], {"out": out}) == {"stage": "stage1"}
    assert out.read_bytes() == b"x" * 100


def test_two_who_store_the_same_entry_leave_one(filled, tmp_path, monkeypatch, capsys):
    """The second comes between the look and the rename of the first."""
    write = cache.content_digest
    key = "dd55555555555555"
    out = tmp_path / "out1"

    def overtaken(path):
        monkeypatch.setattr(cache, "content_digest", write)
        cache.store(filled, key, {"out": out}, {"stage": "the faster"})
        return write(path)

    monkeypatch.setattr(cache, "content_digest", overtaken)
    cache.store(filled, key, {"out": out}, {"stage": "the slower"})
    assert cache.restore(filled, key, {"out": tmp_path / "o"}) == {"stage": "the faster"}
    assert [path.name for path in (filled / "dd").iterdir()] == [key]
    assert capsys.readouterr().err == ""


def test_a_broken_entry_is_listed_as_such_and_pruned(filled):
    (filled / "aa" / KEYS[0] / cache.ENTRY).write_text("{")
    (filled / "aa" / KEYS[1] / cache.ENTRY).unlink()
    stages = {entry["key"]: entry["stage"] for entry in cache.entries(filled)}
    assert stages == {KEYS[0]: "broken", KEYS[1]: "broken", KEYS[2]: "stage3"}
    assert cache.prune(filled, -1)[0] == 3
    assert list(filled.glob("??/*")) == []


def test_what_a_killed_writer_left_goes_after_a_day_and_not_before(filled):
    for name, age in (("old", 90_000), ("young", 60)):
        building = filled / "aa" / f".building-{name}"
        building.mkdir()
        (building / cache.ENTRY).write_text(json.dumps({"record": {"stage": "x"}, "key": "x"}))
        os.utime(building, (time.time() - age,) * 2)
    assert keys(filled) == KEYS
    cache.prune(filled, 10**9)
    assert [path.name for path in (filled / "aa").glob(".building*")] == [".building-young"]


def command(*words):
    done = subprocess.run(
        [sys.executable, "-m", "evenhand.core.cache", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(cache.__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_line_lists_prunes_and_clears(filled):
    lines = command("list", filled).splitlines()
    assert [line.split()[-2:] for line in lines[:3]] == [
        [f"stage{number}", key] for number, key in enumerate(KEYS, start=1)
    ]
    assert lines[3].startswith("3 entries, 0.00 MB in ")
    kept = cache.entries(filled)[-1]["bytes"]
    assert command("prune", filled, "--megabytes", kept / 1e6).startswith("removed 2 entries")
    assert keys(filled) == [KEYS[2]]
    assert command("clear", filled).startswith("removed 1 entries")
    assert command("list", filled).startswith("0 entries")
