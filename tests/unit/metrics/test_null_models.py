import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics.null_models import prediction_interval


def test_by_hand():
    # Mean 50, standard deviation 4, t(2 degrees, 97.5 %) = 4.302653, sqrt(4/3) = 1.154701.
    low, high = prediction_interval(np.array([46.0, 50.0, 54.0]))
    assert (low, high) == pytest.approx((50 - 19.8734, 50 + 19.8734), abs=1e-3)


def test_coverage():
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(1000):
        *seen, next_one = generator.normal(51, 4.4, 11)
        low, high = prediction_interval(np.array(seen), level=0.9)
        hits += low <= next_one <= high
    assert 0.87 <= hits / 1000 <= 0.93


@given(st.lists(st.floats(0, 100), min_size=2, max_size=20), st.floats(-50, 50))
def test_moves_with_the_scores(scores, shift):
    low, high = prediction_interval(np.array(scores))
    assert low <= np.mean(scores) + 1e-9 and high >= np.mean(scores) - 1e-9
    moved = prediction_interval(np.array(scores) + shift)
    assert moved == pytest.approx((low + shift, high + shift), abs=1e-6)


def test_one_model_says_nothing():
    assert np.isnan(prediction_interval(np.array([50.0]))).all()
    assert np.isnan(prediction_interval(np.array([]))).all()


def test_rejects():
    with pytest.raises(ValueError, match="finite"):
        prediction_interval(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="level"):
        prediction_interval(np.array([1.0, 2.0]), level=1)
