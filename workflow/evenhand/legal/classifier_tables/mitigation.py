"""Worst cell of label x attribute, beside plain training and the balanced sampler."""

from collections.abc import Iterable, Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, text, with_interval
from evenhand.legal.built import Groups, label_sets
from evenhand.legal.classifier_study import (
    FEW,
    SEED,
    SELECT,
    SETTING,
    SETTING_KEY,
    Cases,
    ClassifierStudy,
    Setting,
)
from evenhand.legal.groups import PLUS, TIMES, attributes
from evenhand.metrics.classification import predicted_labels
from evenhand.metrics.disparity import drawn_seed
from evenhand.metrics.group import merge_rare

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
            "Accuracy in the worst cell; interval: bootstrap",
            interval=True,
            items="worst_cells",
        ),
        *(
            number(
                f"over_{name}",
                f"Worst accuracy minus that of {words}; paired bootstrap over cases",
                "points",
                interval=True,
                items="worst_cells",
            )
            for name, words in COMPARED.items()
        ),
    ),
)


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
        generator = np.random.default_rng(drawn_seed(SEED, attribute, "cells"))
        members = [known[codes == cell] for cell in range(len(cells))]
        drawn = [
            some[generator.integers(0, len(some), (study.resamples, len(some)))] for some in members
        ]
        settings = runs.by_setting(attribute)
        # accuracy by cell, and its minimum by bootstrap sample: means over runs
        seen, worst_drawn = {}, {}
        for setting, places in settings.items():
            values = right[places].mean(axis=0)
            seen[setting] = np.array([values[some].mean() for some in members])
            samples = np.stack([values[some].mean(axis=1) for some in drawn], axis=1)
            worst_drawn[setting] = samples.min(axis=1)
        for setting, places in settings.items():
            worst = seen[setting].min()
            group, label = divmod(int(cells[seen[setting].argmin()]), len(names))
            row: Row = {
                **setting._asdict(),
                "attribute": attribute,
                "seeds": len(places),
                "cells": len(cells),
                "accuracy": 100 * right[places].mean(),
                "worst_cell": f"{names[label]}{TIMES}{groups.names[group]}",
                **_with_interval("worst", 100 * worst, 100 * worst_drawn[setting]),
            }
            for name, other in compared(setting, settings).items():
                difference = 100 * (worst_drawn[setting] - worst_drawn[other])
                over = 100 * (worst - seen[other].min())
                row |= _with_interval(f"over_{name}", over, difference)
            yield study.selected(row)


def cells_of(cases: Cases, groups: Groups) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the cells of label x group, that of each case with a known group, and the labels."""
    known = np.flatnonzero(groups.known)
    labels, names = label_sets(cases.true[known].astype(np.int64), cases.dataset)
    labels = merge_rare(labels, groups.codes[known], np.arange(len(known)), FEW)
    cells, codes = np.unique(groups.codes[known] * len(names) + labels, return_inverse=True)
    return cells, codes, names


def _with_interval(name: str, value: float, samples: np.ndarray) -> Row:
    return with_interval(name, value, *np.percentile(samples, [2.5, 97.5]))


def compared(setting: Setting, trained: Iterable[Setting]) -> dict[str, Setting]:
    """Return the settings of `COMPARED` that were trained; of samplers the one with most parts."""
    samplers = [other for other in trained if other[:2] == (setting.classifier, SAMPLER)]
    samplers.sort(key=lambda other: (-other.trained_for.count(PLUS), attributes(other.trained_for)))
    others = {"plain": setting.plain, "sampler": next(iter(samplers), None)}
    return {name: other for name, other in others.items() if other in trained and other != setting}
