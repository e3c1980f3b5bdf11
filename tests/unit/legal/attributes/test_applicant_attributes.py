"""Birth year, age and gender: sentences of our own in the manner of the Court."""

from datetime import date
from functools import partial

import pytest

from evenhand.legal.attributes.applicant_age import age_group
from unit.legal import made_records
from unit.legal.made_records import count_findings, read, table

find = partial(made_records.find, date=date(2010, 6, 1))

LODGED = (
    "1. The case originated in an application (no. 1/20) against Ukraine lodged with the Court"
    " under Article 34 of the Convention (“the Convention”) by "
)


@pytest.mark.parametrize(*table("birth_years", "text"))
def test_the_year_of_birth(text, value, rule):
    finding = find("applicant_birth_year", *text)
    assert finding.value == value
    assert finding.rule == (rule or finding.rule)
    assert not value or value in finding.evidence[0].words


def test_the_year_may_stand_in_the_procedure():
    clause = LODGED + "Mrs Olha Nova, a Ukrainian national born in 1957 (“the applicant”)."
    finding = find("applicant_birth_year", "The applicant lives in Lviv.", context=(clause,))
    assert (finding.value, finding.rule) == ("1957", "introduced_born")
    clause = LODGED + "Mrs Olha Nova (“the applicant”), who was born in 1957."
    finding = find("applicant_birth_year", "The applicant lives in Lviv.", context=(clause,))
    assert (finding.value, finding.evidence[0].part) == ("1957", "context")


def test_another_year_is_told():
    text = (
        "The applicant was born in 1957.",
        "Later the applicant said that she was born in 1960.",
    )
    finding = find("applicant_birth_year", *text)
    assert (finding.value, finding.flags) == ("1957", ("several_years",))


def test_the_procedure_names_whom_the_facts_call_by_name():
    procedure = [LODGED + "a Pole, Mrs Anna Nowa (“the applicant”), on 2 May 2000."]
    facts = "Mrs Anna Nowa is a Polish national who was born in 1957."
    assert find("applicant_birth_year", facts, context=tuple(procedure)).value == "1957"


def test_older_judgments_call_people_by_name():
    text = ("Mr Novy, a Ukrainian citizen, was born in 1957.", "He met Mr Stary, born in 1960.")
    assert find("applicant_birth_year", *text, title="CASE OF NOVY v. UKRAINE").value == "1957"
    assert find("applicant_gender", *text).rule == "title_with_name"


@pytest.mark.parametrize(
    ("told", "year"), [("1957", "1957"), ("1957.0", "1957"), ("n/a", None), ("0", None)]
)
def test_a_year_that_the_source_gives(told, year):
    finding = find(
        "applicant_birth_year", "The applicant.", metadata={"applicant_birth_year": told}
    )
    assert (finding.value, finding.rule) == (year, "given_by_source")
    finding = find(
        "applicant_birth_year", "The applicant.", metadata={"applicant_birth_year": "1880"}
    )
    assert (finding.value, finding.rule) == (None, "given_impossible")


@pytest.mark.parametrize(
    ("age", "group"), [(0, "<=35"), (35, "<=35"), (36, "<=65"), (65, "<=65"), (66, ">65")]
)
def test_age_groups(age, group):
    assert age_group(age) == group
    finding = find("applicant_age", f"The applicant was born in {2010 - age}.")
    assert (finding.value, finding.rule) == (group, "applicant_born")


def test_no_age():
    with pytest.raises(ValueError, match="-1 is no age"):
        age_group(-1)
    finding = find("applicant_age", "The applicant was born in 1957.", date=None)
    assert (finding.value, finding.rule) == (None, "no_judgment_date")
    assert find("applicant_age", "The applicants were born in 1957.").rule == "several_applicants"


@pytest.mark.parametrize(("told", "group"), [("2", "<=65"), ("0", None), (">65", ">65")])
def test_an_age_that_the_source_gives(told, group):
    assert find("applicant_age", "x", metadata={"applicant_age": told}).value == group
    assert find("applicant_age", "x", metadata={"applicant_birth_year": "1957"}).value == "<=65"


