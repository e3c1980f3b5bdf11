import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.scoring import pair_masks
from evenhand.scoring.methods import METHODS
from evenhand.scoring.pair_masks import FORMULAS, PairMasks
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
    assert pair_masks.ask(questions, ids, places) == [0, 1]
    assert _asked(questions) == [(ids, 3, 5), (ids, 4, 6)]
    questions = Questions()
    pair_masks.ask_each_masked(questions, ids, places, MASK)
    assert _asked(questions) == [
        ([CLS, 9, SEP, MASK, 6, SEP], 3, 5),
        ([CLS, 9, SEP, 5, MASK, SEP], 4, 6),
    ]
    both = [CLS, 9, SEP, MASK, MASK, SEP]
    questions = Questions()
    pair_masks.ask(questions, ids, places, MASK)
    assert _asked(questions) == [(both, 3, 5), (both, 4, 6)]
    questions = Questions()
    assert pair_masks.ask_crossed(questions, ids, places, MASK) == [[0, 1], [2, 3]]
    assert _asked(questions) == [(both, 3, 5), (both, 3, 6), (both, 4, 5), (both, 4, 6)]
    assert len(questions.inputs) == 1
    assert ids == [CLS, 9, SEP, 5, 6, SEP]


def test_scores_by_hand():
    log_p, alpha = np.array([-1.0, -3.0]), np.array([0.25, 0.5])
    weighted = {"aula": (-0.25 - 1.5) / 2, "aula_norm": -1.75 / 0.75}
    plain = dict.fromkeys(("aul", "sss", "sss_compat", "all_masked"), -2)
    plain |= {"cps": -4, "log_likelihood": -4, "log_likelihood_per_token": -2}
    assert FORMULAS.keys() == METHODS.keys() == weighted.keys() | plain.keys()
    for method, score in weighted.items():
        assert FORMULAS[method](log_p, alpha) == pytest.approx(score)
    for method, score in plain.items():
        assert FORMULAS[method](log_p) == score
    assert FORMULAS["sss_compat"](np.array([[-1.0, -5.0], [-6.0, -2.0]])) == -3.5
    assert np.isnan(FORMULAS["aul"](np.array([np.nan, -1.0])))
