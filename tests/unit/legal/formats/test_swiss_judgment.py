from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from unit.legal.made_records import json_lines, read

ROW = {
    "id": 7,
    "year": 2015,
    "text": "Sachverhalt:\nA.\nDer Kläger klagte.\nB.\nDas Gericht wies ihn ab.",
    "label": 0,
    "language": "de",
    "region": "Espace Mittelland",
    "canton": "be",
    "legal area": "penal law",
}
FLAT = (
    "Faits : A. X._ a demandé une rente à son assurance, qui la lui a refusée par décision écrite."
    " B. Le tribunal de première instance a confirmé cette décision, contre l'avis du médecin."
)


def test_a_record(tmp_path):
    (record,), counts = read("swiss_judgment", [json_lines(tmp_path / "validation.jsonl", ROW)])
    assert record.case_id == "7" and record.split == "dev" and record.language == "de"
    assert record.text == ("A.", "Der Kläger klagte.", "B.", "Das Gericht wies ihn ab.")
    assert record.labels == ("dismissal",) and record.date == date(2015, 1, 1)
    assert record.metadata == {
        "date_precision": "year",
        "swiss_canton": "be",
        "swiss_language": "de",
        "swiss_legal_area": "penal law",
        "swiss_region": "Espace Mittelland",
    }
    assert not counts


def test_a_text_of_one_line_becomes_sentences(tmp_path):
    path = json_lines(tmp_path / "test.jsonl", ROW | {"text": FLAT, "language": "fr"})
    (record,), _ = read("swiss_judgment", [path])
    assert len(record.text) == 2 and record.text[0].startswith("A. X._ a demandé")
    assert " ".join(record.text) == FLAT.removeprefix("Faits : ")


def test_what_is_no_case_of_the_data_set(tmp_path):
    rows = [
        ROW | {"label": "inadmissible"},
        ROW | {"label": float("nan")},
        ROW | {"label": "maybe"},
        ROW | {"source_language": "it"},
        ROW | {"language": "en"},
        ROW | {"text": None},
        ROW | {"text": "Considérant en fait et en droit :\n1.\nLe recours est rejeté."},
        ROW | {"text": "dass auf die Beschwerde nicht einzutreten ist,"},
        ROW | {"text": "Sachverhalt:\nErwägungen:\n1. Nein."},
        ROW | {"source_language": "de", "year": "soon"},
        ROW | {"source_language": "n/a", "year": None, "label": "partial_approval"},
    ]
    records, counts = read("swiss_judgment", [json_lines(tmp_path / "train.jsonl", *rows)])
    assert [one.source_position for one in records] == [10, 11]
    assert [one.date for one in records] == [None, None]
    assert [one.labels[0] for one in records] == ["dismissal", "approval"]
    assert counts == {
        "outside_labels": 1,
        "bad_label": 2,
        "other_language": 2,
        "missing_field": 1,
        "no_facts": 3,
        "bad_date": 1,
    }


def test_csv_and_parquet_say_the_same(tmp_path):
    records, _ = read("swiss_judgment", [json_lines(tmp_path / "train.jsonl", ROW)])
    names = ",".join(ROW)
    cells = ",".join(f'"{cell}"' for cell in ROW.values())
    (tmp_path / "train.csv").write_text(f"{names}\n{cells}\n", encoding="utf-8")
    pq.write_table(pa.Table.from_pylist([ROW | {"year": 2015.0}]), tmp_path / "train.parquet")
    for name in ("train.csv", "train.parquet"):
        (other,), counts = read("swiss_judgment", [tmp_path / name])
        assert (other.text, other.labels, other.metadata) == (
            records[0].text,
            records[0].labels,
            records[0].metadata,
        )
        assert other.case_id == "7" and other.date == records[0].date and not counts


def test_ids_where_the_source_has_none(tmp_path):
    rows = [{name: ROW[name] for name in ("text", "label", "language")}] * 2
    records, _ = read("swiss_judgment", [json_lines(tmp_path / "mine.jsonl", *rows)])
    assert [one.case_id for one in records] == ["mine-1", "mine-2"]
    assert records[0].split is None and records[0].metadata == {"swiss_language": "de"}


def test_files_that_are_wrong(tmp_path):
    path = tmp_path / "train.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read("swiss_judgment", [path])
    (tmp_path / "notes.txt").write_text("about")
    assert read("swiss_judgment", [tmp_path / "notes.txt"]) == ([], {"unknown_format": 1})
