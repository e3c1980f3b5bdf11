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
from evenhand.slguset.keywords import read_keywords
from evenhand.slguset.surface_pairs import SCHEMA
from unit.cases import read_cases

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
    ("sentence", "verdict", "surface", "word"), read_cases(__file__, "keywords")
)
def test_gender_terms(sentence, verdict, surface, word):
    hit = judge(sentence)
    assert hit.verdict == verdict
    if surface:
        assert (hit.surface.surface, hit.word) == (surface, word)


def test_a_longer_allowed_word_overrules_a_denied_one_and_the_reverse(tmp_path):
    keywords, _ = tables()
    path = tmp_path / "words.csv"
    path.write_text("word,rule,keyword\n妇女,deny,女\n中年妇女,allow,女\n", encoding="utf-8")
    rules = read_word_rules(path, keywords)
    assert judge_sentence("中年妇女来了。", keywords, rules).verdict == "accepted"
    assert judge_sentence("农村妇女来了。", keywords, rules).verdict == "deny_listed"


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
    assert {rows[1][name] for name in SCHEMA.names[5:-1]} == {None, "他、她"}
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
        ("一[位名,only_after_pattern,女", "一[位名 is no regular expression (unterminated"),
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
    assert verdicts["accepted"] >= 19_975
    assert verdicts["several_keywords"] == verdicts["no_keyword"] == verdicts["length"] == 0
