import numpy as np
import pytest

from evenhand.metrics.stereoset import macro_scores, score_terms


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
    assert scores.scored.tolist() == [1, 3]
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
    assert macro_scores(np.ones((2, 3, 0)), np.ones((2, 3, 0))).lms.shape == (2, 3)


def test_wrong_shapes():
    with pytest.raises(ValueError, match="for"):
        score_terms(np.ones(2), np.ones(2), np.ones(3), ["a", "b"])
    with pytest.raises(ValueError, match="LMS of shape"):
        macro_scores(np.ones(2), np.ones(3))
