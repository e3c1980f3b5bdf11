"""Whether the confidence of classifiers is calibrated in each group.

A prediction of a task with single labels is the class with the highest probability; of a task
with several, whether a label applies, label by label. Source: Guo, Pleiss, Sun and Weinberger
(ICML 2017), applied to each group.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.legal.classifier_study import (
    NOISE_VERDICT,
    SEED,
    SETTING,
    ClassifierStudy,
    noise_verdict,
)
from evenhand.metrics.calibration import (
    bin_values,
    calibration_error,
    confidences,
    filled_bins,
)
from evenhand.metrics.disparity import drawn_seed, permuted_sums, share_as_far

#: The columns that name a row, of this table and of the bins.
GROUP = (*SETTING, text("attribute"), text("group", "all: all cases"), text("split"))

TABLE = Table(
    "calibration",
    title="Calibration by group",
    key=tuple(column.name for column in GROUP),
    columns=(
        *GROUP,
        integer("seeds"),
        integer("cases"),
        integer("predictions", "Of one seed"),
        share("confidence", "Mean"),
        share("share_right", "Predictions that are right; of labels, those that apply"),
        number("excess", "confidence minus share_right: positive if overconfident"),
        share("ece", "Expected calibration error, mean over seeds"),
        number("ece_sd", "Standard deviation over seeds"),
        share("noise_mean", "Mean error of random groups of this size"),
        share("noise_95", "95th percentile of these"),
        number("p", "Share of random groups with as large an error"),
        text("verdict", NOISE_VERDICT),
    ),
)

#: The group of all cases.
ALL = "all"


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute, and group or all cases."""
    return (row for row, _ in calibrate(study))


@lru_cache(maxsize=1)
def calibrate(study: ClassifierStudy) -> list[tuple[Row, list[Row]]]:
    """Return the rows of this table, each with its rows of the bins."""
    cases, runs = study.test
    of_runs = [bin_values(*confidences(run, cases.true, cases.dataset.task)) for run in runs.logits]
    rows = []
    for groups in cases.groups:
        attribute, known = groups.attribute.name, groups.known
        sizes = [len(cases.true), *groups.sizes.tolist()]
        for setting, places in runs.by_setting(attribute).items():
            values = np.hstack([of_runs[place] for place in places])
            sums = np.vstack([values.sum(axis=0), groups.sums(values)])
            sums = sums.reshape(len(sums), len(places), -1)
            noise = permuted_sums(
                values[known],
                groups.codes[known],
                groups.unknown,
                seed=drawn_seed(SEED, "test", attribute, "shuffled"),
                permutations=study.permutations,
            )
            noise = calibration_error(noise.reshape(*noise.shape[:2], len(places), -1)).mean(-1)
            for group, name in enumerate([ALL, *groups.names[:-1]]):
                key = {**setting._asdict(), "attribute": attribute, "group": name, "split": "test"}
                row = key | {"seeds": len(places), "cases": sizes[group]}
                if sizes[group]:
                    row |= _summary(sums[group])
                if sizes[group] and group:
                    drawn = noise[:, group - 1]
                    row |= {"noise_mean": drawn.mean(), "noise_95": np.percentile(drawn, 95)}
                    row["p"] = float(share_as_far(drawn, np.array(row["ece"])))
                    # at most as much too badly calibrated as observed, and the noise
                    most = row["ece"] + row["noise_95"] - row["noise_mean"]
                    row["verdict"] = noise_verdict(row["p"], most < study.delta / 100)
                rows.append((row, [key | bin_row for bin_row in _bins(sums[group])]))
    return rows


def _summary(sums: np.ndarray) -> Row:
    """Return the cells of a group from sums (seeds, 3 * bins)."""
    errors = calibration_error(sums)
    predictions, confidence, right = sums.reshape(len(sums), -1, 3).sum(axis=1).T
    return {
        "predictions": int(predictions[0]),
        "confidence": (confidence / predictions).mean(),
        "share_right": (right / predictions).mean(),
        "excess": ((confidence - right) / predictions).mean(),
        "ece": errors.mean(),
        "ece_sd": errors.std(ddof=1) if len(errors) > 1 else None,
    }


def _bins(sums: np.ndarray) -> Iterator[Row]:
    for name, count, confidence, right in filled_bins(sums.sum(axis=0)):
        yield name | {"predictions": int(count), "confidence": confidence, "share_right": right}
