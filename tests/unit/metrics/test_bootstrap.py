import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics import bootstrap
from evenhand.metrics.bootstrap import (
    drawn_weights,
    effective_number,
    interval_of_mean,
    percentile_interval,
    ratio_replicates,
)


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


def one_ratio(values, clusters, **draw):
    values = np.asarray(values, dtype=float)
    replicates = ratio_replicates(values[:, None], np.ones((len(values), 1)), clusters, **draw)
    return tuple(border[0] for border in percentile_interval(replicates))


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef")), min_size=1), st.integers(0, 9))
def test_ratios_of_ones_are_the_mean(items, seed):
    hits, clusters = (np.array(column) for column in zip(*items, strict=True))
    found = one_ratio(hits, clusters, seed=seed, resamples=60)
    assert found == pytest.approx(
        interval_of_mean(hits.astype(float), clusters, seed=seed, resamples=60), nan_ok=True
    )


def test_ratios_by_hand():
    # Two clusters: 1 of 2 and 3 of 4. The draws are 2/4, 4/6 and 6/8.
    above, below = np.array([[1.0], [3.0]]), np.array([[2.0], [4.0]])
    replicates = ratio_replicates(above, below, np.array(["a", "b"]), seed=0, resamples=200)
    assert sorted(set(replicates[:, 0])) == [1 / 2, 4 / 6, 6 / 8]


def test_columns_see_the_same_draws():
    generator = np.random.default_rng(0)
    hits = generator.integers(2, size=(60, 1)).astype(float)
    both = np.hstack([hits, 1 - hits])
    found = ratio_replicates(both, np.ones((60, 2)), generator.integers(9, size=60), seed=3)
    assert (found.sum(axis=1) == pytest.approx(1)) and found[:, 0].std() > 0.01


def test_a_ratio_needs_two_clusters_and_something_below():
    clusters = np.array([0, 1, 2])
    below = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    replicates = ratio_replicates(below, below, clusters, seed=0, resamples=300)
    assert np.isnan(replicates[:, 0]).all()
    empty = np.isnan(replicates[:, 1])  # only the third cluster was drawn: one in 27
    assert 0 < empty.sum() < 40 and (replicates[~empty, 1] == 1).all()
    low, high = percentile_interval(replicates)
    assert np.isnan(low[0]) and (low[1], high[1]) == (1, 1)


def test_pieces_do_not_change_the_ratios(monkeypatch):
    hits = np.random.default_rng(0).integers(2, size=(50, 1)).astype(float)
    whole = ratio_replicates(hits, np.ones((50, 1)), np.arange(50), seed=7)
    monkeypatch.setattr(bootstrap, "INDICES_AT_ONCE", 170)
    assert (ratio_replicates(hits, np.ones((50, 1)), np.arange(50), seed=7) == whole).all()


def test_effective_number():
    assert effective_number(np.arange(7)) == pytest.approx(7)
    assert effective_number(np.zeros(7)) == 1
    assert effective_number(np.array(["a", "a", "b"])) == pytest.approx(9 / 5)
    assert np.isnan(effective_number(np.array([])))


@pytest.mark.parametrize(
    ("above", "below", "clusters", "resamples"),
    [
        (np.zeros(3), np.zeros(3), np.zeros(3), 9),
        (np.zeros((3, 1)), np.zeros((3, 2)), np.zeros(3), 9),
        (np.zeros((3, 1)), np.ones((3, 1)), np.zeros(2), 9),
        (np.full((3, 1), np.nan), np.ones((3, 1)), np.zeros(3), 9),
        (np.zeros((3, 1)), np.ones((3, 1)), np.zeros(3), 0),
    ],
)
def test_ratios_reject(above, below, clusters, resamples):
    with pytest.raises(ValueError):
        ratio_replicates(above, below, clusters, seed=0, resamples=resamples)


def test_percentile_interval_rejects_a_level_out_of_range():
    with pytest.raises(ValueError, match="level"):
        percentile_interval(np.zeros((3, 1)), level=0)
    with pytest.raises(ValueError, match="at least one"):
        next(drawn_weights(0, seed=0, resamples=1))
