import random
import re

import pytest

from evenhand.errors import InputError
from evenhand.slguset.filters.names_jieba import make_check, names_jieba
from evenhand.slguset.names import judge_names, read_rules
from unit.slguset.name_rows import read_reasons, write_keywords
from unit.text.reference_posseg import reference_tags


@pytest.fixture
def tables(repository):
    folder = repository / "resources/slguset"
    return {"surnames": folder / "surnames.csv", "titles": folder / "titles.csv"}


def test_names_and_forms(tmp_path, tables):
    keywords = write_keywords(
        tmp_path / "keywords.parquet",
        [
            ("昨天王小丫和李明看望了他。", "他"),
            ("这位阿姨的老公很和气。", "阿姨"),
            ("小区里的阿姨很和气。", "阿姨"),
            ("嫌疑人赵某打了她。", "她"),
            ("他对王阿姨说了实话。", "阿姨"),
            ("她是一位文明的顾客。", "她"),
        ],
    )
    out = tmp_path / "names.parquet"
    counts = names_jieba(keywords=keywords, out=out, **tables)
    assert read_reasons(out) == [
        ("name", "王小丫、李明"),
        ("name", "老公"),
        (None, None),
        ("anonymised_name", "赵某"),
        ("surname_title", "王阿姨"),
        ("name", "文明、顾客"),
    ]
    assert counts == {
        "sentences": 6,
        "passed": 1,
        "reasons": {"anonymised_name": 1, "name": 3, "surname_title": 1},
    }


def test_stop_words(tmp_path, tables, repository):
    keywords = write_keywords(
        tmp_path / "keywords.parquet",
        [("她是一位文明的顾客。", "她"), ("她和李明是文明的顾客。", "她")],
    )
    out = tmp_path / "names.parquet"
    stop_words = repository / "resources/slguset/name_stop_words.csv"
    names_jieba(keywords=keywords, out=out, stop_words=stop_words, **tables)
    assert read_reasons(out) == [(None, None), ("name", "李明")]


def test_a_policy_is_kept(tmp_path, tables):
    keywords = write_keywords(tmp_path / "keywords.parquet", [("嫌疑人赵某打了她。", "她")])
    out = tmp_path / "names.parquet"
    names_jieba(keywords=keywords, out=out, anonymised="keep", **tables)
    assert read_reasons(out) == [(None, None)]


def test_a_table_without_its_column_is_an_input_error(tmp_path, tables):
    keywords = write_keywords(tmp_path / "keywords.parquet", [("她在。", "她")])
    stop_words = tmp_path / "stop.csv"
    stop_words.write_text("name\n文明\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column word"):
        names_jieba(keywords=keywords, out=tmp_path / "o", stop_words=stop_words, **tables)


@pytest.mark.mirror
@pytest.mark.parametrize("policy", ["drop", "keep"])
def test_decisions_are_those_of_jieba_posseg(mirror, tables, policy):
    text = (mirror / "chinese_news/cnews/cnews.test.txt").read_text(encoding="utf-8")
    policies = dict.fromkeys(("anonymised", "surname_title", "familiar"), policy)
    rules = read_rules(tables["surnames"], tables["titles"], **policies)
    check = make_check(rules)
    sentences = [s for s in re.findall("[^。？！\n]+[。？！]?", text) if "他" in s or "她" in s]
    for sentence in random.Random(3).sample(sentences, 500):
        surface = re.search("[他她]", sentence).span()
        names = []
        at = 0
        for word, flag in reference_tags(sentence):
            if flag in ("nr", "nrt", "nrfg"):
                names.append((at, at + len(word)))
            at += len(word)
        assert check(sentence, *surface) == judge_names(sentence, surface, names, rules)
