"""Each metric of each group, compared with all other cases."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.metrics.inference import conclude
from evenhand.metrics.paired import adjust
from evenhand.predictions.study import METRICS, Attribute, Metric, PredictionStudy
from evenhand.predictions.tables.gaps import tests_of
from evenhand.predictions.words import ALL

TABLE = Table(
    "groups",
    title="Metrics by group",
    key=("attribute", "group", "metric", "label"),
    columns=(
        text("attribute", "An attribute, or two with × between them"),
        text("group", "all: all cases"),
        text("metric", ", ".join(METRICS)),
        text("label", "That a rate is of; blank for other metrics"),
        integer("cases", "Of the group"),
        integer("counted", "Cases in the denominator: for tpr those with the positive label"),
        share("value", "The metric", interval=("low", "high"), items="audited_cases"),
        share(
            "expected",
            "Of accuracy: by the labels of these cases alone, each with its recall over all cases;"
            " blank where a case has several",
        ),
        share(
            "rest",
            "The metric of all other cases with a known group; macro-F1: the mean of the"
            " other groups, weighted by their cases",
        ),
        number(
            "difference",
            "value minus rest",
            "-1 to 1",
            interval=True,
            neutral=0,
            items="audited_cases",
        ),
        number(
            "p_value",
            "Of no difference: Fisher's exact test; of shares in clusters, means over runs and"
            " macro-F1 by their interval, of runs over cases alone unless that over cases and runs"
            " has 0; of ece, share of draws in which a random group is as far"
            " from the mean of its size, in standard deviations",
        ),
        number(
            "p_adjusted",
            "By Holm over the groups and metrics of the attribute, and at least that of the gap; of"
            " ece, by Bonferroni over the tests of gaps",
        ),
        share("noise_low", "Lower end of 95 % of random groups of this size"),
        share("noise_high", "Upper end"),
        text(
            "verdict",
            "above or below the rest (of ece: random groups), equivalent (within"
            " delta), inconclusive",
        ),
        text("reason", "Why there is no test"),
    ),
    main={"metric": ("accuracy", "selection_rate", "tpr", "fpr", "macro_f1")},
)


def rows(study: PredictionStudy) -> Iterator[Row]:
    """Yield a row per attribute, group and metric."""
    everything = np.ones(len(study.predictions.id), dtype=bool)
    for metric in study.metrics:
        yield {"attribute": ALL, "group": ALL, **_judged(study, metric, everything)}
    for attribute in study.attributes:
        group_rows = []
        for code, group in enumerate(attribute.values):
            some = attribute.codes == code
            for metric in study.metrics:
                row = {"attribute": attribute.name, "group": group}
                row |= _judged(study, metric, some)
                if row["value"] is None:
                    group_rows.append(row | {"reason": "no cases"})
                    continue
                drawn = study.noise[metric, attribute.name][:, code]
                row["noise_low"], row["noise_high"] = np.nanpercentile(drawn, [2.5, 97.5]).tolist()
                group_rows.append(row | study.beside_others[metric, attribute.name][code])
        count = len(study.metrics)
        if len(attribute.values) == 2:  # both groups have the same tests
            adjust(group_rows[:count], "p_value", "p_adjusted")
            for row, other in zip(group_rows[:count], group_rows[count:], strict=True):
                other["p_adjusted"] = row["p_adjusted"]
        else:
            adjust(group_rows, "p_value", "p_adjusted")
        _gate(study, attribute, group_rows)
        for row in group_rows:
            near = row.pop("equivalent", False)
            if "difference" in row:
                how = row["difference"], row["p_adjusted"], near
                row["verdict"] = conclude(*how, level=study.level)
            yield row


def _gate(study: PredictionStudy, attribute: Attribute, group_rows: list[Row]) -> None:
    """Raise the adjusted p-values to those of the gaps; add the tests of calibration errors.

    So a group is significant only where the gap of its attribute is.
    """
    tests = tests_of(study, attribute)
    gaps = {(row["metric"], row["label"]): row["p_adjusted"] for row, _, _ in tests.gaps}
    errors = dict(zip(attribute.values, tests.errors, strict=False))
    for row in group_rows:
        if row["metric"] == "ece" and row["group"] in errors and row["value"] is not None:
            row |= errors[row["group"]]
            middle = (row["noise_low"] + row["noise_high"]) / 2
            how = row["value"] - middle, row["p_adjusted"], False
            row["verdict"] = conclude(*how, level=study.level)
        elif row.get("p_adjusted") is not None:
            row["p_adjusted"] = max(
                row["p_adjusted"], gaps.get((row["metric"], row["label"])) or 0.0
            )


def _judged(study: PredictionStudy, metric: Metric, chosen: np.ndarray) -> Row:
    row = _value(study, metric, chosen)
    if interval := study.interval(metric, chosen):
        row["low"], row["high"] = interval
    return row


def _value(study: PredictionStudy, metric: Metric, chosen: np.ndarray) -> Row:
    sums = study.values_of(metric)[chosen].sum(axis=0)
    value = float(study.of_sums(metric, sums))
    counted = sums[1] if metric in study.ratios else chosen.sum()
    row: Row = {**metric._asdict(), "cases": int(chosen.sum()), "counted": int(counted)}
    if metric.metric == "accuracy" and study.recalls is not None and chosen.any():
        row["expected"] = float(study.recalls[chosen].mean())
    return row | {"value": None if np.isnan(value) else value}
