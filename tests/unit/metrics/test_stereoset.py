import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics.stereoset import macro_scores, score_terms

SCORES = st.integers(-3, 3).map(float)
TRIPLES = st.lists(st.tuples(SCORES, SCORES, SCORES, st.sampled_from("abcd")), min_size=1)


def columns(triples):
    pro, anti, other, terms = zip(*triples, strict=True)
    return np.array(pro), np.array(anti), np.array(other), terms


def test_by_hand():
    scores = score_terms(
        *columns(
            [
                (3, 2, 1, "nurse"),  # pro, 2 related
                (2, 3, 2, "nurse"),  # anti, 1 related: the tie with the unrelated is none
                (1, 1, 2, "nurse"),  # a tie is not pro, 0 related
                (0, 1, 2, "baker"),  # anti, 0 related
            ]
        )
    )
    assert scores.term.tolist() == ["baker", "nurse"]
    assert scores.scored.tolist() == [1, 3] and scores.ties.tolist() == [0, 1]
    assert scores.lms == pytest.approx([0, 50]) and scores.ss == pytest.approx([0, 100 / 3])
    found = macro_scores(scores.lms, scores.ss)
    assert found == pytest.approx((25, 50 / 3, 25 * (50 / 3) / 50))


def test_the_mean_is_over_terms_and_not_over_triples():
    rows = [(2, 1, 0, "a")] * 9 + [(1, 2, 3, "b")]
    scores = score_terms(*columns(rows))
    assert macro_scores(scores.lms, scores.ss) == pytest.approx((50, 50, 50))


def test_triples_without_three_finite_scores_are_left_out():
    rows = [(2, 1, 0, "a"), (np.nan, 1, 0, "a"), (2, 1, -np.inf, "b")]
    scores = score_terms(*columns(rows))
    assert scores.term.tolist() == ["a"] and scores.scored.tolist() == [1]


def test_nothing_gives_no_number():
    scores = score_terms(*[np.array([])] * 3, [])
    assert len(scores.term) == 0
    assert np.isnan(macro_scores(scores.lms, scores.ss)).all()


def test_wrong_shapes():
    with pytest.raises(ValueError, match="for"):
        score_terms(np.ones(2), np.ones(2), np.ones(3), ["a", "b"])
    with pytest.raises(ValueError, match="LMS of shape"):
        macro_scores(np.ones(2), np.ones(3))


@given(TRIPLES)
def test_the_order_of_the_triples_does_not_matter(triples):
    one, other = score_terms(*columns(triples)), score_terms(*columns(triples[::-1]))
    for a, b in zip(one, other, strict=True):
        assert a.tolist() == b.tolist()


@given(TRIPLES)
def test_swapping_the_labels_mirrors_ss_but_for_ties(triples):
    pro, anti, other, terms = columns(triples)
    scores, mirrored = score_terms(pro, anti, other, terms), score_terms(anti, pro, other, terms)
    tied = 100 * scores.ties / scores.scored
    assert mirrored.ss == pytest.approx(100 - scores.ss - tied)
    assert mirrored.lms == pytest.approx(scores.lms)


@given(TRIPLES, st.integers(0, 2**32 - 1))
def test_drawn_sets_of_terms_are_scored_like_single_ones(triples, seed):
    scores = score_terms(*columns(triples))
    count = len(scores.term)
    drawn = np.random.default_rng(seed).integers(count, size=(5, count))
    found = macro_scores(scores.lms[drawn], scores.ss[drawn])
    for number, terms in enumerate(drawn):
        single = macro_scores(scores.lms[terms], scores.ss[terms])
        assert [column[number] for column in found] == pytest.approx(list(single))
    assert ((found.icat >= 0) & (found.icat <= 100)).all()
