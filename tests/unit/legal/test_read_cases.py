import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.legal.read_cases import read_cases
from evenhand.legal.records import RECORD, read_records
from unit.legal.made_cases import declaration
from unit.legal.made_judgments import FACTS, JUDGMENT, flat, hudoc, text_file
from unit.legal.made_records import json_lines


def run(tmp_path, files, name="out", **options):
    out = {key: tmp_path / f"{name}.{key}" for key in ("records", "quarantine", "counts")}
    options = {"declaration": declaration("ecthr"), "format": "hudoc_json"} | options
    result = read_cases(
        files=files,
        out=out["records"],
        quarantine=out["quarantine"],
        counts=out["counts"],
        **options,
    )
    counts = json.loads(out["counts"].read_text())
    assert result == {key: counts[key] for key in ("read", "records", "left_out", "noted")}
    assert counts["read"] == counts["records"] + sum(counts["left_out"].values())
    assert pq.read_schema(out["records"]).equals(RECORD)
    return list(read_records(out["records"])), pq.read_table(out["quarantine"]).to_pylist(), counts


def test_each_case_once(tmp_path, capsys):
    rows = [
        hudoc(),
        hudoc(itemid="001-2", full_text=flat(JUDGMENT.replace(FACTS, ""))),
        hudoc(title="THE SAME AGAIN"),
        hudoc(itemid="001-3", violation="", nonviolation="3", date=""),
        hudoc(itemid="001-4", violation=""),
        hudoc(itemid="001-5", doc_type="DECISION"),
    ]
    records, quarantine, counts = run(tmp_path, [json_lines(tmp_path / "a.jsonl", *rows)])
    assert not capsys.readouterr().err, "no progress of what is read at once"
    assert [one.case_id for one in records] == ["001-1", "001-3", "001-4"]
    assert records[0].title == "CASE OF GRANDE v. PORTUGAL" and records[0].source == "a.jsonl"
    assert [(row["position"], row["reason"]) for row in quarantine] == [
        (2, "no_facts"),
        (3, "duplicate_case"),
        (4, "bad_date"),
        (6, "not_a_judgment"),
    ]
    assert counts == {
        "read": 6,
        "records": 3,
        "left_out": {"duplicate_case": 1, "no_facts": 1, "not_a_judgment": 1},
        "first_left_out": {
            "duplicate_case": "line 3 of a.jsonl",
            "no_facts": "line 2 of a.jsonl",
            "not_a_judgment": "line 6 of a.jsonl",
        },
        "noted": {"bad_date": 1},
        "without_group": {},
        "empty_bins": {},
        "first_noted": {"bad_date": "001-3 has no date"},
        "labels": {"6": 1, "none": 1, "unknown": 1},
        "undated": 1,
        "languages": {"en": 3},
        "splits": {"none": 3},
        "paragraphs": 9,
        "characters": sum(len(line) for one in records for line in one.text),
    }


def test_what_is_left_out_of_a_folder_is_told(tmp_path):
    folder = tmp_path / "f"
    for name in ("b", ".git", "a"):
        (folder / name).mkdir(parents=True)
    json_lines(folder / "b" / "1.jsonl", hudoc())
    json_lines(folder / "a" / "2.jsonl", hudoc(itemid="001-2"))
    json_lines(folder / ".git" / "3.jsonl", hudoc(itemid="001-3"))
    (folder / ".4.jsonl").touch()
    (folder / ".snakemake_timestamp").touch()
    (folder / "5.pdf").write_bytes(b"%PDF")
    os.mkfifo(folder / "6.jsonl")
    (folder / "7").symlink_to(tmp_path)
    records, quarantine, counts = run(tmp_path, [folder])
    assert [one.case_id for one in records] == ["001-2", "001-1"]
    assert {(Path(row["file"]).name, row["reason"]) for row in quarantine} == {
        (".git", "hidden_file"),
        (".4.jsonl", "hidden_file"),
        ("5.pdf", "unknown_format"),
        ("6.jsonl", "unreadable_file"),
        ("7", "unreadable_file"),
    }
    assert counts["left_out"] == {"hidden_file": 2, "unknown_format": 1, "unreadable_file": 2}
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: holds no file"):
        run(tmp_path, [tmp_path / "empty"])


def test_a_duplicate_in_another_file_tells_where_the_first_is(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    files = [json_lines(tmp_path / name / "a.jsonl", hudoc()) for name in ("one", "two")]
    records, (row,), _ = run(tmp_path, files)
    assert len(records) == 1 and row["file"] == str(files[1])
    assert row["detail"] == "an earlier record of a.jsonl has the id 001-1"


def test_options_go_to_the_format(tmp_path):
    path = json_lines(tmp_path / "a.jsonl", hudoc(violation="", doc_type="REPORT"))
    records, _, _ = run(tmp_path, [path], documents=["REPORT"], no_finding="no_violation")
    assert records[0].labels == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "cail2018", "declaration": declaration("cail"), "encoding": "latin-1"},
            "'latin-1' is none",
        ),
        ({"encoding": "klingon"}, r"the encoding 'klingon' is none .* choose one of auto, utf-8"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path, [json_lines(tmp_path / "a.jsonl", hudoc())], **options)


def test_files_without_a_case(tmp_path):
    path = text_file(tmp_path / "notes.csv", "a,b\n")
    with pytest.raises(InputError, match=r"no case could be read: unknown_format 1 time .*needs"):
        run(tmp_path, [path])
    path = json_lines(tmp_path / "a.jsonl", {"text": "x"})
    with pytest.raises(InputError, match=r"missing_field 1 time \(line 1 of a.jsonl: itemid, date"):
        run(tmp_path, [path])
