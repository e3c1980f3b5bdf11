import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.strasbourg import (
    LABELS,
    article_of,
    as_labels,
    concluded,
    language_of,
    split_articles,
)
from unit.legal.made_cases import court
from unit.legal.made_records import table


@pytest.mark.parametrize(
    ("part", "article"),
    [("6", "6"), ("6-3-c", "6"), ("p1-1-2", "P1-1"), ("P12-1", "P12-1"), ("P7-4", "P7-4")]
    + [(part, None) for part in ("", "0", "99", "P3-1", "P1-7", "6a", "Art. 6", "-1")],
)
def test_articles(part, article):
    assert article_of(part) == article


def test_a_field_of_articles():
    assert split_articles(" 14+8 ;14; 8;6-1;x;P1-1-1") == (["14", "8", "6", "P1-1"], ["x"])
    assert split_articles("") == ([], [])


@given(st.lists(st.sampled_from(["2", "6", "14", "P1-1", "13", "P4-2"])))
def test_labels_are_in_the_order_of_the_data_set_and_nothing_is_lost(articles):
    labels, others = as_labels(articles)
    assert court("ecthr").labels == LABELS
    assert list(labels) == [one for one in LABELS if one in labels]
    assert {*labels, *others} == set(articles)


def test_languages():
    assert language_of(["The applicant was born in the town of Nice by the sea."]) == "en"
    assert language_of(["Le requérant est né dans la ville de Nice."]) == "fr"
    assert language_of([]) == "en"


@pytest.mark.parametrize(*table("hudoc_conclusions", "violated", "cleared"))
def test_articles_of_a_conclusion(conclusion, violated, cleared):
    assert concluded(conclusion or "") == (violated, cleared)
