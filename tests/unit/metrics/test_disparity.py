from functools import partial

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.metrics.disparity import (
    disparity,
    gd_interval,
    mean_interval,
    permuted_sums,
    planted,
    redrawn_sums,
    same_disparity,
    share_as_far,
    widening,
    worst_interval,
)
from evenhand.metrics.group import group_sums
from evenhand.metrics.inference import recovered_interval, share_interval, total

scores = arrays(float, st.integers(1, 8), elements=st.floats(0, 100))


def test_by_hand():
    found = disparity(np.array([[50.0, 60.0, 70.0], [10.0, np.nan, 30.0], [np.nan] * 3]))
    assert found.mean == pytest.approx([60, 20, np.nan], nan_ok=True)
    assert found.gd == pytest.approx([np.sqrt(200 / 3), 10, np.nan], nan_ok=True)
    assert found.worst == pytest.approx([50, 10, np.nan], nan_ok=True)


def test_a_group_that_scores_zero_counts():
    assert disparity(np.array([0.0, 60.0])).gd == 30


VALUES = np.arange(12, dtype=np.float32).reshape(6, 2)
CODES = np.array([0, 0, 0, 1, 1, 2])


def test_sums_of_groups():
    assert group_sums(VALUES, CODES, 4).tolist() == [[6, 9], [14, 16], [10, 11], [0, 0]]


def test_random_groups_keep_sizes_and_cases():
    ones = np.hstack([VALUES, np.ones((6, 1), np.float32)])
    sums = permuted_sums(ones, CODES, 3, seed=1, permutations=50)
    assert (sums[..., 2] == [3, 2, 1]).all()
    assert (sums.sum(axis=1) == ones.sum(axis=0)).all()
    assert len(np.unique(sums[:, 2, 0])) == 6  # each case is alone at some time
    again = permuted_sums(ones, CODES, 3, seed=1, permutations=50)
    assert np.array_equal(sums, again)


def test_every_division_is_as_likely():
    values = np.eye(4, dtype=np.float32)
    sums = permuted_sums(values, np.array([0, 0, 1, 1]), 2, seed=1, permutations=6000)
    pairs, times = np.unique(sums[:, 0], axis=0, return_counts=True)
    assert len(pairs) == 6
    assert times.min() > 850 and times.max() < 1150  # 1000 +- 29


def test_cases_change_groups_within_their_stratum_only():
    strata = np.array([5, 7, 5, 7, 5, 7])
    values = np.stack([strata == 5, strata == 7], axis=1).astype(np.float32)
    sums = permuted_sums(values, CODES, 3, seed=1, permutations=30, strata=strata)
    assert (sums == group_sums(values, CODES, 3)).all()
    numbered = permuted_sums(VALUES, CODES, 3, seed=1, permutations=30, strata=strata)
    assert len(np.unique(numbered[:, 0, 0])) > 1


def test_clusters_exchange_their_groups():
    clusters = np.repeat(np.arange(4), 5)
    sizes = np.ones((20, 1), np.float32)
    mixed = np.tile([0, 0, 0, 1, 2], 4)  # in groups of 12, 4 and 4 cases, whatever is exchanged
    draw = {"seed": 1, "permutations": 40, "clusters": clusters}
    assert (permuted_sums(sizes, mixed, 3, **draw) == [[12], [4], [4]]).all()
    numbered = permuted_sums(np.arange(20.0)[:, None], mixed, 3, **draw)
    assert len(np.unique(numbered[:, 1])) > 10
    whole = permuted_sums(np.eye(4)[clusters], np.array([0, 1, 1, 2])[clusters], 3, **draw)
    assert set(whole.ravel()) == {0, 5} and len(np.unique(whole[:, 0], axis=0)) == 4
    strata = np.tile([0, 1, 1, 1, 1], 4)
    kept = permuted_sums(np.eye(2)[strata], mixed, 3, strata=strata, **draw)
    assert (kept[:, 0] == [4, 8]).all()  # the first case of each cluster is alone in its stratum


def test_clusters_of_unlike_sizes_exchange_their_groups():
    clusters = np.repeat([0, 1, 2], [1, 2, 5])
    sums = permuted_sums(
        np.ones((8, 1)), np.array([0, 1, 1, 2, 2, 2, 2, 2]), 3, seed=1, permutations=60,
        clusters=clusters,
    )  # fmt: skip
    assert {tuple(sorted(sizes)) for sizes in sums[..., 0].tolist()} == {(1, 2, 5)}
    assert len(np.unique(sums[:, 0])) == 3


