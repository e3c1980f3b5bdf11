from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.learning.counterfactual_text import read_swap_table, swap_words
from unit.cases import load_cases

CASES = load_cases(__file__)

LEGAL = Path(__file__).parents[3] / "resources" / "legal"
ENGLISH = read_swap_table(
    LEGAL / "swap_gender_en.csv", LEGAL / "swap_gender_en_followers.csv", whole=True
)
CHINESE = read_swap_table(LEGAL / "swap_gender_zh.csv", whole=False)


def swapped(text, table):
    """The text with its words swapped."""
    return swap_words(text, table)[0]


@pytest.mark.parametrize(("text", "expected"), CASES["english"])
def test_english(text, expected):
    assert swapped(text, ENGLISH) == expected


@pytest.mark.parametrize(("text", "expected"), CASES["chinese"])
def test_chinese(text, expected):
    assert swapped(text, CHINESE) == expected


def both_ways(table):
    """The words that come back when swapped twice."""
    return sorted(
        word
        for word, other in table.opposites.items()
        if table.opposites.get(other) == word and word not in table.alone
    )


cases = st.sampled_from([str, str.upper, str.capitalize])


@given(st.lists(st.tuples(st.sampled_from([*both_ways(ENGLISH), "court", "tree"]), cases)))
def test_twice_is_the_same_in_english(words):
    text = " ".join(word if word != word.lower() else case(word) for word, case in words)
    assert swapped(swapped(text, ENGLISH), ENGLISH) == text


@given(st.lists(st.sampled_from([*both_ways(CHINESE), "法院", "，"])))
def test_twice_is_the_same_in_chinese(words):
    text = "。".join(words)
    assert swapped(swapped(text, CHINESE), CHINESE) == text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_word_has_an_opposite_of_its_own(language):
    rows = read_resource(
        LEGAL / f"swap_gender_{language}.csv",
        ["word", "opposite", "opposite_alone"],
        optional=("opposite_alone",),
    )
    words = {row["word"] for row in rows}
    one_way = {row["word"] for row in rows if row["opposite"] not in words}
    assert not one_way
    table = ENGLISH if language == "en" else CHINESE
    assert len(both_ways(table)) > 50


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_bad_tables(tmp_path):
    words = write(tmp_path / "words.csv", "word,opposite,opposite_alone\nher,his,him\nhe,she,\n")
    with pytest.raises(InputError, match="has no words"):
        read_swap_table(write(tmp_path / "empty.csv", "word,opposite,opposite_alone\n"), whole=True)
    with pytest.raises(InputError, match="he has no second opposite"):
        read_swap_table(words, write(tmp_path / "after.csv", "word,after\nto,he\n"), whole=True)
    with pytest.raises(InputError, match=":3: repeats line 2"):
        twice = "word,opposite,opposite_alone\nhe,she,\nhe,it,\n"
        read_swap_table(write(tmp_path / "twice.csv", twice), whole=True)
    assert swapped("her to", read_swap_table(words, whole=True)) == "his to"


def test_changed_words_are_counted_and_protected_ones_are_not():
    assert swap_words("He saw his son and her.", ENGLISH) == ("She saw her daughter and him.", 4)
    assert swap_words("The court sat.", ENGLISH) == ("The court sat.", 0)
    assert swap_words("其他人看见他。", CHINESE) == ("其他人看见她。", 1)
