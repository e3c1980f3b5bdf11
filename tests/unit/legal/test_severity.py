import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.chinese import CLASSES, Sentence, sentence_of, severity
from unit.legal.made_cases import court
from unit.legal.made_records import table


@pytest.mark.parametrize(
    ("months", "label"),
    [
        *((0, "0"), (0.5, "<=12"), (12, "<=12"), (12.5, "<=36"), (36, "<=36"), (37, "<=60")),
        *((60, "<=60"), (61, "<=120"), (120, "<=120"), (121, ">120"), (300, ">120")),
    ],
)
def test_classes_of_months(months, label):
    assert severity(Sentence("imprisonment", months)) == label
    assert severity(Sentence("detention", months)) == label


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_more_months_are_never_less_severe(one, other):
    assert court("cail").labels == CLASSES
    places = [CLASSES.index(severity(Sentence("imprisonment", m))) for m in sorted((one, other))]
    assert places == sorted(places)


def test_kinds_without_months():
    assert severity(Sentence("life")) == severity(Sentence("death")) == ">120"
    for kind in ("acquittal", "exemption", "fine"):
        assert severity(Sentence(kind)) == "0"
    assert severity(Sentence("surveillance", 24)) == "0"


@pytest.mark.parametrize("months", [-1, math.nan, math.inf])
def test_months_that_are_none(months):
    with pytest.raises(ValueError, match="no number of months"):
        severity(Sentence("imprisonment", months))


def judgment(part):
    return f"依照刑法第一条处三年以下有期徒刑，判决如下： {part} 如不服本判决，可判处死刑。"


@pytest.mark.parametrize(*table("punishments"))
def test_sentences(part, kind, months):
    assert sentence_of(judgment(part)) == Sentence(kind, float(months))


def test_no_sentence():
    assert sentence_of("被告人甲某，因犯盗窃罪被判处有期徒刑一年。") is None  # an older one
    assert sentence_of(judgment("……（写明判决结果）")) is None
    assert sentence_of(judgment("被告人甲某犯盗窃罪，判处有期徒刑××。")) is None


def test_weights_by_term_then_by_kind():
    both = judgment("一、被告人甲某犯罪，判处有期徒刑六个月。二、被告人乙某犯罪，判处拘役六个月。")
    assert sentence_of(both) == Sentence("imprisonment", 6)
