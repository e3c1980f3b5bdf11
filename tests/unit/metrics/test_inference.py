"""Tests and intervals of clustered items: by hand, against other code, and by simulation."""

import importlib.util
import itertools
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.metrics import inference
from evenhand.metrics.inference import (
    Totals,
    correlation_of_means,
    difference_interval,
    effective_number,
    further,
    infer,
    interval_around,
    korn_graubard,
    mean_p_value,
    p_value_with_runs,
    power,
    share_interval,
    sharing,
    sign_flip_interval,
    sign_flip_p_value,
    student_power,
    swap_codes,
    swap_sides,
    total,
    verdict,
    with_runs,
    within_cluster_correlation,
)

SCRIPT = Path(__file__).parents[3] / "benchmarks/inference.py"


def load_script():
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("benchmark_of_inference", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def by_hand(sums):
    """The p-value over all patterns of signs."""
    seen = abs(sum(sums)) - 1e-9 * sum(map(abs, sums))
    patterns = itertools.product((1, -1), repeat=len(sums))
    return np.mean([abs(np.dot(signs, sums)) >= seen for signs in patterns])


def ones(sums, sizes=None):
    """Totals of hits."""
    sums = np.array(sums, dtype=float)
    sizes = np.ones(len(sums)) if sizes is None else np.array(sizes, dtype=float)
    return Totals(sums, sizes, float(sums.sum()))


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=9))
def test_whole_and_half_sums_have_the_p_value_of_all_patterns(halves):
    sums = np.array(halves) / 2
    assert sign_flip_p_value(sums, seed=0) == pytest.approx(by_hand(sums))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=9))
def test_few_clusters_are_enumerated(sums):
    assert sign_flip_p_value(np.array(sums), seed=0) == pytest.approx(by_hand(sums))


def test_some_clusters_are_counted_exactly():
    steps = np.random.default_rng(0).integers(-9, 10, size=26)
    exact = sign_flip_p_value(steps.astype(float))
    assert sign_flip_p_value(np.pi * steps) == pytest.approx(exact)
    assert sign_flip_p_value(np.pi * np.ones(30)) == pytest.approx(2.0**-29)


def test_a_total_between_two_that_signs_give_has_a_p_value_between_theirs():
    sums = np.ones(20)
    for low, high in ((8, 10), (18, 20)):
        ends = [sign_flip_p_value(sums, reached=end) for end in (low, low + 0.5, high)]
        assert ends[0] > ends[1] > ends[2]
    assert sign_flip_p_value(sums, reached=20) == pytest.approx(2.0**-19)


def test_many_clusters_are_drawn_close_to_the_exact_p_value():
    sums = np.random.default_rng(1).normal(0.2, 1, size=100).round(1)
    exact = sign_flip_p_value(10 * sums, seed=0)
    drawn = sign_flip_p_value(sums + 1e-6, seed=3)
    assert drawn == pytest.approx(exact, abs=0.02)
    assert drawn != sign_flip_p_value(sums + 1e-6, seed=4)
    # no pattern comes near: Hoeffding's bound
    assert sign_flip_p_value(np.pi * np.ones(40), seed=0) == pytest.approx(2 * np.exp(-20))
    assert sign_flip_p_value(100 * np.ones(900), seed=0) == pytest.approx(2.0**-899)


def test_pieces_do_not_change_the_result(monkeypatch):
    sums = np.random.default_rng(0).normal(size=30)
    whole = sign_flip_p_value(sums, seed=1, flips=500)
    monkeypatch.setattr(inference, "SIGNS_AT_ONCE", 170)
    assert sign_flip_p_value(sums, seed=1, flips=500) == whole


def test_very_many_clusters_are_normal(monkeypatch):
    totals = total(np.random.default_rng(1).normal(0.01, 1, size=9000), np.arange(9000))
    found = [sign_flip_p_value(totals.sums), *sign_flip_interval(totals)]
    monkeypatch.setattr(inference, "MANY", 10_000)
    drawn = [sign_flip_p_value(totals.sums, flips=999), *sign_flip_interval(totals, flips=999)]
    assert found == pytest.approx(drawn, abs=0.02)
    assert found != drawn


def test_one_cluster_is_no_test():
    assert np.isnan(sign_flip_p_value(np.array([3.0]), seed=0))
    assert sign_flip_p_value(np.zeros(5), seed=0) == 1


@given(st.permutations(range(12)))
def test_the_order_of_the_items_does_not_matter(order):
    generator = np.random.default_rng(0)
    values, clusters = generator.normal(size=12), np.repeat(list("abcdefgh"), 2)[:12]
    found = total(values[order], clusters[order])
    expected = total(values, clusters)
    assert [*found.sums, *found.sizes] == [*expected.sums, *expected.sizes]


