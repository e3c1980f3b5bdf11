import pytest

from evenhand.core.places import ROOT
from evenhand.slguset.names import find_forms, judge_names, read_rules

FILES = {path.name: path for path in (ROOT / "resources/packs/zh_gender").glob("*.csv")}
RULES = read_rules(FILES)


def forms(sentence):
    return sorted(
        (sentence[span.start : span.end], reason) for span, reason in find_forms(sentence, RULES)
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("警方抓获了王某和李某某。", [("李某某", "anonymised_name"), ("王某", "anonymised_name")]),
        ("张某甲的妻子报了警。", [("张某甲", "anonymised_name")]),
        ("某公司的男职员在某地等候。", []),
        ("浙江某公司的女职员等候。", []),
        ("在某种意义上她是对的。", []),
        ("他对王阿姨说了实话。", [("王阿姨", "surname_title")]),
        ("她把信交给了欧阳先生。", [("欧阳先生", "surname_title")]),
        ("她的语文老师来了。", []),
        ("她和老师说话。", []),
        ("她把信交给了李先生。", [("李先生", "surname_title")]),  # one word of the dictionary
        ("他在工地施工。", []),
        ("小王和老李是他的同事。", [("小王", "familiar_name"), ("老李", "familiar_name")]),
        ("后来阿强把她送回了家。", [("阿强", "familiar_name")]),
        ("小张在等她。", [("小张", "familiar_name")]),  # one word of the dictionary
        ("他过上了小康生活。", []),
        ("老牛在吃草。", []),  # a word of the dictionary that is no name, with a surname in it
        ("她的阿爸来了。", []),
        ("他们去了吴哥。", []),  # Angkor
        ("阿姨和阿婆都来了。", []),
        ("阿拉伯的男人来了。", []),
        ("他老了，她还小。", []),
        ("黄1某把钱给了她。", [("黄1某", "anonymised_name")]),
        ("尕某某和米某某打了她。", [("尕某某", "anonymised_name"), ("米某某", "anonymised_name")]),
        ("他在某某公司上班。", []),
        ("被告人许全德，男，无业。", [("许全德", "name")]),
        ("证人张伟的儿子作证。", [("张伟", "name")]),
        ("被告人高兴地走了。", []),
        ("被告人于军，男，无业。", [("于军", "name")]),
        ("被告人自报平宪明，曾用名平贤明，男。", [("平宪明", "name"), ("平贤明", "name")]),
        ("被告人全勇于2018年到案。", [("全勇", "name")]),
        ("被告人供述，男孩当时不在。", []),
        ("被害人方的父亲来了。", []),
        ("上诉人（原审被告人）平宪明，男，无业。", [("平宪明", "name")]),
        ("原告：李，女，居民。", [("李", "name")]),
        ("接到张伟民（男，四十岁）的电话。", [("张伟民", "name")]),
        ("死者，男，约三十岁。", []),
        ("原告：专某1，女，居民。", [("专某", "anonymised_name")]),
        ("被害人苏×（女）没有受伤。", [("苏×", "anonymised_name")]),
        ("任**在家里等她。", [("任**", "anonymised_name")]),
        ("后赵某甲打了借条。", [("赵某甲", "anonymised_name")]),
        ("有人将他庆某带到了农场。", [("他庆某", "anonymised_name")]),
        ("于某的笔录证实了此事。", [("于某", "anonymised_name")]),
        ("它来自于某酒业公司的广告。", []),
        ("他在于某年某月出生。", []),
        ("当晚没看见韩宁宁手里有东西。", [("韩宁宁", "name")]),
        ("对方渐渐冷静了下来。", []),
        ("台北市长柯文哲一样失言。", [("柯文哲", "name")]),
        ("老师高兴地说她很聪明。", []),
        ("校长常说她很聪明。", []),
        ("沈政男表示不能同意。", [("沈政男", "name")]),
        ("他是一个宅男，不爱出门。", []),
        ("这是付永平操作的。", [("付永平", "name")]),
        ("我问石命娃怎么回事。", [("石命娃", "name")]),
        ("她买了五张贺卡。", []),
        ("他寄来那张写满了字。", []),
        ("有张纸写着她的名字。", []),
        ("45岁宋女涉嫌诈骗。", [("宋女", "surname_title")]),
        ("她跟着陈妇走了。", [("陈妇", "surname_title")]),
        ("五万女教师来了。", []),
        ("他往返于北京和上海。", []),
        ("昨天包增伟在等她。", [("包增伟", "name")]),  # likelier a name than 包|增|伟
        ("昨天容雪芳在等她。", [("容雪芳", "name")]),  # a surname that the table lacks
        ("现在王宝女同意了。", [("王宝女", "name")]),
        ("她买了一包红糖。", []),
        ("叔叔上门查管道。", []),
        ("高颜色的男装。", []),
        ("昨天拉加德对她说了实话。", [("拉加德", "name")]),
        ("总理巴拉克说她来了。", [("巴拉克", "name")]),  # a place to the dictionary
        ("部长洛纳说她来了。", [("洛纳", "name")]),
        ("议员上海的家里有她。", []),
        ("总理认为她是对的。", []),
        ("后来，孙辩称没有打她。", [("孙", "name")]),
        ("后来，常在家里等她。", []),
        ("她把解某送到医院。", [("解某", "anonymised_name")]),
        ("后来路某开车来了。", [("路某", "anonymised_name")]),
        ("她住在路某号楼。", []),
    ],
)
def test_forms(sentence, expected):
    assert forms(sentence) == expected


def span(sentence, word):
    return sentence.index(word), sentence.index(word) + len(word)


def test_a_name_comes_before_the_forms_and_all_are_evidence():
    sentence = "王阿姨和李明一起看望她的同事小张。"
    names = [span(sentence, "王"), span(sentence, "李明"), span(sentence, "张")]
    finding = judge_names(sentence, span(sentence, "她"), names, RULES)
    assert finding == ("name", ["王阿姨", "李明", "小张"])


@pytest.mark.parametrize(
    ("sentence", "form", "reason", "policy"),
    [
        ("嫌疑人赵某打了她。", "赵某", "anonymised_name", "anonymised"),
        ("她把钱给了李先生。", "李先生", "surname_title", "surname_title"),
        ("她把钱给了小王。", "小王", "familiar_name", "familiar"),
    ],
)
def test_policies(sentence, form, reason, policy):
    names = [span(sentence, form)]
    surface = span(sentence, "她")
    assert judge_names(sentence, surface, names, RULES) == (reason, [form])
    assert judge_names(sentence, surface, [], RULES) == (reason, [form])
    kept = read_rules(FILES, {policy: "keep"})
    assert judge_names(sentence, surface, names, kept) is None
    longer = [(names[0][0] - 1, names[0][1])]  # a name that is more than the form
    assert judge_names(sentence, surface, longer, kept).reason == "name"
    others = judge_names("赵某、李先生和小王来了。", (0, 0), [], kept)
    assert len(others.evidence) == 2 and form not in others.evidence


def test_a_name_that_contains_the_keyword_is_a_name():
    finding = judge_names("昨天张胜男来了。", (4, 5), [(2, 5)], RULES)
    assert finding == ("name", ["张胜男"])
