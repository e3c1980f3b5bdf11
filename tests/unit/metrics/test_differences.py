import math

import numpy as np
import pytest
from scipy import stats

from evenhand.metrics.differences import (
    LEAST_CLUSTERS,
    Estimate,
    difference_of_intervals,
    difference_of_items,
)

Z = stats.norm.ppf(0.975)


def symmetric(value, error, count=None):
    reach = (stats.t.ppf(0.975, df=count - 1) if count else Z) * error
    return Estimate(value, value - reach, value + reach, count)


def test_symmetric_intervals_give_the_usual_test():
    found = difference_of_intervals(symmetric(1.0, 0.3), symmetric(2.0, 0.4))
    assert found.difference == 1.0
    assert found.error == pytest.approx(0.5)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(2))
    assert (found.low, found.high) == pytest.approx((1 - Z * 0.5, 1 + Z * 0.5))


def test_student_intervals_give_welchs_test():
    a, b = np.array([1.0, 2.0, 4.0, 3.5, 2.5]), np.array([5.0, 3.0, 6.5, 4.0])
    sides = [symmetric(x.mean(), x.std(ddof=1) / math.sqrt(len(x)), len(x)) for x in (a, b)]
    found = difference_of_intervals(*sides)
    expected = stats.ttest_ind(b, a, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(expected.confidence_interval())


def test_the_halves_that_face_each_other_count():
    base, head = Estimate(0.0, -9.0, 1.0), Estimate(3.0, 2.0, 30.0)
    up = difference_of_intervals(base, head)
    assert up.error == pytest.approx(math.sqrt(2) / Z)
    down = difference_of_intervals(head, base)
    assert down.error == pytest.approx(up.error)
    assert down.difference == -up.difference
    assert (up.low, up.high) == pytest.approx((3 - math.sqrt(2), 3 + math.hypot(9, 27)))
    assert (down.low, down.high) == pytest.approx((-up.high, -up.low))


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (Estimate(0.0, 0.0, 0.0), Estimate(1.0, 1.0, 1.0)),  # no width
        (Estimate(0.0, 0.5, 1.0), Estimate(2.0, 1.0, 3.0)),  # beside its number
        (Estimate(0.0, -1.0, 1.0, 1), Estimate(2.0, 1.0, 3.0, 5)),  # of a single value
        (Estimate(0.0, math.nan, math.nan), Estimate(2.0, 1.0, 3.0)),
    ],
)
def test_no_noise_known_is_no_verdict(base, head):
    found = difference_of_intervals(base, head)
    assert found.difference == head.value - base.value
    assert math.isnan(found.p_value) and math.isnan(found.low) and math.isnan(found.high)


def test_the_distance_turns_the_interval_round():
    assert Estimate(-2.0, -3.0, 0.5).from_neutral(0.0) == Estimate(2.0, -0.5, 3.0)
    assert Estimate(48.0, 40.0, 60.0).from_neutral(50.0) == Estimate(2.0, -10.0, 10.0)
    assert Estimate(53.0, 51.0, 60.0, 5).from_neutral(50.0) == Estimate(3.0, 1.0, 10.0, 5)


def paired(base, head, clusters, **options):
    values = np.stack([base, head], axis=1)
    return difference_of_items(values, np.ones_like(values), clusters, **options)


def test_what_both_runs_share_is_no_noise():
    draw = np.random.default_rng(1)
    base = draw.normal(0, 5, 60)
    head = base + 0.3 + draw.normal(0, 0.1, 60)
    found = paired(base, head, np.arange(60))
    assert found.difference == pytest.approx(0.3, abs=0.05)
    assert found.p_value < 1e-6
    half = stats.norm.ppf(0.975) * 0.1 / math.sqrt(60)
    assert (found.difference - found.low) == pytest.approx(half, rel=0.25)
    assert (found.high - found.difference) == pytest.approx(half, rel=0.25)
    # the same numbers with nothing known but their intervals
    apart = [symmetric(x.mean(), x.std(ddof=1) / math.sqrt(60)) for x in (base, head)]
    assert difference_of_intervals(*apart).p_value > 0.5


def test_variation_over_trainings_is_noise_too():
    draw = np.random.default_rng(1)
    base = draw.normal(0, 5, 60)
    sides = np.stack([base, base + 0.3 + draw.normal(0, 0.1, 60)], axis=1)
    runs = [draw.normal(0, 0.2, 4), draw.normal(0.3, 0.2, 4)]
    of_items, of_both = (
        difference_of_items(sides, np.ones((60, 2)), np.arange(60), runs=some)
        for some in ((), runs)
    )
    welch = stats.ttest_ind(runs[1], runs[0], equal_var=False)
    assert of_both.difference == of_items.difference and of_items.p_value < 1e-6
    error = math.hypot(of_items.error, *(stats.sem(some) for some in runs))
    assert of_both.error == pytest.approx(error)
    assert of_items.p_value < of_both.p_value
    t = of_both.difference / error
    freedom = error**4 / sum(stats.sem(some) ** 4 / 3 for some in runs)
    assert of_both.p_value == pytest.approx(2 * stats.t.sf(t, freedom))
    assert welch.df < freedom < 2 * welch.df
    assert of_both.low == pytest.approx(of_both.difference * (1 - stats.t.ppf(0.975, freedom) / t))