def test_planted_disparities_have_the_size_that_was_asked_for():
    for groups in (2, 3, 6):
        scores = np.full((50, 2, groups + 1), 60.0)
        scores[..., 1] = np.nan  # a group without a case
        gd, worst = planted(scores, 5.0, seed=0)
        assert gd == pytest.approx(np.full((50, 2), 5.0))
        assert worst == pytest.approx(np.full((50, 2), 55.0))
    noise = np.random.default_rng(0).normal(60, 1, size=(50, 2, 6))
    assert (planted(noise, 5.0, seed=0)[0].mean(), disparity(noise).gd.mean()) == (
        pytest.approx(5.1, abs=0.3),
        pytest.approx(0.9, abs=0.2),
    )


def _of_groups(sizes, accuracies, draws, seed, runs=1):
    """Yield the scores of drawn groups, with intervals and influences; runs share their cases."""
    generator = np.random.default_rng(seed)
    for _ in range(draws):
        cases = [
            np.repeat(generator.random((size, 1)) < accuracy, runs, axis=1).astype(float)
            for size, accuracy in zip(sizes, accuracies, strict=True)
        ]
        scores = np.stack([some.mean(axis=0) for some in cases], axis=1)
        intervals = [share_interval(total(some[:, 0], np.arange(len(some)))) for some in cases]
        influences = [(some - some.mean(axis=0)) / len(some) for some in cases]
        yield scores, intervals, influences


@pytest.mark.parametrize(
    ("sizes", "accuracies"),
    [((100,) * 6, (0.75,) * 6), ((30, 60, 120, 300), (0.6, 0.8, 0.75, 0.9))],
)
def test_intervals_of_disparity_cover_the_truth_also_where_groups_are_equal(sizes, accuracies):
    truth = disparity(np.array(accuracies))
    hits = np.zeros(3)
    for scores, intervals, influences in _of_groups(sizes, accuracies, 200, seed=5):
        ends = (
            mean_interval(scores, intervals, 0.95),
            gd_interval(scores, intervals, 0.95, influences=influences),
            worst_interval(scores, intervals, 0.95),
        )
        hits += [low <= part <= high for (low, high), part in zip(ends, truth, strict=True)]
        seen = (float(part[0]) for part in disparity(scores))
        assert all(low <= part <= high for (low, high), part in zip(ends, seen, strict=True))
    assert (hits >= 0.93 * 200).all()


def test_the_disparity_of_two_groups_has_half_the_interval_of_their_difference():
    for scores, intervals, influences in _of_groups((150, 150), (0.9, 0.6), 3, seed=1):
        low, high = gd_interval(scores, intervals, 0.95, influences=influences)
        ends = [interval(0.95) for interval in intervals]
        expected = recovered_interval(*ends, *scores[0])
        assert (2 * low, 2 * high) == pytest.approx(np.sort(np.abs(expected)), abs=0.03)


def test_groups_that_are_all_right_may_differ():
    cases = [np.ones((30, 2)), np.ones((60, 2))]
    intervals = [share_interval(total(some[:, 0], np.arange(len(some)))) for some in cases]
    influences = [some - 1 for some in cases]
    low, high = gd_interval(np.ones((2, 2)), intervals, 0.95, influences=influences)
    assert low == 0
    assert 0.03 < high < 0.08


def test_runs_with_the_same_errors_are_no_further_evidence():
    """Two runs alike have the interval of one; runs whose errors are unlike have one as wide."""
    (one,), (two,) = (list(_of_groups((40, 80), (0.7, 0.8), 1, 3, runs)) for runs in (1, 2))
    ends = [gd_interval(*each[:2], 0.95, influences=each[2]) for each in (one, two)]
    assert ends[0] == pytest.approx(ends[1], abs=0.01)


def test_the_worst_of_several_runs_may_be_another_group_in_each():
    scores = np.array([[0.6, 0.8], [0.8, 0.6]])
    intervals = [lambda level: (0.7 - level / 10, 0.7 + level / 10)] * 2
    low, high = worst_interval(scores, intervals, 0.9)
    assert (low, high) == pytest.approx((0.6 - 0.09, 0.6 + 0.095))