def test_totals_of_ratios_leave_out_items_without_a_denominator():
    found = total(np.array([1.0, 5, 3]), np.array(["b", "c", "a"]), np.array([2.0, 0, 4]))
    assert (found.sums.tolist(), found.sizes.tolist()) == ([3, 1], [4, 2])
    assert found.mean == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    "arguments",
    [([1.0], ["a", "b"]), ([np.nan], ["a"]), ([[1.0]], [["a"]]), ([1.0], ["a"], [np.inf])],
)
def test_totals_reject(arguments):
    with pytest.raises(ValueError):
        total(*map(np.array, arguments))


def test_levels_without_an_equivalence_test_are_rejected():
    with pytest.raises(ValueError, match="level must be above"):
        infer(ones([1, 0] * 5), neutral=0.5, delta=0.05, level=0.5, is_share=True)


def test_effective_number():
    assert effective_number(np.ones(7)) == pytest.approx(7)
    assert effective_number(np.array([2, 1])) == pytest.approx(9 / 5)
    assert np.isnan(effective_number(np.array([])))


def test_the_interval_holds_what_the_test_does_not_reject():
    generator = np.random.default_rng(5)
    values, clusters = generator.normal(2, 1, size=60), np.arange(60) % 12
    totals = total(values, clusters)
    low, high = sign_flip_interval(totals, seed=0)
    for border, inside in ((low, 1), (high, -1)):
        for shift in (0.001, -0.001):
            p_value = sign_flip_p_value(totals.sums - (border + shift) * totals.sizes, seed=0)
            assert (p_value > 0.05) == (shift * inside > 0)


def test_the_interval_of_items_that_are_clusters_is_close_to_students():
    values = np.random.default_rng(2).normal(size=200)
    found = sign_flip_interval(total(values, np.arange(200)), seed=0)
    expected = stats.t.interval(0.95, 199, values.mean(), stats.sem(values))
    assert found == pytest.approx(expected, abs=0.02)


def test_the_interval_around_a_difference_of_ratios_is_close_to_that_of_the_bootstrap():
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 9, size=(2, 200))
    hits = generator.binomial(sizes, generator.beta(3, 2, size=200))
    rates = hits.sum(axis=1) / sizes.sum(axis=1)
    influence = (hits - rates[:, None] * sizes) / sizes.mean(axis=1)[:, None]
    found = interval_around(rates[1] - rates[0], influence[1] - influence[0], np.arange(200))
    drawn = generator.integers(200, size=(4000, 200))
    ratios = hits[:, drawn].sum(axis=2) / sizes[:, drawn].sum(axis=2)
    assert found == pytest.approx(np.quantile(ratios[1] - ratios[0], [0.025, 0.975]), abs=0.005)


def test_korn_graubard_of_independent_items_is_clopper_pearson():
    hits = np.zeros(80)
    hits[:20] = 1
    low, high = korn_graubard(ones(hits))
    exact = stats.binomtest(20, 80).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.003)
    for share in (0, 1):
        exact = stats.binomtest(80 * share, 80).proportion_ci(method="exact")
        found = korn_graubard(ones(np.full(80, share)))
        assert found == pytest.approx((exact.low, exact.high), abs=0.003)


def test_pseudo_values_of_a_share_have_its_interval():
    hits = np.repeat([1.0, 0.0], [300, 100])
    found = share_interval(ones(hits), pseudo_values=True)(0.95)
    assert found == pytest.approx(korn_graubard(ones(hits)), abs=2e-3)
    # values that vary twice as much count as a quarter of the cases
    wide = share_interval(ones(0.75 + 2 * (hits - 0.75)), pseudo_values=True)(0.95)
    assert wide == pytest.approx(korn_graubard(ones(np.repeat([1.0, 0.0], [75, 25]))), abs=3e-2)


def test_few_clusters_with_most_of_the_variance_of_pseudo_values_count_alone():
    even = np.tile([0.7, 0.9], 30)
    few = np.r_[np.tile(0.8, 54), np.tile([0.8 - 0.1 * 10**0.5, 0.8 + 0.1 * 10**0.5], 3)]
    (low, high), (lower, higher) = (
        share_interval(ones(values), pseudo_values=True)(0.95) for values in (even, few)
    )
    assert np.var(even) == pytest.approx(np.var(few))
    assert 1.04 < (higher - lower) / (high - low) < 1.07


def test_equal_pseudo_values_have_the_interval_of_hits():
    found = share_interval(ones(np.ones(40)), pseudo_values=True)(0.95)
    assert found == pytest.approx(korn_graubard(ones(np.ones(40))))


def test_korn_graubard_of_clusters_that_agree_counts_clusters():
    hits = np.repeat([1.0, 0.0], [6, 14]) * 10
    low, high = korn_graubard(ones(hits, np.full(20, 10)))
    exact = stats.binomtest(6, 20).proportion_ci(method="exact")
    assert low == pytest.approx(exact.low, abs=0.03)
    assert high == pytest.approx(exact.high, abs=0.03)
    # all items agree: 20 hits, not 200
    assert korn_graubard(ones(np.full(20, 10), np.full(20, 10)))[0] == pytest.approx(
        stats.binomtest(20, 20).proportion_ci(method="exact").low, abs=0.03
    )


