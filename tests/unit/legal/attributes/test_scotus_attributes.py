import csv
from collections import Counter

import pytest

from evenhand.errors import InputError
from unit.legal.made_records import FOLDER, find


@pytest.mark.parametrize(
    ("code", "value", "rule"),
    [
        ("27", "public entity", "respondent_code"),
        ("100", "person", "respondent_code"),
        ("State", "public entity", "respondent_code"),
        ("railroad", "organization", "respondent_code"),
        ("109", "facility", "respondent_code"),
        ("501", None, "other_respondent"),
    ],
)
def test_the_type_by_code_and_by_name(code, value, rule):
    finding = find("respondent_type", metadata={"scdb_respondent": code})
    assert (finding.value, finding.rule) == (value, rule)
    assert finding.evidence[0].words == f"scdb_respondent={code}"


def test_a_respondent_that_is_missing_or_unknown():
    assert find("respondent_type").rule == "no_respondent_code"
    with pytest.raises(InputError, match=r"respondent '999'.*scdb_respondents\.csv") as caught:
        find("respondent_type", metadata={"scdb_respondent": "999"})
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("stated", "value"),
    [("3", "public entity"), ("0", None), ("other", None), ("Person", "person")],
)
def test_the_type_of_fairlex_goes_first(stated, value):
    finding = find(
        "respondent_type", metadata={"respondent_type": stated, "scdb_respondent": "231"}
    )
    assert (finding.value, finding.rule) == (value, "given_by_source")


def test_fairlex_types_count_as_published():
    with (FOLDER / "scdb_respondents.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = Counter(row["fairlex"] or row["type"] for row in rows)
    published = {"public entity": 125, "person": 68, "other": 61, "organization": 51}
    assert counts == published | {"facility": 6} and len(rows) == 311
    assert all(row["note"] and row["fairlex"] != row["type"] for row in rows if row["fairlex"])


@pytest.mark.parametrize(
    ("code", "value", "rule"),
    [
        ("1", "conservative", "direction_code"),
        ("2", "liberal", "direction_code"),
        ("Liberal", "liberal", "direction_code"),
        ("3", None, "unspecifiable_direction"),
        (None, None, "no_direction_code"),
    ],
)
def test_the_direction(code, value, rule):
    metadata = {} if code is None else {"scdb_decision_direction": code}
    finding = find("decision_direction", metadata=metadata)
    assert (finding.value, finding.rule) == (value, rule)


def test_a_direction_that_there_is_not():
    with pytest.raises(InputError, match="decision direction '4'"):
        find("decision_direction", metadata={"scdb_decision_direction": "4"})
    finding = find("decision_direction", metadata={"decision_direction": "0"})
    assert (finding.value, finding.rule) == ("conservative", "given_by_source")


@pytest.mark.mirror
def test_every_respondent_of_the_real_table_is_known(mirror):
    path = mirror / "scotus" / "SCDB_2024_01_caseCentered_Citation.csv"
    with path.open(encoding="utf-8", newline="") as file:
        codes = Counter(row["respondent"] for row in csv.DictReader(file))
    found = {
        code: find("respondent_type", metadata={"scdb_respondent": code}) for code in codes if code
    }
    assert len(found) == 246 and codes[""] == 3
    known = sum(codes[code] for code, finding in found.items() if finding.value)
    assert known == 8_091
