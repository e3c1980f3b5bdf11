"""Stage: whether the confidence of classifiers holds in each group.

Source: Guo, Pleiss, Sun and Weinberger (ICML 2017), applied to each group.
"""

from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.scored import (
    FEW,
    drawn_seed,
    read_scored,
    scored_for,
)
from evenhand.metrics.calibration import BINS, bin_values, calibration_error, confidences
from evenhand.metrics.disparity import group_sums, permuted_sums, share_as_far

RUN = ["dataset", "classifier", "objective", "trained_for", "attribute", "group", "split"]

HEADER = [
    *(*RUN, "seeds", "cases", "predictions", "confidence", "share_right", "excess"),
    *("ece", "ece_sd", "noise_mean", "noise_95", "p", "verdict"),
]

BINS_HEADER = [*RUN, "bin", "from", "to", "predictions", "confidence", "share_right"]

#: What the group is called that all cases make.
ALL = "all"

ABOVE, NOT_ABOVE, TOO_FEW = "above noise", "not above noise", "too few cases"


def measure_calibration(
    *,
    data: Input,
    predictions: list[Input],
    out: Output,
    bins_out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    split: str = "test",
    bins: int = BINS,
    few: int = FEW,
    seed: int = 1,
    permutations: int = 1000,
) -> dict[str, Any]:
    """Measure the calibration of each classifier and objective in each group.

    A prediction of a task with single labels is the class with the highest probability; of a task
    with several, whether a label applies, label by label.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions : list of path
        What the training stages wrote; each training once.
    out : path
        CSV, a row per classifier, objective, trained_for, attribute and group (``all``: all cases,
        those of the unknown group too): seeds, cases, predictions of one seed; mean confidence
        and share_right (of labels: share that apply), excess (confidence less share_right: above
        0 where the classifier is too sure), ece (expected calibration error, mean over seeds,
        0 to 1) and its sd over seeds; noise_mean, noise_95 and p: of groups of the same size
        drawn at random from the cases with known groups, because an ECE is larger where cases are
        few; verdict (above noise: p below 0.05; too few cases; not above noise).
    bins_out : path
        CSV, the same by bin: from and to of the confidence, predictions of all seeds, their mean
        confidence, share_right. Bins without a prediction are left out.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    split : str
        The split whose cases are used.
    bins : int
        How many bins of equal width.
    few : int
        Cases below which a group has few.
    seed, permutations : int
        Random groups and their seed.

    Returns
    -------
    dict
        rows, bins, above_noise.
    """
    if bins < 1 or permutations < 1:
        raise InputError("there must be a bin and a permutation", remedy="give 15 and 1000")
    cases, runs = read_scored(data, predictions, kind, [split])
    count = len(cases.true)
    of_cases = [
        bin_values(*confidences(logits, cases.true, cases.dataset.task), bins)
        for logits in runs.logits
    ]
    rows: list[dict[str, Any]] = []
    bin_rows: list[dict[str, Any]] = []
    for one in cases.groups:
        wanted = scored_for(one.attribute.name)
        known = one.codes < one.unknown
        everybody = np.zeros(count, dtype=np.int64)
        name = drawn_seed(seed, split, one.attribute.name, "shuffled")
        for setting, places in runs.by_setting().items():
            if not wanted(setting):
                continue
            values = np.hstack([of_cases[place] for place in places])
            sums = np.vstack(
                [group_sums(values, everybody, 1), group_sums(values, one.codes, one.unknown)]
            )
            sums = sums.reshape(len(sums), len(places), -1)
            noise = permuted_sums(
                values[known], one.codes[known], one.unknown, seed=name, permutations=permutations
            )
            noise = calibration_error(noise.reshape(*noise.shape[:2], len(places), -1)).mean(-1)
            sizes = [count, *np.bincount(one.codes, minlength=one.unknown + 1)[:-1].tolist()]
            for group, title in enumerate([ALL, *one.names[:-1]]):
                about = {
                    "dataset": dataset,
                    **setting._asdict(),
                    "attribute": one.attribute.name,
                    "group": title,
                    "split": split,
                }
                row = about | {"seeds": len(places), "cases": sizes[group]}
                if sizes[group]:
                    row |= _measured(sums[group])
                    bin_rows += [about | some for some in _bins(sums[group], bins)]
                if sizes[group] and group:
                    drawn, ece = noise[:, group - 1], np.array(row["ece"])
                    p_value = float(share_as_far(drawn, ece))
                    row |= {
                        "noise_mean": drawn.mean(),
                        "noise_95": np.percentile(drawn, 95),
                        "p": p_value,
                        "verdict": _verdict(p_value, sizes[group], few),
                    }
                rows.append(row)
    write_rows(out, HEADER, rows)
    write_rows(bins_out, BINS_HEADER, bin_rows)
    return {
        "rows": len(rows),
        "bins": len(bin_rows),
        "above_noise": sum(row.get("verdict") == ABOVE for row in rows),
    }


def _measured(sums: np.ndarray) -> dict[str, Any]:
    """Of sums (seeds, 3 * bins)."""
    errors = calibration_error(sums)
    number, confidence, right = sums.reshape(len(sums), -1, 3).sum(axis=1).T
    return {
        "predictions": int(number[0]),
        "confidence": (confidence / number).mean(),
        "share_right": (right / number).mean(),
        "excess": ((confidence - right) / number).mean(),
        "ece": errors.mean(),
        "ece_sd": errors.std(ddof=1) if len(errors) > 1 else None,
    }


def _bins(sums: np.ndarray, bins: int) -> list[dict[str, Any]]:
    found = []
    for place, (number, confidence, right) in enumerate(sums.sum(axis=0).reshape(-1, 3).tolist()):
        if number:
            found.append(
                {
                    "bin": place + 1,
                    "from": place / bins,
                    "to": (place + 1) / bins,
                    "predictions": int(number),
                    "confidence": confidence / number,
                    "share_right": right / number,
                }
            )
    return found


def _verdict(p: float, size: int, few: int) -> str:
    if p < 0.05:
        return ABOVE
    return TOO_FEW if size < few else NOT_ABOVE


if __name__ == "__main__":
    stage.run(measure_calibration)