def test_few_effective_clusters_have_no_interval():
    few = ones([5, 2, 2, 2, 2, 2, 2, 2], [90, 4, 4, 4, 4, 4, 4, 4])
    assert np.isnan([*korn_graubard(few), *sign_flip_interval(few, seed=0)]).all()
    found = infer(few, neutral=0.5, delta=0.05, is_share=True)
    assert not found.equivalent
    assert 0 < found.p_value <= 1


def crossed(*lists):
    """The swaps of two lists of words, each word of one with each of the other."""
    return [f"{one}|{other}" for one in range(lists[0]) for other in range(100, 100 + lists[1])]


def test_the_variance_holds_the_products_of_all_swaps_that_share_a_word():
    generator = np.random.default_rng(6)
    sides = swap_sides(generator.choice(crossed(40, 60), size=3000))
    values = generator.normal(size=60)[sides[:, 1].astype(int) - 100]
    totals = total(values, sides)
    rest, ends = totals.sums - totals.mean * totals.sizes, totals.words
    share = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
    by_hand = (np.outer(rest, rest) * share).sum() / (rest**2).sum()
    found, effective, *_ = sharing(totals)
    # residuals from the estimated mean are too small by one word of 60
    assert found == pytest.approx(by_hand, rel=0.03) and found > 20
    assert 38 < effective < 40
    assert sharing(total(values, sides[:, ::-1])) == sharing(totals)


def test_words_of_their_own_change_nothing():
    generator = np.random.default_rng(7)
    values = generator.integers(0, 2, 90).astype(float)
    names = [f"a{i % 30}|b{i % 30}" for i in range(90)]
    settings = {"neutral": 0.5, "delta": 0.05, "is_share": True}
    alone, swaps = total(values, np.array(names)), total(values, swap_codes(names))
    assert infer(swaps, **settings) == infer(alone, **settings)
    assert swaps.words is None
    labels = swap_sides(["|not", "|", "term", "not|"]).ravel().tolist()
    assert len({*labels}) == 7 and labels.count("not") == 2  # a missing word is never shared


def in_templates(templates, swaps, deviation, seed, sets=None):
    """Labels of swaps crossed with templates, and hits of a model without a preference.

    Each template has a preference of its own, whose deviation is relative to that of a pair.
    """
    template, swap = np.divmod(np.arange(templates * swaps), swaps)
    labels = np.column_stack([2 * swap, 2 * swap + 1, template])
    generator = np.random.default_rng(seed)
    shape = (sets or 1, len(labels))
    margin = deviation * generator.normal(size=(shape[0], templates))[:, template]
    hits = (margin + generator.normal(size=shape) > 0).astype(float)
    return labels, hits if sets else hits[0]


