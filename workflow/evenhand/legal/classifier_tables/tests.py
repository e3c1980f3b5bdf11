"""Tests of each objective against ERM of the same classifier, paired by case and by seed."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped_by
from evenhand.core.tables import Row, Table, flag, integer, number, percent, share, text
from evenhand.legal.built import Groups
from evenhand.legal.classifier_study import (
    BASE,
    FEW,
    SEED,
    SELECT,
    SETTING,
    SETTING_KEY,
    Cases,
    ClassifierStudy,
    Runs,
    case_counts,
    measured,
    scores_of_groups,
)
from evenhand.legal.classifier_tables.scores import constant_labels
from evenhand.legal.groups import NO_ATTRIBUTE, attributes
from evenhand.legal.published import MEASURES
from evenhand.metrics.classification import conventions, counts_of
from evenhand.metrics.disparity import (
    drawn_seed,
    permuted_sums,
    redrawn_sums,
    same_disparity,
    share_as_far,
    widening,
)
from evenhand.metrics.inference import conclude
from evenhand.metrics.paired import adjust, swapped_sums
from evenhand.text.catalogue import reason

TABLE = Table(
    "tests",
    title="Tests of each objective against ERM",
    key=(*SETTING_KEY, "attribute", "split", "measure"),
    columns=(
        *SETTING,
        text("attribute"),
        text("split"),
        SELECT,
        text(
            "measure",
            "overall, mean, gd or worst, as in scores; selection_rate, tpr, fpr: the gap,"
            " highest minus lowest group, of the rate of `label`",
        ),
        text("label", "That a rate is of; blank for other measures"),
        integer("seeds", "Seeds that both have"),
        percent("value", "Mean over these"),
        percent("erm", "Mean of ERM over these"),
        number(
            "difference",
            "value - erm - noise. Above 0 where the objective is higher: better, except for gd and"
            " gaps. The interval is over cases: the difference plus and minus the range of 95 % of"
            " the swaps or draws",
            "points",
            interval=("low", "high"),
            items="classifier_tests",
        ),
        number(
            "noise",
            "Of gd and gaps: how much higher the objective is by chance where both have the same"
            " true disparity, as more errors give more noise",
            "points",
        ),
        flag("turned", "Of gaps: whether ERM's highest group is now below its lowest"),
        number(
            "p_cases",
            "Randomisation test: whose predictions a case has is swapped at random; of gd and gaps,"
            " the larger p-value of random groups, without a true disparity, and of cases drawn"
            " anew within the groups, with the same one",
        ),
        number("p_cases_adjusted", "By Holm, for all tests of the table"),
        number("seeds_low", "Lower end of the 95 % interval over seeds, paired t"),
        number("seeds_high", "Upper end of it"),
        number("p_seeds", "Paired t test over seeds; two or three seeds show next to nothing"),
        number("p_seeds_adjusted", "By Holm, for all tests of the table"),
        number("delta", "The smallest difference that matters", "points"),
        share("power", "Of the test over cases at delta, without adjustment"),
        text(
            "verdict",
            "above or below 0: both adjusted p-values below 0.05; equivalent: both intervals"
            " within delta; else inconclusive, as where a classifier predicts one class only",
        ),
        text(
            "reason",
            "Why there is no test, no p-value or significance over seeds, or no equivalence",
        ),
    ),
)

#: Swaps per test, at least. With fewer, no difference of a large table could be significant: the
#: least p-value is one over the swaps, and Holm multiplies it by the number of tests.
SWAPS = 100

#: Why a difference cannot be judged: a classifier that predicts one class has learned nothing.
CONSTANT = reason("constant")
ONE_CONSTANT = reason("one_constant")

#: Why there is no test over seeds.
ONE_SEED = reason("one_seed")

#: Why seeds of an erasure in closed form may show nothing: more of them would be no others.
ONE_CLASSIFIER = reason("one_classifier")

#: The rates whose gaps between groups are compared, if a label is positive.
RATES = ("selection_rate", "tpr", "fpr")

#: The disparities between groups, which are tested with random groups: of classifiers that treat
#: groups alike the one with more errors has the larger disparity, so that swaps would mislead.
GAPS = ("gd", *RATES)

#: Swaps held in memory at once.
AT_ONCE = 2000

#: Indices of runs: of an objective, and of plain training with the same seeds.
Pair = tuple[tuple[int, ...], tuple[int, ...]]

#: Sums of draws held in memory at once; bounds the memory, does not change the result.
SUMS_AT_ONCE = 1 << 24


class Gap(NamedTuple):
    """A disparity between groups of two classifiers, and their noise.

    Attributes
    ----------
    measure : callable
        The disparity of scores (..., groups): (...), in points.
    seen : array of float, shape (2, runs, groups)
        The scores of the groups by an objective and by plain training.
    random : array of float, shape (draws, 2, runs, groups)
        Those of random groups.
    redrawn : array of float, shape (draws, 2, runs, groups)
        Those of cases drawn anew within the groups.
    counts : array of float, shape (groups,)
        The cases behind the scores.
    """

    measure: Callable[[np.ndarray], np.ndarray]
    seen: np.ndarray
    random: np.ndarray
    redrawn: np.ndarray
    counts: np.ndarray


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute and measure.

    The test over cases also holds for small groups, where samples drawn from a handful of cases
    are uninformative. The score over all cases of an objective that was trained without groups is
    tested once. An objective that was trained for another attribute may widen the gaps of this one,
    and has rows of these.
    """
    cases, runs = study.test
    names = MEASURES if study.positive is None else MEASURES + RATES
    by_setting, tested = runs.by_setting(), []
    others = any(setting.objective != BASE for setting in by_setting)
    for groups in cases.groups:
        attribute, of_attribute = groups.attribute.name, []
        is_other = groups.known.any() and attributes(attribute) == [attribute]
        for setting in by_setting:
            scored = setting.scored_for(attribute)
            if others and setting != setting.plain and (scored or is_other):
                some = names if scored else [name for name in names if name in GAPS]
                of_attribute.append((setting, some))
        tested.append((groups, of_attribute))
    count = max(study.swaps, SWAPS * sum(len(some) for _, part in tested for _, some in part))
    name = f"{SEED}/test/swapped"
    swaps = [
        (drawn_seed(name, first), min(AT_ONCE, count - first)) for first in range(0, count, AT_ONCE)
    ]
    rows = []
    for groups, of_attribute in tested:
        pairs = [
            _paired(runs, by_setting[setting], by_setting.get(setting.plain, []))
            for setting, _ in of_attribute
        ]
        gaps = _gaps(study, groups, pairs, swaps)
        for (setting, some), pair, gap in zip(of_attribute, pairs, gaps, strict=True):
            key = {**setting._asdict(), "attribute": groups.attribute.name, "split": "test"}
            lacking = reason("no_seed" if setting.plain in by_setting else "no_plain")
            rows += [key | row for row in _tests(study, groups, pair, gap, swaps, some, lacking)]
    _adjust(rows, study.delta)
    return map(study.selected, rows)


