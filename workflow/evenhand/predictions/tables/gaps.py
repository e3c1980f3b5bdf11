"""The gap of each metric between the groups of an attribute, beside that of random groups.

A gap is above 0 even where all groups are treated alike, and grows as groups become smaller; so it
is shown beside that of random groups of the same sizes (where cases depend on each other, clusters
exchange their groups). The test is that of the group that differs most from all others, corrected
for the number of groups, so that a tiny group does not hide the gap of a large one. Random groups
are no test of macro-F1: groups with unlike errors have a lower one than random groups, which mix
them, even where theirs are equal. A calibration error is tested by the random groups, in two tests:
of the gap itself, and of each group, as all groups may be calibrated worse than random groups, in
which opposite errors cancel.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.metrics.disparity import random_group_tests, share_as_far
from evenhand.metrics.inference import INCONCLUSIVE, conclude
from evenhand.metrics.paired import adjust
from evenhand.predictions.study import Attribute, Metric, PredictionStudy

#: A gap of two rates: the larger one.
ODDS = "equalised_odds"

#: Reasons without a test of a group that more cases would remove.
FEW = ("no cases", "few cases")

TABLE = Table(
    "gaps",
    title="Gaps between groups",
    key=("attribute", "metric", "label"),
    columns=(
        text("attribute"),
        text("metric", f"As in groups; {ODDS}: the larger gap of tpr and fpr"),
        text("label", "That a rate is of; blank for other metrics"),
        integer("groups", "With a value"),
        integer("missing", "Cases without a group"),
        share("gap", "Highest minus lowest value: the demographic parity difference of"
              " selection_rate"),
        share("ratio", "Lowest over highest value"),
        share("sd", "Population standard deviation over groups: FairLex's group disparity"),
        text("lowest_group"),
        share("lowest", "The worst group, unless the metric is an error"),
        text("highest_group"),
        share("highest"),
        share("noise_mean", "Mean gap of random groups of the same sizes"),
        share("noise_95", "95th percentile of these"),
        number("p_value", "Of the group that differs most, times the number of groups; of ece,"
               " share of draws of random groups with such a gap; blank with too few cases"
               " or errors for a test"),
        number("p_adjusted", "By Holm over the metrics and labels of the attribute, and the test of"
               " the groups' calibration errors"),
        text("verdict", "above: significant; equivalent: a gap of delta would be larger, at 5 %;"
             " else inconclusive"),
    ),
)  # fmt: skip


class Tests(NamedTuple):
    """The tests of an attribute, adjusted together by Holm.

    Attributes
    ----------
    gaps : list of (Row, Draws, list of Metric)
        Each gap with its p-values, its draws, and the metrics that it is of.
    errors : list of Row
        p_value and p_adjusted of the calibration error of each group, against random groups.
    """

    gaps: list[tuple[Row, "Draws", list[Metric]]]
    errors: list[Row]


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute and metric."""
    for attribute in study.attributes:
        gaps = tests_of(study, attribute).gaps
        untested = _untestable(study, attribute, gaps)
        for place, (row, drawn, parts) in enumerate(gaps):
            # of two groups each is compared with the other: their difference is the gap
            small = len(attribute.values) == 2 and row["metric"] != "ece"
            small |= not study.clustered and row["gap"] + drawn.reach < study.delta / 100
            small = small and _all_equivalent(study, attribute, parts)
            row["verdict"] = conclude(1.0, row["p_adjusted"], bool(small), level=study.level)
            if place in untested and row["verdict"] == INCONCLUSIVE:
                row["p_value"] = row["p_adjusted"] = None
            row["missing"] = int((attribute.codes < 0).sum())
            yield {"attribute": attribute.name, **row}


def tests_of(study: PredictionStudy, attribute: Attribute) -> Tests:
    """Return the tests of an attribute: of the gaps, and of the groups' calibration errors."""
    by_metric = {metric: _row(study, attribute, metric) for metric in study.metrics}
    tested = [(*row, [metric]) for metric, row in by_metric.items() if row is not None]
    for label in dict.fromkeys(item.label for item in study.ratios if item.label is not None):
        parts = [Metric("tpr", label), Metric("fpr", label)]
        if any(by_metric.get(part) is None for part in parts):
            continue
        (first, drawn), (second, others) = (by_metric[part] for part in parts)
        row = {"metric": ODDS, "label": label, "gap": max(first["gap"], second["gap"])}
        row |= {"groups": max(first["groups"], second["groups"])}
        tested.append((row, drawn.larger(others), parts))
    family, errors = [row for row, _, _ in tested], []
    for row, drawn, parts in tested:
        gaps = drawn.gaps[np.isfinite(drawn.gaps)]
        row["noise_mean"], row["noise_95"] = gaps.mean(), np.percentile(gaps, 95)
        if row["metric"] == "ece":  # all groups may differ from random ones without a gap
            values, of_random = (
                study.by_group(*parts, attribute),
                study.noise[*parts, attribute.name],
            )
            row["p_value"], far = random_group_tests(values, of_random)
            errors = [{"p_value": p if np.isfinite(p) else None} for p in far.tolist()]
            family.append({"p_value": np.nanmin(far)})
        else:
            row["p_value"] = _p_value_by_group(study, attribute, parts)
    adjust(family, "p_value", "p_adjusted")
    for row in errors:
        p = row["p_value"]
        row["p_adjusted"] = None if p is None else min(1.0, len(family) * p)
    return Tests(tested, errors)


