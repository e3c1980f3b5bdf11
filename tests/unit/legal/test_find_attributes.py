import sys
from datetime import date
from types import SimpleNamespace

import pytest

from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.findings import Evidence, Finding, read_findings
from evenhand.legal.records import Record, write_records
from unit.legal.made_records import FOLDER

TABLES = [FOLDER / f"{name}.csv" for name in ("people_words", "person_titles", "legal_persons")]


@pytest.fixture
def records(tmp_path):
    texts = {
        "a": "The applicant was born in 1950. He is ill, and he said so.",
        "b": "The applicants were born in 1950 and 1951.",
        "c": "The applicant was born in 1990.",
        "d": "The applicant lives in Łódź.",
    }
    path = tmp_path / "records.parquet"
    write_records(
        path,
        (
            Record(
                case_id=case,
                source="f",
                source_position=place,
                date=date(2010, 6, 1),
                text=(text,),
                given={},
            )
            for place, (case, text) in enumerate(texts.items(), start=1)
        ),
    )
    return path


def test_a_finding_for_each_case_in_their_order(records, tmp_path):
    out = tmp_path / "applicant_age.parquet"
    counts = find_attributes(records=records, tables=TABLES, out=out, attribute="applicant_age")
    rows = list(read_findings(out))
    assert [(row["case_id"], row["value"], row["rule"]) for row in rows] == [
        ("a", "<=65", "applicant_born"),
        ("b", None, "several_applicants"),
        ("c", "<=35", "applicant_born"),
        ("d", None, "no_birth_sentence"),
    ]
    assert rows[0]["evidence"][0]["words"] == "The applicant was born in 1950"
    assert counts == {
        "cases": 4,
        "known": 2,
        "rules": {"applicant_born": 2, "no_birth_sentence": 1, "several_applicants": 1},
        "values": {"<=35": 1, "<=65": 1},
        "flags": {},
    }


def test_the_order_of_the_tables_changes_no_byte(records, tmp_path):
    outs = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for out, given in zip(outs, (TABLES, TABLES[::-1]), strict=True):
        find_attributes(records=records, tables=given, out=out, attribute="applicant_gender")
    assert content_digest(outs[0]) == content_digest(outs[1])


def test_a_table_that_is_not_given(records, tmp_path):
    with pytest.raises(InputError, match=r"needs the table person_titles; give person_titles\.csv"):
        find_attributes(
            records=records,
            tables=[TABLES[0]],
            out=tmp_path / "out.parquet",
            attribute="applicant_gender",
        )


def test_evidence_that_does_not_stand_there(records, tmp_path, monkeypatch):
    wrong = Finding("x", "rule", 1.0, (Evidence("text", 0, 0, 3, "She"),))
    module = SimpleNamespace(TABLES=(), prepare=lambda _: None, find=lambda *_: wrong)
    monkeypatch.setitem(sys.modules, "evenhand.legal.attributes.made_up", module)
    out = tmp_path / "out.parquet"
    with pytest.raises(ValueError, match="case a"):
        find_attributes(records=records, out=out, attribute="made_up")
    assert not out.exists()