def _paired(runs: Runs, places: list[int], plain: list[int]) -> Pair:
    """Return the runs of a setting and of plain training that have the same seeds."""
    plain_by_seed = {runs.seeds[place]: place for place in plain}
    places = [place for place in places if runs.seeds[place] in plain_by_seed]
    return tuple(places), tuple(plain_by_seed[runs.seeds[place]] for place in places)


def _tests(
    study: ClassifierStudy,
    groups: Groups,
    pair: Pair,
    gaps: dict[str, Gap],
    swaps: list[tuple[int, int]],
    names: Sequence[str],
    lacking: str,
) -> Iterator[dict[str, Any]]:
    """Yield the test of each measure, before adjustment; `lacking` is why there may be no seed."""
    (cases, every), positive = study.test, study.positive
    runs, plain = (every.take(list(places)) for places in pair)
    seeds = len(runs.seeds)
    if seeds:
        values = [case_counts(cases, some) for some in (runs, plain)]
        sums = [np.vstack([groups.sums(some), some.sum(axis=0)[None]]) for some in values]
        scores, of_plain = (_measures(some, groups, cases) for some in sums)
        swapped = {}
        if not set(GAPS).issuperset(names):
            swapped = _swapped(study, groups, *values, sum(sums), swaps)
        constant = [None not in constant_labels(cases, some) for some in (runs, plain)]
        is_fixed = seeds > 1 and bool((runs.logits == runs.logits[:1]).all())
    for measure in names:
        row = {"measure": measure, "seeds": seeds}
        row |= {"label": cases.dataset.labels[positive] if measure in RATES else None}
        if not seeds:
            row["reason"] = lacking
        elif not groups.known.any() and measure != "overall":
            row["reason"] = reason("no_group")
        elif measure in GAPS and measure not in gaps:
            row["reason"] = reason("one_group")
        else:
            if measure in GAPS:
                row |= test_gap(gaps[measure], study.delta)
            else:
                row |= _test(scores[measure], of_plain[measure], swapped[measure], study.delta)
            if any(constant):
                why = CONSTANT if all(constant) else ONE_CONSTANT
                row |= {"equivalent": False, "reason": why}
            elif is_fixed:  # as an erasure in closed form: more seeds of it would be no others
                row["is_fixed"] = True
        yield row


