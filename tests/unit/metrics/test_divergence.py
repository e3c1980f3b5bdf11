import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from evenhand.metrics.divergence import (
    jensen_shannon_distance,
    permuted_distances,
)

COUNTS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 1000), min_size=k, max_size=k)] * 2)
)


@given(COUNTS)
def test_laws(pair):
    a, b = (np.array(one) for one in pair)
    distance = jensen_shannon_distance(a, b)
    if not a.sum() or not b.sum():
        assert np.isnan(distance)
        return
    assert distance == pytest.approx(jensen_shannon_distance(b, a), abs=1e-12)
    assert 0 <= distance <= np.sqrt(np.log(2))
    # scipy gives NaN where rounding takes its divergence below 0
    assert distance == pytest.approx(np.nan_to_num(jensenshannon(a, b)), abs=1e-7)
    assert jensen_shannon_distance(a, 7 * a) == pytest.approx(0, abs=1e-7)


def test_the_ends():
    assert jensen_shannon_distance([1, 0], [0, 5]) == pytest.approx(np.sqrt(np.log(2)))
    assert jensen_shannon_distance([1, 2], [10, 20]) == pytest.approx(0, abs=1e-8)
    assert np.isnan(jensen_shannon_distance([0, 0], [1, 2]))


def test_many_at_once():
    a = np.array([[1, 2, 3], [0, 0, 0], [5, 5, 0]])
    b = np.array([3, 2, 1])
    many = jensen_shannon_distance(a, b)
    assert many.shape == (3,)
    assert np.isnan(many[1])
    assert many[2] == jensen_shannon_distance(a[2], b)


PATTERNS = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
A, B = np.array([30, 40, 20, 10]), np.array([10, 12, 8, 10])


def test_the_noise_floor_is_that_of_a_permutation():
    """Cases shuffled one by one give the same distances as the counts drawn at once."""
    drawn = permuted_distances(PATTERNS, A, B, np.random.default_rng(1), 4000)
    cases = np.repeat(np.arange(4), A + B)
    generator = np.random.default_rng(2)
    by_hand = []
    for _ in range(4000):
        shuffled = generator.permutation(cases)
        sides = [PATTERNS[part].sum(axis=0) for part in (shuffled[:100], shuffled[100:])]
        by_hand.append(jensen_shannon_distance(*sides))
    assert np.mean(drawn) == pytest.approx(np.mean(by_hand), rel=0.03)
    assert np.quantile(drawn, 0.95) == pytest.approx(np.quantile(by_hand, 0.95), rel=0.05)


def test_a_side_without_cases():
    none = np.zeros(4, dtype=int)
    for sides in ((A, none), (none, B), (none, none)):
        drawn = permuted_distances(PATTERNS, *sides, np.random.default_rng(1), 5)
        assert drawn.shape == (5,)
        assert np.isnan(drawn).all()
