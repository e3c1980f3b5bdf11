"""Our tags against jieba.posseg's own, on made and on real text."""

import random
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text import posseg
from evenhand.text.segmentation import token_at
from unit.text.reference_posseg import reference, reference_tags

WORDS = sorted(posseg.dictionary_tags())
RARE = [chr(code) for code in range(0x4E00, 0x9FD6)][::7]
SURNAMES_AND_SMALL_WORDS = list("王李张陈刘赵孙欧阳司马小老阿某们的了他她和在大国说把被与同")
MARKS = list("，。、：；！？“”‘’（）《》…—·.+#&_%-@/ \t\r\n\u3000～％－①ＡＢ１２é")
AWKWARD = ["\r\n", "c#", "γ射线"]
OTHER_SCRIPTS = list("㐀䶵龥龦鿕鿖鿿豈﨎𠀀𪛖αжのハ한")

PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(sorted(posseg.dictionary_names())),
    st.sampled_from(RARE),
    st.sampled_from(SURNAMES_AND_SMALL_WORDS),
    st.sampled_from(MARKS),
    st.sampled_from(AWKWARD),
    st.sampled_from(OTHER_SCRIPTS),
    st.sampled_from(list("0123456789abcXYZ")),
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)


def check(text: str) -> None:
    expected = reference_tags(text)
    assert posseg.tag_words([text]) == [expected]
    (names,) = posseg.find_names([text])
    assert [(n.word, n.flag) for n in names] == [t for t in expected if t[1] in posseg.NAME_TAGS]
    assert all(text[n.start : n.end] == n.word for n in names)


@given(TEXTS)
def test_random_strings_are_tagged_as_by_jieba(text):
    check(text)


@given(st.text(max_size=30))
def test_any_unicode_is_tagged_as_by_jieba(text):
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\r\n4\r\n",
        "0c#c#0",
        "他和小明、王小丫、李某某去了T恤店3.14次，用了iPhone12和5G网络。",
        "阿姨和老公说：“妞妞乖！”",
        "克里斯蒂娜·费尔南德斯与司马懿",
        "50%-60%的人",
        "了的在" * 30,
        "龦鿕" * 10,
    ],
)
def test_awkward_strings_are_tagged_as_by_jieba(text):
    check(text)


@given(st.text(alphabet="他她女男其吉儿们人的，。a1", min_size=1, max_size=12))
def test_a_character_without_its_neighbours_is_a_word(text):
    words = [token_at(text, place).word for place in range(len(text))]
    alone = [posseg.is_alone(text, place) for place in range(len(text))]
    assert not any(flag and len(word) > 1 for flag, word in zip(alone, words, strict=True))


def test_a_keyword_between_other_words_is_alone():
    assert posseg.is_alone("他说", 0)
    assert not posseg.is_alone("其他", 1)
    assert not posseg.is_alone("他们", 0)


def test_the_dictionary_is_the_one_that_jieba_reads():
    assert posseg.dictionary_tags() == reference().dt.word_tag_tab
    assert not [word for word in WORDS if word.isascii() and word.isalnum()]


def test_loading_is_silent_and_leaves_jieba_alone(tmp_path):
    program = (
        "import sys; from evenhand.text.posseg import find_names;"
        "print(find_names(['王小丫来了']));"
        "assert 'jieba' not in sys.modules and 'jieba.posseg' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(tmp_path), "PYTHONUTF8": "1"},
    )
    assert done.stderr == ""
    assert "王小丫" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.mirror
def test_real_sentences_are_tagged_as_by_jieba(mirror):
    text = (mirror / "chinese_news/cnews/cnews.test.txt").read_text(encoding="utf-8")
    sentences = re.findall("[^。？！\n]+[。？！]?", text)
    chosen = random.Random(7).sample(sentences, 500)
    expected = [reference_tags(sentence) for sentence in chosen]
    assert posseg.tag_words(chosen) == expected
    names = [[(n.word, n.flag) for n in found] for found in posseg.find_names(chosen)]
    assert names == [[t for t in tags if t[1] in posseg.NAME_TAGS] for tags in expected]
