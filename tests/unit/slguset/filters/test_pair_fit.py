import pytest

from evenhand.slguset.filters.pair_fit import pair_fit
from unit.slguset.filters.filter_cases import judge


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("他是一名热血男儿。", None),
        ("这群热血男儿很勇敢。", "男儿"),
        ("英国女王出席了仪式。", "女王"),
        ("我们把歌献给祖国母亲。", "祖国母亲"),
        ("我的母亲爱祖国。", None),
        ("几名女排队员在训练。", None),
        ("一位女教师走进教室。", None),
    ],
)
def test_words_whose_opposite_does_not_fit(tmp_path, sentence, evidence):
    assert judge(tmp_path, pair_fit, sentence) == (evidence and "pair_fit", evidence)


def test_only_the_word_over_the_keyword_counts(tmp_path):
    assert judge(tmp_path, pair_fit, "男儿当自强，她说。", only="她") == (None, None)
