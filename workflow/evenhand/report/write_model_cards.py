"""Write the findings on language models as model cards in the format of the Hugging Face hub."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.rows import where
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table, read_tables
from evenhand.io.markdown import render, span
from evenhand.report.headline import plain
from evenhand.report.read import read_json
from evenhand.report.render import in_words, p_value, plural
from evenhand.report.sections.bias import VERDICTS
from evenhand.report.sections.stereotypes_measures import (
    FACTS,
    describe_check,
    describe_pairs,
    left_out_pairs,
)
from evenhand.report.sections.stereotypes_scores import (
    FEW_INDEPENDENT,
    PREFERS_LESS,
    PREFERS_MORE,
    are_alike,
    cells_by,
    conclude,
    independent_pairs,
    independent_words,
    judge,
    no_number,
)
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    in_order,
    method_title,
    untrusted_models,
)
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.pairs import FLAGS
from evenhand.text.languages import is_language

#: A metric in the card's header: the arguments of `huggingface_hub.EvalResult`.
Metric = dict[str, Any]

#: The hub's task of each kind of model.
TASKS = {"masked": "fill-mask", "causal": "text-generation"}

#: The three numbers of StereoSet.
STEREOSET_NAMES = {"lms": "language modelling score", "ss": "stereotype score", "icat": "ICAT"}

#: The components of the mean bias on SlguSet.
DEGREES = ("male_degree", "female_degree", "mean_degree")


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
    """
    documents = {path.parent.name: path for path in sets or []}
    folders = {path.name: path for path in tables or []}
    summaries = {path.name: path for path in bias or []}
    counts = {}
    for model, language, path in zip(models, languages, out, strict=True):
        of_editions = _gates(bias_gates or [], model, ".gate.json")
        of_sets = _gates(gates or [], model, ".json")
        checked = [*of_editions.values(), *of_sets.values()]
        family = checked[0]["family"]
        editions = [_edition(summaries[name], gate, model) for name, gate in of_editions.items()]
        of_pairs = [
            _set(read_json(documents[name]), folders[name], gate, model)
            for name, gate in of_sets.items()
        ]
        metrics = [metric for part in (*editions, *of_pairs) for metric in part["metrics"]]
        methods = in_order(row["method"] for part in of_pairs for row in part["rows"])
        checks = []
        for gate, part in zip(checked, [*editions, *of_pairs], strict=True):
            named = {key: part[key] for key in ("title", "left_out") if key in part}
            checks.append(describe_check(gate) | named | {"why": " ".join(gate["why"])})
        facts = {
            "notice": notice,
            "call": call,
            "header": _header(model, language, metrics),
            "model": model,
            "family": plain("lm_family", name=family) or family or "unknown",
            "facts": {name: checked[0].get(name) for name in FACTS},
            "sets": of_pairs,
            "editions": editions,
            "checks": checks,
            "methods": [
                {"title": method_title(name), "meaning": METHODS[name].meaning}
                for name in methods
                if name in METHODS
            ],
            "tables": [
                *(f"`tables/bias/{name}/models.csv`" for name in of_editions),
                *(f"`tables/pairs/{name}/bias_scores.csv`" for name in of_sets),
            ],
            "language": language,
        }
        card = render(template, facts, {"p_value": p_value, "plural": plural})
        path.write_text(card, encoding="utf-8")
        counts[model] = {
            "data_sets": len(checked),
            "metrics": len(metrics),
            "untrusted": sum(not gate["trusted"] for gate in checked),
        }
    return counts


def _gates(paths: list[Path], model: str, suffix: str) -> dict[str, dict[str, Any]]:
    """Return the validity checks of a model by data set, with the reasons where it failed."""
    checks = {}
    for path in paths:
        if path.name == f"{model}{suffix}":
            gate = read_json(path)
            why = untrusted_models((), {model: gate}).get(model, [])
            checks[path.parents[1].name] = gate | {"why": why}
    return checks


