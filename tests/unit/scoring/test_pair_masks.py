import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.scoring import pair_masks
from evenhand.scoring.pair_masks import PairMasks
from evenhand.scoring.questions import Questions
from unit.scoring import plain

CLS, SEP, MASK = 101, 102, 103
SENTENCES = st.lists(st.integers(1, 6), min_size=0, max_size=12)


def compare(one, other):
    return pair_masks.pair_masks(one, other)


def test_one_word_swapped():
    assert compare([5, 6, 7], [5, 8, 7]) == (PairMasks([0, 2], [1]), PairMasks([0, 2], [1]))


def test_words_of_unequal_token_counts():
    one, other = compare([5, 6, 7], [5, 8, 9, 7])
    assert one == PairMasks([0, 2], [1])
    assert other == PairMasks([0, 3], [1, 2])


def test_an_insertion_leaves_nothing_to_mask_on_one_side():
    one, other = compare([5, 7], [5, 6, 7])
    assert one == PairMasks([0, 1], [])
    assert other == PairMasks([0, 2], [1])


def test_nothing_in_common_and_nothing_at_all():
    assert compare([5, 6], [7]) == (PairMasks([], [0, 1]), PairMasks([], [0]))
    assert compare([], [7]) == (PairMasks([], []), PairMasks([], [0]))
    assert compare([], []) == (PairMasks([], []), PairMasks([], []))
    assert compare([5, 6], [5, 6])[0] == PairMasks([0, 1], [])


@given(SENTENCES, SENTENCES)
def test_laws(one, other):
    for ids, against, masks, counter in (
        (one, other, *compare(one, other)),
        (other, one, *compare(one, other)[::-1]),
    ):
        assert sorted([*masks.shared, *masks.changed]) == list(range(len(ids)))
        assert masks.shared == sorted(masks.shared) and masks.changed == sorted(masks.changed)
        assert [ids[i] for i in masks.shared] == [against[i] for i in counter.shared]


@given(SENTENCES, SENTENCES)
def test_as_published_with_one_special_token_at_each_end(one, other):
    published = plain.spans([CLS, *one, SEP], [CLS, *other, SEP])
    for (same, different), masks in zip(published, compare(one, other), strict=True):
        assert [1 + i for i in masks.shared] == same[1:-1]
        assert [1 + i for i in masks.changed] == different


def test_as_published_also_where_difflib_ignores_frequent_tokens():
    # In inputs of 200 tokens and more it does, unless told otherwise; the published code does not.
    generator = np.random.default_rng(0)
    one = generator.integers(1, 9, 260).tolist()
    other = [9 if i % 40 == 3 else token for i, token in enumerate(one)]
    published = plain.spans([CLS, *one, SEP], [CLS, *other, SEP])
    for (same, different), masks in zip(published, compare(one, other), strict=True):
        assert [1 + i for i in masks.shared] == same[1:-1]
        assert [1 + i for i in masks.changed] == different


def _asked(questions):
    return [(questions.inputs[n].tolist(), place, token) for n, place, token in questions.places]


def test_questions():
    ids, places = [CLS, 9, SEP, 5, 6, SEP], [3, 4]  # 9 is a context, which is not scored
    questions = Questions()
    assert pair_masks.ask_unmasked(questions, ids, places) == [0, 1]
    assert _asked(questions) == [(ids, 3, 5), (ids, 4, 6)]
    questions = Questions()
    pair_masks.ask_each_masked(questions, ids, places, MASK)
    assert _asked(questions) == [
        ([CLS, 9, SEP, MASK, 6, SEP], 3, 5),
        ([CLS, 9, SEP, 5, MASK, SEP], 4, 6),
    ]
    both = [CLS, 9, SEP, MASK, MASK, SEP]
    questions = Questions()
    pair_masks.ask_all_masked(questions, ids, places, MASK)
    assert _asked(questions) == [(both, 3, 5), (both, 4, 6)]
    questions = Questions()
    assert pair_masks.ask_crossed(questions, ids, places, MASK) == [[0, 1], [2, 3]]
    assert _asked(questions) == [(both, 3, 5), (both, 3, 6), (both, 4, 5), (both, 4, 6)]
    assert len(questions.inputs) == 1
    assert ids == [CLS, 9, SEP, 5, 6, SEP]


def test_scores_by_hand():
    log_p, alpha = np.array([-1.0, -3.0]), np.array([0.25, 0.5])
    assert pair_masks.aul(log_p) == -2
    assert pair_masks.aula(log_p, alpha) == pytest.approx((-0.25 - 1.5) / 2)
    assert pair_masks.aula_norm(log_p, alpha) == pytest.approx(-1.75 / 0.75)
    assert pair_masks.cps(log_p) == -4
    assert pair_masks.sss(log_p) == -2
    assert pair_masks.sss_compat(np.array([[-1.0, -5.0], [-6.0, -2.0]])) == -3.5
    assert pair_masks.all_masked(log_p) == -2


def test_no_token_gives_no_number():
    none = np.array([])
    for score in (pair_masks.aul, pair_masks.cps, pair_masks.sss, pair_masks.all_masked):
        assert score(none) is None
    assert pair_masks.aula(none, none) is None
    assert pair_masks.aula_norm(none, none) is None
    assert pair_masks.sss_compat(none.reshape(0, 0)) is None


def test_not_a_number_stays():
    assert np.isnan(pair_masks.aul(np.array([np.nan, -1.0])))


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=8), st.floats(0.01, 1))
def test_equal_weights_give_the_plain_mean(log_p, weight):
    log_p = np.array(log_p)
    alpha = np.full(len(log_p), weight)
    assert pair_masks.aula_norm(log_p, alpha) == pytest.approx(pair_masks.aul(log_p))
    assert pair_masks.aula(log_p, alpha) == pytest.approx(weight * pair_masks.aul(log_p))
