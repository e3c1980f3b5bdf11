"""Write the findings on language models as model cards in the format of the Hugging Face hub."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table, read_tables
from evenhand.errors import InputError
from evenhand.io.markdown import render, span
from evenhand.report.read import read_json
from evenhand.report.sections.bias import VERDICTS
from evenhand.report.sections.stereotypes_measures import describe_pairs
from evenhand.report.sections.stereotypes_models import NO_REASON
from evenhand.report.sections.stereotypes_scores import (
    PREFERS_LESS,
    PREFERS_MORE,
    conclude,
    judge,
    no_number,
)
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    FAMILIES,
    doubt_words,
    exclusion_words,
    gate_words,
    in_order,
    method_title,
    p_value,
)
from evenhand.scoring.methods import METHODS

#: The titles of the sources of SlguSet.
EDITIONS = {
    "slguset": "SlguSet, built by this run",
    "slguset_published": "The file named as the published SlguSet",
}

#: The hub's task of each kind of model.
TASKS = {"masked": "fill-mask", "causal": "text-generation"}

#: The fields of a validity check that describe the model: the same on every data set.
FACTS = ("hub_name", "revision", "type", "parameters", "vocabulary", "max_tokens", "dtype",
         "weights_sha256", "tokenizer_sha256")  # fmt: skip

#: With fewer swaps than this many equal ones, an interval leaves most biases undetected.
FEW_SWAPS = 20

#: The three numbers of StereoSet.
STEREOSET_NAMES = {
    "lms": "language modelling score",
    "ss": "stereotype score",
    "icat": "ICAT",
}

#: The components of the mean bias on SlguSet.
DEGREES = {
    "male_degree": "male degree",
    "female_degree": "female degree",
    "mean_degree": "mean degree",
}


class Metric(NamedTuple):
    """A metric in the card's header.

    Attributes
    ----------
    task, set_name, title, part : str
        The hub's task; the data set's name, title and configuration.
    kind, name : str
        The metric's identifier and its readable name.
    value : float
    details : dict
        Its interval, p-value and verdict, if any.
    """

    task: str
    set_name: str
    title: str
    part: str | None
    kind: str
    name: str
    value: float
    details: dict[str, Any]


def write_model_cards(
    *,
    template: Input,
    out: list[Output],
    models: list[str],
    languages: list[str],
    sets: list[Source] | None = None,
    gates: list[Source] | None = None,
    tables: list[Source] | None = None,
    bias: list[Source] | None = None,
    bias_gates: list[Source] | None = None,
    notice: str = "",
    call: str = "",
) -> dict[str, Any]:
    """Write the cards of models: their data sets, findings and limits.

    The header (YAML) contains the scores of the methods that count as the hub's ``model-index``:
    each metric's ``args`` are its interval, p-value and verdict. A model that failed its validity
    check on a data set has no number there; the card states the reason.

    Parameters
    ----------
    template : path
        ``report/cards/model_card.md.jinja``.
    out : list of path
        README.md of each model.
    models, languages : list of str
        The models' names in the configuration, and the language that each reads (or ""); it is in
        the header if it is a code of ISO 639.
    sets : list of path, optional
        ``stereotypes/{set}/pairs.json`` of the sets of pairs.
    gates : list of path, optional
        ``stereotypes/{set}/gates/{model}.json``, one per model and set that it was scored on.
    tables : list of path, optional
        The folders ``tables/pairs/{set}``.
    bias : list of path, optional
        The folders ``tables/bias/{source}`` of the sources of SlguSet.
    bias_gates : list of path, optional
        ``{source}/bias/{model}.gate.json``, one per model and source that it was scored on.
    notice : str
        A notice to readers.
    call : str
        The Python call that made the results; blank: the workflow.

    Returns
    -------
    dict
        By model: data_sets, metrics, and untrusted: the data sets on which it has no number.

    Raises
    ------
    InputError
        A model was scored on nothing, a file is missing, or a table lacks the model.
    """
    documents = {path.parent.name: path for path in sets or []}
    folders = {path.name: path for path in tables or []}
    summaries = {path.name: path for path in bias or []}
    counts = {}
    for model, language, path in zip(models, languages, out, strict=True):
        of_editions = _gates(bias_gates or [], model, ".gate.json")
        of_sets = _gates(gates or [], model, ".json")
        checked = [*of_editions.values(), *of_sets.values()]
        if not checked:
            raise InputError(f"the model {model} was scored on nothing")
        editions = [
            _edition(_of(summaries, name), gate, model) for name, gate in of_editions.items()
        ]
        about = [
            _set(read_json(_of(documents, name)), _of(folders, name), gate, model)
            for name, gate in of_sets.items()
        ]
        metrics = [metric for one in [*editions, *about] for metric in one["metrics"]]
        facts = {
            "notice": notice,
            "call": call,
            "header": _header(model, language, metrics),
            "model": model,
            "family": FAMILIES.get(checked[0]["family"]) or checked[0]["family"] or "unknown",
            "facts": {name: checked[0].get(name) for name in FACTS},
            "sets": about,
            "editions": editions,
            "checks": [
                _check(gate) | {"title": one["title"]}
                for gate, one in zip(checked, [*editions, *about], strict=True)
            ],
            "methods": _methods(about),
            "tables": [
                *(f"`tables/bias/{name}/models.csv`" for name in of_editions),
                *(f"`tables/pairs/{name}/bias_scores.csv`" for name in of_sets),
            ],
            "language": language,
            "few_swaps": FEW_SWAPS,
        }
        path.write_text(render(template, facts), encoding="utf-8")
        counts[model] = {
            "data_sets": len(checked),
            "metrics": len(metrics),
            "untrusted": sum(not gate["trusted"] for gate in checked),
        }
    return counts


def _of(by_name: dict[str, Path], name: str) -> Path:
    if name not in by_name:
        raise InputError(f"{name} has a check of the model, and its results are missing")
    return by_name[name]


def _gates(paths: list[Path], model: str, suffix: str) -> dict[str, dict[str, Any]]:
    """Return the validity checks of a model by data set."""
    own = [path for path in paths if path.name == f"{model}{suffix}"]
    return {path.parent.parent.name: _gate(path, model) for path in own}


def _gate(path: Path, model: str) -> dict[str, Any]:
    gate = read_json(path)
    if not isinstance(gate, dict) or not {"model", "family", "trusted"} <= gate.keys():
        raise InputError("is not the record of a model's check", file=path)
    if gate["model"] != model:
        raise InputError(f"is about the model {gate['model']}", file=path)
    return gate | {"why": [] if gate["trusted"] else gate_words(gate.get("reason")) or [NO_REASON]}


def _set(
    document: dict[str, Any],
    folder: Path,
    gate: dict[str, Any],
    model: str,
) -> dict[str, Any]:
    """Return the card's content on one set of pairs."""
    name, found = document["name"], describe_pairs(document)
    tables = read_tables(folder)
    rows = [row for row in tables.get("bias_scores", []) if row["model"] == model]
    if not rows:
        raise InputError(f"says nothing of the model {model}", file=folder)
    judged = [
        row | judge(row, found["sides"])
        for row in rows
        if gate["trusted"] and row["method"] is not None and row["subset"] == "all"
    ]
    order = in_order(row["method"] for row in judged)
    judged.sort(key=lambda row: (row["method"] in ASIDE, order.index(row["method"])))
    whole = [row for row in judged if row["bias_type"] == "all"]
    counted = [row for row in whole if row["method"] not in ASIDE and row["score"] is not None]
    conclusion = no_number(gate["why"]) if gate["why"] else conclude(whole, found["sides"])
    title, task = found["title"] or name, TASKS.get(gate["family"], "other")
    place = (task, name, title, document.get("part"))
    triples = []
    if gate["trusted"]:
        triples = [
            row
            for row in tables.get("stereoset", [])
            if row["model"] == model and row["bias_type"] == "all"
        ]
    return {
        **found,
        "name": name,
        "title": title,
        "conclusion": conclusion["words"],
        "significant": conclusion["leaning"] in (PREFERS_MORE, PREFERS_LESS),
        "rows": [
            row
            | {
                "title": method_title(row["method"]),
                "aside": ASIDE.get(row["method"]),
                "p": p_value(row["p_value"]),
            }
            for row in whole
        ],
        "by_type": _by_type([row for row in judged if row["method"] not in ASIDE]),
        "triples": [row | {"title": method_title(row["method"])} for row in triples],
        "doubts": [(doubt_words(flag) or flag, count) for flag, count in found["flags"] if count],
        "metrics": [
            *(_score_metric(place, row, found["sides"][0]) for row in counted),
            *(
                metric
                for row in triples
                if row["method"] not in ASIDE
                for metric in _triple_metrics(place, row)
            ),
        ],
    }


