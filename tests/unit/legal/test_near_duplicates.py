from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.legal.near_duplicates import find_near_duplicates, jaccard, shingles

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
    near = find_near_duplicates(lambda: ((text,) for text in texts), threshold)
    found = {}
    for place, group in enumerate(near.group.tolist()):
        found.setdefault(group, []).append(place)
    return near, sorted(found.values())


@given(TEXTS)
def test_shingles_are_runs_of_three(texts):
    for one, other in combinations(texts, 2):
        assert jaccard(shingles((one,)), shingles((other,))) == similarity(one, other)


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
    assert jaccard(shingles(one), shingles(other)) == 1


def test_no_texts_and_texts_without_words():
    assert groups([])[1] == []
    assert groups(["...", "?", "word"])[1] == [[0, 1], [2]]


def test_many_long_texts_with_few_changes():
    base = [f"w{i}" for i in range(600)]
    texts = []
    for copy in range(20):
        words = list(base)
        for i in range(0, 600, 40):  # 15 changes: 45 of 598 runs
            words[i] = f"x{copy}" if copy else words[i]
        texts.append(" ".join(words))
    texts += [" ".join(f"v{i}{copy}" for i in range(600)) for copy in range(20)]
    near, found = groups(texts)
    assert found == [list(range(20)), *([i] for i in range(20, 40))]
    assert near.similarity(0, 1) == pytest.approx(similarity(texts[0], texts[1]))
