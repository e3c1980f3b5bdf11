import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.places import ROOT
from evenhand.slguset.names import find_forms, name_filter, read_rules
from evenhand.text.segmentation import cut
from unit.cases import read_cases

FILES = {path.name: path for path in (ROOT / "resources/packs/zh_gender").glob("*.csv")}
RULES = read_rules(FILES)


TABLES = [FILES[f"{name}.csv"].read_text(encoding="utf-8") for name in ("roles", "titles")]
PIECES = st.one_of(
    st.sampled_from([line.split(",")[0] for table in TABLES for line in table.split()]),
    st.sampled_from(
        list(
            "王李张查师何小老阿某甲男女妇翁嫌薇琳太次郎辩称说在的又多再次供述，。（）·*＊×：1明强梅"
        )
    ),
    st.sampled_from(["三浦", "阿部", "比利", "斯坦尔", "曾用名", "被告人"]),
)


def forms(sentence):
    found = find_forms(sentence, cut(sentence), RULES)
    return sorted((sentence[span.start : span.end], reason) for span, reason in found)


def judge_names(sentence, surface, names, rules):
    """Judge a sentence behind another one."""
    judge = name_filter(lambda sentences, words: [[], names], rules)
    _, finding = judge(["她来了。", sentence], [0, surface[0]], [1, surface[1]])
    return finding


@pytest.mark.parametrize(("sentence", "expected"), read_cases(__file__, "names"))
def test_forms(sentence, expected):
    assert " ".join(map("=".join, forms(sentence))) == expected


@given(st.lists(PIECES, max_size=8).map("".join))
def test_no_form_matches_without_its_trigger(sentence):
    (triggered,) = RULES.triggers.search([sentence])
    patterns = [*(form.pattern for form in RULES.forms), RULES.foreign]
    matching = [n for n, pattern in enumerate(patterns) if pattern.search(sentence)]
    assert [n for n in matching if not triggered >> n & 1] == []


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