def test_templates_add_the_products_of_pairs_that_share_nothing_else():
    labels, hits = in_templates(60, 70, 1.0, 3)
    words = np.random.default_rng(4).integers(0, 90, size=(70, 2))
    for sides in (labels[:, :2], words[labels[:, 1] // 2] + [[0, 100]]):
        labels = np.column_stack([sides, labels[:, 2]])
        totals, alone = total(hits, labels), total(hits, labels[:, :2])
        rest = hits - hits.mean()
        is_same = labels[:, None, :2] == labels[None, :, :2]
        shares = (labels[:, None, 2] == labels[None, :, 2]) & ~is_same.any(axis=2)
        by_hand = (np.outer(rest, rest) * shares).sum()
        # residuals from the estimated mean are too small by one template of 60
        assert sharing(totals).added == pytest.approx(by_hand, rel=0.04)
        assert by_hand > 3 * (rest**2).sum()
        settings = {"neutral": 0.5, "delta": 0.05, "is_share": True}
        found, before = infer(totals, **settings), infer(alone, **settings)
        items = np.tile(np.arange(len(hits)), 3)
        copied = infer(total(np.tile(hits, 3), np.tile(labels, (3, 1)), items=items), **settings)
        assert (copied.low, copied.high) == pytest.approx((found.low, found.high), abs=1e-9)
        assert found.high - found.low > 1.5 * (before.high - before.low)
        assert (found.p_value > before.p_value, found.power < before.power) == (True, True)
        assert found.clusters == before.clusters
        assert (found.further_clusters, before.further_clusters) == (None, 0)
        order = np.random.default_rng(5).permutation(len(hits))
        assert infer(total(hits[order], labels[order]), **settings) == found


def test_templates_of_their_own_change_nothing():
    labels, hits = in_templates(8, 12, 1.0, 5)
    settings = {"neutral": 0.5, "delta": 0.05, "is_share": True}
    alone = total(hits, labels[:, :2])
    for templates in (np.arange(len(hits)), labels[:, 0]):  # of each pair, of each swap
        totals = total(hits, np.column_stack([labels[:, :2], templates]))
        assert totals.templates is None and infer(totals, **settings) == infer(alone, **settings)


def test_a_few_templates_alike_by_chance_leave_a_number_of_further_swaps():
    """80 swaps in 74 templates: so many more in other ones have a power of about 80 %."""
    settings = {"neutral": 0.5, "delta": 0.1, "is_share": True}
    generator, significant, needed = np.random.default_rng(6), [], set()
    for effect in (0.0, 1.0):
        for _ in range(150):
            added = 0
            for rate in (0.5, 0.6):
                block, place = np.divmod(np.arange(80 + added), 80)
                template = 74 * block + np.where(place < 74, place, place - 74)
                swap = np.arange(80 + added)
                labels = np.column_stack([2 * swap, 2 * swap + 1, template])
                margin = effect * generator.normal(size=template.max() + 1)[template]
                margin += (
                    generator.normal(size=len(swap)) + stats.norm.ppf(rate) * (1 + effect**2) ** 0.5
                )
                found = total((margin > 0).astype(float), labels)
                if rate == 0.5:
                    assert found.templates.unshared == 68 / 80
                    added = infer(found, **settings).further_clusters
                    needed.add(added)
            significant.append(mean_p_value(found, 0.5) <= 0.05)
    assert 100 < min(needed) <= max(needed) < 200
    assert 0.74 < np.mean(significant) < 0.9


def taking_turns(templates, words, swaps):
    """Labels of swaps crossed with templates and with the words that take turns in them."""
    template, word, swap = np.unravel_index(
        np.arange(templates * words * swaps), (templates, words, swaps)
    )
    return np.column_stack([2 * swap, 2 * swap + 1, template, word])


def test_words_that_take_turns_add_their_own_products():
    labels = taking_turns(25, 20, 6)
    generator = np.random.default_rng(6)
    margin = generator.normal(size=25)[labels[:, 2]] + generator.normal(size=20)[labels[:, 3]]
    hits = (margin + generator.normal(size=len(labels)) > 0).astype(float)
    rest = hits - hits.mean()
    is_same = labels[:, None] == labels[None]
    shares = is_same[..., 2:].any(axis=2) & ~is_same[..., :2].any(axis=2)
    found = sharing(total(hits, labels))
    assert found.added == pytest.approx((np.outer(rest, rest) * shares).sum(), rel=0.08)
    assert found.templates == pytest.approx(20)
    assert found.added > 1.3 * sharing(total(hits, labels[:, :3])).added


def test_preferences_for_words_that_take_turns_are_no_preference():
    labels = taking_turns(9, 12, 10)
    generator = np.random.default_rng(8)
    draws = [generator.normal(size=(300, 12))[:, labels[:, 3]], generator.normal(size=(300, 1080))]
    sets = (sum(draws) > 0).astype(float)
    for columns, low, high in ((4, 0, 0.08), (3, 0.4, 1)):
        p_values = [mean_p_value(total(hits, labels[:, :columns]), 0.5) for hits in sets]
        assert low <= np.mean(np.array(p_values) <= 0.05) <= high


@pytest.mark.parametrize(
    ("shape", "counts", "counted"),
    [
        ((10, 9, 4), [10, 9], "template"),
        ((10, 7, 4), [10], "template"),  # few words are taken as given
        # few templates in which words take turns: their sentences count
        ((3, 9, 4), [27, 9], "sentence"),
        ((3, 2, 4), [6], "sentence"),
    ],
)
def test_which_labels_of_templates_count(shape, counts, counted):
    labels = taking_turns(*shape)
    totals = total(np.ones(len(labels)), labels)
    assert [len(np.unique(label)) for label in totals.templates.labels] == counts
    assert (totals.template_count, totals.templates.counted) == (counts[0], counted)


def test_few_templates_with_words_of_each_swap_are_few():
    labels = taking_turns(5, 16, 1)
    swap = labels[:, 3]
    labels = np.column_stack([2 * swap, 2 * swap + 1, labels[:, 2], swap])
    totals = total(np.ones(80), labels)
    assert totals.template_count == 5 and mean_p_value(totals, 0.5) == pytest.approx(2**-4)


@pytest.mark.parametrize("templates", [8, 20])
def test_preferences_in_a_few_templates_are_no_preference(templates):
    labels, sets = in_templates(templates, 26, 1.0, 11, sets=300)
    found = [mean_p_value(total(hits, labels), 0.5) for hits in sets]
    alone = [mean_p_value(total(hits, labels[:, :2]), 0.5) for hits in sets]
    assert np.mean(np.array(found) <= 0.05) <= 0.08 and np.mean(np.array(alone) <= 0.05) > 0.3
    # a preference in all templates is seen
    biased = np.maximum(sets, np.random.default_rng(12).random(sets.shape) < 0.9)
    seen = [mean_p_value(total(hits, labels), 0.5) for hits in biased]
    assert np.mean(np.array(seen) <= 0.05) > 0.9


def test_swaps_make_no_certainty_of_a_few_templates():
    settings = {"neutral": 0.5, "delta": 0.05, "is_share": True}
    for templates, least in ((3, 0.25), (5, 0.0625), (8, 2**-7)):
        for swaps in (12, 60):
            labels, _ = in_templates(templates, swaps, 1.0, 1)
            found = infer(total(np.ones(len(labels)), labels), **settings)
            assert found.p_value == pytest.approx(least)
            assert np.isfinite(found.low) == (templates == 8) and not found.low < 0.5
            assert templates != 8 or found.low < 0.75  # as of eight items
            values = 100 * np.ones(len(labels)) - 50
            mean = infer(total(values, labels), neutral=0, delta=5)
            assert mean.p_value == pytest.approx(least) and np.isfinite(mean.low) == (
                templates == 8
            )
    assert infer(total(in_templates(5, 60, 0.0, 1)[1], labels[:300]), **settings).power == 0


def test_the_test_agrees_with_the_interval_where_templates_are_few():
    labels, _ = in_templates(9, 20, 0.0, 1)
    generator = np.random.default_rng(6)
    for _ in range(300):
        of_template = generator.exponential(size=9) - 0.4  # by signs alone p is often above
        values = of_template[labels[:, 2]] + 0.1 * generator.normal(size=180)
        found = infer(total(values, labels), neutral=0, delta=1)
        assert (found.p_value <= 0.05) == (not found.low <= 0 <= found.high)


def test_many_clusters_in_a_few_templates():
    labels, _ = in_templates(12, inference.MANY, 0.0, 1)
    of_template = np.random.default_rng(7).normal(size=12)
    low, high = sign_flip_interval(total(of_template[labels[:, 2]], labels))
    assert high - low == pytest.approx(2 * 2.2 * of_template.std(ddof=1) / 12**0.5, rel=0.02)


@pytest.mark.parametrize("is_share", [True, False])
def test_templates_that_decide_alone_are_the_items(is_share):
    labels, _ = in_templates(12, 24, 0.0, 1)
    generator, within, significant = np.random.default_rng(2), 0, 0
    for _ in range(150):
        hits = generator.integers(0, 2, 12).astype(float)[labels[:, 2]]
        noisy = np.where(generator.random(len(hits)) < 0.01, 1 - hits, hits)
        for values in (hits, noisy):  # all swaps alike, and nearly
            found = infer(total(values, labels), neutral=0.5, delta=0.05, is_share=is_share)
            within += found.low <= 0.5 <= found.high
            significant += found.p_value <= 0.05
            assert not found.equivalent and found.high - found.low < 0.75
    assert within >= 0.93 * 300 and significant <= 0.06 * 300


def test_one_word_in_each_swap_has_no_test():
    totals = total(np.ones(40), swap_codes([f"he|w{i}" for i in range(40)]))
    found = infer(totals, neutral=0.5, delta=0.05, is_share=True)
    assert np.isnan([found.p_value, found.low, found.power, found.inflation]).all()
    assert (found.further_clusters, verdict(found)) == (None, "inconclusive")
    assert np.isnan(sign_flip_interval(totals)).all()
    labels, hits = in_templates(1, 40, 0.0, 1)  # nor has one template
    for values in (hits, np.ones(40)):
        for is_share in (False, True):
            found = infer(total(values, labels), neutral=0.5, delta=0.05, is_share=is_share)
            assert np.isnan([found.p_value, found.low, found.power, found.inflation]).all()


def skewed(first, second, seed):
    """Values of crossed lists whose first words have skewed effects, and their totals."""
    generator = np.random.default_rng(seed)
    effects = np.repeat(generator.exponential(size=first) - 1, second)
    values = effects + 0.3 * generator.normal(size=first * second)
    return values, total(values, swap_codes(crossed(first, second)))


def test_the_skewness_of_words_is_that_of_their_means():
    values, totals = skewed(12, 100, 8)
    words = values.reshape(12, 100).mean(axis=1)
    by_hand = stats.skew(words, bias=False) / 12**0.5 * 10 / 11  # reduced, as words are few
    assert sharing(totals).skewness == pytest.approx(by_hand, rel=0.02) and by_hand > 0.1
    assert sharing(totals._replace(sums=-totals.sums)).skewness == -sharing(totals).skewness
    assert sharing(totals._replace(words=None)).skewness == 0
    # fewer than two words have most of the cubes
    names = [f"a|x{i}" for i in range(9)] + [f"b|y{i}" for i in range(6)]
    few = total(np.repeat([3.0, 0.0], [9, 6]), swap_codes(names))
    assert sharing(few).inflation > 2 and sharing(few).skewness == 0


def test_skewed_words_widen_the_interval_on_one_side():
    _, totals = skewed(12, 20, 8)
    inflation, effective, skewness, *_ = sharing(totals)
    alone = np.subtract(sign_flip_interval(totals._replace(words=None)), totals.mean)
    below, above = np.subtract(sign_flip_interval(totals), totals.mean) / alone / inflation**0.5
    for power_of, is_share in ((-4, False), (-2, True)):
        alone_part = inflation**power_of
        words = sharing(totals, is_share=is_share).effective
        assert 1 / words == pytest.approx((1 - alone_part) / 12 + alone_part / 240)
    shared, of_swaps = stats.t.ppf(0.975, [effective - 1, 239])
    assert below == pytest.approx(shared / of_swaps)

    def transformed(t):  # Hall 1992
        return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6

    assert transformed(-above * of_swaps) == pytest.approx(-shared)
    assert above > 1.2 * below
    low, high = sign_flip_interval(totals._replace(sums=-totals.sums))
    np.testing.assert_allclose((-high, -low), sign_flip_interval(totals))


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_p_value_of_a_mean_agrees_with_its_interval_where_words_are_shared(level):
    for seed in range(4):
        _, totals = skewed(8, 9, seed)
        for border, sign in zip(sign_flip_interval(totals, level=level), (-1, 1), strict=True):
            outside, inside = (
                infer(totals, neutral=border + step * sign, delta=1, level=level).p_value
                for step in (1e-4, -1e-4)
            )
            assert outside <= 1 - level + 1e-9 < inside < outside + 0.02
    assert infer(totals, neutral=totals.mean - 1e3, delta=1).p_value < 1e-6


def test_crossed_words_count_less_than_swaps():
    # each word of one list is preferred always or never
    values = np.repeat([1.0] * 8 + [0.0] * 2, 10)
    names = crossed(10, 10)
    found, swaps = (
        infer(total(values, clusters), neutral=0.5, delta=0.05, is_share=True)
        for clusters in (swap_codes(names), np.array(names))
    )
    assert swaps.p_value < 1e-8
    assert found.p_value == pytest.approx(by_hand([0.5] * 8 + [-0.5] * 2), rel=0.25)
    assert found.inflation == pytest.approx(10) and found.power < swaps.power / 2
    assert found.low < 0.5 < swaps.low
    low, high = sign_flip_interval(total(values, swap_codes(names)))
    assert low < 0.55 and high > 1


def test_the_further_swaps_are_multiplied_by_the_inflation():
    rng = np.random.default_rng(3)
    sides = np.array([(f"a{i}", f"b{j}") for i in range(8) for j in range(8)])
    effects = rng.normal(size=(8, 1)) + rng.normal(size=8) + rng.normal(size=(8, 8))
    crossed = total((effects.ravel() > 0) * 1.0, sides)
    shared, alone = (
        infer(totals, neutral=0.5, delta=0.05, is_share=True)
        for totals in (crossed, crossed._replace(words=None))
    )
    assert shared.inflation > 2
    needed = (64 + shared.further_clusters) / (64 + alone.further_clusters)
    assert needed == pytest.approx(shared.inflation, rel=0.05)


@pytest.mark.parametrize("of_words", [0, 2])
def test_ties_narrow_the_interval_of_pairs_that_share_words(of_words):
    settings, widths = {"neutral": 0.5, "delta": 0.05, "is_share": True}, []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        words = np.add(generator.integers(12, size=(2, 200)).T, [0, 12])
        margin = of_words * generator.normal(size=24)[words].sum(axis=1)
        values = (margin + generator.normal(size=200) > -0.6).astype(float)
        untied = infer(total(values, words), **settings)
        tied = infer(total(np.where(np.arange(200) % 6, values, 0.5), words), **settings)
        assert tied.inflation > 3 or not of_words
        widths.append((untied.high - untied.low, tied.high - tied.low))
    assert np.divide(*np.mean(widths, axis=0)) > 1.02
    one_side = infer(total(np.where(values, 1, 0.5), words * [1, 0]), **settings)
    assert np.isnan(one_side.low) and np.isnan(one_side.p_value)  # a word is in each item


def test_a_score_near_the_border_with_ties_is_in_its_interval():
    script, generator = load_script(), np.random.default_rng(0)
    intervals = [
        share_interval(script.draw_tied(np.full(10, 20), 0.95, 0.5, 0.3, generator), may_tie=True)
        for _ in range(400)
    ]
    # 84 % by the sign-flip test, and 92 % without the lower limit of the share of ties
    assert np.mean([script.covers(one(0.95), 0.95) for one in intervals]) > 0.94


def test_shares_without_ties_or_of_ties_alone_have_the_interval_of_hits():
    sizes = np.full(12, 6.0)
    hits = ones(np.random.default_rng(0).binomial(6, 0.8, size=12), sizes)
    for totals in (hits, Totals(sizes / 2, sizes, float(sizes.sum() / 4))):
        assert share_interval(totals, may_tie=True)(0.95) == korn_graubard(totals)


@pytest.mark.parametrize("is_share", [True, False])
@pytest.mark.parametrize("times", [2, 3, 40])
def test_copies_of_items_add_nothing(is_share, times):
    values = np.random.default_rng(3).integers(0, 2, 60).astype(float)
    items = np.arange(60)
    settings = {"neutral": 0.5, "delta": 0.05, "is_share": is_share}
    expected = infer(total(values, items % 12), **settings)
    copied = np.tile(items, times)
    found = infer(total(values[copied], copied % 12, items=copied), **settings)
    assert [*found] == pytest.approx([*expected])
    assert infer(total(values, items % 12, items=items), **settings) == expected
    assert infer(total(values[copied], copied % 12), **settings).power > found.power


def test_one_item_with_many_copies_makes_the_others_count_less():
    items = np.r_[np.zeros(30, int), np.arange(1, 30)]
    totals = total(np.ones(59), items % 12, items=items)
    assert totals.mean == 1 and totals.copies == pytest.approx((30**2 + 29) / 59)
    found = infer(
        total(items % 2.0, items % 12, items=items), neutral=0.5, delta=0.1, is_share=True
    )
    assert 0 < found.power < infer(total(np.arange(30) % 2.0, np.arange(30) % 12), neutral=0.5,
                                   delta=0.1, is_share=True).power  # fmt: skip


def test_the_correlation_is_that_of_the_draw():
    generator = np.random.default_rng(3)
    member_of = np.repeat(np.arange(800), generator.integers(1, 9, size=800))
    shared = generator.normal(size=800)[member_of]
    values = 0.3**0.5 * shared + 0.7**0.5 * generator.normal(size=len(member_of))
    assert within_cluster_correlation(total(values, member_of)) == pytest.approx(0.3, abs=0.04)
    assert np.isnan(within_cluster_correlation(total(values, np.arange(len(values)))))
    pairs = total(np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1]))
    assert within_cluster_correlation(pairs) == 1


