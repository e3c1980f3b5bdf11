"""Birth year, age and gender: sentences of our own in the manner of the Court."""

from datetime import date
from functools import partial

import pytest

from unit.legal import made_records
from unit.legal.made_records import count_findings, read, table

find = partial(made_records.find, date=date(2010, 6, 1))


@pytest.mark.parametrize(*table("birth_years", "text"))
def test_the_year_of_birth(text, value, rule):
    finding = find("applicant_birth_year", *text)
    assert finding.value == value
    assert finding.rule == (rule or finding.rule)
    assert not value or value in finding.evidence[0].words


@pytest.mark.parametrize(*table("genders"))
def test_the_gender_in_the_facts(text, value, rule):
    finding = find("applicant_gender", text)
    assert finding.value == value
    assert finding.rule == (rule or finding.rule)


@pytest.mark.mirror
def test_the_real_judgments(mirror):
    """Compare the number of judgments with a value with a count by hand."""
    records, _ = read("hudoc_text", [mirror / "ecthr" / "rmu_echr_txt.tar.gz"])
    expected = {"applicant_birth_year": 125, "applicant_gender": 138, "defendant_state": 192}
    for attribute, known in expected.items():
        counts = count_findings(attribute, records)
        assert sum(n for (_, value, *_), n in counts.items() if value) == known
