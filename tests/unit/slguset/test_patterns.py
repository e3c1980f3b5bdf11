import re

import pytest

from evenhand.errors import InputError
from evenhand.slguset.patterns import find_patterns, read_patterns

HEADER = "pattern,pairs,gender,except,note\n"


def read(tmp_path, rows):
    path = tmp_path / "words.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return read_patterns(path)


def find(table, sentence, surface="他", opposite="她", gender="male"):
    found = find_patterns(sentence, table, surface=surface, surface_opposite=opposite, value=gender)
    return [(o.text, o.start) for o in found]


def test_all_occurrences_are_found_by_place(tmp_path):
    table = read(tmp_path, "先生,,,,\n小伙,,,,\n小伙子,,,,\n")
    assert find(table, "小伙子说先生和先生来了。") == [
        ("小伙", 0),
        ("小伙子", 0),
        ("先生", 4),
        ("先生", 7),
    ]
    assert find(table, "她来了。") == []


def test_a_word_that_crosses_words_does_not_count(tmp_path):
    table = read(tmp_path, "流产,,,,\n经期,,,,\n祖国母亲,,,,\n前列腺,,,,\n")
    assert find(table, "这是一流产品。") == []
    assert find(table, "合同已经期满。") == []
    assert find(table, "她流产了，献给祖国母亲。") == [("流产", 1), ("祖国母亲", 7)]
    assert find(table, "他有前列腺炎。") == [("前列腺", 2)]


def test_pairs_and_gender_restrict(tmp_path):
    table = read(tmp_path, "夫妻,丈夫/妻子 老公/老婆,,,\n小伙,,male,,\n")
    sentence = "夫妻和小伙都来了。"
    assert find(table, sentence) == [("小伙", 3)]
    assert find(table, sentence, "她", "他", "female") == []
    assert find(table, sentence, "妻子", "丈夫", "female") == [("夫妻", 0)]
    assert find(table, sentence, "老公", "老婆") == [("夫妻", 0), ("小伙", 3)]


def test_exceptions_do_not_count_but_the_word_beside_them_does(tmp_path):
    table = read(tmp_path, "小伙,,,小伙伴,\n")
    assert find(table, "小伙伴来了。") == []
    assert find(table, "小伙伴和小伙来了。") == [("小伙", 4)]


def test_a_star_stands_for_letters(tmp_path):
    table = read(tmp_path, "*man,,,woman German,\n")
    sentence = "The milkman, a German, saw the Chairman, a woman and a man of workmanship."
    found = find_patterns(
        sentence, table, surface="his", surface_opposite="her", value="male",
        words=lambda text: re.split(r"(\W)", text), blanks=True,
    )  # fmt: skip
    assert [each.text for each in found] == ["milkman", "Chairman"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("夫妻,丈夫妻子,,,", ":2: '丈夫妻子' is no pair; write surface pairs like 丈夫/妻子"),
        ("夫妻,,man,,", ":2: the gender is 'man'; write one of male, female"),
        ("小伙,,,伙伴,", ":2: the exception 伙伴 does not contain 小伙"),
        (",,,,", ":2: the cell of pattern is blank"),
        ("", "contains no word"),
    ],
)
def test_a_table_that_cannot_be_right_is_an_error(tmp_path, row, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, row + "\n")