@pytest.mark.parametrize(
    ("introduced", "gender"),
    [
        ("a Ukrainian national, Mr Ivan Novy (“the applicant”), on 5 May 2009.", "male"),
        ("a Ukrainian national, Ms O.N. (“the applicant”), on 5 May 2009.", "female"),
        ("Princess Olha of Lviv (“the applicant”), on 5 May 2009.", "female"),
        ("Dr Olha Nova (“the applicant”), on 5 May 2009.", None),
        ("Mr Ivan Novy on behalf of his daughter Olha (“the applicant”).", None),
        ("Ms Olha Nova on her own behalf (“the applicant”).", "female"),
        ("a Ukrainian national, Olha Nova (“the applicant”), on 5 May 2009.", None),
    ],
)
def test_the_title_in_the_procedure(introduced, gender):
    finding = find("applicant_gender", "The applicant is ill.", context=(LODGED + introduced,))
    assert (finding.value, finding.rule == "title_in_procedure") == (gender, gender is not None)


@pytest.mark.parametrize(*table("genders"))
def test_the_gender_in_the_facts(text, value, rule):
    finding = find("applicant_gender", text)
    assert finding.value == value
    assert finding.rule == (rule or finding.rule)


def test_the_pronoun_of_the_court_where_gender_is_the_case():
    clause = LODGED + "a Ukrainian national, Ms O.N. (“the applicant”), on 5 May 2009."
    facts = ["The applicant said that he was ill.", "The applicant lost his job."]
    finding = find("applicant_gender", *facts, context=(clause,))
    assert (finding.value, finding.rule) == ("female", "title_in_procedure")
    assert finding.flags == ("title_and_pronouns_differ",)
    facts.insert(0, "The applicant is a transgender person.")
    finding = find("applicant_gender", *facts, context=(clause,))
    assert (finding.value, finding.rule) == ("male", "pronouns")
    assert finding.flags == ("title_and_pronouns_differ",)


@pytest.mark.parametrize(("told", "gender"), [("1", "male"), ("0", None), ("Female", "female")])
def test_a_gender_that_the_source_gives(told, gender):
    finding = find("applicant_gender", "x", metadata={"applicant_gender": told})
    assert (finding.value, finding.rule) == (gender, "given_by_source")


@pytest.mark.parametrize("attribute", ["applicant_birth_year", "applicant_age", "applicant_gender"])
def test_nobody_has_attributes_where_several_or_a_company_apply(attribute):
    born = "The applicant was born in 1957. He lives in Lviv, and he is ill."
    for title in ("CASE OF NOVY AND OTHERS v. UKRAINE", "CASE OF NOVY AND STARA v. UKRAINE"):
        assert find(attribute, born, title=title).rule == "several_applicants"
    clause = LODGED + "Novy Ltd (“the applicant company”), owned by Mr Ivan Novy."
    assert find(attribute, born, context=(clause,)).rule == "legal_person"


def test_the_title_is_that_of_the_person_whom_the_case_is_named_after():
    clause = LODGED + "Mr Veli Çınar and Mrs Işıl Yıldız, Turkish nationals (“the applicant”)."
    finding = find("applicant_gender", "A.", context=(clause,), title="CASE OF YILDIZ v. TURKEY")
    assert (finding.value, finding.evidence[0].words) == ("female", "Mrs Işıl Yıldız")
    facts = "Mr İnan, a Turkish citizen, was born in 1950."
    assert find("applicant_birth_year", facts, title="CASE OF INAN v. TURKEY").value == "1950"


def test_a_pronoun_of_the_next_paragraph_and_one_after_a_representative():
    facts = ("1. The applicant lives in Lviv.", "2. He is a baker.", "3. He met Mr Stary.")
    assert find("applicant_gender", *facts).rule == "pronouns"
    facts = ("1. The applicant's neighbour is Mr Stary.", "2. He is a baker.")
    assert find("applicant_gender", *facts).value is None
    facts = "The applicant was represented by Ms A. Nova, a lawyer in Lviv. He is a baker."
    assert find("applicant_gender", facts).value == "male"


@pytest.mark.mirror
def test_the_real_judgments(mirror):
    """Compare the number of judgments with a value with a count by hand."""
    records, _ = read("hudoc_text", [mirror / "ecthr" / "rmu_echr_txt.tar.gz"])
    expected = {"applicant_birth_year": 125, "applicant_gender": 138, "defendant_state": 192}
    for attribute, known in expected.items():
        counts = count_findings(attribute, records)
        assert sum(n for (_, value, *_), n in counts.items() if value) == known