def _by_type(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a row per bias type and a column per method; None for one type or no intervals."""
    rows = [row for row in rows if row["bias_type"] != "all"]
    types = list(dict.fromkeys(row["bias_type"] for row in rows))
    if len(types) < 2 or all(row["score_low"] is None for row in rows):
        return None
    cells = {(row["bias_type"], row["method"]): row for row in rows}
    methods = in_order(row["method"] for row in rows)
    return {
        "methods": [method_title(method) for method in methods],
        "rows": [
            {
                "name": name,
                "pairs": max(cells[name, m]["pairs"] for m in methods if (name, m) in cells),
                "cells": [cells.get((name, method)) for method in methods],
            }
            for name in types
        ],
    }


def _score_metric(place: tuple, row: dict[str, Any], side: str) -> Metric:
    ends = span((row["score_low"], row["score_high"]))
    return Metric(
        *place,
        f"bias_score_{row['method']}",
        f"{method_title(row['method'])}: per cent of the pairs in which {side} is likelier, 50 is"
        f" no preference (95 % interval {ends})",
        row["score"],
        {
            "interval_low": row["score_low"],
            "interval_high": row["score_high"],
            "p_value": row["p_value"],
            "verdict": row["verdict"],
            "reason": row["reason"],
            "scored": row["scored"],
        },
    )


def _triple_metrics(place: tuple, row: dict[str, Any]) -> Iterator[Metric]:
    for name, words in STEREOSET_NAMES.items():
        if row[name] is not None:
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            yield Metric(
                *place,
                f"stereoset_{name}_{row['method']}",
                f"StereoSet's {words} by {method_title(row['method'])}"
                f" (95 % interval {span((low, high))})",
                row[name],
                {"interval_low": low, "interval_high": high, "scored": row["scored"]},
            )


def _edition(path: Path, gate: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the card's content on one source of SlguSet."""
    name = path.name
    row = next((row for row in read_table(path / "models.csv") if row["model"] == model), None)
    if row is None:
        raise InputError(f"says nothing of the model {model}", file=path)
    title = EDITIONS.get(name, name)
    if not gate["trusted"] or not row["trusted"] or row["mean_bias"] is None:
        words = no_number(gate["why"])["words"] if gate["why"] else "No sentence could be scored."
        return {"name": name, "title": title, "row": None, "conclusion": words,
                "significant": False, "metrics": []}  # fmt: skip
    place = (TASKS.get(gate["family"], "other"), name, title, "default")
    ends = span((row["mean_bias_low"], row["mean_bias_high"]), 3)
    unit = f"log{row['log_base']:g}"
    metrics = [
        Metric(
            *place,
            "mean_bias",
            f"Mean bias: {unit} of the odds of the male word against the female one, 0 is no"
            f" preference (95 % interval {ends})",
            row["mean_bias"],
            {
                "interval_low": row["mean_bias_low"],
                "interval_high": row["mean_bias_high"],
                "verdict": row["verdict"],
                "scored": row["scored"],
            },
        )
    ]
    metrics += [
        Metric(*place, kind, f"{words.capitalize()}, {unit}", row[kind], {"scored": row["scored"]})
        for kind, words in DEGREES.items()
        if row[kind] is not None
    ]
    significant = row["verdict"] in ("male", "female")
    words = f"On average the model {VERDICTS[row['verdict']]}." if significant else (
        "On average the model has no significant lean to either gender."
    )  # fmt: skip
    return {
        "name": name,
        "title": title,
        "row": row,
        "unit": unit,
        "conclusion": words,
        "significant": significant,
        "metrics": metrics,
    }


def _check(gate: dict[str, Any]) -> dict[str, Any]:
    check = gate.get("check") or {}
    left_out = sorted((gate.get("excluded") or {}).items())
    return {
        "passed": gate["trusted"],
        "why": " ".join(gate["why"]),
        "tokens": check.get("tokens"),
        "accuracy": check.get("accuracy"),
        "low": check.get("accuracy_low"),
        "high": check.get("accuracy_high"),
        "baseline": check.get("baseline"),
        "left_out": [f"{n:,}: {exclusion_words(reason)}" for reason, n in left_out if n],
        "unknown": gate.get("sentences_with_unknown"),
    }


def _methods(about: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the meaning of each method that the card mentions."""
    shown = in_order(row["method"] for one in about for row in one["rows"])
    return [
        {"title": method_title(name), "meaning": METHODS[name].meaning}
        for name in shown
        if name in METHODS
    ]


def _header(model: str, language: str, metrics: list[Metric]) -> str:
    """Return the card's YAML header."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type=one.task,
            dataset_type=one.set_name,
            dataset_name=one.title,
            dataset_config=one.part,
            metric_type=one.kind,
            metric_name=one.name,
            metric_value=one.value,
            metric_args=one.details,
        )
        for one in metrics
    ]
    known = language if re.fullmatch("[a-z]{2,3}", language) else None
    return ModelCardData(
        language=known,
        tags=["fairness", "bias", "evenhand"],
        model_name=model if results else None,
        eval_results=results or None,
    ).to_yaml(line_break="\n")


if __name__ == "__main__":
    stage.run(write_model_cards)
