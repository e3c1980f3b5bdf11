"""Stage: what may explain that a group scores less: few cases, shifted labels, hard labels.

Source: FairLex (Chalkidis et al. 2022), section 5 and Table 2. Its worst-class influence is told
in words: the share of a group's test cases that have the class that the classifier does worst on.
"""

import csv
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.built import Groups, label_names, read_groups, read_labels, read_splits
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.scored import BASE, FEW, Setting, case_counts, read_scored, scores_of_groups
from evenhand.metrics.classification import counts_of, f1_by_class, over_all
from evenhand.metrics.disparity import group_sums

HEADER = [
    *("dataset", "classifier", "attribute", "group", "train_cases", "test_cases", "seeds"),
    *("score", "drift", "drift_above_noise", "worst_class", "worst_class_f1"),
    *("worst_class_cases", "as_bad", "wci"),
    *("worst", "fewest_train_cases", "most_drift", "most_wci", "few"),
]

#: What marks the worst group, and what may explain it.
MARKS = ("fewest_train_cases", "most_drift", "most_wci")


def explain_groups(
    *,
    data: Input,
    predictions: list[Input],
    shift: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    few: int = FEW,
) -> dict[str, Any]:
    """Put what FairLex explains gaps with beside the score of each group under ERM.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions : list of path
        What the training stages wrote; those of ERM are used.
    shift : path
        CSV of `measure_shift`.
    out : path
        CSV (Table 2), a row per classifier with ERM, attribute and known group:

        - train_cases, test_cases with known labels; seeds; score (mean over seeds of macro-F1 over
          all classes, percent).
        - drift: Jensen-Shannon distance of labels between train and test; drift_above_noise.
        - worst_class: the class that occurs in test with the least F1 over all test cases (mean
          over seeds, the first of equal ones), its F1 in percent and its test cases; as_bad: how
          many other classes have no more; wci: the share of the group's test cases that have it.
        - worst: the group has the least score; fewest_train_cases, most_drift, most_wci: of the
          groups with test cases it alone is the extreme one. Blank where fewer than two have;
          most_wci also where other classes are as bad, since it is then their order that decides.
        - few: fewer than `few` test cases.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.
    few : int
        Test cases below which a group has few.

    Returns
    -------
    dict
        rows; attributes (per classifier); of them those whose worst group has the fewest training
        cases, the most drift, the most wci.
    """
    cases, runs = read_scored(data, predictions, kind, ["test"], _is_base)
    known, _ = read_labels(data, cases.dataset)
    train = known & (read_splits(data) == "train")
    in_train = {
        one.attribute.name: np.bincount(one.codes[train], minlength=len(one.names))
        for one in read_groups(data, cases.dataset)
    }
    drifts = _drifts(shift)
    values = case_counts(cases, runs)
    truth = cases.classes
    classes = truth.shape[1]
    by_class = 100 * f1_by_class(counts_of(values.sum(axis=0), classes))
    names = label_names(cases.dataset)
    rows: list[dict[str, Any]] = []
    for setting, places in runs.by_setting().items():
        f1 = np.where(truth.any(axis=0), by_class[places].mean(axis=0), np.inf)
        worst = int(f1.argmin())
        as_bad = int((f1 <= f1[worst] + 1e-9).sum()) - 1
        for one in cases.groups:
            sizes, scores, has = _group_numbers(one, values, truth, classes)
            own = []
            for group, name in enumerate(one.names[:-1]):
                drift, above = drifts.get((one.attribute.name, name), (None, None))
                size = int(sizes[group])
                own.append(
                    {
                        "dataset": dataset,
                        "classifier": setting.classifier,
                        "attribute": one.attribute.name,
                        "group": name,
                        "train_cases": int(in_train[one.attribute.name][group]),
                        "test_cases": size,
                        "seeds": len(places),
                        "score": scores[places, group].mean() if size else None,
                        "drift": drift,
                        "drift_above_noise": above,
                        "worst_class": names[worst],
                        "worst_class_f1": float(f1[worst]),
                        "worst_class_cases": int(truth[:, worst].sum()),
                        "as_bad": as_bad,
                        "wci": has[group, worst] / size if size else None,
                        "few": size < few,
                    }
                )
            _mark(own)
            rows += own
    write_rows(out, HEADER, rows)
    last = [row for row in rows if row.get("worst") is True]
    return {
        "rows": len(rows),
        "attributes": len(last),
        **{mark: sum(row.get(mark) is True for row in last) for mark in MARKS},
    }


def _is_base(setting: Setting) -> bool:
    return setting.objective == BASE and setting.trained_for == NO_ATTRIBUTE


def _group_numbers(
    one: Groups, values: np.ndarray, truth: np.ndarray, classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes (groups,), scores (runs, groups), and cases of each class (groups, classes)."""
    groups = one.unknown
    sizes = np.bincount(one.codes, minlength=groups + 1)[:groups]
    sums = group_sums(values, one.codes, groups)
    has = group_sums(truth.astype(np.float64), one.codes, groups)
    return sizes, scores_of_groups(sums, sizes, classes, over_all), has


def _mark(rows: list[dict[str, Any]]) -> None:
    """Mark the extreme groups of an attribute, of those with test cases."""
    there = [row for row in rows if row["test_cases"]]
    if len(there) < 2:
        return
    for mark, name, sign in (
        ("worst", "score", 1),
        ("fewest_train_cases", "train_cases", 1),
        ("most_drift", "drift", -1),
        ("most_wci", "wci", -1),
    ):
        if mark == "most_wci" and there[0]["as_bad"]:
            continue
        found = [row for row in there if row[name] is not None]
        for row in found if len(found) == len(there) else []:
            others = [sign * other[name] for other in there if other is not row]
            row[mark] = bool(sign * row[name] < min(others))


def _drifts(path: Path) -> dict[tuple[str, str], tuple[float | None, bool | None]]:
    needed = ("attribute", "group", "splits", "distance", "above_noise")
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if missing := [name for name in needed if name not in (reader.fieldnames or [])]:
            raise InputError(
                f"lacks the column {missing[0]}", file=path, remedy="give what measure_shift wrote"
            )
        return {
            (row["attribute"], row["group"]): (
                float(row["distance"]) if row["distance"] else None,
                {"true": True, "false": False}.get(row["above_noise"]),
            )
            for row in reader
            if row["splits"] == "train-test"
        }


if __name__ == "__main__":
    stage.run(explain_groups)
