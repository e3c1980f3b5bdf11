import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evenhand.core import stage
from evenhand.core.files import content_digest
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import write_table
from evenhand.report.collect_provenance import collect_provenance
from unit.cases import read_csv

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
        {"factor": "a.b.factor"},
    )
    return Path("results")


FILES = ["results/models/tiny", "results/slguset/candidates.parquet", "results/slguset/funnel.csv"]


def collect(records: str | None = "results/.evenhand/records", files=FILES) -> dict[str, Any]:
    collect_provenance(
        files=[Path(file) for file in files],
        records=sorted(Path(records).glob("*.json")) if records else None,
        out=Path("provenance.json"),
        table=Path("provenance.csv"),
    )
    return {entry["file"]: entry for entry in document()["files"]}


def document() -> dict[str, Any]:
    return json.loads(Path("provenance.json").read_text(encoding="utf-8"))


def test_of_two_records_of_a_file_that_of_its_content_counts(made):
    (record,) = Path("results/.evenhand/records").glob("*.json")
    other = json.loads(record.read_text(encoding="utf-8")) | {"stage": "another"}
    other["outputs"]["table"]["sha256"] = "0" * 64
    for name in ("0.json", "z.json"):
        record.with_name(name).write_text(json.dumps(other), encoding="utf-8")
    table = collect()["results/slguset/candidates.parquet"]
    assert table["stage"] == "evenhand.report.collect_provenance"


def copy(*, file: Input, out: Output) -> None:
    """A stage that reads anything."""
    out.write_bytes(file.read_bytes())


def then(file: str, out: str) -> None:
    """One more run, which reads `file` and writes `out`."""
    copy.__module__ = double.__module__
    stage.execute(copy, {"file": Path(file), "out": Path(out)})


def test_each_file_is_traced(made):
    entries = collect()
    assert list(entries) == FILES
    for file, entry in entries.items():
        assert entry["sha256"] == content_digest(Path(file))
        assert entry["stage"] == "evenhand.report.collect_provenance"
        assert entry["parameters"] == {"factor": 2}
        assert entry["config"] == {"factor": "a.b.factor"}
        assert entry["result"]
        assert entry["counts"] == {"rows": 3}
        assert entry["inputs"] == {
            "numbers": [{"sha256": content_digest(Path("numbers.txt")), "file": "numbers.txt"}]
        }
    assert document()["sources"] == [
        {"file": "numbers.txt", "sha256": content_digest(Path("numbers.txt"))}
    ]
    table, note, folder = (entries[FILES[i]] for i in (1, 2, 0))
    assert (table["rows"], table["columns"]) == (3, ["a"])
    assert (note["rows"], note["columns"], note["bytes"]) == (1, ["a", "b"], 8)
    assert (folder["kind"], folder["bytes"], folder["rows"]) == ("folder", 5, None)


def test_the_table_says_the_same(made):
    entries = collect()
    rows = {row["file"]: row for row in read_csv(Path("provenance.csv"))}
    assert list(rows) == [*FILES, "numbers.txt"]
    for file in FILES:
        row, entry = rows[file], entries[file]
        assert row["sha256"] == entry["sha256"] and row["stage"] == entry["stage"]
        assert (row["result"], row["kind"]) == ("true", entry["kind"])
        assert row["parameters"] == '{"a.b.factor": 2}' and row["counts"] == '{"rows": 3}'
        assert row["inputs"] == "numbers.txt"
    assert rows[FILES[2]]["columns"] == "a; b"
    source = {name: cell for name, cell in rows["numbers.txt"].items() if cell}
    assert source.keys() == {"file", "kind", "sha256"} and source["kind"] == "source"


def test_files_without_their_record_are_described_and_not_traced(made):
    Path(FILES[2]).write_text("a,b\n3,4\n", encoding="utf-8")  # not the recorded content
    entries = collect()
    assert [entries[file]["stage"] is None for file in FILES] == [False, False, True]
    for entry in collect(records=None).values():
        assert (entry["stage"], entry["inputs"]) == (None, {})
        assert len(entry["sha256"]) == 64
    Path("results/.evenhand/records/x.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json: is not JSON"):
        collect()


def test_the_way_leads_over_the_files_between_to_the_sources(made):
    then("results/slguset/funnel.csv", "results/first.csv")
    then("results/first.csv", "results/second.csv")
    entries = collect(files=["results/second.csv"])
    assert {name: entry["result"] for name, entry in entries.items()} == {
        "results/first.csv": False,
        "results/second.csv": True,
        "results/slguset/funnel.csv": False,
    }
    assert all(entry["stage"] and entry["rows"] == 1 for entry in entries.values())
    assert [one["file"] for one in document()["sources"]] == ["numbers.txt"]


def test_intermediate_files_that_changed_or_have_gone(made):
    then(FILES[1], "results/second.parquet")
    Path(FILES[1]).unlink()
    entry = collect(files=["results/second.parquet"])[FILES[1]]
    assert entry["stage"] and (entry["bytes"], entry["rows"], entry["columns"]) == (None,) * 3
    assert [source["file"] for source in document()["sources"]] == ["numbers.txt"]
    Path(FILES[2]).write_text("a,b\n5,6\n", encoding="utf-8")
    then(FILES[2], "results/second.csv")
    entry = collect(files=["results/second.csv"])[FILES[2]]
    assert (entry["stage"], entry["inputs"], entry["rows"]) == (None, {}, 1)
    assert document()["sources"] == []


def test_where_a_source_lies_on_this_machine_is_not_told(made, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("machine")
    (folder / "mirror" / "a").mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_MIRROR", str(folder / "mirror"))
    places = [folder / "mirror/a/corpus.txt", folder / "my.txt", Path.cwd() / "here.txt"]
    for number, place in enumerate(places):
        place.write_text(str(number), encoding="utf-8")
        then(str(place), f"results/{number}.csv")
    collect(files=[f"results/{number}.csv" for number in range(3)])
    assert [one["file"] for one in document()["sources"]] == [
        "here.txt", "{mirror}/a/corpus.txt", "…/my.txt",
    ]  # fmt: skip
    for form in ("json", "csv"):
        assert str(folder) not in Path(f"provenance.{form}").read_text(encoding="utf-8")


def test_the_same_bytes_in_any_order(made):
    collect()
    one = [Path(f"provenance.{form}").read_bytes() for form in ("json", "csv")]
    collect(files=FILES[::-1])
    assert [Path(f"provenance.{form}").read_bytes() for form in ("json", "csv")] == one
