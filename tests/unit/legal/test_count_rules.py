import pytest

from evenhand.errors import InputError
from evenhand.legal.count_rules import count_rules
from evenhand.legal.findings import Finding
from unit.legal.made_cases import evidence, read_csv, record, write_found

RECORDS = [record(n, text=("He was born in 1950.",)) for n in range(1, 6)]


def found(tmp_path):
    he = (evidence(RECORDS[0], "He"),)
    pairs = [
        (RECORDS[0], Finding("male", "pronouns", 0.9, he)),
        (RECORDS[1], Finding("male", "pronouns", 0.7, he, ("several_respondents",))),
        (RECORDS[2], Finding("female", "pronouns", 0.8, he)),
        (RECORDS[3], Finding(None, "legal_person", 0.5)),
    ]
    return write_found(tmp_path, pairs)[1]


def count(tmp_path, findings, attributes):
    out = tmp_path / "rules.csv"
    counts = count_rules(
        findings=findings, attributes=attributes, out=out, kind="ecthr", dataset="mine"
    )
    return counts, read_csv(out)


def test_rules_by_value(tmp_path):
    counts, rows = count(tmp_path, [found(tmp_path)], ["applicant_gender"])
    assert counts == {"applicant_gender": {"cases": 4, "known": 3}}
    names = ("rule", "value", "cases", "of", "mean_confidence", "with_evidence", "flags")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("pronouns", "male", "2", "4", "0.800000", "2", "several_respondents 1"),
        ("pronouns", "female", "1", "4", "0.800000", "1", ""),
        ("legal_person", "n/a", "1", "4", "0.500000", "0", ""),
    ]


def test_numbers_are_not_told_apart(tmp_path):
    pairs = [
        (one, Finding(year, "born_in_year", 1.0))
        for one, year in zip(RECORDS, ("1950", "1960", None), strict=False)
    ]
    findings = write_found(tmp_path, pairs)[1]
    _, rows = count(tmp_path, [findings], ["applicant_birth_year"])
    assert [(row["value"], row["cases"]) for row in rows] == [("a number", "2"), ("unknown", "1")]


def test_a_case_of_two_files_counts_once(tmp_path):
    first = found(tmp_path)
    again = [
        (RECORDS[0], Finding("female", "title", 1.0)),
        (RECORDS[4], Finding("male", "title", 1)),
    ]
    second = write_found(tmp_path, again, "second")[1]
    counts, rows = count(tmp_path, [first, second], ["applicant_gender"] * 2)
    assert counts == {"applicant_gender": {"cases": 5, "known": 4}}
    assert [row["cases"] for row in rows if row["rule"] == "title"] == ["1"]


def test_the_order_is_that_of_the_attributes(tmp_path):
    findings = write_found(tmp_path, [(RECORDS[0], Finding(None, "none", 0.0))])[1]
    _, rows = count(tmp_path, [findings] * 2, ["applicant_age", "defendant_state"])
    assert [row["attribute"] for row in rows] == ["defendant_state", "applicant_age"]


@pytest.mark.parametrize(
    ("attributes", "said"),
    [([], "1 files of findings and 0"), (["region"], "no attribute 'region'")],
)
def test_attributes_that_do_not_fit(tmp_path, attributes, said):
    with pytest.raises(InputError, match=said):
        count(tmp_path, [found(tmp_path)], attributes)
