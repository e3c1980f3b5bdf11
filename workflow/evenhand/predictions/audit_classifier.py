"""Stage: audit the test predictions of a classifier that was trained here, as any predictions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.stage import Delta, Input, Output, checked
from evenhand.legal.built import BuiltCases
from evenhand.legal.classifier_study import Setting, read_scored
from evenhand.legal.groups import PLUS
from evenhand.metrics.classification import predicted_labels
from evenhand.predictions.audit_predictions import write_audit
from evenhand.predictions.read import Predictions


class Audited(NamedTuple):
    """The test predictions of a classifier, its setting, and the attributes not compared."""

    predictions: Predictions
    setting: Setting
    without: list[str]


@checked
def audit_classifier(
    *,
    data: Input,
    predictions: list[Input],
    out: Output,
    cases: Output,
    meta: Output,
    name: str,
    title: str = "",
    positive: str | None = None,
    delta: Delta = 5.0,
) -> dict[str, Any]:
    """Compute group metrics of the test predictions of a classifier, means over its seeds.

    Parameters
    ----------
    data : path
        The data set, of `build_cases`.
    predictions : list of path
        The predictions of a training with all its seeds, of `train_classifier`.
    out, cases, meta : path
        As in `evenhand.predictions.audit_predictions`.
    name, title : str
        Name and title of the predictions.
    positive : str, optional
        The label that rates are of; of two labels the last one by default. Where a text may have
        several labels, rates are of each.
    delta : float
        The smallest difference that matters, in percentage points.

    Raises
    ------
    InputError
        There is no such label, or no test case has a label.
    """
    audited, setting, without = read_classifier(data, predictions, positive)
    document = {"name": name, "title": title or name, "format": "table", "label": "label"}
    document["trained"] = {"dataset": data.stem, **setting._asdict()}
    return write_audit(audited, delta, document, without, out=out, cases=cases, meta=meta)


def read_classifier(data: Path, predictions: Sequence[Path], positive: str | None) -> Audited:
    """Read the test predictions of a training with all its seeds; see `audit_classifier`."""
    from scipy.special import expit, softmax

    built = BuiltCases(data)
    dataset = built.dataset
    labels = dataset.labels
    several = dataset.task == "multi_label"
    scored, runs = read_scored(built, predictions, ["test"])
    places = built.labelled
    ids = np.array(built.case_ids, dtype=str)[places[built.splits[places] == "test"]]
    logits = runs.logits.astype(float)
    groups, without = {}, []
    for group in scored.groups:
        if PLUS in group.attribute.name:  # a product, whose parts are there
            continue
        names = np.array([*group.attribute.groups, ""])[np.minimum(group.codes, group.unknown)]
        if len({*names.tolist()} - {""}) > 1:
            groups[group.attribute.name] = names
        else:
            without.append(f"{group.attribute.name} (one group in the test cases)")
    audited = Predictions(
        id=ids,
        classes=list(labels),
        true=scored.true,
        predicted=predicted_labels(logits, dataset.task),
        positive=dataset.positive_place(positive),
        probabilities=expit(logits) if several else softmax(logits, axis=2),
        groups=groups,
        clusters=ids,
        several=several,
    )
    return Audited(audited, runs.settings[0], without)
