import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.slguset.near_duplicates import find, jaccard, shingles


def test_shingles_are_the_trigrams():
    assert shingles("他在家里") == {"他在家", "在家里"}
    assert shingles("他") == {"他"}


def test_jaccard_of_sets():
    assert jaccard(shingles("abcd"), shingles("abcd")) == 1
    assert jaccard(shingles("abcd"), shingles("abce")) == pytest.approx(1 / 3)
    assert jaccard(shingles("abc"), shingles("xyz")) == 0


def test_the_first_is_kept():
    text = "目前本市报告的病人仍以男性为主。"
    sentences = [("2", text), ("1", "当然" + text), ("3", "她今天不在家，明天也不在家。")]
    assert find(sentences, threshold=0.8) == {"1": "2"}
    assert find(sentences, threshold=1.0) == {}


@given(st.lists(st.text("他她在家门口", min_size=1, max_size=12), max_size=12))
def test_what_is_found_is_similar_and_was_kept(texts):
    sentences = [(str(number), text) for number, text in enumerate(texts)]
    found = find(sentences, threshold=0.5)
    for one, kept in found.items():
        assert int(kept) < int(one)
        assert kept not in found
        assert jaccard(shingles(texts[int(one)]), shingles(texts[int(kept)])) >= 0.5
    for one, text in sentences:  # equal sentences share every band: none can be missed
        if one not in found:
            assert text not in texts[: int(one)]


def test_few_pairs_are_missed_in_real_sentences(mirror):
    path = mirror / "chinese_gender/slguset/SlguSet.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row["句子"] for row in csv.DictReader(stream)]
    sentences = [(str(number), text) for number, text in enumerate(rows) if "爷" in text]
    found = find(sentences, threshold=0.5)
    sets = [(one, shingles(text)) for one, text in sentences]
    exact: set[str] = set()
    for position, (one, own) in enumerate(sets):
        before = (other for name, other in sets[:position] if name not in exact)
        if any(jaccard(own, other) >= 0.5 for other in before):
            exact.add(one)
    assert set(found) <= exact
    assert len(found) >= 0.9 * len(exact)
