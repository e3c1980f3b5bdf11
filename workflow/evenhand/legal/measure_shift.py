"""Stage: how far the labels of each group shift from train to test and to dev.

FairLex prints these distances in its Tables 8 to 11 (and their means in Table 2) under the name
of KL divergence; they are Jensen-Shannon distances (see `evenhand.metrics.divergence`).
"""

import hashlib
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import (
    load_dataset,
    parts_of,
    read_groups,
    read_labels,
    read_splits,
    with_none,
)
from evenhand.legal.dataset import Dataset
from evenhand.metrics.divergence import (
    jensen_shannon_distance,
    permuted_distances,
    resampled_distances,
)

HEADER = [
    *("dataset", "attribute", "group", "splits", "train_cases", "other_cases"),
    *("distance", "low", "high", "noise_mean", "noise_95", "p", "above_noise"),
    *("compat_lowest_only", "compat_last_dropped", "compat_published"),
]

#: What train is compared with.
OTHERS = ("test", "dev")


def measure_shift(
    *,
    data: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    seed: int = 1,
    resamples: int = 1000,
) -> dict[str, Any]:
    """Measure how far the labels of each group shift from train to test and to dev.

    Labels are counted over all cases whose labels are known; of a task with several labels every
    label of a case counts, and none of them counts as a label too (as FairLex meant it).

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        CSV: attribute (``all``: all cases), group (the unknown one last), splits (train-test,
        train-dev), train_cases, other_cases (with known labels), distance, low and high (95 per
        cent of bootstrap samples of the cases; they reach too high rather than too low where
        cases are few), noise_mean and noise_95 (mean and 95th percentile of the distance between
        random parts of the same sizes of the same cases, that is without any shift), p (share of
        such parts that lie as far apart), above_noise (p below 0.05). Of a task with several
        labels also what the published computation would give: compat_lowest_only (of a case its
        lowest label only), compat_last_dropped (the last label is not counted, because "none"
        stands before the others), and compat_published (both).
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    seed, resamples : int
        Bootstrap samples and random parts, and their seed; each row has draws of its own, which
        do not depend on the other rows.

    Returns
    -------
    dict
        rows, above_noise, without_cases (rows that lack cases on a side).
    """
    if resamples < 1:
        raise InputError(f"{resamples} resamples say nothing", remedy="give at least 100")
    fixed = load_dataset(kind)
    parts = parts_of(read_splits(data))
    known, hot = read_labels(data, fixed)
    patterns, of_case = np.unique(hot, axis=0, return_inverse=True)
    of_case = of_case.reshape(-1)
    forms = _forms(patterns, fixed)
    groups = [("all", "all", np.ones(len(known), dtype=bool))]
    for one in read_groups(data, fixed):
        groups += [
            (one.attribute.name, name, one.codes == code) for code, name in enumerate(one.names)
        ]
    rows = []
    for attribute, group, members in groups:
        for other in OTHERS:
            train, test = (
                np.bincount(of_case[known & members & parts[part]], minlength=len(patterns))
                for part in ("train", other)
            )
            name = f"{attribute}/{group}/{other}"
            rows.append(
                {
                    "dataset": dataset,
                    "attribute": attribute,
                    "group": group,
                    "splits": f"train-{other}",
                    "train_cases": int(train.sum()),
                    "other_cases": int(test.sum()),
                }
                | _measured(forms["distance"], train, test, f"{seed} {name}", resamples)
                | {
                    form: jensen_shannon_distance(train @ matrix, test @ matrix)
                    for form, matrix in forms.items()
                }
            )
    write_rows(out, HEADER, rows)
    return {
        "rows": len(rows),
        "above_noise": sum(row["above_noise"] is True for row in rows),
        "without_cases": sum(not row["train_cases"] or not row["other_cases"] for row in rows),
    }


def _forms(patterns: np.ndarray, fixed: Dataset) -> dict[str, np.ndarray]:
    """What a case with each set of labels adds to the counts: arrays of shape (m, k) by column."""
    ours = with_none(patterns, fixed)
    if fixed.task != "multi_label":
        return {"distance": ours}
    # as published: "none" first, then the labels
    columns = np.hstack([ours[:, -1:], ours[:, :-1]])
    lowest = np.zeros_like(columns)
    lowest[np.arange(len(columns)), columns.argmax(axis=1)] = 1
    return {
        "distance": ours,
        "compat_lowest_only": lowest,
        "compat_last_dropped": columns[:, :-1],
        "compat_published": lowest[:, :-1],
    }


def _measured(
    patterns: np.ndarray, train: np.ndarray, test: np.ndarray, name: str, resamples: int
) -> dict[str, Any]:
    """Interval and noise floor of one distance; nothing where a side has no case."""
    if not train.any() or not test.any():
        return {"above_noise": None}
    distance = jensen_shannon_distance(train @ patterns, test @ patterns)
    seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
    generator = np.random.default_rng(seed)
    drawn = resampled_distances(patterns, train, test, generator, resamples)
    noise = permuted_distances(patterns, train, test, generator, resamples)
    low, high = np.quantile(drawn, [0.025, 0.975])
    # equal distances must not differ by the order of a sum
    p = (1 + int((noise >= distance - 1e-12).sum())) / (1 + resamples)
    return {
        "low": low,
        "high": high,
        "noise_mean": noise.mean(),
        "noise_95": np.quantile(noise, 0.95),
        "p": p,
        "above_noise": bool(p < 0.05),
    }


if __name__ == "__main__":
    stage.run(measure_shift)
