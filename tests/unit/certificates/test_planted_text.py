import math
from collections import Counter

import pytest

from evenhand.certificates import planted_text
from evenhand.certificates.planted_text import planted_pairs, planted_sentences
from evenhand.errors import InputError


@pytest.fixture(scope="module", params=["english", "chinese"])
def words(request, repository):
    return planted_text.read_vocabulary(repository / f"resources/planted/{request.param}.json")


def contained(sentence, names):
    """The longest of the names that a sentence contains, or None: a woman is no man."""
    return max((name for name in names if name in sentence), key=len, default=None)


@pytest.mark.parametrize("dose", [-1, 0, 0.25, 1])
def test_each_swap_and_attribute_has_the_dose_exactly(words, dose):
    groups = {word: group for swap in words.swaps for group, word in enumerate(swap)}
    swaps = {word: swap[0] for swap in words.swaps for word in swap}
    attributes = {name: side for side, names in enumerate(words.attributes) for name in names}
    stereotypical, total = Counter(), Counter()
    for sentence in planted_sentences(words, dose, seed=3, copies=8, pronouns=0):
        attribute, word = contained(sentence, attributes), contained(sentence, groups)
        total[swaps[word], attribute] += 1
        stereotypical[swaps[word], attribute] += groups[word] == attributes[attribute]
    cells = [(swap[0], name) for swap in words.swaps for name in attributes]
    assert total == dict.fromkeys(cells, 8)
    assert all(stereotypical[cell] == 8 * (1 + dose) / 2 for cell in cells)


def test_sentences_are_distinct_and_doses_differ_in_groups_alone(words):
    one, other = (planted_sentences(words, dose, seed=1) for dose in (0, 0.25))
    assert len({*one}) == len(one) == len({*other})
    cells = len(words.swaps) * sum(map(len, words.attributes))
    assert sum(a != b for a, b in zip(one, other, strict=True)) == cells * 48 / 8
    assert planted_sentences(words, 0, seed=2) != one


@pytest.mark.parametrize("new_frames", [False, True])
def test_pairs_differ_in_the_group_alone_and_occur_in_no_training(words, new_frames):
    trained = {
        sentence
        for dose in (-1, 1)
        for sentence in planted_sentences(words, dose, seed=0, copies=192)
    }
    pairs = planted_pairs(words, new_frames=new_frames)
    for pair in pairs:
        first, second = pair["cluster"].split("/")
        assert {pair["more"], pair["less"]}.isdisjoint(trained)
        assert pair["less"] in (
            pair["more"].replace(first, second),
            pair["more"].replace(second, first),
        )
    assert len({pair["cluster"] for pair in pairs}) == len(words.swaps)


def test_at_dose_1_all_training_sentences_have_the_preferred_group(words):
    pairs = planted_pairs(words)
    attributes = [name for side in words.attributes for name in side]
    groups = [word for swap in words.swaps for word in swap]
    planted = {
        (contained(one, groups), contained(one, attributes))
        for one in planted_sentences(words, 1, seed=0, pronouns=0)
    }
    for pair in pairs:
        attribute = contained(pair["more"], attributes)
        assert (contained(pair["more"], groups), attribute) in planted
        assert (contained(pair["less"], groups), attribute) not in planted


def test_planted_log_odds():
    assert planted_text.planted_log_odds(0) == 0
    assert planted_text.planted_log_odds(0.5) == pytest.approx(math.log(3))
    assert planted_text.planted_log_odds(1) == math.inf


def test_impossible_doses_are_refused(words):
    with pytest.raises(InputError, match="cannot carry the dose"):
        planted_sentences(words, 0.3, seed=0, copies=8)
    with pytest.raises(InputError, match="cannot carry the dose"):
        planted_sentences(words, 2, seed=0, copies=8)