def _untestable(
    study: PredictionStudy, attribute: Attribute, gaps: list[tuple[Row, "Draws", list[Metric]]]
) -> set[int]:
    """Return the places of the gaps without a test: no group has enough cases for one.

    Of calibration errors also where the least p-value of the draws is too large.
    """
    untested = set()
    for place, (row, drawn, parts) in enumerate(gaps):
        others = [item for metric in parts for item in _beside_others(study, attribute, metric)]
        spread = np.nanmax(drawn.gaps) - np.nanmin(drawn.gaps)
        varies = row["metric"] == "ece" and spread > 1e-12
        least = share_as_far(drawn.gaps, np.nanmax(drawn.gaps)) if varies else 0.0
        if least > 1 - study.level or all(item.get("reason") in FEW for item in others):
            untested.add(place)
    return untested


def _all_equivalent(study: PredictionStudy, attribute: Attribute, metrics: list[Metric]) -> bool:
    """Whether each group is equivalent to all others: draws do not vary where all are right.

    Of a calibration error, whether each group has cases enough for a test.
    """
    return all(
        "p_value" in comparison if metric.metric == "ece" else comparison.get("equivalent", False)
        for metric in metrics
        for comparison in _beside_others(study, attribute, metric)
    )


def _beside_others(
    study: PredictionStudy, attribute: Attribute, metric: Metric
) -> list[dict[str, Any]]:
    """Return the comparison of each group with all others; of ece, that of the accuracy."""
    compared = Metric("accuracy") if metric.metric == "ece" else metric
    return study.beside_others[compared, attribute.name]


def _p_value_by_group(study: PredictionStudy, attribute: Attribute, metrics: list[Metric]) -> float:
    """Return the p-value of the group that differs most in the metrics; NaN without a test."""
    p_values = []
    for metric in metrics:
        others = study.beside_others[metric, attribute.name]
        tests = [item["p_value"] for item in others if np.isfinite(item.get("p_value", np.nan))]
        # of two groups both have the same test
        count = 1 if len(attribute.values) == 2 else len(tests)
        p_values += [min(1.0, min(tests) * count)] if tests else []
    return min(1.0, min(p_values) * len(p_values)) if p_values else np.nan


class Draws(NamedTuple):
    """Draws of random groups.

    Attributes
    ----------
    gaps : array, shape (draws,)
        Highest minus lowest value.
    reach : array, shape ()
        How far below the true gap the observed one may be, at the study's level: by the pair of
        groups whose difference varies most.
    """

    gaps: np.ndarray
    reach: np.ndarray

    def larger(self, other: "Draws") -> "Draws":
        """Return the larger of each array."""
        return Draws(*map(np.fmax, self, other))


def _row(study: PredictionStudy, attribute: Attribute, metric: Metric) -> tuple[Row, Draws] | None:
    """The gap of a metric, and draws of random groups; None below two groups."""
    values = study.by_group(metric, attribute)
    there = np.isfinite(values)
    if there.sum() < 2:
        return None
    least, most = int(np.nanargmin(values)), int(np.nanargmax(values))
    row = {
        **metric._asdict(),
        "groups": int(there.sum()),
        "gap": float(values[most] - values[least]),
        "ratio": float(values[least] / values[most]) if values[most] else None,
        "sd": float(values[there].std()),
        "lowest_group": attribute.values[least],
        "lowest": float(values[least]),
        "highest_group": attribute.values[most],
        "highest": float(values[most]),
    }
    drawn = study.noise[metric, attribute.name][:, there]
    gaps = np.nanmax(drawn, axis=1) - np.nanmin(drawn, axis=1)
    return row, Draws(gaps, _reach(drawn, study.level))


def _reach(drawn: np.ndarray, level: float) -> np.ndarray:
    """See `Draws.reach`; infinite where random groups lack cases."""
    if not np.isfinite(drawn).all():
        return np.array(np.inf)
    shared = np.cov(drawn, rowvar=False)
    variances = np.add.outer(np.diag(shared), np.diag(shared)) - 2 * shared
    return np.array(norm.ppf(level) * np.sqrt(max(variances.max(), 0.0)))
