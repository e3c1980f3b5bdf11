import pytest

from evenhand.text.unlisted_names import (
    foreign_characters,
    foreign_name_score,
    full_name_score,
    name_scores,
)


@pytest.mark.parametrize(
    ("name", "words"), [("包增伟", "包蛋饺"), ("张成泽", "张嘴巴"), ("容雪芳", "容易吗")]
)
def test_a_full_name_scores_more_than_words(name, words):
    assert full_name_score(list(name)) > 0 > full_name_score([words[0], words[1:]])


def test_a_transliterated_name_scores_more_than_words():
    assert foreign_name_score(["拉加", "德"]) > 3 > foreign_name_score(["大", "西瓜"])
    assert {*"斯尔娜三"} - {*foreign_characters()} == {"三"}


def test_listed_names_are_scored_against_the_words_in_them():
    assert name_scores("李明")["full"] > 0 > name_scores("太棒了")["full"]
    assert name_scores("安娜")["foreign"] > 0 > name_scores("白菜")["foreign"]
    assert name_scores("招聘启事").keys() == {"foreign"}  # no full name has four characters