def test_power_without_correlation_is_that_of_students_test():
    from statsmodels.stats.power import TTestPower

    given = {"delta": 0.5, "variance": 1.0, "correlation": 0.0}
    expected = TTestPower().power(0.5, 30, 0.05)
    assert power(np.ones(30), **given) == pytest.approx(expected, abs=0.05)
    needed = TTestPower().solve_power(0.5, power=0.8, alpha=0.05) - 20
    found = further(lambda times: power(np.ones(20), times=times, **given), 20)
    assert found == pytest.approx(needed, abs=5)
    assert further(lambda times: power(np.ones(90), times=times, **given), 90) == 0
    # an effect of so many errors that the other tail has no number in SciPy
    assert student_power(0.5, 5, delta=4) == pytest.approx(TTestPower().power(8 / 5**0.5, 5, 0.05))
    exact = student_power(0.1 * 30**-0.5, 30, delta=0.05)
    assert exact == pytest.approx(expected)
    found = further(lambda times: student_power(2 * 20**-0.5, 20, delta=1, times=times), 20)
    assert found == np.ceil(needed)
    assert power(np.ones(5), **given) == 0  # 2 of 32 patterns are the least p-value
    assert further(lambda times: 0.05, 20) is None
    assert further(lambda times: float("nan"), 20) is None
    assert np.isnan(power(np.ones(20), delta=0.1, variance=float("nan"), correlation=0.0))


