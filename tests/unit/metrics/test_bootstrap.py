import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics import bootstrap
from evenhand.metrics.bootstrap import interval_of_mean


def test_two_clusters_by_hand():
    # Draws of two of {mean 0 (two items), mean 3 (one item)}: 0, 3, or (0 + 0 + 3) / 3 = 1.
    values, clusters = np.array([0.0, 0.0, 3.0]), np.array(["a", "a", "b"])
    assert interval_of_mean(values, clusters, seed=1) == (0.0, 3.0)
    low, high = interval_of_mean(values, clusters, seed=1, level=0.4)
    assert (low, high) == (1.0, 1.0)


def test_own_clusters_agree_with_the_normal_approximation():
    values = np.random.default_rng(0).normal(2, 1, 400)
    low, high = interval_of_mean(values, seed=3)
    error = values.std() / 20
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.3 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.3 * error)


def test_clusters_widen_the_interval():
    # 20 clusters of 50 equal values: as uncertain as 20 values, not as 1000.
    centres = np.random.default_rng(0).normal(size=20)
    values, clusters = np.repeat(centres, 50), np.repeat(np.arange(20), 50)
    narrow = np.subtract(*interval_of_mean(values, seed=0)[::-1])
    wide = np.subtract(*interval_of_mean(values, clusters, seed=0)[::-1])
    assert wide / narrow == pytest.approx(np.sqrt(50), rel=0.1)


def test_coverage():
    generator = np.random.default_rng(5)
    hits = 0
    for seed in range(200):
        values = np.repeat(generator.normal(size=40), 3) + generator.normal(size=120)
        low, high = interval_of_mean(values, np.repeat(np.arange(40), 3), seed=seed, resamples=400)
        hits += low <= 0 <= high
    assert 0.89 <= hits / 200 <= 0.98


def test_pieces_do_not_change_the_result(monkeypatch):
    values = np.random.default_rng(0).normal(size=50)
    whole = interval_of_mean(values, seed=7)
    monkeypatch.setattr(bootstrap, "INDICES_AT_ONCE", 170)
    assert interval_of_mean(values, seed=7) == whole


def test_one_cluster_has_no_interval():
    assert np.isnan(interval_of_mean(np.array([1.0, 2.0]), np.array([0, 0]), seed=0)).all()
    assert np.isnan(interval_of_mean(np.array([]), seed=0)).all()


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.integers(0, 99))
def test_stays_within_the_values(values, seed):
    low, high = interval_of_mean(np.array(values), seed=seed, resamples=50)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


@pytest.mark.parametrize(
    ("values", "clusters", "options"),
    [
        (np.zeros((2, 2)), None, {}),
        (np.array([0.0, np.nan]), None, {}),
        (np.zeros(3), np.zeros(2), {}),
        (np.zeros(3), None, {"resamples": 0}),
        (np.zeros(3), None, {"level": 1.0}),
    ],
)
def test_rejects(values, clusters, options):
    with pytest.raises(ValueError):
        interval_of_mean(values, clusters, seed=0, **options)
