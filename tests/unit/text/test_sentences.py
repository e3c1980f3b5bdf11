import csv
import re
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.sentences import (
    ENDERS,
    is_kept,
    normalise,
    normalise_all,
    repair_quotes,
    split_all,
    split_sentences,
)
from unit.cases import read_cases

texts = st.text(
    alphabet="他说好女人。？！?!“”‘’「」『』《》（）\"'()【】,.，：…1１ aＡ\n\u3000·\0\ufffd▲々𠮷",
    max_size=40,
)


@pytest.mark.parametrize(("text", "expected"), read_cases(__file__, "normalised"))
def test_normalise_keeps_chinese_digits_and_punctuation(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(("text", "expected"), read_cases(__file__, "sentences"))
def test_split_cuts_behind_enders_and_repairs_quotes(text, expected):
    assert "|".join(split_sentences(text)) == expected


def test_repair_leaves_nothing_unmatched_within_nesting():
    assert repair_quotes("他“一“二。") == "他“一“二””。"
    assert repair_quotes("””“一。") == "一。"


@given(texts)
def test_normalise_is_idempotent(text):
    once = normalise(text)
    assert normalise(once) == once


@given(texts)
def test_normalise_agrees_with_the_rule_for_single_characters(text):
    kept = "".join(c for c in text if is_kept(c))
    assert normalise(text).replace(".", "") == kept.replace(".", "")


@given(texts)
def test_splitting_is_idempotent_and_normal(text):
    for sentence in split_sentences(normalise(text)):
        assert normalise(sentence) == sentence
        assert split_sentences(sentence) == [sentence]
        assert sentence.count("“") == sentence.count("”")


@given(st.lists(texts, max_size=6))
def test_paragraphs_are_split_together_as_each_alone(paragraphs):
    normal = normalise_all(paragraphs)
    sentences = split_all(normal)
    strings = sentences.strings()
    by_paragraph = [strings[i:j] for i, j in pairwise([0, *sentences.counts.tolist()])]
    assert by_paragraph == [split_sentences(paragraph) for paragraph in normal.split("\n")]


@given(texts)
def test_splitting_loses_only_quotes_and_lone_enders(text):
    whole = normalise(text)
    strip = str.maketrans("", "", "“”‘’「」『』》〉）】)\"'" + ENDERS)
    assert "".join(split_sentences(whole)).translate(strip) == whole.translate(strip)


def test_every_code_point_is_judged_alike_alone_and_in_text():
    characters = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if character != "." and unicodedata.category(character) not in ("Cn", "Cs", "Co")
    ]
    kept = [character if is_kept(character) else "" for character in characters]
    assert normalise_all(characters).split("\n") == kept


@pytest.mark.mirror
def test_the_authors_sentences_come_back(mirror):
    """All but those whose quotes the authors left unrepaired, and two garbled ones."""
    with (mirror / "chinese_gender/slguset/SlguSet.csv").open(encoding="utf-8") as stream:
        sentences = [row["句子"] for row in csv.DictReader(stream)]
    changed = [s for s in sentences if split_sentences(normalise(s)) != [s]]
    quotes = [s for s in changed if not re.fullmatch("[^“”]*(?:“[^“”]*”[^“”]*)*[。？！?]", s)]
    # "?," stands in two sentences whose bytes were garbled after the authors had cut them
    garbled = [s for s in changed if re.search(r"\?,", s)]
    assert all(normalise(s) == s for s in sentences)
    assert (len(changed), len(quotes), len(garbled)) == (94, 92, 2)
