import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.files import content_digest
from evenhand.io.tables import write_table
from evenhand.report.collect_provenance import collect_provenance
from evenhand.report.sections.provenance import describe_provenance, holding
from evenhand.stage import Input, Output

SCHEMA = pa.schema([("a", pa.int64())])


def double(
    *, numbers: Input, table: Output, note: Output, folder: Output, factor: int = 2
) -> dict[str, Any]:
    """A stage with a table, a document and a folder."""
    values = [int(line) for line in numbers.read_text().split()]
    rows = write_table(table, SCHEMA, ({"a": factor * n} for n in values))
    note.write_text("a,b\n1,2\n", encoding="utf-8")
    folder.mkdir()
    (folder / "x").write_text("12345", encoding="utf-8")
    return {"rows": rows}


@pytest.fixture
def made(tmp_path, monkeypatch) -> Path:
    """A results folder with the outputs of one stage, and its record."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_STATE", "results/.evenhand")
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    double.__module__ = "evenhand.report.collect_provenance"  # a module that has a code digest
    Path("numbers.txt").write_text("1 2 3", encoding="utf-8")
    stage.execute(
        double,
        {
            "numbers": Path("numbers.txt"),
            "table": Path("results/slguset/candidates.parquet"),
            "note": Path("results/slguset/funnel.csv"),
            "folder": Path("results/models/tiny"),
        },
    )
    return Path("results")


FILES = ["results/models/tiny", "results/slguset/candidates.parquet", "results/slguset/funnel.csv"]


def collect(records: str | None = "results/.evenhand/records", files=FILES) -> dict[str, Any]:
    collect_provenance(
        files=[Path(file) for file in files],
        records=sorted(Path(records).glob("*.json")) if records else None,
        out=Path("provenance.json"),
    )
    entries = json.loads(Path("provenance.json").read_text(encoding="utf-8"))["files"]
    return {entry["file"]: entry for entry in entries}


def test_each_file_is_traced(made):
    entries = collect()
    assert list(entries) == FILES
    for file, entry in entries.items():
        assert entry["sha256"] == content_digest(Path(file))
        assert entry["stage"] == "evenhand.report.collect_provenance"
        assert entry["parameters"] == {"factor": 2}
        assert entry["counts"] == {"rows": 3}
        assert entry["inputs"] == {
            "numbers": [{"sha256": content_digest(Path("numbers.txt")), "file": None}]
        }
    table, note, folder = (entries[FILES[i]] for i in (1, 2, 0))
    assert (table["rows"], table["columns"]) == (3, ["a"])
    assert (note["rows"], note["columns"], note["bytes"]) == (1, ["a", "b"], 8)
    assert (folder["kind"], folder["bytes"], folder["rows"]) == ("folder", 5, None)


def test_without_records_files_are_described_and_not_traced(made):
    entries = collect(records=None)
    for file in FILES:
        assert entries[file]["stage"] is None
        assert entries[file]["inputs"] == {}
        assert len(entries[file]["sha256"]) == 64


def test_a_file_that_is_not_what_the_recorded_run_wrote_is_not_traced(made):
    Path(FILES[2]).write_text("a,b\n3,4\n", encoding="utf-8")
    entries = collect()
    assert entries[FILES[2]]["stage"] is None
    assert entries[FILES[1]]["stage"] == "evenhand.report.collect_provenance"


def test_an_input_that_is_a_result_is_named(made):
    Path("results/again.csv").write_bytes(Path("numbers.txt").read_bytes())
    entries = collect(files=[*FILES, "results/again.csv"])
    assert entries[FILES[1]]["inputs"]["numbers"][0]["file"] == "results/again.csv"


def test_the_same_bytes_in_any_order(made):
    collect()
    one = Path("provenance.json").read_bytes()
    collect(files=FILES[::-1])
    assert Path("provenance.json").read_bytes() == one


def test_a_file_named_twice_and_a_broken_record_are_errors(made):
    with pytest.raises(InputError, match="twice"):
        collect(files=[FILES[0], FILES[0]])
    Path("results/.evenhand/records/x.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json"):
        collect()


def test_the_page_folds_files_of_a_kind(made):
    collect()
    document = json.loads(Path("provenance.json").read_text(encoding="utf-8"))
    table = next(entry for entry in document["files"] if entry["rows"] == 3)
    shards = [
        table | {"file": f"results/slguset/keywords/{shard}.parquet", "sha256": shard}
        for shard in "abcd"
    ]
    Path("provenance.json").write_text(json.dumps({"files": [*document["files"], *shards]}))
    described = describe_provenance(Path("provenance.json"), "results")
    folded = next(row for row in described["rows"] if row["files"] > 1)
    assert folded["file"] == "results/slguset/keywords/*.parquet"
    assert (folded["files"], folded["rows"]) == (4, 12)
    assert folded["link"] == "../slguset/keywords"
    assert folded["holds"] == holding("x/y/slguset/keywords/z.parquet")
    [made_by] = described["stages"]
    assert made_by["n"] == 7
    assert made_by["totals"] == [("rows", 3)]


def test_every_known_kind_of_file_has_its_own_words():
    assert holding("results/slguset/sentences/a.quarantine.parquet").startswith("Parts of the")
    assert holding("results/slguset/sentences/a.parquet").startswith("Sentences that")
    assert holding("results/tables/slguset_bias_by_pair.csv") == "Bias per model and pair"
    assert holding("results/unknown.bin") is None
