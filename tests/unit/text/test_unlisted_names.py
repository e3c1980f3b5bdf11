import pytest

from evenhand.text.unlisted_names import (
    foreign_characters,
    foreign_name_score,
    full_name_score,
)


@pytest.mark.parametrize(
    ("name", "words"), [("包增伟", "包蛋饺"), ("张成泽", "张嘴巴"), ("容雪芳", "容易吗")]
)
def test_a_full_name_scores_more_than_words(name, words):
    assert full_name_score(list(name)) > 0 > full_name_score([words[0], words[1:]])


def test_a_transliterated_name_scores_more_than_words():
    assert foreign_name_score(["拉加", "德"]) > 3 > foreign_name_score(["大", "西瓜"])
    assert {*"斯尔娜三"} - {*foreign_characters()} == {"三"}
