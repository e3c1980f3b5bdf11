from datetime import date

import pytest

from evenhand.io.tables import read_rows
from evenhand.legal.attributes import applicant_age
from evenhand.legal.declaration import description
from evenhand.legal.find_attributes import find_attributes
from evenhand.legal.findings import Evidence, Finding
from evenhand.legal.records import write_records
from unit.legal.made_cases import court, record
from unit.legal.made_records import FOLDER

TABLES = sorted(FOLDER.glob("*.csv"))
MODULES = [attribute.module for attribute in court("ecthr").attributes]
STATE = {"respondent": "TURKEY"}


def write(path, texts):
    records = [
        record(1, case_id=case, date=date(2010, 6, 1), text=(text,), metadata=STATE)
        for case, text in texts.items()
    ]
    write_records(path, records, lambda: description(court("ecthr")))
    return path


@pytest.fixture
def arguments(tmp_path):
    texts = {
        "a": "The applicant was born in 1950. He is ill, and he said so.",
        "b": "The applicants were born in 1950 and 1951.",
        "c": "The applicant was born in 1990.",
    }
    again = {"a": "The applicant was born in 1990.", "d": "The applicant lives in Łódź."}
    return {
        "records": [write(tmp_path / "1.parquet", texts), write(tmp_path / "2.parquet", again)],
        "tables": TABLES,
        "out": tmp_path / "attributes",
        "modules": MODULES,
    }


def test_a_file_per_attribute_with_the_first_record_of_each_case(arguments):
    counts = find_attributes(**arguments)
    assert {path.stem for path in arguments["out"].iterdir()} == counts.keys()
    rows = list(read_rows(arguments["out"] / "applicant_age.parquet"))
    assert [(row["case_id"], row["value"], row["rule"]) for row in rows] == [
        ("a", "<=65", "applicant_born"),
        ("b", None, "several_applicants"),
        ("c", "<=35", "applicant_born"),
        ("d", None, "no_birth_sentence"),
    ]
    assert rows[0]["evidence"][0]["words"] == "The applicant was born in 1950"
    assert counts["applicant_age"] == {
        "cases": 4,
        "known": 2,
        "rules": {"applicant_born": 2, "no_birth_sentence": 1, "several_applicants": 1},
        "values": {"<=35": 1, "<=65": 1},
        "flags": {},
    }
    assert counts["applicant_gender"]["values"] == {"male": 1}


def test_evidence_that_does_not_stand_there(arguments, monkeypatch):
    wrong = Finding("x", "rule", 1.0, (Evidence("text", 0, 0, 3, "She"),))
    monkeypatch.setattr(applicant_age, "find", lambda *_: wrong)
    with pytest.raises(ValueError, match="case a"):
        find_attributes(**arguments)
    assert not (arguments["out"] / "applicant_age.parquet").exists()
