"""Stage: tests of each objective against ERM, paired by case and by seed."""

import math
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import Groups
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
    read_scored,
    scored_for,
    scores_of_groups,
)
from evenhand.metrics.classification import conventions
from evenhand.metrics.disparity import group_sums, share_as_far
from evenhand.metrics.paired import holm, swapped_sums

HEADER = [
    *("dataset", "classifier", "objective", "trained_for", "attribute", "split", "measure"),
    *("seeds", "value", "erm", "difference", "low", "high", "p_cases", "p_cases_adjusted"),
    *("seeds_low", "seeds_high", "p_seeds", "p_seeds_adjusted", "verdict", "reason"),
]

HIGHER, LOWER, NOT_SHOWN = "higher", "lower", "not shown"

#: Below this adjusted p-value a difference is called one.
CHANCE = 0.05

#: Swaps for each test of the file, at the least: with fewer, no difference of a large file could
#: be shown, since the least p-value is one over the swaps, and Holm multiplies it by the tests.
SWAPS = 40

#: Swaps held in memory at once.
AT_ONCE = 2000


def compare_objectives(
    *,
    data: Input,
    predictions: list[Input],
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    split: str = "test",
    seed: int = 1,
    resamples: int = 4999,
) -> dict[str, Any]:
    """Test each objective against ERM of the same classifier, on each attribute it is scored for.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions : list of path
        What the training stages wrote; each training once.
    out : path
        CSV, a row per classifier, objective, trained_for, attribute and measure (overall, mean,
        gd, worst; percent, macro-F1 over all classes, as in `score_groups`):

        - seeds that both have; value and erm, the means over them; difference, above 0 where the
          objective is higher: good for overall, mean and worst, bad for gd.
        - p_cases: two-sided p-value of the randomization test over cases: would the difference
          be as large if it were chance which of the two gave a case's answers (of all seeds; see
          `evenhand.metrics.paired.swapped_sums`). It holds for small groups, too, where samples
          drawn from a handful of cases say nothing. low, high: the difference, less and more what
          95 of 100 swaps stay within.
        - seeds_low, seeds_high, p_seeds: of the paired t test over seeds: would other seeds show
          a difference on these cases. Two or three seeds can show next to nothing.
        - p_cases_adjusted, p_seeds_adjusted: by Holm, for all tests of the file; overall of an
          objective that was trained without groups is tested once.
        - verdict: higher or lower where both adjusted p-values are below 0.05, else not shown;
          reason: why there is no p-value over seeds, or no test at all.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    split : str
        The split whose cases are compared.
    seed, resamples : int
        Random swaps and their seed; more where there are more tests than a `SWAPS`th of them.

    Returns
    -------
    dict
        tests, higher, lower, not_shown, without_erm (rows of a classifier without ERM).
    """
    if resamples < 1:
        raise InputError(f"{resamples} resamples say nothing", remedy="give at least 100")
    cases, runs = read_scored(data, predictions, kind, [split])
    swaps = _swaps(cases, runs, f"{seed}/{split}/swapped", resamples)
    rows = [
        {"dataset": dataset, "split": split} | row
        for one in cases.groups
        for row in _of_attribute(cases, runs, one, swaps)
    ]
    _adjust(rows)
    write_rows(out, HEADER, rows)
    verdicts = [row.get("verdict") for row in rows]
    return {
        "tests": sum(row.get("p_cases") is not None for row in rows),
        "higher": verdicts.count(HIGHER),
        "lower": verdicts.count(LOWER),
        "not_shown": verdicts.count(NOT_SHOWN),
        "without_erm": verdicts.count(None),
    }


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
    cases: Cases, runs: Runs, one: Groups, swaps: list[tuple[int, int]]
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
                row |= _tested(seen[measure], swapped[measure], ours, theirs)
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
    for seed, number in swaps:
        mine, both = [], []
        for codes, count in ((one.codes, one.unknown), (whole, 1)):
            mine.append(swapped_sums(ours, theirs, codes, count, seed=seed, swaps=number))
            both.append(group_sums(ours + theirs, codes, count))
        sums, total = np.concatenate(mine, axis=1), np.concatenate(both)
        scores, others = (_measures(some, sizes, cases) for some in (sums, total - sums))
        for name in MEASURES:
            found[name].append((scores[name] - others[name]).mean(axis=-1))
    return {name: np.concatenate(some) for name, some in found.items()}


def _tested(
    seen: np.ndarray, swapped: np.ndarray, ours: list[int], theirs: list[int]
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
            return {"seeds_low": 0.0, "seeds_high": 0.0, "p_seeds": 1.0}
        return {"reason": "all seeds differ by the same"}
    reach = float(t.ppf(0.975, df=count - 1)) * error
    p_value = 2 * float(t.sf(abs(mean) / error, df=count - 1))
    return {"seeds_low": mean - reach, "seeds_high": mean + reach, "p_seeds": p_value}


def _adjust(rows: list[dict[str, Any]]) -> None:
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
        sure = all(p is not None and p < CHANCE for p in both)
        sign = HIGHER if row["difference"] > 0 else LOWER
        row["verdict"] = sign if sure else NOT_SHOWN


if __name__ == "__main__":
    stage.run(compare_objectives)
