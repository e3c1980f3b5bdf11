"""Worst cell of label x attribute, beside plain training and the balanced sampler."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from evenhand.core.decimals import ALPHA
from evenhand.core.tables import Row, Table, integer, number, percent, text, with_interval
from evenhand.legal.built import Groups, label_sets
from evenhand.legal.classifier_study import (
    FEW,
    SELECT,
    SETTING,
    SETTING_KEY,
    Cases,
    ClassifierStudy,
    Setting,
)
from evenhand.legal.groups import PLUS, TIMES, attributes
from evenhand.metrics.classification import predicted_labels
from evenhand.metrics.disparity import worst_interval
from evenhand.metrics.group import merge_rare
from evenhand.metrics.inference import (
    IntervalByLevel,
    bounded,
    correlation_of_means,
    difference_interval,
    share_interval,
    total,
    with_runs,
)

#: The objective that only balances batches.
SAMPLER = "erm_group_uniform"

#: What each objective is compared with, and the columns' words for it.
COMPARED = {"plain": "plain training (ERM)", "sampler": "ERM on group-balanced batches"}

TABLE = Table(
    "mitigation",
    title="Worst group of label and attribute, beside plain training and the balanced sampler",
    key=(*SETTING_KEY, "attribute"),
    columns=(
        *SETTING,
        text("attribute"),
        SELECT,
        integer("seeds"),
        integer(
            "cells", f"Of label x attribute; those with fewer than {FEW} test cases are merged"
        ),
        percent("accuracy", "Test cases whose labels are all right; mean over seeds"),
        text("worst_cell"),
        percent(
            "worst",
            "Accuracy in the worst cell; the interval allows for each cell to be the worst",
            interval=True,
            items="worst_cells",
        ),
        *(
            number(
                f"over_{name}",
                f"Worst accuracy minus that of {words}, paired by case",
                "points",
                interval=True,
                items="worst_cells",
            )
            for name, words in COMPARED.items()
        ),
    ),
)


class Worst(NamedTuple):
    """The accuracy in the worst cell, in percent, and the cases behind it.

    Attributes
    ----------
    number : float
        Mean over the trainings.
    runs : array of float, shape (trainings,)
        Of each training.
    is_in : array of bool, shape (n,)
        Whether a case is in the worst cell.
    right : array of float, shape (n,)
        The share of the trainings that have the case right.
    """

    number: float
    runs: np.ndarray
    is_in: np.ndarray
    right: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """Values whose mean is the number, by case: those of other cells do not move it."""
        weights = len(self.is_in) / self.is_in.sum() * self.is_in
        return self.number + weights * (100 * self.right - self.number)

    def interval(self, codes: np.ndarray) -> tuple[float, float]:
        """Return the interval of the number: each of the cells, by case, may be the worst."""
        cells = [self.right[codes == cell] for cell in range(codes.max() + 1)]
        totals = [total(cell, np.arange(len(cell))) for cell in cells]
        intervals = [share_interval(some, pseudo_values=True) for some in totals]
        of_cases = partial(worst_interval, np.array([[some.mean for some in totals]]), intervals)
        return _in_percent(of_cases, self.runs, 0.0)

    def over(self, other: "Worst") -> tuple[float, float, float]:
        """Return the difference from another worst cell of the same cases, with its interval."""
        sides = [side.right[side.is_in] for side in (self, other)]
        places = [np.flatnonzero(side.is_in) for side in (self, other)]
        of_cases = difference_interval(
            [total(some, np.arange(len(some))) for some in sides],
            self.number / 100,
            other.number / 100,
            pseudo_values=True,
            correlation=correlation_of_means(sides, places),
        )
        ends = _in_percent(of_cases, self.runs - other.runs, -100.0)
        return self.number - other.number, *ends


def _in_percent(of_cases: IntervalByLevel, runs: np.ndarray, least: float) -> tuple[float, float]:
    low, high = with_runs(of_cases, runs / 100)(1 - ALPHA)
    return bounded((100 * low, 100 * high), least, 100.0)


def worst_cell(right: np.ndarray, codes: np.ndarray) -> Worst:
    """Return the worst cell from the cases that are right (n, trainings), and their cells (n)."""
    of_case = right.mean(axis=1)
    accuracy = np.bincount(codes, of_case) / np.bincount(codes)
    is_in = codes == accuracy.argmin()
    return Worst(100 * float(accuracy.min()), 100 * right[is_in].mean(axis=0), is_in, of_case)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting and attribute."""
    cases, runs = study.test
    predicted = predicted_labels(runs.logits, cases.dataset.task)
    right = (predicted == cases.true).all(axis=-1)
    for groups in cases.groups:
        attribute, known = groups.attribute.name, np.flatnonzero(groups.known)
        if not len(known):
            continue
        cells, codes, names = cells_of(cases, groups)
        settings = runs.by_setting(attribute)
        worst_of = {
            setting: worst_cell(right[places][:, known].T.astype(float), codes)
            for setting, places in settings.items()
        }
        for setting, places in settings.items():
            worst = worst_of[setting]
            group, label = divmod(int(cells[codes[worst.is_in][0]]), len(names))
            row: Row = {
                **setting._asdict(),
                "attribute": attribute,
                "seeds": len(places),
                "cells": len(cells),
                "accuracy": 100 * right[places].mean(),
                "worst_cell": f"{names[label]}{TIMES}{groups.names[group]}",
                **with_interval("worst", worst.number, *worst.interval(codes)),
            }
            for name, other in compared(setting, settings).items():
                row |= with_interval(f"over_{name}", *worst.over(worst_of[other]))
            yield study.selected(row)


def cells_of(cases: Cases, groups: Groups) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the cells of label x group, that of each case with a known group, and the labels."""
    known = np.flatnonzero(groups.known)
    labels, names = label_sets(cases.true[known].astype(np.int64), cases.dataset)
    labels = merge_rare(labels, groups.codes[known], np.arange(len(known)), FEW)
    cells, codes = np.unique(groups.codes[known] * len(names) + labels, return_inverse=True)
    return cells, codes, names


def compared(setting: Setting, trained: Iterable[Setting]) -> dict[str, Setting]:
    """Return the settings of `COMPARED` that were trained; of samplers the one with most parts."""
    samplers = [other for other in trained if other[:2] == (setting.classifier, SAMPLER)]
    samplers.sort(key=lambda other: (-other.trained_for.count(PLUS), attributes(other.trained_for)))
    others = {"plain": setting.plain, "sampler": next(iter(samplers), None)}
    return {name: other for name, other in others.items() if other in trained and other != setting}
