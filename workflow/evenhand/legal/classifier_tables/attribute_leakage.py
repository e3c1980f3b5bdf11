"""How well protected attributes can be predicted from classifiers' outputs and features."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from evenhand.core.tables import Row, Table, integer, percent, text
from evenhand.learning.probes import PROBES, probe
from evenhand.legal.built import read_groups, read_labels, read_splits
from evenhand.legal.classifier_study import SETTING, ClassifierStudy
from evenhand.legal.groups import attributes
from evenhand.legal.predictions import NO_ATTRIBUTE, Predictions, labelled, read_predictions
from evenhand.legal.records import SPLITS
from evenhand.legal.scored import BASE, Setting

TABLE = Table(
    "attribute_leakage",
    title="How well protected attributes can be read from a classifier",
    key=(*(one.name for one in SETTING), "attribute", "read_from", "probe"),
    columns=(
        *SETTING,
        text("attribute"),
        text("read_from", "features: what the last layer reads; logits"),
        text("probe", "A fresh classifier of the attribute, linear or an MLP"),
        integer("seeds"),
        integer("groups", "Known groups with training and test cases"),
        integer("cases", "Test cases that are probed; up to 2,000 of a split are"),
        percent("chance", "Balanced accuracy of guessing"),
        percent(
            "score",
            "Balanced accuracy of the probe, fitted on training cases; mean over seeds, interval"
            " over test cases",
            interval=True,
        ),
        percent("before", "The same after plain training (ERM) of the classifier"),
    ),
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute and probe: of the attribute of the training, or of all."""
    splits = read_splits(study.data)
    kept = labelled(read_labels(study.data, study.dataset)[0], splits)
    groups = {
        one.attribute.name: np.where(one.codes < one.unknown, one.codes, -1)[kept]
        for one in read_groups(study.data, study.dataset)
    }
    found: dict[Setting, list[Predictions]] = {}
    for path in study.predictions:
        for one in read_predictions(path, features=True):
            setting = Setting(one.classifier, one.objective, one.attribute)
            found.setdefault(setting, []).append(one)
    before: dict[tuple[str, ...], float] = {}
    for setting in sorted(found, key=lambda one: (one.classifier, one.objective != BASE, one)):
        for row in _of_setting(setting, found[setting], splits[kept], groups):
            place = (setting.classifier, row["attribute"], row["read_from"], row["probe"])
            if (setting.objective, setting.trained_for) == (BASE, NO_ATTRIBUTE):
                before[place] = row["score"]
            yield {**setting._asdict(), **row, "before": before.get(place)}


def _of_setting(
    setting: Setting, runs: list[Predictions], splits: np.ndarray, groups: dict[str, np.ndarray]
) -> Iterator[Row]:
    kept = [one for one in runs if one.features is not None]
    if not kept:
        return
    rows = np.flatnonzero(np.isfinite(kept[0].features).all(axis=1))
    parts = tuple(np.flatnonzero(splits[rows] == split) for split in SPLITS)
    width = min(one.features.shape[1] for one in kept)
    read = {
        "features": np.stack([one.features[rows, :width] for one in kept]),
        "logits": np.stack([one.logits[rows] for one in kept]),
    }
    for attribute, codes in groups.items():
        if setting.trained_for != NO_ATTRIBUTE and attribute not in attributes(setting.trained_for):
            continue
        for (name, values), (kind, hidden) in product(read.items(), PROBES.items()):
            if (found := probe(values, codes[rows], parts, hidden=hidden)) is None:
                continue
            yield {
                "attribute": attribute,
                "read_from": name,
                "probe": kind,
                "seeds": len(kept),
                "groups": found.groups,
                "cases": found.cases,
                "chance": 100 * found.chance,
                "score": 100 * found.mean,
                "score_low": 100 * found.low,
                "score_high": 100 * found.high,
            }