def test_power_where_one_cluster_is_large_is_that_of_the_simulation():
    script = load_script()
    clusters, generator = script.listed_clusters()["all"], np.random.default_rng(1)
    for correlation in (0.05, 0.3, 1.0):
        draws = [script.draw_hits(clusters, 0.55, correlation, generator) for _ in range(150)]
        p_values = [sign_flip_p_value(one.sums - one.sizes / 2, seed=0) for one in draws]
        told = power(clusters.sizes, delta=0.05, correlation=correlation)
        assert told == pytest.approx(np.mean(np.array(p_values) <= 0.05), abs=0.08)


@pytest.mark.parametrize(
    ("hits", "expected"),
    [(600, "above"), (400, "below"), (503, "equivalent"), (521, "inconclusive")],
)
def test_verdicts_of_many_clusters(hits, expected):
    found = infer(ones(np.arange(1000) < hits), neutral=0.5, delta=0.05, is_share=True)
    assert verdict(found) == expected


def test_the_third_verdict_names_power_and_clusters():
    found = infer(ones(np.arange(100) < 53), neutral=0.5, delta=0.05, is_share=True)
    assert verdict(found) == "inconclusive"
    assert 0.1 < found.power < 0.2
    assert 600 < found.further_clusters < 800
    # significant by itself, but not after adjustment for other tests
    found = infer(ones(np.arange(100) < 61), neutral=0.5, delta=0.05, is_share=True)
    assert verdict(found) == "above"
    assert verdict(found, p_value=0.2) == "inconclusive"


