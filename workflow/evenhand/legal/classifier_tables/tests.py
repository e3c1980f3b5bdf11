"""Tests of each objective against ERM of the same classifier, paired by case and by seed."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, share, text
from evenhand.legal.built import Groups
from evenhand.legal.classifier_study import SELECT, SETTING, ClassifierStudy
from evenhand.legal.evaluate import constant_labels
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.scored import (
    BASE,
    MEASURES,
    Cases,
    Runs,
    Setting,
    case_counts,
    drawn_seed,
    measured,
    scored_for,
    scores_of_groups,
)
from evenhand.metrics.classification import conventions
from evenhand.metrics.disparity import group_sums, share_as_far
from evenhand.metrics.inference import conclude
from evenhand.metrics.paired import holm, swapped_sums

TABLE = Table(
    "tests",
    title="Tests of each objective against ERM",
    key=(*(one.name for one in SETTING), "attribute", "split", "measure"),
    columns=(
        *SETTING,
        text("attribute"),
        text("split"),
        SELECT,
        text("measure", "overall, mean, gd or worst, as in scores"),
        integer("seeds", "Seeds that both have"),
        percent("value", "Mean over these"),
        percent("erm", "Mean of ERM over these"),
        number(
            "difference",
            "Above 0 where the objective is higher: better, except for gd. The interval is over"
            " cases: the difference plus and minus the range of 95 % of the swaps",
            "points",
            interval=("low", "high"),
        ),
        number("p_cases", "Randomisation test: whose predictions a case has is swapped at random"),
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
            " within delta; else inconclusive",
        ),
        text("reason", "Why there is no p-value over seeds, no test, or no equivalence"),
    ),
)

#: Swaps per test, at least. With fewer, no difference of a large table could be significant: the
#: least p-value is one over the swaps, and Holm multiplies it by the number of tests.
SWAPS = 40

#: Why classifiers that learned nothing are not equivalent.
CONSTANT = "both predict the same for every case"

#: Swaps held in memory at once.
AT_ONCE = 2000


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute and measure.

    The test over cases also holds for small groups, where samples drawn from a handful of cases
    are uninformative. The score over all cases of an objective that was trained without groups is
    tested once.
    """
    cases, runs = study.test
    swaps = _swaps(cases, runs, f"{study.seed}/test/swapped", study.swaps)
    found = [
        {"split": "test"} | row
        for one in cases.groups
        for row in _of_attribute(cases, runs, one, swaps, study.delta)
    ]
    _adjust(found, study.delta)
    return map(study.selected, found)


def _swaps(cases: Cases, runs: Runs, name: str, resamples: int) -> list[tuple[int, int]]:
    """Seeds and numbers of swaps that are made one after the other."""
    tests = len(MEASURES) * sum(
        scored_for(one.attribute.name)(setting)
        for one in cases.groups
        for setting in runs.by_setting()
    )
    number = max(resamples, SWAPS * tests)
    return [
        (drawn_seed(name, first), min(AT_ONCE, number - first))
        for first in range(0, number, AT_ONCE)
    ]


def _of_attribute(
    cases: Cases, runs: Runs, one: Groups, swaps: list[tuple[int, int]], delta: float
) -> list[dict[str, Any]]:
    some = runs.of(scored_for(one.attribute.name))
    if all(setting.objective == BASE for setting in some.settings):
        return []
    values = case_counts(cases, some)
    # all cases as a last group of their own
    sizes = np.bincount(one.codes, minlength=one.unknown + 1)[: one.unknown]
    sums = np.vstack([group_sums(values, one.codes, one.unknown), values.sum(axis=0)[None]])
    seen = _measures(sums, sizes, cases)
    rows = []
    by_setting = some.by_setting()
    constant = constant_labels(cases, some)
    for setting, places in by_setting.items():
        if setting.objective == BASE and setting.trained_for == NO_ATTRIBUTE:
            continue
        about = {**setting._asdict(), "attribute": one.attribute.name}
        base = by_setting.get(Setting(setting.classifier, BASE, NO_ATTRIBUTE), [])
        of_base = {some.seeds[place]: place for place in base}
        ours = [place for place in places if some.seeds[place] in of_base]
        theirs = [of_base[some.seeds[place]] for place in ours]
        swapped = _swapped(cases, some, one, (ours, theirs), swaps) if ours else {}
        for measure in MEASURES:
            row = {**about, "measure": measure, "seeds": len(ours)}
            if not ours:
                row["reason"] = "there is no ERM of a seed in common"
            elif not np.isfinite(seen[measure]).all():
                row["reason"] = "no case has a known group"
            elif measure == "gd" and (sizes > 0).sum() < 2:
                row["reason"] = "one group only has cases"
            else:
                row |= _tested(seen[measure], swapped[measure], ours, theirs, delta)
                if None not in [constant[place] for place in (*ours, *theirs)]:
                    row |= {"equivalent": False, "reason": CONSTANT}
            rows.append(row)
    return rows


