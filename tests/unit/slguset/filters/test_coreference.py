import pytest

from evenhand.slguset.filters.coreference import coreference
from unit.slguset.filters.filter_cases import judge


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("弟弟在前面跑，兄弟俩玩得很开心。", "兄弟、兄弟俩"),
        ("他是个阳光的小伙子。", "小伙、小伙子"),
        ("她给小伙子让了座。", None),
        ("他和小伙伴一起上学。", None),
        ("她带着孩子回娘家。", "娘家"),
        ("这对夫妻都夸丈夫能干。", "夫妻"),
        ("他给这对夫妻拍了照。", None),
        ("他向老先生请教。", "先生"),
        ("他首先生产口罩。", None),
        ("女儿出嫁那天下了雨。", "出嫁"),
        ("一位女教师走进教室。", None),
    ],
)
def test_words_that_tell_the_same_gender(tmp_path, sentence, evidence):
    assert judge(tmp_path, coreference, sentence) == (evidence and "coreference", evidence)
