import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc as area_under
from sklearn.metrics import roc_auc_score

from evenhand.metrics.roc import auc, auc_contributions, roc_points

ITEMS = st.lists(
    st.tuples(st.integers(-3, 3).map(float), st.booleans(), st.sampled_from("abcdef")),
    min_size=2,
    max_size=40,
)


def columns(items):
    return tuple(np.array(column) for column in zip(*items, strict=True))


def test_by_hand():
    # The labelled 3 and 1 against 2 and 1: wins 3 > 2, 3 > 1, a tie 1 = 1, a loss 1 < 2.
    scores, labels = np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False])
    assert auc(scores, labels) == 2.5 / 4
    # The components: 3 wins all, 1 wins a quarter; 2 loses to half, 1 to three quarters.
    influence = [(1 - 0.625) / 2, (0.25 - 0.625) / 2, (0.5 - 0.625) / 2, (0.75 - 0.625) / 2]
    assert auc_contributions(scores, labels) == pytest.approx(np.array(influence) + 0.125 / 4)


@given(ITEMS)
def test_agrees_with_scikit_learn(items):
    scores, labels, _ = columns(items)
    if labels.all() or not labels.any():
        assert np.isnan(auc(scores, labels))
        assert not auc_contributions(scores, labels).any()
        assert len(roc_points(scores, labels)[0]) == 0
        return
    area = auc(scores, labels)
    assert area == pytest.approx(roc_auc_score(labels, scores))
    assert auc_contributions(scores, labels).sum() == pytest.approx(area - 0.5, abs=1e-12)
    assert area_under(*roc_points(scores, labels)) == pytest.approx(area)
    assert auc(-scores, labels) == pytest.approx(1 - area)
    assert auc(scores, ~labels) == pytest.approx(1 - area)


def test_curve_is_thinned_with_its_ends():
    generator = np.random.default_rng(0)
    labels = generator.random(3000) < 0.5
    scores = generator.normal(size=3000) + labels
    false_rate, true_rate = roc_points(scores, labels)
    assert len(false_rate) == 200
    assert (false_rate[0], true_rate[0], false_rate[-1], true_rate[-1]) == (0, 0, 1, 1)
    assert (np.diff(false_rate) >= 0).all() and (np.diff(true_rate) >= 0).all()
    assert area_under(false_rate, true_rate) == pytest.approx(auc(scores, labels), abs=0.002)


def test_rejects():
    with pytest.raises(ValueError, match="shape"):
        auc(np.zeros(3), np.zeros(2, dtype=bool))
    with pytest.raises(ValueError, match="finite"):
        auc(np.array([np.nan, 1.0]), np.array([True, False]))