def _measures(sums: np.ndarray, groups: Groups, cases: Cases) -> dict[str, np.ndarray]:
    """Return the `MEASURES` from sums (..., groups + 1, m), of which the last are of all cases."""
    convention = conventions(cases.dataset.task)["all"]
    sizes = np.append(groups.sizes, len(cases.true))
    scores = scores_of_groups(sums, sizes, cases.classes.shape[1], convention)
    return measured(scores[..., -1], scores[..., :-1])


def _swapped(
    study: ClassifierStudy,
    groups: Groups,
    values: np.ndarray,
    of_plain: np.ndarray,
    total: np.ndarray,
    swaps: list[tuple[int, int]],
) -> dict[str, np.ndarray]:
    """Return the differences of each measure when cases swap their predictions: (swaps,)."""
    cases, _ = study.test
    differences: dict[str, list[np.ndarray]] = defaultdict(list)
    for seed, size in swaps:
        sums = [
            swapped_sums(values, of_plain, codes, count, seed=seed, swaps=size)
            for codes, count in ((groups.codes, groups.unknown), (np.zeros_like(groups.codes), 1))
        ]
        sums = np.concatenate(sums, axis=1)
        scores, others = (_measures(some, groups, cases) for some in (sums, total - sums))
        for name in scores:
            differences[name].append((scores[name] - others[name]).mean(axis=-1))
    return {name: np.concatenate(some) for name, some in differences.items()}


