"""Results that are missing or differ from their records."""

import json
import os
from pathlib import Path

import pytest

from evenhand.core import cache
from evenhand.core.files import content_digest
from evenhand.core.verify import folder_listings, incomplete_folders, verify
from evenhand.errors import InputError


@pytest.fixture
def results(tmp_path):
    """Two results of one run, in its record and in the run cache."""
    folder = tmp_path / "results"
    folder.mkdir()
    outputs = {name: folder / f"{name}.csv" for name in "ab"}
    for name, path in outputs.items():
        path.write_text(name)
    cache.store(folder / ".evenhand" / "cache", "aa11", outputs, {"stage": "stage"})
    record(folder, "first", outputs, 1)
    return folder


def record(folder, name, outputs, time):
    files = {n: {"file": str(p), "sha256": content_digest(p)} for n, p in outputs.items()}
    path = folder / ".evenhand" / "records" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"key": "aa11", "outputs": files}))
    os.utime(path, (time, time))


def test_missing_and_edited_results_are_listed_until_they_are_restored(results, capsys):
    assert verify(results) == 0
    assert capsys.readouterr().out == "2 results checked, 0 differ, 0 missing\n"
    (results / "a.csv").unlink()
    (results / "b.csv").write_text("edited")
    assert verify(results) == 2
    listed = capsys.readouterr().out.splitlines()
    place = results / ".evenhand/records/first.json"
    assert listed[:3] == [
        f"{results}/a.csv: is missing ({place} records it)",
        f"{results}/b.csv: differs from its record",
        "2 results checked, 1 differ, 1 missing",
    ]
    assert verify(results, restore=True, cache=results / "no_cache") == 2
    assert "does not hold them" in capsys.readouterr().out
    assert verify(results, restore=True) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"{results}/a.csv: restored",
        f"{results}/b.csv: restored",
    ]
    assert [(results / f"{name}.csv").read_text() for name in "ab"] == ["a", "b"]


def test_where_all_results_are_missing_the_folder_is_doubted(results, capsys):
    for name in "ab":
        (results / f"{name}.csv").unlink()
    assert verify(results) == 2
    question = "All 2 results are missing: is this the folder in which the run was started?"
    assert capsys.readouterr().out == f"{question} {Path.cwd()}\n"


@pytest.mark.parametrize(("time", "left"), [(2, 0), (0, 1)])
def test_the_latest_record_of_a_file_counts(results, time, left):
    (results / "a.csv").write_text("of another run")
    record(results, "other", {"a": results / "a.csv"}, time)
    assert verify(results) == left


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(InputError, match="no record of a run"):
        verify(tmp_path)


def test_a_record_that_is_cut_short_is_refused_with_a_remedy(results):
    (results / ".evenhand/records/cut.json").write_text('{"cut')
    with pytest.raises(InputError, match=r"cut\.json: is not JSON; delete it and run"):
        verify(results)


def test_a_listing_that_is_cut_short_counts_as_absent(tmp_path):
    for name, text in (("cut.json", '{"cut'), ("whole.json", "{}")):
        path = tmp_path / ".evenhand/folders" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert folder_listings(tmp_path) == {"whole.json": {}}


def test_a_folder_that_lacks_a_file_is_planned_unless_it_was_edited(tmp_path):
    folder = tmp_path / "results" / "sheets"
    folder.mkdir(parents=True)
    files = [folder / "1.csv", folder / "2.csv"]
    for path in files:
        path.write_text("as written")
    listing = tmp_path / "results/.evenhand/folders/sheets.json"
    listing.parent.mkdir(parents=True)
    digests = {path.name: content_digest(path) for path in files}
    listing.write_text(json.dumps({"folder": str(folder), "files": digests}))

    def lacking():
        return incomplete_folders(folder_listings(tmp_path / "results").values())

    assert lacking() == []
    files[0].unlink()
    assert lacking() == [str(folder)]
    files[1].write_text("edited")
    assert lacking() == []


def test_a_folder_above_results_names_them(results):
    with pytest.raises(InputError, match=rf"folder, such as {results}\.$"):
        verify(results.parent)