def test_items_with_nothing_in_common_are_independent():
    draw = np.random.default_rng(4)
    base, head = draw.normal(0, 1, 300), draw.normal(0.4, 1, 200)
    above = np.concatenate([np.stack([base, 0 * base], 1), np.stack([0 * head, head], 1)])
    below = np.concatenate([np.tile([1.0, 0.0], (300, 1)), np.tile([0.0, 1.0], (200, 1))])
    found = difference_of_items(above, below, np.arange(500))
    error = math.sqrt(base.var(ddof=1) / 300 + head.var(ddof=1) / 200)
    assert found.difference == pytest.approx(head.mean() - base.mean())
    assert found.error == pytest.approx(error, rel=0.01)
    ends = found.difference - Z * error, found.difference + Z * error
    assert (found.low, found.high) == pytest.approx(ends, rel=0.05)


def test_whole_clusters_are_drawn():
    draw = np.random.default_rng(5)
    shifts = np.repeat(draw.normal(0, 1, 10), 50)
    single = paired(np.zeros(500), shifts, np.arange(500))
    whole = paired(np.zeros(500), shifts, np.repeat(np.arange(10), 50))
    assert whole.difference == single.difference
    assert whole.error > 4 * single.error


def test_few_clusters_say_nothing():
    items = np.arange(50.0)
    few = np.arange(50) % (LEAST_CLUSTERS - 1)
    assert math.isnan(paired(items, items + 1, few).p_value)
    assert paired(items, items + 1, np.arange(50) % LEAST_CLUSTERS).p_value == 2 / 64
    templates = np.column_stack([2 * few, 2 * few + 1, np.arange(50)])  # of swaps that are few
    assert math.isnan(paired(items, items + 1, templates).p_value)


def test_a_shift_of_all_items_alike_is_certain():
    base = np.random.default_rng(6).normal(size=40)
    assert paired(base, base + 0.01, np.arange(40)).p_value < 1e-8
    same = paired(base, base, np.arange(40))
    assert (same.p_value, same.low, same.high) == (1, 0, 0)
    runs = {"runs": [np.ones(2), np.zeros(2)], "parts": np.arange(40) % 2, "slopes": np.ones(40)}
    found = paired(np.ones(40), np.zeros(40), np.arange(40), **runs)
    assert found.p_value < 1e-8
    assert (found.low, found.high) == (-1, -1)


def test_a_run_without_items_has_no_difference():
    found = difference_of_items(np.zeros((0, 2)), np.zeros((0, 2)), np.array([]))
    assert all(math.isnan(value) for value in found)
    one_sided = np.tile([1.0, 0.0], (8, 1))
    assert math.isnan(difference_of_items(one_sided, one_sided, np.arange(8)).difference)


def test_distances_from_a_neutral_point():
    base = np.linspace(-1.2, -0.8, 20)
    head = -base / 2  # on the other side, half as far
    assert paired(base, head, np.arange(20)).difference > 0
    nearer = paired(base, head, np.arange(20), neutral=0.0)
    assert nearer.difference == pytest.approx(-0.5)
    assert nearer.p_value < 1e-5
    mirrored = paired(base, -base, np.arange(20), neutral=0.0)
    assert mirrored.difference == pytest.approx(0, abs=1e-12)
    assert mirrored.p_value > 0.9


@pytest.mark.parametrize("small", [20, 500])
def test_a_small_part_without_a_change_is_no_certainty(small):
    """Changes of 4 % of the cases of either part: the difference of the parts stays."""
    draw, false = np.random.default_rng(small), []
    parts = np.repeat([0, 1], [small, 500])
    sizes = np.array([small, 500])[parts]
    for _ in range(200):
        base = (draw.random(len(parts)) < 0.3).astype(float)
        sides = np.stack([base, np.where(draw.random(len(parts)) < 0.04, 1.0, base)])
        means = [[side[parts == part].mean() for part in (0, 1)] for side in sides]
        # the influences of the cases on the difference of the parts, added to it
        values = [
            np.subtract(*mean)
            + np.where(parts == 0, 1, -1) * len(parts) / sizes * (side - np.array(mean)[parts])
            for side, mean in zip(sides, means, strict=True)
        ]
        found = paired(*values, np.arange(len(parts)), parts=parts, slopes=np.ones(len(parts)))
        assert found.difference == pytest.approx(np.subtract(*np.subtract(*means[::-1])))
        false.append(found.p_value < 0.05)
        assert false[-1] == (not found.low < 0 < found.high) or found.p_value > 0.01
    assert np.mean(false) <= 0.08
