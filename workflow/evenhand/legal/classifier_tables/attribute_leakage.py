"""How well protected attributes can be predicted from classifiers' outputs and features.

Where labels differ between groups, every classifier that predicts the labels also tells the groups:
what a probe reads from the true labels alone is then to be expected, instead of chance.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import product
from typing import Any

import numpy as np

from evenhand.core.tables import Row, Table, integer, percent, text, with_interval
from evenhand.learning.probes import PROBES, Probed, probe
from evenhand.legal.classifier_study import SETTING, SETTING_KEY, ClassifierStudy, Setting
from evenhand.legal.predictions import Predictions, read_predictions
from evenhand.legal.records import SPLITS

TABLE = Table(
    "attribute_leakage",
    title="How well protected attributes can be read from a classifier",
    key=(*SETTING_KEY, "attribute", "read_from", "probe"),
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
        percent("from_labels", "The same of a probe that is given the true labels alone"),
        percent("before", "The same after plain training (ERM) of the classifier"),
    ),
)


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, attribute and probe: of the attribute of the training, or of all."""
    rows = study.data.labelled
    every, splits = [groups.take(rows) for groups in study.data.groups], study.data.splits[rows]
    runs_by_setting: dict[Setting, list[Predictions]] = {}
    for path in study.predictions:
        for run in read_predictions(path, features=True):
            if run.features is not None:
                setting = Setting(run.classifier, run.objective, run.attribute)
                runs_by_setting.setdefault(setting, []).append(run)
    hot = study.data.labels[1][rows].astype(np.float64)
    plain: dict[tuple[str, ...], float] = {}
    from_labels: dict[tuple[str, ...], float] = {}
    results: dict[tuple[Any, ...], Probed | None] = {}
    for setting in sorted(runs_by_setting, key=lambda setting: setting.order):
        runs = runs_by_setting[setting]
        probed = np.flatnonzero(np.isfinite(runs[0].features).all(axis=1))
        parts = tuple(np.flatnonzero(splits[probed] == split) for split in SPLITS)
        width = min(run.features.shape[1] for run in runs)
        values = {
            "features": np.stack([run.features[probed, :width] for run in runs]),
            "logits": np.stack([run.logits[probed] for run in runs]),
        }
        digests = {
            source: (some.shape, blake2b(some.tobytes()).digest())
            for source, some in values.items()
        }
        for groups, source, (name, hidden) in product(every, values, PROBES.items()):
            attribute = groups.attribute.name
            if not setting.scored_for(attribute):
                continue
            codes = np.where(groups.known, groups.codes, -1)[probed]
            # linear classifiers read the same features under all objectives: fit one probe
            inputs = (attribute, name, digests[source], probed.tobytes())
            if inputs not in results:
                results[inputs] = probe(values[source], codes, parts, hidden=hidden)
            if not (result := results[inputs]):
                continue
            if (attribute, name) not in from_labels:
                labels = probe(hot[None, probed], codes, parts, hidden=hidden)
                from_labels[attribute, name] = 100 * labels.mean
            key = (setting.classifier, attribute, source, name)
            if setting == setting.plain:
                plain[key] = 100 * result.mean
            yield {
                **setting._asdict(),
                "attribute": attribute,
                "read_from": source,
                "probe": name,
                "seeds": len(runs),
                "groups": result.groups,
                "cases": result.cases,
                "chance": 100 * result.chance,
                **with_interval("score", 100 * result.mean, 100 * result.low, 100 * result.high),
                "from_labels": from_labels[attribute, name],
                "before": plain.get(key),
            }
