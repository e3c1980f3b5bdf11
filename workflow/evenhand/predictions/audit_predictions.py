"""Stage: audit existing predictions, without training."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.families import load_members
from evenhand.core.numbers import MOST_GROUPS, bin_names, read_bins
from evenhand.core.stage import Delta, Input, Output, Share, checked
from evenhand.core.tables import tabulate
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import FORM
from evenhand.predictions import preferences, tables
from evenhand.predictions.lm_eval import (
    equal_tasks,
    model_of,
    read_logs,
    repeated_pairs,
    shared_pairs,
)
from evenhand.predictions.read import Predictions, read_predictions
from evenhand.predictions.study import PredictionStudy
from evenhand.predictions.tables import left_out

#: The arguments of `audit_predictions` that `read_predictions` takes as they are.
SAME = ("label", "prediction", "groups", "positive", "id", "cluster", "counterfactual_of", "gold")
SAME += ("threshold",)


@checked
def audit_predictions(
    *,
    files: list[Input],
    out: Output,
    cases: Output,
    meta: Output,
    name: str,
    format: str = "table",
    title: str = "",
    label: str | None = None,
    prediction: str | None = None,
    classes: list[str] | None = None,
    probabilities: list[str] | None = None,
    groups: list[str] | None = None,
    positive: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    counterfactual_of: str | None = None,
    bins: list[str] | None = None,
    gold: Input | None = None,
    threshold: Share = 0.5,
    delta: Delta = 5.0,
) -> dict[str, Any]:
    """Compute group metrics of predictions, their gaps, and the gaps of random groups.

    Parameters
    ----------
    files : list of path
        A CSV or Parquet file; for ``lm_eval`` logs (samples_*.jsonl) or folders of them.
    out : path
        The folder of the tables; see `evenhand.core.tables`.
    cases : path
        Parquet: each case with label, prediction, probability, outcome, cluster and groups.
    meta : path
        JSON: name, title, format, counts, and the columns that were read; unknown has the number
        of cases without a group, by attribute; empty_bins the bins without a case; missing,
        misplaced, unlike, contradicted, equal_tasks, shared_pairs and repeated_pairs (of logs)
        those of the functions of `lm_eval`; model that of all logs, or null;
        auc_reversed, uniform, tied and majority are those of `PredictionStudy`. Of
        `audit_classifier` also trained: data set, classifier, objective and attribute.
    name, title : str
        Name and title of the predictions.
    format : str
        ``table`` or ``lm_eval``. All further columns are for ``table``.
    label, prediction : str
        Columns. The prediction is a label, or the probability of the positive one.
    classes, probabilities : list of str, optional
        Labels, and the column of the probability of each, in place of a prediction.
    groups : list of str
        Columns of protected attributes; each two of them are intersected too.
    positive : str, optional
        The positive label of rates; by default 1, true or yes if it is one of two labels.
    id, cluster : str, optional
        Columns: of ids, and of clusters of dependent cases (a person, a document).
    counterfactual_of : str, optional
        A column that names the factual row of a counterfactual one, else is blank.
    bins : list of str, optional
        ``age=18,30,50``: borders between the groups of a numeric attribute.
    gold : path, optional
        A file with ids, labels and groups, if the file of predictions has none.
    threshold : float
        The least probability of a positive prediction.
    delta : float
        The smallest difference that matters, in percentage points.

    Raises
    ------
    InputError
        A column, label or group is missing, or no row is usable.
    """
    arguments = locals()
    document: dict[str, Any] = {"name": name, "title": title or name, "format": format}
    if format == "lm_eval":
        answers, bad, doubts = read_logs(files)
        study = preferences.LogStudy(answers, bad, delta)
        counts = tabulate(out, [preferences, left_out], study)
        document |= {"cases": len(answers), "groups": [], "left_out": len(bad)}
        document |= {"rows": len(answers) + len(bad), "unknown": {}, "delta": delta}
        document |= doubts | {"model": model_of(files)}
        document["equal_tasks"] = equal_tasks(answers)
        document["shared_pairs"] = shared_pairs(answers)
        document["repeated_pairs"] = repeated_pairs(answers)
        rows = [answer._asdict() for answer in answers]
    else:
        if len(files) != 1 or label is None or not groups:
            raise InputError("one file, `label` and `groups` are needed", remedy="name them")
        borders = dict(map(read_bins, bins or []))
        predictions = read_predictions(
            files[0],
            probabilities=dict(zip(classes or [], probabilities or [], strict=True)),
            bins=borders,
            **{name: arguments[name] for name in SAME},
        )
        document |= {"label": label, "bins": bins or None, "cluster": cluster, "id": id}
        document["threshold"] = threshold
        empty = {name: [each for each in bin_names(edges) if each not in predictions.groups[name]]
                 for name, edges in borders.items()}  # fmt: skip
        document["empty_bins"] = {name: names for name, names in empty.items() if names}
        return write_audit(predictions, delta, document, [], out=out, cases=cases, meta=meta)
    pq.write_table(pa.Table.from_pylist(rows), cases, **FORM)
    write_json(meta, document)
    return counts | {"cases": len(rows), "left_out": len(bad)}


def write_audit(
    predictions: Predictions,
    delta: float,
    document: dict[str, Any],
    without: list[str],
    *,
    out: Path,
    cases: Path,
    meta: Path,
) -> dict[str, Any]:
    """Write the tables, cases and description of predictions; return the counts.

    Parameters
    ----------
    predictions : Predictions
        The predictions to audit.
    delta : float
        The smallest difference that matters, in percentage points.
    document : dict
        The first entries of the description.
    without : list of str
        The attributes that are not compared, and why.
    out, cases, meta : path
        See `audit_predictions`.
    """
    study = PredictionStudy(predictions, delta)
    counts = tabulate(out, load_members(tables), study)
    rows = list(study.cases())
    left_out = len(predictions.left_out)
    positive = predictions.positive
    many = [f"{item} (over {MOST_GROUPS} groups)" for item in study.not_crossed]
    document |= {
        "rows": len(rows) + len(predictions.factual) + left_out,
        "unknown": {name: int((codes == "").sum()) for name, codes in predictions.groups.items()},
        "cases": len(rows),
        "clusters": len(np.unique(predictions.clusters)),
        "groups": list(predictions.groups),
        "left_out": left_out,
        "several": predictions.several,
        "repeated": predictions.repeated,
        "references": predictions.references,
        "relabelled": predictions.relabelled,
        "set_again": predictions.set_again,
        "unclustered": predictions.unclustered,
        "doubtful": predictions.doubtful,
        "auc_reversed": study.auc_reversed,
        "uniform": study.uniform,
        "tied": study.tied,
        "majority": study.majority,
        "positive_is_default": predictions.positive_is_default,
        "rescaled": predictions.rescaled,
        "is_coded": predictions.is_coded,
        "is_open": predictions.is_open,
        "runs": len(predictions.predicted),
        "classes": predictions.classes,
        "delta": delta,
        "metrics": list(dict.fromkeys(item.metric for item in study.metrics)),
        "positive": None if positive is None else predictions.classes[positive],
        "not_crossed": [*without, *many],
    }
    pq.write_table(pa.Table.from_pylist(rows), cases, **FORM)
    write_json(meta, document)
    return counts | {"cases": len(rows), "left_out": left_out}
