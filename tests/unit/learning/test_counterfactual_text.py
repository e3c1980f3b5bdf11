from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.learning.counterfactual_text import read_swap_table, swap_words

LEGAL = Path(__file__).parents[3] / "resources" / "legal"
ENGLISH = read_swap_table(
    LEGAL / "swap_gender_en.csv", LEGAL / "swap_gender_en_followers.csv", whole=True
)
CHINESE = read_swap_table(LEGAL / "swap_gender_zh.csv", whole=False)


def swapped(text, table):
    """The text with its words swapped."""
    return swap_words(text, table)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said that she left.", "She said that he left."),
        ("HE was a policeman.", "SHE was a policewoman."),
        ("Mr Fell and Mrs Hale met Ms Orr.", "Ms Fell and Mr Hale met Mr Orr."),
        ("He did not miss Miss Gray.", "She did not miss Mr Gray."),
        ("the midwife, mankind and the theme", "the midwife, mankind and the theme"),
        ("an ex-wife's brother-in-law", "an ex-husband's sister-in-law"),
        ("his fiancée", "her fiancé"),
        ("", ""),
        ("ſhe", "ſhe"),
        # her: his or him
        ("her house", "his house"),
        ("Her own house.", "His own house."),
        ("they saw her.", "they saw him."),
        ("they told her that", "they told him that"),
        ("they gave her the key", "they gave him the key"),
        ("they fined her\nHouses burned", "they fined him\nHouses burned"),
        ("they held her and asked", "they held him and asked"),
        ("they paid her 30 pounds", "they paid him 30 pounds"),
        # his: her or hers
        ("a friend of his, who", "a friend of hers, who"),
        ("on his back, despite his being old", "on her back, despite her being old"),
        ("his “green card” and [his] 'duty'", "her “green card” and [her] 'duty'"),
        ("his or her lawyer", "her or his lawyer"),
        ("it was his.", "it was hers."),
        ("it was hers.", "it was his."),
        ("they saw him in town", "they saw her in town"),
        # known to be wrong: an adjective looks like a noun
        ("they found her guilty", "they found his guilty"),
    ],
)
def test_english(text, expected):
    assert swapped(text, ENGLISH) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("被告人张某，男，汉族。", "被告人张某，女，汉族。"),
        ("他打了她。", "她打了他。"),
        ("他们与其他他人", "她们与其他他人"),
        ("其父亲的女儿", "其母亲的儿子"),
        ("外祖母和外孙", "外祖父和外孙女"),
        ("妇女和子女", "妇女和子女"),
        ("其父母", "其父母"),
        ("男扮女装", "女扮男装"),
        ("李女士的前夫", "李先生的前妻"),
    ],
)
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
