"""Whether a word that jieba tags as a name is one."""

import pytest

from evenhand.core.places import ROOT
from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.slguset.name_weights import NameWeights, read_weights
from evenhand.slguset.names import read_surnames
from evenhand.text.posseg import NameToken, find_names
from evenhand.text.segmentation import cut

TABLES = ROOT / "resources/packs/zh_gender"


@pytest.fixture(scope="module")
def weights():
    return read_weights(TABLES / "name_weights.csv", read_surnames(TABLES / "surnames.csv"))


@pytest.mark.parametrize(
    ("sentence", "names", "others"),
    [
        ("她考完试就和张伟回家了。", ["张伟"], ["考完试"]),
        ("孔子才明白误会他了。", ["孔子"], ["明白"]),
        ("她在房屋中介公司遇见安娜。", ["安娜"], ["房屋中介"]),
        ("他把双扇门关上，去找郑和。", ["郑和"], ["双扇门"]),
        ("她把招聘启事给了谢晓娟。", ["谢晓娟"], ["招聘启事"]),
        ("离婚申请书交给法官后，王小波便签字同意了。", ["王小波"], ["申请书"]),
        ("玛丽接着走进教室练瑜珈。", ["玛丽"], ["练瑜珈"]),
        ("诗人的虚构能力远大于李白。", ["李白"], ["远大于"]),
        ("孩子出生时33周，妈妈哈哈一笑，恩。", [], ["周", "恩"]),
        ("他从汉英词典里找到了李娜的信。", ["李娜"], ["汉英词典"]),
    ],
)
def test_form_and_context_tell_names_from_words(weights, sentence, names, others):
    words = cut(sentence)
    judged = {name.word: weights.is_name(words, name) for name in find_names([sentence])[0]}
    assert judged == dict.fromkeys(names, True) | dict.fromkeys(others, False)


def test_features_have_kind_tags_and_marks():
    weights = NameWeights({}, {"张": False, "麦": True})
    name = NameToken("麦克", "nr", 2, 4)
    features = weights.features(["男", "：", "麦克", "，", "你好", "。"], name)
    assert [key for key, value in features.items() if value == 1] == [
        *("always", "listed 2", "nr", "before x", "after x", "between colon and pause 2"),
        "no next 2",
    ]
    assert 2 > features["foreign listed 2"] > features["full listed 2"] > 1
    measure = weights.features(["三", "张", "卡"], NameToken("张", "nr", 1, 2))
    assert {"a measure", "joined 1 surname", "between text and text 1"} < measure.keys()
    assert {"behind 三", "in front of 卡"} < measure.keys()
    place = weights.features(["去", "张家", "村"], NameToken("张家", "nrfg", 1, 3))
    assert {"before a place", "listed 2 surname"} < place.keys()
    surname = weights.features(["见", "王", "小波", "了"], NameToken("王", "nr", 1, 2))
    assert surname["with next 1"] > measure["with next 1"]
    book = weights.features(["申请书"], NameToken("申请书", "nr", 0, 3))
    assert book["begins with a word listed 3"] > 1 and book["rare characters listed 3"] == 2
    last = weights.features(["小", "张村"], NameToken("小张村", "nr", 0, 3))
    assert {"ends like a place", "familiar joined 3", "before end", "after end"} < last.keys()


def test_every_weight_belongs_to_a_feature():
    rows = read_resource(TABLES / "name_weights.csv", ["feature", "weight"], unique=("feature",))
    starts = ("listed ", "joined ", "full ", "foreign ", "familiar ", "before ", "after ")
    starts += ("behind ", "in front of ", "begins with a word ", "ends with a word ", "with next ")
    starts += ("no next ", "rare characters ")
    others = {"always", "a measure", "ends like a place", "before a place", "nr", "nrt", "nrfg"}
    for row in rows:
        assert row["feature"].startswith((*starts, "between ")) or row["feature"] in others


@pytest.mark.parametrize("weight", ["much", "nan", "inf"])
def test_a_weight_is_a_finite_number(tmp_path, weight):
    table = tmp_path / "name_weights.csv"
    table.write_text(f"feature,weight\nalways,{weight}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f":2: the weight '{weight}' is no finite number"):
        read_weights(table, {})
