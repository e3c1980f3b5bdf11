import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.severity import CLASSES, Sentence, sentence_of, severity
from unit.legal.made_cases import court


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


@pytest.mark.parametrize(
    ("part", "kind", "months"),
    [
        ("被告人甲某犯盗窃罪，判处有期徒刑一年零六个月，缓刑二年。", "imprisonment", 18),
        ("被告人甲某犯盗窃罪，判处有期徒刑一年又六个月。", "imprisonment", 18),
        ("被告人甲某犯盗窃罪，判处有期徒刑2年3个月，并处罚金3000元。", "imprisonment", 27),
        ("被告人甲某犯盗窃罪，判处有期徒刑三年十个月（自2017年1月5日起）。", "imprisonment", 46),
        ("被告人甲某犯盗窃罪，判处有期徒刑一年半。", "imprisonment", 18),
        ("被告人甲某犯盗窃罪，判处拘役三个半月。", "detention", 3.5),
        ("被告人甲某犯盗窃罪，判处拘役一个月十五日。", "detention", 1.5),
        ("被告人甲某犯盗窃罪，判处管制一年。", "surveillance", 12),
        ("被告人甲某犯盗窃罪，单处罚金五千元。", "fine", 0),
        ("被告人甲某犯盗窃罪，免予刑事处罚。", "exemption", 0),
        ("被告人甲某无罪。", "acquittal", 0),
        ("被告人甲某犯抢劫罪，判处无期徒刑，剥夺政治权利终身。", "life", 0),
        ("被告人甲某犯抢劫罪，判处死刑，缓期二年执行。", "death", 0),
        # what is decided for several counts, also with what was left of an older sentence
        (
            "被告人甲某犯盗窃罪，判处有期徒刑八个月；犯诈骗罪，判处有期徒刑一年；"
            "决定执行有期徒刑一年六个月。",
            *("imprisonment", 18),
        ),
        (
            "被告人甲某犯盗窃罪，判处有期徒刑一年，与前罪判处的有期徒刑七年的余刑二年并罚，"
            "决定执行有期徒刑二年六个月。",
            *("imprisonment", 30),
        ),
        # the heaviest of several defendants
        (
            "一、被告人甲某犯盗窃罪，判处拘役四个月。 二、被告人乙某犯盗窃罪，判处有期徒刑二年。 "
            "三、被告人丙某犯盗窃罪，免予刑事处罚。",
            *("imprisonment", 24),
        ),
        # a court of appeal
        (
            "一、撤销某县人民法院刑事判决，即被告人甲某犯盗窃罪，判处有期徒刑七年； "
            "二、上诉人（原审被告人）甲某犯盗窃罪，判处有期徒刑五年。",
            *("imprisonment", 60),
        ),
        (
            "撤销本院判决中缓刑二年的部分，与前罪判处的有期徒刑一年并罚，决定执行有期徒刑二年。",
            *("imprisonment", 24),
        ),
        ("维持某县人民法院刑事判决第一项，即被告人甲某判处有期徒刑一年。", "imprisonment", 12),
    ],
)
def test_sentences(part, kind, months):
    assert sentence_of(judgment(part)) == Sentence(kind, months)


def test_no_sentence():
    assert sentence_of("被告人甲某，因犯盗窃罪被判处有期徒刑一年。") is None  # an older one
    assert sentence_of(judgment("……（写明判决结果）")) is None
    assert sentence_of(judgment("被告人甲某犯盗窃罪，判处有期徒刑××。")) is None


def test_weights_by_term_then_by_kind():
    both = judgment("一、被告人甲某犯罪，判处有期徒刑六个月。二、被告人乙某犯罪，判处拘役六个月。")
    assert sentence_of(both) == Sentence("imprisonment", 6)