def test_the_simulation_meets_its_targets(monkeypatch):
    script = load_script()
    monkeypatch.setattr(script, "RATES", (0.5, 0.7))
    monkeypatch.setattr(script, "CORRELATIONS", (0.05, 1.0))
    monkeypatch.setattr(script, "CLUSTERED", {"unequal": (10,), "independent": (150,)})
    monkeypatch.setattr(script, "SCORES", (0.8,))
    monkeypatch.setattr(script, "TIED_SCORES", (0.95,))
    lists = {"8 × 8": (8, 8, 1.0, 1), "6 × 20": (6, 20, 0.5, 3)}
    monkeypatch.setattr(script, "LISTS", lists)
    monkeypatch.setattr(script, "TEMPLATES", (20,))
    monkeypatch.setattr(script, "IN_TEMPLATES", (1, np.inf))
    monkeypatch.setattr(script, "TURNS", ((0, 0.6), (1, 1)))
    clusters = script.listed_clusters()
    assert clusters["all"].effective == pytest.approx(51.1, abs=0.05)
    chosen = {name: clusters[name] for name in ("all", "religion")}
    lines = list(script.results(chosen, np.random.default_rng(0), 25))
    assert [line for line, met in lines if not met] == []
    assert sum(line.startswith(("| all", "| religion")) for line, _ in lines) == 20
    assert sum(line.startswith(("| unequal", "| independent")) for line, _ in lines) == 18
    shared = [line for line, _ in lines if line.startswith(("| 8 × 8", "| 6 × 20"))]
    assert len(shared) == 16  # of shares and of means
    alone = [float(part) for line in shared[1:4] for part in re.findall(r"\((.+?)\)", line)]
    assert np.mean(alone) > 18  # significant, if swaps were independent