def test_shares_as_far():
    noise = np.array([1.0, 2.0, 3.0, 4.0])
    assert share_as_far(noise, np.array(3.0)) == pytest.approx(3 / 5)
    assert share_as_far(noise, np.array(3.0), low=True) == pytest.approx(4 / 5)
    assert share_as_far(noise, np.array(9.0)) == pytest.approx(1 / 5)
    assert np.isnan(share_as_far(noise, np.array(np.nan)))


def test_cases_are_drawn_anew_within_their_group_and_stratum():
    generator = np.random.default_rng(1)
    codes, strata = generator.permuted(np.repeat([0, 0, 1, 1], 40)), np.tile([3, 5], 80)
    cells = 2 * codes + (strata == 5)
    values = np.eye(4, dtype=np.float32)[cells]
    values = np.hstack([values, generator.integers(2, size=(160, 1)).astype(np.float32)])
    sums = redrawn_sums(values, codes, 2, seed=1, draws=4000, strata=strata)
    assert np.array_equal(sums, redrawn_sums(values, codes, 2, seed=1, draws=4000, strata=strata))
    whole = group_sums(values, codes, 2)
    strata_of = sums[..., [0, 1]] + sums[..., [2, 3]]  # each group keeps its strata
    assert (strata_of == whole[:, [0, 1]] + whole[:, [2, 3]]).all()
    sizes = np.bincount(cells)
    from_group = sums[:, 0, :2].mean(axis=0) / sizes[:2]
    share = sizes[:2] / (sizes[:2] + sizes[2:])
    assert from_group == pytest.approx(1 - 2 / (sizes[:2] + 2) * (1 - share), abs=0.002)
    # independent draws of the cases of a cell
    alone = redrawn_sums(values, np.zeros_like(codes), 1, seed=2, draws=4000)[..., 4]
    hits = values[:, 4].mean()
    assert alone.std() == pytest.approx((160 * hits * (1 - hits)) ** 0.5, rel=0.05)
    # equal cases of a small group vary as all do
    equal = redrawn_sums(np.eye(2)[1 * (CODES == 2)], CODES, 3, seed=3, draws=500)[:, 2, 1]
    assert (equal == 0).mean() == pytest.approx(2 / 3 * 5 / 6, abs=0.05)


def test_classifiers_get_the_same_disparity():
    generator = np.random.default_rng(4)
    noise = generator.normal(size=(2000, 2, 3, 5)) * np.array([6.0, 1.0])[:, None, None]
    seen = np.array([[50, 56, 48, 50, 50], [90, 90, 70, 90, 90]], dtype=float)[:, None]
    seen, counts = np.repeat(seen, 3, axis=1), np.full(5, 40.0)
    for measure in (np.std, np.ptp):
        measure = partial(measure, axis=-1)
        shifts = same_disparity(noise, seen, counts, measure)
        moved = noise + shifts
        assert measure(moved[:500]).mean() == pytest.approx(measure(seen).mean(), abs=0.01)
        # the farthest group of each; as much in both
        assert np.abs(shifts[:, 0]).argmax(axis=1).tolist() == [1, 2]
        assert shifts[0, 0, 1] == -shifts[1, 0, 2] > 0
        # equal groups have no farthest one: that of the other
        learned = np.array([0.0, 1.0])[:, None, None]
        shifts = same_disparity(noise / 100 * learned, seen * learned, counts, measure)
        assert np.abs(shifts[:, 0]).argmax(axis=1).tolist() == [2, 2]
        # a small group is far from the mean by noise
        unequal = np.array([400.0, 4, 400, 400, 400])
        shifts = same_disparity(noise / 10, seen, unequal, measure)
        assert np.abs(shifts[:, 0]).argmax(axis=1).tolist() == [2, 2]
        # without a disparity a group differs, by its labels, so that it is not the farthest one
        labels = np.array([0.0, 0.0, -12.0, 0.0, 0.0])
        shifts = same_disparity(noise / 100 + labels, seen + labels, counts, measure)
        assert np.abs(shifts[:, 0]).argmax(axis=1).tolist() == [1, 2]
        # not above noise
        assert not same_disparity(10 * noise, seen, counts, measure).any()


def test_noise_of_few_cases_is_widened():
    assert widening(np.array([1, 8, 1000])) == pytest.approx([2.689, 1.217, 1.0017], abs=0.001)