def _set(
    document: dict[str, Any], folder: Path, gate: dict[str, Any], model: str
) -> dict[str, Any]:
    """Return the card's content on one set of pairs."""
    tables = read_tables(folder)
    of_model = where(tables["bias_scores"], model=model)
    name, facts = document["name"], describe_pairs(document, of_model)
    title, trusted = facts["title"] or name, gate["trusted"]
    judged = [
        row | judge(row, facts["sides"]) | _method(row)
        for row in of_model
        if trusted and row["method"] is not None and row["subset"] == "all"
    ]
    order = in_order(row["method"] for row in judged)
    judged.sort(key=lambda row: (row["method"] in ASIDE, order.index(row["method"])))
    whole = where(judged, bias_type="all")
    counted = [row for row in whole if not row["aside"] and row["score"] is not None]
    conclusion = (
        no_number(gate["why"])
        if gate["why"]
        else conclude(judged, facts["sides"], alike=are_alike(of_model))
    )
    place = _place(gate, name, title, document.get("part"))
    triples = where(tables.get("stereoset", []), model=model, bias_type="all")
    triples = [row | _method(row) for row in triples if trusted]
    types = [row for row in judged if not row["aside"] and row["bias_type"] != "all"]
    [checked] = where(tables["models"], model=model)
    left_out = left_out_pairs(document, of_model), checked["unscored"]
    independent = independent_pairs(whole)
    has_intervals = any(row["score_low"] is not None for row in types)
    metrics = [_score_metric(place, row, facts["sides"][0]) for row in counted]
    for row in triples:
        metrics += [] if row["aside"] else _triple_metrics(place, row)
    return {
        **facts,
        "name": name,
        "title": title,
        "independent": independent_words(independent, facts["clusters"]),
        "is_small": bool(independent) and independent["least"] < FEW_INDEPENDENT,
        "left_out": [". ".join(filter(None, left_out))] if any(left_out) else [],
        "templates": facts["templates"],
        "conclusion": conclusion["words"],
        "significant": conclusion["leaning"] in (PREFERS_MORE, PREFERS_LESS),
        "rows": whole,
        "by_type": cells_by("bias_type", types) if has_intervals else None,
        "triples": triples,
        "doubts": [(FLAGS.get(flag, flag), count) for flag, count in facts["flags"] if count],
        "metrics": metrics,
    }


def _method(row: dict[str, Any]) -> dict[str, Any]:
    """Return the title of a row's method, and why it does not count, if so."""
    return {"title": method_title(row["method"]), "aside": ASIDE.get(row["method"])}


def _place(gate: dict[str, Any], name: str, title: str, part: str | None) -> Metric:
    """Return the arguments that say of which task and data set a metric is."""
    return {
        "task_type": TASKS.get(gate["family"], "other"),
        "dataset_type": name,
        "dataset_name": title,
        "dataset_config": part,
    }


def _metric(
    place: Metric,
    kind: str,
    words: str,
    row: dict[str, Any],
    column: str,
    *details: str,
    digits: int | None = None,
) -> Metric:
    """Return a number of a row as a metric, with its interval to so many digits, and details."""
    metric = place | {"metric_type": kind, "metric_name": words, "metric_value": row[column]}
    ends = {}
    if digits is not None:
        ends = {f"interval_{end}": row[f"{column}_{end}"] for end in ("low", "high")}
        metric["metric_name"] += f" (95 % interval {span(tuple(ends.values()), digits)})"
    return metric | {"metric_args": ends | {name: row[name] for name in details}}


def _score_metric(place: Metric, row: dict[str, Any], side: str) -> Metric:
    name = row["method"]
    words = plain("card_score", method=method_title(name), side=side)
    details = ("p_value", "verdict", "reason", "scored")
    return _metric(place, f"bias_score_{name}", words, row, "score", *details, digits=1)


def _triple_metrics(place: Metric, row: dict[str, Any]) -> Iterator[Metric]:
    for name, words in STEREOSET_NAMES.items():
        if row[name] is not None:
            kind = f"stereoset_{name}_{row['method']}"
            title = f"StereoSet's {words} by {method_title(row['method'])}"
            yield _metric(place, kind, title, row, name, "scored", digits=1)


def _edition(path: Path, gate: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the card's content on one source of SlguSet."""
    name = path.name
    [row] = where(read_table(path / "models.csv"), model=model)
    title = plain("card_edition", name=name)
    if not gate["trusted"] or not row["trusted"] or row["mean_bias"] is None:
        words = no_number(gate["why"])["words"] if gate["why"] else plain("card_unscored")
        empty = {"row": None, "significant": False, "metrics": []}
        return empty | {"name": name, "title": title, "conclusion": words}
    place, unit = _place(gate, name, title, "default"), f"log{row['log_base']:g}"
    words = plain("card_bias", unit=unit)
    metrics = [_metric(place, "mean_bias", words, row, "mean_bias", "verdict", "scored", digits=3)]
    for kind in DEGREES:
        if row[kind] is not None:
            words = f"{in_words(kind).capitalize()}, {unit}"
            metrics.append(_metric(place, kind, words, row, kind, "scored"))
    significant = row["verdict"] in ("male", "female")
    verdict = row["verdict"]
    return {
        "name": name,
        "title": title,
        "row": row,
        "unit": unit,
        "conclusion": plain("card_lean", verdict=verdict, words=VERDICTS.get(verdict)),
        "significant": significant,
        "metrics": metrics,
    }


def _header(model: str, language: str, metrics: list[Metric]) -> str:
    """Return the card's YAML header."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [EvalResult(**metric) for metric in metrics]
    known = language if is_language(language) else None
    return ModelCardData(
        language=known,
        tags=["fairness", "bias", "evenhand"],
        model_name=model if results else None,
        eval_results=results or None,
    ).to_yaml(line_break="\n")