def _measures(sums: np.ndarray, sizes: np.ndarray, cases: Cases) -> dict[str, np.ndarray]:
    """The `MEASURES` from sums (..., groups + 1, m), of which the last are of all cases."""
    convention = conventions(cases.dataset.task)["all"]
    every = np.append(sizes, len(cases.true))
    scores = scores_of_groups(sums, every, cases.classes.shape[1], convention)
    return measured(scores[..., -1], scores[..., :-1])


def _swapped(
    cases: Cases,
    runs: Runs,
    one: Groups,
    pair: tuple[list[int], list[int]],
    swaps: list[tuple[int, int]],
) -> dict[str, np.ndarray]:
    """How far two settings lie apart in each measure when cases swap their answers: (swaps,)."""
    ours, theirs = (
        case_counts(cases, runs._replace(logits=runs.logits[places])) for places in pair
    )
    sizes = np.bincount(one.codes, minlength=one.unknown + 1)[: one.unknown]
    whole = np.zeros_like(one.codes)
    found: dict[str, list[np.ndarray]] = {name: [] for name in MEASURES}
    for seed, size in swaps:
        mine, both = [], []
        for codes, count in ((one.codes, one.unknown), (whole, 1)):
            mine.append(swapped_sums(ours, theirs, codes, count, seed=seed, swaps=size))
            both.append(group_sums(ours + theirs, codes, count))
        sums, total = np.concatenate(mine, axis=1), np.concatenate(both)
        scores, others = (_measures(some, sizes, cases) for some in (sums, total - sums))
        for name in MEASURES:
            found[name].append((scores[name] - others[name]).mean(axis=-1))
    return {name: np.concatenate(some) for name, some in found.items()}


def _tested(
    seen: np.ndarray, swapped: np.ndarray, ours: list[int], theirs: list[int], delta: float
) -> dict[str, Any]:
    differences = seen[ours] - seen[theirs]
    difference = differences.mean()
    far = np.abs(swapped)
    reach = np.quantile(far, 0.95)
    return {
        "value": seen[ours].mean(),
        "erm": seen[theirs].mean(),
        "difference": difference,
        "low": difference - reach,
        "high": difference + reach,
        "p_cases": float(share_as_far(far, np.abs(difference))),
        "delta": delta,
        "power": float((np.abs(swapped + delta) > reach).mean()),
        "equivalent": bool(abs(difference) + reach < delta),
        **_over_seeds(differences),
    }


def _over_seeds(differences: np.ndarray) -> dict[str, Any]:
    """The paired t test; without a p-value where there is one seed, or all differ by the same."""
    from scipy.stats import t

    count, mean = len(differences), float(differences.mean())
    if count < 2:
        return {"reason": "one seed does not say how differences vary"}
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    if error <= 1e-9:
        if abs(mean) <= 1e-9:
            return {"seeds_low": 0.0, "seeds_high": 0.0, "p_seeds": 1.0, "seeds_reach": 0.0}
        return {"reason": "all seeds differ by the same"}
    reach = float(t.ppf(0.975, df=count - 1)) * error
    p_value = 2 * float(t.sf(abs(mean) / error, df=count - 1))
    borders = {"seeds_low": mean - reach, "seeds_high": mean + reach, "p_seeds": p_value}
    return borders | {"seeds_reach": abs(mean) + reach}


def _adjust(rows: list[dict[str, Any]], delta: float) -> None:
    """Holm over the rows, the same test once; then the verdicts."""
    keys = [
        (row["classifier"], row["objective"], row["trained_for"], row["measure"])
        if (row["measure"], row["trained_for"]) == ("overall", NO_ATTRIBUTE)
        else number
        for number, row in enumerate(rows)
    ]
    first = {key: number for number, key in reversed(list(enumerate(keys)))}
    for name in ("p_cases", "p_seeds"):
        p_values = np.array(
            [
                row.get(name, np.nan) if first[key] == number else np.nan
                for number, (key, row) in enumerate(zip(keys, rows, strict=True))
            ],
            dtype=np.float64,
        )
        adjusted = holm(p_values)
        for key, row in zip(keys, rows, strict=True):
            value = float(adjusted[first[key]])
            row[f"{name}_adjusted"] = None if math.isnan(value) else value
    for row in rows:
        if "difference" not in row:
            continue
        both = [row["p_cases_adjusted"], row["p_seeds_adjusted"]]
        p_value = None if None in both else max(both)
        near = row.pop("equivalent"), row.pop("seeds_reach", math.inf) < delta
        row["verdict"] = conclude(row["difference"], p_value, all(near))
