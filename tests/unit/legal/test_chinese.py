from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.chinese import dates_of, facts_of, number_of, paragraphs

DIGITS = "〇一二三四五六七八九"


def in_words(number: int) -> str:
    """A number below 1000 in the way of courts."""
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    words = DIGITS[hundreds] + "百" if hundreds else ""
    if tens:
        words += (DIGITS[tens] if tens > 1 or hundreds else "") + "十"
    elif hundreds and ones:
        words += "零"
    return words + (DIGITS[ones] if ones or not words else "")


@given(st.integers(0, 999))
def test_numbers_in_words(number):
    assert number_of(in_words(number)) == number


@given(st.integers(0, 99999))
def test_numbers_in_digits(number):
    assert number_of(str(number)) == number
    wide = str(number).translate({48 + i: 0xFF10 + i for i in range(10)})
    assert number_of(wide) == number


@pytest.mark.parametrize(
    ("words", "number"), [("零六", 6), ("二〇一八", 2018), ("二○一Ｏ", 2010), ("两", 2), ("十", 10)]
)
def test_numbers_as_courts_write_them(words, number):
    assert number_of(words) == number


@pytest.mark.parametrize("words", ["十十", "三五十", "十百"])
def test_no_numbers(words):
    with pytest.raises(ValueError, match="no number"):
        number_of(words)


def test_dates():
    text = "于二〇一八年六月二十八日，又于2017年12月1日，二○一九年十三月一日，二O一五年二月三十日"
    assert [found for _, found in dates_of(text)] == [
        date(2018, 6, 28),
        date(2017, 12, 1),
        None,
        None,
    ]
    assert text[dates_of(text)[1][0] :].startswith("2017年")


def test_paragraphs_are_cut_where_the_line_ended():
    text = (
        " 甲市人民法院 刑事判决书。\u3000被告人丙某，男。 \r\n乙某\xa0于2018 年到案。\n\n\u3000\n"
    )
    assert paragraphs(text) == (
        "甲市人民法院 刑事判决书。",
        "被告人丙某，男。",
        "乙某 于2018 年到案。",
    )
    assert paragraphs(" \n\u3000") == ()


def test_facts_end_where_the_court_reasons():
    facts = "甲拿走一辆自行车。\n检察院认为，本院认为二字不在此处。"
    assert facts_of(f"{facts}\n本院认为，甲有罪。判决如下：\n一、拘役五个月。") == paragraphs(facts)
    assert facts_of(facts) == paragraphs(facts)
    assert facts_of("本院认为，甲有罪。") == ()
