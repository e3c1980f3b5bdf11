import re
from collections import Counter
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.slguset.apply_filters import apply_filters
from evenhand.slguset.find_keywords import judge_sentence, read_word_rules
from evenhand.slguset.keyword_tables import SCHEMA
from evenhand.slguset.keywords import read_keywords

TABLES = Path(__file__).resolve().parents[3] / "resources/packs/zh_gender"


@cache
def tables():
    keywords = read_keywords(TABLES / "keywords.csv")
    return keywords, read_word_rules(TABLES / "keyword_words.csv", keywords)


def judge(sentence, **limits):
    return judge_sentence(sentence, *tables(), **limits)


def run(tmp_path, sentences, **options):
    path = tmp_path / "sentences.parquet"
    rows = [
        {
            "sentence_id": f"{i:016x}",
            "sentence": s,
            "source": "a",
            "source_position": i,
            "copies": 1,
        }
        for i, s in enumerate(sentences)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    apply_filters(
        sentences=path,
        keywords=TABLES / "keywords.csv",
        keyword_words=TABLES / "keyword_words.csv",
        out=tmp_path / "out.parquet",
        filters=[],
        **options,
    )
    return pq.read_table(tmp_path / "out.parquet").drop_columns("findings")


@pytest.mark.parametrize(
    ("sentence", "surface", "word"),
    [
        ("一名女教师走进教室。", "女", "女"),
        ("这位男青年很热心。", "男", "男青年"),
        ("中国女排赢了。", "女", "中国女排"),
        ("小女孩笑了。", "女孩", "小女孩"),
        ("女人们在河边洗衣。", "女人", "女"),
        ("他从小喜欢画画。", "他", "他"),
        ("记者帮他处理这件事。", "他", "他"),
        ("我的老公在上班。", "老公", "老公"),
        ("姥姥家有一棵枣树。", "姥姥", "姥姥家"),
        ("那位美女人气很高。", "女", "美女"),
        ("老父亲在门口等着。", "父亲", "老父亲"),
    ],
)
def test_gender_terms_are_accepted(sentence, surface, word):
    hit = judge(sentence)
    assert (hit.verdict, hit.surface.surface, hit.word) == ("accepted", surface, word)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("他弹吉他。", "several_keywords"),
        ("那把吉他很贵。", "not_a_gender_term"),
        ("警方排除他杀。", "not_a_gender_term"),
        ("其他人都走了。", "not_a_gender_term"),
        ("香港及其他地区也有雨。", "not_a_gender_term"),
        ("及其他处理办法由法院决定。", "not_a_gender_term"),
        ("不得干涉他国内政。", "not_a_gender_term"),
        ("他们都走了。", "not_a_gender_term"),
        ("身在异域他乡的人。", "not_a_gender_term"),
        ("祖父亲手种下这棵树。", "not_a_gender_term"),
        ("对外公布了结果。", "not_a_gender_term"),
        ("他是将门之后，这是他的女儿。", "several_keywords"),
        ("这位将门之女很勇敢。", "not_a_gender_term"),
        ("子女应当孝敬老人。", "deny_listed"),
        ("东北的女川恢复了供电。", "not_a_gender_term"),
        ("保护妇女儿童的权益。", "deny_listed"),
        ("中华儿女多奇志。", "deny_listed"),
        ("农村妇女学会了电脑。", "deny_listed"),
        ("黄河是我们的母亲河。", "deny_listed"),
        ("男女老少都来了。", "several_keywords"),
        ("天气很好。", "no_keyword"),
    ],
)
def test_what_is_no_single_gender_term_is_not(sentence, verdict):
    assert judge(sentence).verdict == verdict


def test_a_longer_allowed_word_overrules_a_denied_one_and_the_reverse(tmp_path):
    keywords, _ = tables()
    path = tmp_path / "words.csv"
    path.write_text("word,rule,keyword\n妇女,deny,女\n中年妇女,allow,女\n", encoding="utf-8")
    rules = read_word_rules(path, keywords)
    assert judge_sentence("中年妇女来了。", keywords, rules).verdict == "accepted"
    assert judge_sentence("农村妇女来了。", keywords, rules).verdict == "deny_listed"


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("多次盗窃他人财物。", "not_a_gender_term"),
        ("侮辱他人人格的行为。", "not_a_gender_term"),
        ("危害他人生命的行为。", "not_a_gender_term"),
        ("伙同他人在北京盗窃。", "not_a_gender_term"),
        ("他人在北京，心在家里。", "accepted"),
        ("这是他人生中的第一步。", "accepted"),
        ("证人他某到庭作证。", "not_a_gender_term"),
        ("他某天忽然回来了。", "accepted"),
        ("改日他日再谈此事。", "not_a_gender_term"),
        ("他日常在家里看书。", "accepted"),
        ("经鉴定系他杀无误。", "not_a_gender_term"),
        ("他杀害了一名邻居。", "accepted"),
        ("该伤情系他伤形成。", "not_a_gender_term"),
        ("他伤心地离开了。", "accepted"),
        ("该船与他船碰撞。", "not_a_gender_term"),
        ("货物已经运往他处。", "not_a_gender_term"),
        ("占用耕地改作他用。", "not_a_gender_term"),
        ("他处理了这件事情。", "accepted"),
        ("他乡下的房子很大。", "accepted"),
        ("一方死亡而他方生存。", "not_a_gender_term"),
        ("贝他版本也是测试产品。", "not_a_gender_term"),
        ("他汀类药物可以降脂。", "not_a_gender_term"),
        ("起初她包括三个州。", "not_a_gender_term"),
        ("婚生子/女由被告抚养。", "not_a_gender_term"),
    ],
)
def test_what_follows_a_pronoun_decides_by_its_characters(sentence, verdict):
    assert judge(sentence).verdict == verdict


