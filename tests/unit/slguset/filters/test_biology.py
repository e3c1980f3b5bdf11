import pytest

from evenhand.slguset.filters.biology import biology
from unit.slguset.filters.filter_cases import judge


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("她怀孕三个月了。", "怀孕"),
        ("哺乳期的女职工可以提前下班。", "哺乳"),
        ("他因前列腺炎住院。", "前列腺"),
        ("准妈妈们来听课。", "准妈妈"),
        ("她研究哺乳动物。", None),
        ("他们厂生产一流产品，他很自豪。", None),
        ("她说合同已经期满。", None),
        ("他说项目投产后效益很好。", None),
        ("她把孩子养大。", None),
    ],
)
def test_words_of_biological_sex(tmp_path, sentence, evidence):
    assert judge(tmp_path, biology, sentence) == (evidence and "biology", evidence)
