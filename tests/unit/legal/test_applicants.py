import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal import applicants
from evenhand.legal.applicants import ApplicantCase, find_mentions, plain, read_lexicon
from unit.legal.made_cases import record
from unit.legal.made_records import table, tables

LEXICON = read_lexicon(tables(applicants))
LODGED = (
    "1. The case originated in an application (no. 1/20) against the Republic of Poland lodged with"
    " the Court under Article 34 of the Convention (“the Convention”) by "
)


def applicant(*text, procedure=(), title=None, **metadata):
    text = text or ("The applicant lives in Łódź.",)
    case = record(1, text=text, context=procedure, title=title, metadata=metadata)
    return ApplicantCase(case, LEXICON).applicant


@pytest.mark.parametrize(*table("introductions"))
def test_who_the_procedure_introduces(introduced, kind):
    found = applicant(procedure=(LODGED + introduced,))
    assert found.kind == kind and found.rule == "procedure"


@pytest.mark.parametrize(*table("titles"))
def test_who_the_title_names(title, kind):
    assert applicant(title=title).kind == kind


@pytest.mark.parametrize(*table("facts", "text"))
def test_who_the_facts_tell_of(text, kind):
    assert applicant(*text).kind == kind


def test_a_few_mentions_of_applicants_are_not_several():
    one, two = (
        "The applicant complained. " * 9,
        "They met the applicants, and both applicants left.",
    )
    assert applicant("The applicants are Poles. " + one + two[:26] + ".").kind != "several"
    assert applicant("The applicants are Poles. " + one + two).kind == "several"
    assert applicant("In 1990 they came.", one + two + " Each applicant left.").kind != "several"


def test_names_in_the_metadata():
    assert applicant(applicants="NOWY;STARA").kind == "several"
    assert applicant(applicants="NOWY AND OTHERS").kind == "several"
    assert applicant(applicants="NOWY S.A.").kind == "legal_person"
    assert applicant(applicants="NOWY").kind == "one"


def test_mr_nowy_is_the_applicant_only_where_the_facts_call_him_so():
    facts = ("Mr Nowy, a Polish citizen, was born in 1950.", "He is a cook.")
    assert applicant(*facts, title="CASE OF NOWY v. POLAND").names == {"male nowy"}
    assert applicant(*facts).names == {"male nowy"}
    tagged = LODGED + "a Polish national, Ms Ewa Nowy (“the applicant”), on 5 May 2019."
    assert applicant(*facts, procedure=(tagged,), title="CASE OF NOWY v. POLAND").names == set()
    both = (*facts, "Mrs Nowy is a nurse.")
    assert applicant(*both, title="CASE OF NOWY v. POLAND").kind == "no_applicant"
    untagged = (LODGED + "a Polish national, Mrs Ewa Nowy, on 5 May 2019.",)
    found = applicant(*both, procedure=untagged, title="CASE OF NOWY v. POLAND")
    assert found.names == {"female nowy"}


def test_a_pronoun_means_the_applicant_of_the_paragraph_before():
    text = "He is a baker.", "The applicant lives in Łódź.", "She is ill.", "She met Mr Nowy."
    case = ApplicantCase(record(1, text=text), LEXICON)
    assert [known for _, known in case.passages(*case.facts)] == [False, False, True, True]


@pytest.mark.parametrize(*table("mentions", "kinds"))
def test_mentions(text, kinds):
    assert [mention.kind for mention in find_mentions(text, LEXICON)] == kinds


def test_a_named_applicant_is_mentioned_by_name():
    found = [*find_mentions("Mr Nowy and Mrs Nowy", LEXICON, frozenset({"male nowy"}))]
    assert [(one.kind, one.gender) for one in found] == [("applicant", "male"), ("other", "female")]


def test_plain_paragraphs_keep_terms_and_lose_quotations():
    text = "He said: “I was born in 1950, and she was not there.” (“the applicant\u00a0company”)"
    shown = plain(text)
    assert "1950" not in shown and shown.endswith('("the applicant company")')
    assert plain("he or she is free; his or her lawyer").split() == ["is", "free;", "lawyer"]
    assert plain('("the Convention") by Mr Adam Nowy of Łódź, Poland ("the applicant")').count(
        "Nowy"
    )


@given(
    st.text(alphabet=st.sampled_from('ab “”"«»’\u00a0\u2011\u2009.heorsi/'), max_size=120)
    | st.text(max_size=60)
)
def test_plain_paragraphs_keep_every_place(text):
    shown = plain(text)
    assert len(shown) == len(text)
    assert all(
        a == b or b in " '" or not re.match(r"\w", a) for a, b in zip(text, shown, strict=True)
    )


@given(
    st.lists(
        st.sampled_from(
            [
                *("The applicant", "the applicants", "Mr Nowy", "she", "his", "A.B.", "husband"),
                *("(“the applicant”)", "born in", "1950", ".", ",", "company", "and", "lodged"),
                *("by", "on 5 May 2019", "originated in"),
            ]
        ),
        max_size=30,
    ),
    st.booleans(),
)
def test_any_text_gives_one_answer_whose_words_stand_there(words, in_procedure):
    text = " ".join(words) or "x"
    found = applicant(text, procedure=(text,) if in_procedure else ())
    assert found.kind in {"one", "several", "legal_person", "no_applicant"}
    for one in found.evidence:
        assert text[one.start : one.end] == one.words
