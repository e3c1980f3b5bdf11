"""How far the labels of each group shift from train to test and to dev.

FairLex prints these distances in its Tables 8 to 11 (and their means in Table 2) under the name
of KL divergence; they are Jensen-Shannon distances (see `evenhand.metrics.divergence`).

Labels are counted over all cases with known labels. With several labels per case every label of
a case counts, and the absence of labels counts as a label too (as FairLex intended).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, flag, integer, number, text
from evenhand.legal.built import CaseStudy, with_none
from evenhand.legal.classifier_study import SEED
from evenhand.legal.declaration import COLUMN, Dataset
from evenhand.metrics.disparity import drawn_seed, share_as_far
from evenhand.metrics.divergence import jensen_shannon_distance, permuted_distances

TABLE = Table(
    "shift",
    title="Shift of the labels between splits",
    key=("dataset", "attribute", "group", "splits"),
    columns=(
        text("dataset"),
        text("attribute", "all: all cases"),
        text("group", "The unknown group is the last; not of a column, whose value is missing"),
        text("splits", "train-test or train-dev"),
        integer("train_cases", "With known labels"),
        integer("other_cases", "With known labels, of the other split"),
        number("distance", "Jensen-Shannon distance"),
        number("noise_mean", "Mean distance of random parts of the same sizes, without a shift"),
        number("noise_95", "95th percentile of these distances"),
        number("p", "Share of random parts that are as far apart"),
        flag("above_noise", "p below 0.05"),
        number("compat_lowest_only", "Distance if only the lowest label of a case counts"),
        number("compat_last_dropped", "Distance without the last label, as none is put first"),
        number("compat_published", "Distance with both, as the published code computes it"),
    ),
    source="FairLex (Chalkidis et al. 2022), tables 8 to 11",
)


def rows(study: CaseStudy) -> Iterator[Row]:
    """Yield a row per group and pair of splits, whose draws do not depend on other rows."""
    known, hot = study.labels
    patterns, of_case = np.unique(hot, axis=0, return_inverse=True)
    of_case = of_case.reshape(-1)
    forms = _forms(patterns, study.dataset)
    groups = [("all", "all", np.ones(len(known), dtype=bool))]
    for part in study.groups:
        groups += [
            (part.attribute.name, name, part.codes == code)
            for code, name in enumerate(part.names)
            if code != part.unknown or part.attribute.module != COLUMN  # missing values
        ]
    for attribute, group, members in groups:
        for other in ("test", "dev"):
            train, test = (
                np.bincount(of_case[known & members & study.parts[part]], minlength=len(patterns))
                for part in ("train", other)
            )
            name = f"{SEED} {attribute}/{group}/{other}"
            yield {
                "attribute": attribute,
                "group": group,
                "splits": f"train-{other}",
                "train_cases": int(train.sum()),
                "other_cases": int(test.sum()),
                **_noise(forms["distance"], train, test, name, study.permutations),
                **{
                    form: jensen_shannon_distance(train @ matrix, test @ matrix)
                    for form, matrix in forms.items()
                },
            }


def find_shifts(rows: Iterable[Row]) -> dict[str, Any]:
    """Return the rows whose labels shift beyond chance (`significant`), and the number `measured`.

    The p-values of a data set are adjusted (Benjamini and Hochberg 1995); first comes the distance
    that is the largest multiple of that of random parts.
    """
    measured = [row for row in rows if row["distance"] is not None]
    adjusted = false_discovery_control([row["p"] for row in measured]) if measured else []
    shifted = [row for row, p in zip(measured, adjusted, strict=True) if p < ALPHA]
    shifted.sort(key=lambda row: -row["distance"] / max(row["noise_95"], 1e-9))
    return {"significant": shifted, "measured": len(measured)}


def _forms(patterns: np.ndarray, dataset: Dataset) -> dict[str, np.ndarray]:
    """Return the counts that each set of labels adds: arrays of shape (m, k) by column."""
    all_labels = with_none(patterns, dataset)
    if dataset.task != "multi_label":
        return {"distance": all_labels}
    # as published: "none" first, then the labels
    columns = np.hstack([all_labels[:, -1:], all_labels[:, :-1]])
    lowest = np.zeros_like(columns)
    lowest[np.arange(len(columns)), columns.argmax(axis=1)] = 1
    return {
        "distance": all_labels,
        "compat_lowest_only": lowest,
        "compat_last_dropped": columns[:, :-1],
        "compat_published": lowest[:, :-1],
    }


def _noise(
    patterns: np.ndarray, train: np.ndarray, test: np.ndarray, name: str, permutations: int
) -> dict[str, Any]:
    """Return the noise floor of one distance; empty if a split has no case."""
    if not train.any() or not test.any():
        return {}
    distance = jensen_shannon_distance(train @ patterns, test @ patterns)
    generator = np.random.default_rng(drawn_seed(name))
    noise = permuted_distances(patterns, train, test, generator, permutations)
    p = float(share_as_far(noise, distance))
    return {
        "noise_mean": noise.mean(),
        "noise_95": np.quantile(noise, 0.95),
        "p": p,
        "above_noise": bool(p < ALPHA),
    }
