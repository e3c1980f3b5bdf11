import csv
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.sentences import (
    ENDERS,
    is_kept,
    normalise,
    normalise_all,
    repair_quotes,
    split_sentences,
)

texts = st.text(
    alphabet="他说好女人。？！?!“”‘’「」『』《》（）\"'()【】,.，：…1１ aＡ\n\u3000·\0\ufffd▲々𠮷",
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u3000\u3000她 穿 T恤。\n", "她穿恤。"),
        ("她说,好", "她说,好"),
        ("ＷＴＯ组织２.５％，1.5元", "组织２.５％，1.5元"),
        ("1.她去www.a.com看", "1她去看"),
        ("●她▲去了■这里😀", "她去了这里"),
        ("约5℃,+2~3×4°", "约5℃,+2~3×4°"),
        ("坏\ufffd字\u200b\ufeff", "坏\ufffd字"),
        ("Путин和の人々𠮷", "Путин和の人々𠮷"),
        ("彼は病院で働いている。", "彼は病院で働いている。"),
        ("Ｔ恤 cafe\u0301 ✌\ufe0f", "恤"),
        ("", ""),
    ],
)
def test_normalise_keeps_chinese_digits_and_punctuation(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("她来了。他走了！真的吗？！是", ["她来了。", "他走了！", "真的吗？！", "是"]),
        ("什么?她问。好!他说。", ["什么?", "她问。", "好!他说。"]),
        ("她想……走。", ["她想……走。"]),
        ("他说：“今天很好。明天呢？”她问。", ["他说：“今天很好”。", "明天呢？", "她问。"]),
        ("“她来。他走。”完", ["她来。", "他走。", "完"]),
        ("“爽文”好。", ["“爽文”好。"]),
        ("他说“这“刺激”，好。", ["他说“这“刺激”，好”。"]),
        ("好吗“？", ["好吗？"]),
        ("所谓“”组织。", ["所谓“”组织。"]),
        ("他说：“走。”。”", ["他说：“走”。"]),
        ("‘她来。’他说。", ["她来。", "他说。"]),
        ("她說：「好。」他走了。", ["她說：「好」。", "他走了。"]),
        ("她說：「他問『誰？』後走了。」", ["她說：「他問『誰』」？", "後走了。"]),
        ('她说："好。"他走了。', ["她说：“好”。", "他走了。"]),
        ("她说：'好。'他走了。", ["她说：‘好’。", "他走了。"]),
        ("《你好吗？》很受欢迎。", ["《你好吗？》很受欢迎。"]),
        ("他走了（真的！），她没有。", ["他走了（真的！），她没有。"]),
        ("他走了。（完。）她来了。", ["他走了。", "（完。）", "她来了。"]),
        ("》很受欢迎。", ["很受欢迎。"]),
        ("", []),
    ],
)
def test_split_cuts_behind_enders_and_repairs_quotes(text, expected):
    assert split_sentences(text) == expected


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
    assert normalise_all(characters) == kept


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