def matched(generator, sets, *, same):
    """Hits of a woman and a man in each of 120 clusters: the same, or of one of them only."""
    first = (generator.random((sets, 120)) < 0.5).astype(float)
    return zip(first, first if same else 1 - first, strict=True)


@pytest.mark.parametrize("same", [True, False])
def test_means_of_the_same_clusters_are_dependent(same):
    clusters, generator = [np.arange(120), np.arange(120)], np.random.default_rng(4)
    covered, widths = [], []
    for pair in matched(generator, 200, same=same):
        if same:  # but for one in eight
            pair = pair[0], np.where(generator.random(120) < 0.125, 1 - pair[1], pair[1])
        totals = [total(one, names) for one, names in zip(pair, clusters, strict=True)]
        means, shared = [one.mean() for one in pair], correlation_of_means(pair, clusters)
        low, high = difference_interval(totals, *means, correlation=shared)(0.95)
        alone = difference_interval(totals, *means)(0.95)
        covered.append(low <= 0 <= high)
        widths.append((high - low) / (alone[1] - alone[0]))
        assert (shared > 0.5) if same else shared == pytest.approx(-1)
    assert np.mean(covered) >= 0.93 and (np.mean(widths) < 0.6 if same else min(widths) > 1.3)


def test_the_interval_of_a_mean_over_runs_covers_it():
    """Cases move all runs alike, and each run moves alone."""
    draw = np.random.default_rng(3)
    covered = 0
    for _ in range(4000):
        runs = draw.normal() + draw.normal(scale=2, size=4)
        low, high = with_runs(partial(stats.norm.interval, loc=runs.mean()), runs)(0.9)
        covered += low < 0 < high
    assert 0.885 < covered / 4000 < 0.94
    assert with_runs(lambda level: (level, 2.0), runs[:1])(0.9) == (0.9, 2.0)


def test_a_p_value_stays_where_the_interval_over_runs_excludes_0():
    interval = partial(stats.norm.interval, loc=2.5)
    assert p_value_with_runs(1e-6, interval) == 1e-6
    assert p_value_with_runs(1e-6, interval, 0.99) == pytest.approx(2 * stats.norm.sf(2.5))


def test_means_of_other_clusters_are_independent():
    values, clusters = [np.arange(4.0), np.arange(5.0)], [np.arange(4), np.arange(4, 9)]
    assert correlation_of_means(values, clusters) == 0
    assert correlation_of_means([np.ones(3), np.arange(3)], [np.arange(3)] * 2) == 0
    few = [total(one, names) for one, names in zip(values, clusters, strict=True)]
    assert np.isnan(difference_interval(few, 1.5, 2.0)(0.95)).all()


def test_a_share_near_its_border_is_covered_where_clusters_correlate():
    generator, within, clusters = np.random.default_rng(4), 0, np.repeat(np.arange(30), 25)
    for _ in range(200):
        rates = generator.beta(0.98 * 7 / 3, 0.02 * 7 / 3, 30)  # correlation .3
        hits = (generator.random(len(clusters)) < rates[clusters]).astype(float)
        low, high = share_interval(total(hits, clusters))(0.95)
        within += low <= 0.98 <= high
    assert within >= 0.92 * 200
    # single items vary as is known
    alone = total(np.arange(100) > 0, np.arange(100))
    assert share_interval(alone)(0.95) == pytest.approx(korn_graubard(alone))