def test_string_rules_come_before_words():
    assert judge("妇女", whole_sentences=True).verdict == "unfinished"
    assert judge("妇女。", min_length=4).verdict == "length"
    assert judge("妇女。", max_length=2).verdict == "length"
    assert judge("他和她", whole_sentences=True).verdict == "several_keywords"
    assert (
        judge("妇女。", min_length=3, max_length=3, whole_sentences=True).verdict == "deny_listed"
    )
    assert judge("“她来了。”", whole_sentences=True).verdict == "accepted"
    assert judge("妇女", whole_sentences=True).word is None


def test_every_row_is_written_in_order_with_its_columns(tmp_path):
    sentences = ["我的老公昨天在上班。", "他和她。", "妇女。", "姥姥家有一棵大枣树。"]
    table = run(tmp_path, sentences)
    assert table.schema.equals(SCHEMA)
    rows = table.to_pylist()
    assert [row["sentence"] for row in rows] == sentences
    assert rows[0] | {"sentence_id": None} == {
        "sentence_id": None,
        "sentence": "我的老公昨天在上班。",
        "source": "a",
        "source_position": 0,
        "copies": 1,
        "pair": "公/婆",
        "surface": "老公",
        "surface_opposite": "老婆",
        "keyword": "公",
        "opposite": "婆",
        "gender": "male",
        "start": 3,
        "end": 4,
        "surface_start": 2,
        "surface_end": 4,
        "word": "老公",
        "verdict": "accepted",
    }
    assert {rows[1][name] for name in SCHEMA.names[5:-1]} == {None}
    assert (rows[2]["surface"], rows[2]["start"], rows[2]["word"]) == ("女", 1, None)


def test_impossible_lengths_are_an_error(tmp_path):
    with pytest.raises(InputError, match="at least 20 and at most 10"):
        run(tmp_path, ["她来了。"], min_length=20, max_length=10)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "妇女,forbid,女",
            "the rule is 'forbid'; write one of allow, deny, not_before, before, opens_before",
        ),
        ("公主,deny,公主", "the keyword is '公主'"),
        ("公主,deny,女", "公主 does not contain 女"),
    ],
)
def test_a_table_of_words_that_cannot_be_right_is_an_error(tmp_path, row, message):
    path = tmp_path / "words.csv"
    path.write_text(f"word,rule,keyword\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"words.csv:2: {message}")):
        read_word_rules(path, tables()[0])


parts = st.sampled_from([*"男女人儿子他她们父母亲老公婆外爷姥妈在的，。教师妇1生友孩其"])


@given(st.lists(parts, min_size=1, max_size=14).map("".join))
def test_offsets_always_slice_the_keyword(sentence):
    hit = judge(sentence)
    count = len(tables()[0].pattern.findall(sentence))
    assert (hit.surface is None) == (count != 1)
    assert (hit.verdict in ("several_keywords", "no_keyword")) == (count != 1)
    if hit.surface:
        surface = hit.surface
        end = hit.surface_start + len(surface.surface)
        start = hit.surface_start + surface.offset
        assert sentence[hit.surface_start : end] == surface.surface
        assert sentence[start : start + len(surface.keyword)] == surface.keyword
        swapped = sentence[:start] + surface.opposite + sentence[start + len(surface.keyword) :]
        assert swapped[hit.surface_start :].startswith(surface.surface_opposite)
    if hit.verdict == "accepted":
        assert hit.surface.keyword in hit.word or hit.word in hit.surface.keyword


@pytest.mark.mirror
def test_the_rule_keeps_the_authors_sentences(mirror):
    lines = (mirror / "chinese_gender/slguset/SlguSet.csv").read_text(encoding="utf-8")
    sentences = [line.split(',"[')[0].strip('"') for line in lines.splitlines()[1:]]
    limits = {"min_length": 9, "max_length": 119, "whole_sentences": True}
    verdicts = Counter(judge(s, **limits).verdict for s in sentences)
    assert sum(verdicts.values()) == 20_000
    assert verdicts["accepted"] >= 19_980
    assert verdicts["several_keywords"] == verdicts["no_keyword"] == verdicts["length"] == 0
