from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.near_duplicates import characters, find_near_duplicates, jaccard, words

WORDS = st.sampled_from(["court", "state", "appeal", "fact", "law", "法", "院", "人"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=30).map(" ".join), min_size=1, max_size=12)


def similarity(one, other):
    """Jaccard similarity of runs of three words, counted as words."""
    first, second = (
        {tuple(text.split()[i : i + 3]) for i in range(max(1, len(text.split()) - 2))}
        for text in (one, other)
    )
    return len(first & second) / len(first | second)


def groups(texts, threshold=0.8):
    near = find_near_duplicates(lambda: (words((text,)) for text in texts), threshold)
    found = {}
    for place, group in enumerate(near.groups().tolist()):
        found.setdefault(group, []).append(place)
    return near, sorted(found.values())


@given(TEXTS)
def test_shingles_are_runs_of_three(texts):
    for one, other in combinations(texts, 2):
        assert jaccard(words((one,)), words((other,))) == similarity(one, other)


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_groups_are_connected_components(texts, threshold):
    links = {i: {i} for i in range(len(texts))}
    for one, other in combinations(range(len(texts)), 2):
        if similarity(texts[one], texts[other]) >= threshold:
            links[one] = links[other] = merged = links[one] | links[other]
            for i in merged:
                links[i] = merged
    near, found = groups(texts, threshold)
    assert found == sorted(map(list, {tuple(sorted(group)) for group in links.values()}))
    for members in found:
        for one in members:
            expected = similarity(texts[one], texts[members[0]])
            assert near.similarity(one, members[0]) == pytest.approx(expected)


def test_paragraphs_and_case_do_not_matter():
    one = ("The applicant was born in 1950.", "He lives in Town.")
    other = ("The APPLICANT was born in 1950. He lives", "in town")
    assert jaccard(words(one), words(other)) == 1


def test_no_texts_and_texts_without_words():
    assert groups([])[1] == []
    assert groups(["...", "?", "word"])[1] == [[0, 1], [2]]


def trigrams(text):
    return {text[i : i + 3] for i in range(max(1, len(text) - 2))}


@given(st.lists(st.text("他她在家门口", min_size=1, max_size=12), max_size=12))
def test_a_text_is_kept_unless_a_kept_one_is_similar(texts):
    near = find_near_duplicates(lambda: map(characters, texts), 0.5)
    expected = {}
    for place, text in enumerate(texts):
        for earlier, other in enumerate(texts[:place]):
            own, others = trigrams(text), trigrams(other)
            if earlier not in expected and len(own & others) / len(own | others) >= 0.5:
                expected[place] = earlier
                break
    assert near.kept_for() == expected