def _gaps(
    study: ClassifierStudy, groups: Groups, pairs: Sequence[Pair], draws: list[tuple[int, int]]
) -> Iterator[dict[str, Gap]]:
    """Yield, for each pair, each of `GAPS` that at least two groups have.

    The draws are the same for all pairs, and are shared by as many as the memory allows.
    """
    cases, _ = study.test
    widest = max((2 * len(run) + 1 for run, _ in pairs), default=1) * cases.classes.shape[1]
    count = 2 * sum(size for _, size in draws)
    step = max(1, SUMS_AT_ONCE // (count * max(1, groups.unknown) * widest) - 1)
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        filled = [pair for pair in some if pair[0]] if groups.known.any() else []
        scores, of_rate = _drawn_scores(study, groups, filled, draws) if filled else ({}, {})
        for pair in some:
            parts = [scores[each] for each in pair if pair in filled]
            yield dict(_pair_gaps(parts, of_rate)) if parts else {}


def _pair_gaps(
    parts: list[dict[str, np.ndarray]], of_rate: dict[str, np.ndarray]
) -> Iterator[tuple[str, Gap]]:
    """Yield each of `GAPS` that at least two groups have, from the scores of two classifiers."""
    for name in parts[0]:
        scores = np.stack([part[name] for part in parts], axis=1)
        there = np.isfinite(scores[0, 0, 0])
        if there.sum() > 1:
            measure = partial(np.std if name == "gd" else np.ptp, axis=-1)
            seen, random, redrawn = np.split(scores[..., there], [1, 1 + len(scores) // 2])
            yield name, Gap(measure, seen[0], random, redrawn, of_rate[name][there])


def _drawn_scores(
    study: ClassifierStudy, groups: Groups, pairs: list[Pair], draws: list[tuple[int, int]]
) -> tuple[dict[tuple[int, ...], dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Return the scores behind each of `GAPS` by classifier, and the cases behind them by group.

    The scores, (1 + 2 draws, runs, groups), are those that are observed, of random groups, and of
    cases drawn anew. Random groups have the sizes and the labels of the groups, as the fewer cases
    of a label a group has, the more noise its TPR has; so have the cases drawn anew. A selection
    rate takes no account of labels: for it any cases change places, or labels that differ would
    explain its gap. Only in a sample that was balanced they do not, as its groups have less noise
    than random ones.
    """
    cases, runs = study.test
    positive, known = study.positive, groups.known
    _, strata, counts = np.unique(
        cases.true[known], axis=0, return_inverse=True, return_counts=True
    )
    strata = strata.reshape(-1)
    # cases with rare sets of labels change places among each other
    strata = np.where(counts[strata] < FEW, len(counts), strata)
    if positive is not None:
        strata = 2 * strata + cases.true[known, positive]
    classifiers = list(dict.fromkeys(chain.from_iterable(pairs)))
    values = [case_counts(cases, runs.take(list(places))) for places in classifiers]
    ends = np.cumsum([some.shape[1] for some in values])[:-1]
    every, codes = np.hstack(values), groups.codes[known]
    draw = every[known], codes, groups.unknown

    def drawn_parts(strata: np.ndarray | None) -> list[dict[str, np.ndarray]]:
        sums = [groups.sums(every)[None]]
        sums += [
            permuted_sums(*draw, seed=seed, permutations=n, strata=strata) for seed, n in draws
        ]
        sums += [redrawn_sums(*draw, seed=seed, draws=n, strata=strata) for seed, n in draws]
        parts = np.split(np.concatenate(sums), ends, axis=-1)
        return [_by_group(some, groups, cases, positive) for some in parts]

    parts = drawn_parts(strata)
    of_rate = dict.fromkeys(parts[0], groups.sizes)
    if positive is not None:
        is_positive = cases.true[known, positive]
        of_rate["tpr"] = np.bincount(codes, is_positive, groups.unknown)
        of_rate["fpr"] = groups.sizes - of_rate["tpr"]
        if np.abs(of_rate["tpr"] - groups.sizes * is_positive.mean()).max() >= 1:
            for part, other in zip(parts, drawn_parts(None), strict=True):
                part["selection_rate"] = other["selection_rate"]
    return dict(zip(classifiers, parts, strict=True)), of_rate


def _by_group(
    sums: np.ndarray, groups: Groups, cases: Cases, positive: int | None
) -> dict[str, np.ndarray]:
    """Return the scores (..., runs, groups) behind each of `GAPS`; NaN where there is none."""
    classes = cases.classes.shape[1]
    convention = conventions(cases.dataset.task)["all"]
    scores = {"gd": scores_of_groups(sums, groups.sizes, classes, convention)}
    if positive is None:
        return scores
    for name, (above, below) in rate_terms(sums, classes, positive, groups.sizes[:, None]).items():
        known = np.broadcast_to(below > 0, above.shape)
        rates = np.divide(above, below, out=np.full(above.shape, np.nan), where=known)
        scores[name] = 100 * np.swapaxes(rates, -1, -2)
    return scores


def rate_terms(
    sums: np.ndarray, classes: int, label: int, every: np.ndarray | int = 1
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return numerator and denominator of each of `RATES` of a label, from sums of cases.

    `every` is the number of cases of each sum.
    """
    true, predicted, both = (part[..., label] for part in counts_of(sums, classes))
    return {
        "selection_rate": (predicted, np.broadcast_to(every, true.shape)),
        "tpr": (both, true),
        "fpr": (predicted - both, every - true),
    }


def test_gap(gap: Gap, delta: float) -> dict[str, Any]:
    """Return the test of a change of disparity without or with a true one: that with the larger p.

    Random groups have no true disparity, so that the first test is exact where both classifiers
    treat all groups alike. In the second both have the same true disparity (`same_disparity`), and
    the noise of each group is that of its cases, as one that is less accurate has more.

    Parameters
    ----------
    gap : Gap
        The disparities.
    delta : float
        The smallest change that matters, in points.

    Returns
    -------
    dict
        The columns of `TABLE` that the test has.
    """
    scores, of_plain = gap.measure(gap.seen)
    noise, expected = gap.redrawn - gap.redrawn.mean(axis=0), gap.random.mean(axis=0)
    same = expected + same_disparity(noise + expected, gap.seen, gap.counts, gap.measure)
    tests = []
    for some, wider in (
        (gap.random, gap.random),
        (noise + same, noise * widening(gap.counts) + same),
    ):
        changes = [np.subtract(*np.moveaxis(gap.measure(part), 1, 0)) for part in (some, wider)]
        by_chance, centre = (change.mean(axis=0) for change in changes)
        drawn = (changes[1] - centre).mean(axis=-1)
        test = _test(scores, of_plain, drawn, delta, by_chance)
        tests.append(test | {"noise": by_chance.mean()})
    change = (scores - of_plain).mean()
    same_sign = [test for test in tests if test["difference"] * change >= 0]
    chosen = max(same_sign or tests, key=lambda test: (test["p_cases"], test["high"] - test["low"]))
    now, before = gap.seen.mean(axis=1)
    chosen |= {"turned": bool(now[before.argmax()] < now[before.argmin()])}
    # noise that turns a change around, as labels can that differ between groups, shows nothing
    return chosen if len(same_sign) == len(tests) else chosen | {"p_cases": 1.0}


def _test(
    scores: np.ndarray,
    of_plain: np.ndarray,
    drawn: np.ndarray,
    delta: float,
    noise: np.ndarray | float = 0.0,
) -> dict[str, Any]:
    """Return the test of runs by differences that are drawn without one; see `TABLE`."""
    differences = scores - of_plain - noise
    difference = differences.mean()
    reach = np.quantile(np.abs(drawn), 0.95)
    return {
        "value": scores.mean(),
        "erm": of_plain.mean(),
        "difference": difference,
        "low": difference - reach,
        "high": difference + reach,
        "p_cases": float(share_as_far(np.abs(drawn), np.abs(difference))),
        "delta": delta,
        "power": float((np.abs(drawn + delta) > reach).mean()),
        "equivalent": bool(abs(difference) + reach < delta),
        **_over_seeds(differences),
    }


def _over_seeds(differences: np.ndarray) -> dict[str, Any]:
    """Return the paired t test; without a p-value if there is one seed, or all differ equally."""
    from scipy.stats import sem, ttest_1samp

    if len(differences) < 2:
        return {"reason": ONE_SEED}
    if sem(differences) <= 1e-9:
        if abs(differences.mean()) <= 1e-9:
            return {"seeds_low": 0.0, "seeds_high": 0.0, "p_seeds": 1.0}
        return {"reason": reason("same_difference")}
    test = ttest_1samp(differences, 0.0)
    low, high = map(float, test.confidence_interval())
    return {"seeds_low": low, "seeds_high": high, "p_seeds": float(test.pvalue)}


def test_of(row: Row) -> tuple[str | None, ...]:
    """Return the key of the test of a row: that of a score over all cases is in several rows."""
    once = (row["measure"], row["trained_for"]) == ("overall", NO_ATTRIBUTE)
    key = [row[name] for name in ("classifier", "objective", "trained_for", "measure")]
    return *key, None if once else row["attribute"]


def _adjust(rows: list[dict[str, Any]], delta: float) -> None:
    """Adjust p-values by Holm, the same test once; then add the verdicts."""
    rows_by_test = grouped_by(rows, test_of)
    for name in ("p_cases", "p_seeds"):
        adjust([some[0] for some in rows_by_test.values()], name, f"{name}_adjusted")
        for first, *others in rows_by_test.values():
            for row in others:
                row[f"{name}_adjusted"] = first[f"{name}_adjusted"]
    for row in rows:
        if "difference" in row:
            both = [row["p_cases_adjusted"], row["p_seeds_adjusted"]]
            if row.get("reason") in (CONSTANT, ONE_CONSTANT):
                both = [None]
            ends = [abs(row.get(end, math.inf)) for end in ("seeds_low", "seeds_high")]
            near = row.pop("equivalent") and max(ends) < delta
            p_value = None if None in both else max(both)
            row["verdict"] = conclude(row["difference"], p_value, near)
            if row.pop("is_fixed", False) and p_value and both[0] < ALPHA <= p_value:
                row["reason"] = ONE_CLASSIFIER
