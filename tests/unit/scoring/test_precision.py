import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.scoring.precision import DEVIATIONS, LEAST_SAMPLE, calibrate, near_ties

finite = st.floats(-50, 50)
samples = st.integers(LEAST_SAMPLE, 80).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=finite), arrays(float, n, elements=st.floats(-1, 1))
    )
)


def test_by_hand():
    full = np.zeros(100)
    low = np.where(np.arange(100) % 2, 0.1, -0.1)
    assert calibrate(low, full) == pytest.approx(DEVIATIONS * 0.1)
    low[7] = 5.0  # one error that is far larger than the others
    assert calibrate(low, full) == pytest.approx(5.0)
    assert calibrate(full, full) == 0
    assert near_ties(np.array([0.5, -0.4, 0.1, -0.6, np.nan]), 0.5).tolist() == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_small_sample_says_nothing():
    few = np.zeros(LEAST_SAMPLE - 1)
    assert calibrate(few, few) == np.inf
    assert near_ties(np.array([1e9, -3.0]), np.inf).all()
    with_nan = np.append(few, np.nan)
    assert calibrate(with_nan, with_nan) == np.inf
    assert calibrate(np.append(few, 0), np.append(few, 0)) == 0


@given(samples)
def test_no_decision_of_the_sample_flips(sample):
    full, error = sample
    low = full + error
    margin = calibrate(low, full)
    exact = np.where(near_ties(low, margin), full, low)
    assert ((exact > 0) == (full > 0)).all()
    assert ((exact < 0) == (full < 0)).all()
