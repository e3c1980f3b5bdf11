"""Worst cell of label x attribute, beside plain training and the balanced sampler."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, number, percent, text
from evenhand.legal.built import Groups, label_sets
from evenhand.legal.classifier_study import SELECT, SETTING, ClassifierStudy
from evenhand.legal.groups import PLUS, TIMES, attributes
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.scored import BASE, FEW, Cases, Runs, Setting, drawn_seed, scored_for
from evenhand.metrics.cells import merge_rare
from evenhand.metrics.classification import predicted_labels

#: The objective that only balances batches.
SAMPLER = "erm_group_uniform"

#: What each objective is compared with, and the columns' words for it.
COMPARED = {"plain": "plain training (ERM)", "sampler": "ERM on group-balanced batches"}

TABLE = Table(
    "mitigation",
    title="Worst group of label and attribute, beside plain training and the balanced sampler",
    key=(*(one.name for one in SETTING), "attribute"),
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
        percent("worst", "Accuracy in the worst cell; interval: bootstrap", interval=True),
        *(
            number(
                f"over_{name}",
                f"Worst accuracy minus that of {words}; paired bootstrap over cases",
                "points",
                interval=True,
                neutral=0,
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
    for one in cases.groups:
        yield from _of_attribute(study, cases, runs, right, one)


def _of_attribute(
    study: ClassifierStudy, cases: Cases, runs: Runs, right: np.ndarray, one: Groups
) -> Iterator[Row]:
    known = np.flatnonzero(one.codes < one.unknown)
    if not len(known):
        return
    labels, names = label_sets(cases.true[known].astype(np.int64), cases.dataset)
    groups = one.codes[known]
    labels = merge_rare(labels, groups, np.arange(len(known)), FEW)
    cells, codes = np.unique(groups * len(names) + labels, return_inverse=True)
    generator = np.random.default_rng(drawn_seed(study.seed, one.attribute.name, "cells"))
    members = [np.flatnonzero(codes == cell) for cell in range(len(cells))]
    drawn = [
        rows[generator.integers(0, len(rows), (study.resamples, len(rows)))] for rows in members
    ]

    def accuracies(places: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """By cell, and by bootstrap sample and cell: means over runs."""
        values = right[places][:, known].mean(axis=0)
        seen = np.array([values[rows].mean() for rows in members])
        return seen, np.stack([values[rows].mean(axis=1) for rows in drawn], axis=1)

    settings = {
        setting: places
        for setting, places in runs.by_setting().items()
        if scored_for(one.attribute.name)(setting)
    }
    found = {setting: accuracies(places) for setting, places in settings.items()}
    for setting, (seen, samples) in found.items():
        worst, group = int(seen.argmin()), divmod(int(cells[seen.argmin()]), len(names))
        row: Row = {
            **setting._asdict(),
            "attribute": one.attribute.name,
            "seeds": len(settings[setting]),
            "cells": len(cells),
            "accuracy": 100 * right[settings[setting]].mean(),
            "worst_cell": f"{names[group[1]]}{TIMES}{one.names[group[0]]}",
            "worst": 100 * seen[worst],
            **_interval("worst", 100 * samples.min(axis=1)),
        }
        for name, other in _compared(setting, found).items():
            theirs, their_samples = found[other]
            difference = 100 * (samples.min(axis=1) - their_samples.min(axis=1))
            row[f"over_{name}"] = 100 * (seen[worst] - theirs.min())
            row |= _interval(f"over_{name}", difference)
        yield study.selected(row)


def _interval(name: str, samples: np.ndarray) -> Row:
    low, high = np.percentile(samples, [2.5, 97.5])
    return {f"{name}_low": float(low), f"{name}_high": float(high)}


def _compared(setting: Setting, found: dict[Setting, object]) -> dict[str, Setting]:
    """Return the settings of `COMPARED` that were trained; of samplers the one with most parts."""
    plain = Setting(setting.classifier, BASE, NO_ATTRIBUTE)
    samplers = [
        one for one in found if (one.classifier, one.objective) == (setting.classifier, SAMPLER)
    ]
    samplers.sort(key=lambda one: (-len(one.trained_for.split(PLUS)), attributes(one.trained_for)))
    others = {"plain": [plain], "sampler": samplers}
    return {
        name: some[0]
        for name, some in others.items()
        if some and some[0] in found and some[0] != setting
    }
