"""The report on language models and their sets of stereotype pairs."""

from collections import Counter
from typing import Any

from evenhand.core.tables import read_tables
from evenhand.metrics.inference import LEAST_EFFECTIVE
from evenhand.report.headline import say
from evenhand.report.headlines.language_models import by_model, conclude, results_of
from evenhand.report.read import read_json
from evenhand.report.render import UniqueIds, slug
from evenhand.report.sections import stereotypes_measures as measures
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.sections.stereotypes_meta import describe_meta
from evenhand.report.sections.stereotypes_scores import describe_scores, independent_words
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    exclusion_words,
    method_title,
    untrusted_models,
)
from evenhand.report.study import Study
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.pairs import FLAGS

#: Rows of the figure at a glance.
MOST = 30


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template.

    For a model that failed its validity check it has the reason and no score.
    """
    folders = {path.name: path for path in study.paths("tables/pairs/*")}
    documents = {document["name"]: document for document in study.documents("*/pairs.json")}
    gates = {
        (path.parents[1].name, path.stem): read_json(path) for path in study.paths("*/gates/*.json")
    }
    names = dict.fromkeys([*documents, *sorted({*folders, *(name for name, _ in gates)})])
    titles = Counter(document.get("title") for document in documents.values())
    ids = UniqueIds()
    sets = []
    for name in names:
        title = documents.get(name, {}).get("title") or name
        unique = f"{title} ({name})" if titles[title] > 1 else title
        tables = read_tables(folders[name]) if name in folders else {}
        gates_of = {model: gate for (of_set, model), gate in gates.items() if of_set == name}
        head = {"name": name, "id": ids.give(f"set-{slug(name)}"), "title": unique}
        sets.append(head | _set(documents.get(name), tables, gates_of))
    models = measures.describe_models(gates)
    set_titles = {pairs["name"]: pairs["title"] for pairs in sets}
    for row in models["checks"] if models else ():
        row["set"] = set_titles[row["set"]]
    scored = [pairs for pairs in sets if pairs["scores"]]
    results = []
    for pairs in scored:
        file, facts = f"tables/pairs/{pairs['name']}/bias_scores.csv", pairs["description"]
        sides, same_word = facts["sides"], facts["same_word"]
        results += results_of(pairs["title"], file, sides, pairs["scores"]["models"], same_word)
    files = [f"tables/pairs/{name}/bias_scores.csv" for name in folders]
    methods = {
        row["method"]
        for pairs in scored
        for model in pairs["scores"]["models"]
        for row in model["rows"]
    }
    released = study.tables("tables/released").get("stereoset")
    return {
        "sections": [
            ("glance", "At a glance", "At a glance"),
            ("reading", "How to read it", "What the numbers mean"),
            *((pairs["id"], pairs["title"], pairs["title"]) for pairs in sets),
            ("models", "Models", "Models and their checks"),
            *[("released", "Check on StereoSet", "Check against published numbers")]
            * bool(released),
            ("limits", "Limits", "Limits"),
        ],
        "sets": sets,
        "headline": conclude(results, files, MOST),
        "by_model": by_model(results),
        "methods": {name: METHODS[name] for name in METHODS if name in methods or not methods},
        "aside": ASIDE,
        "least_effective": LEAST_EFFECTIVE,
        "models": models,
        "models_files": [f"tables/pairs/{name}/models.csv" for name in folders],
        "released": measures.describe_released(released),
        "more_tables": MoreTables(study, ["tables/pairs/*"]),
        "flags": FLAGS,
        "exclusion": exclusion_words,
        "method_title": method_title,
    }


def _set(
    document: dict[str, Any] | None,
    tables: dict[str, list[dict[str, Any]]],
    gates: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the values of the section on a set."""
    rows = tables.get("bias_scores", [])
    untrusted = untrusted_models(rows, gates)

    def trusted(table: str) -> list[dict[str, Any]]:
        models = ("model", "model_a", "model_b")
        return [
            row
            for row in tables.get(table, [])
            if not {row.get(column) for column in models} & untrusted.keys()
        ]

    description = measures.describe_pairs(document, rows)
    scores = describe_scores(rows, description["sides"], untrusted) if rows else None
    unscored = {row["model"]: row["unscored"] for row in tables.get("models", [])}
    meta = (trusted(table) for table in ("meta_evaluation", "roc", "auc_tests"))
    independent = scores["independent"] if scores else None
    return {
        "description": description,
        "scores": scores,
        "independent": independent_words(independent, description["clusters"]),
        "unscored": unscored,
        "sentence": scores["sentence"] if scores else say("lm_no_scores"),
        "stereoset": measures.by_model(trusted("stereoset")),
        "accuracy": measures.describe_accuracy(trusted("token_accuracy")),
        "all_masked": measures.by_model(trusted("all_masked")),
        "meta": describe_meta(*meta),
        "length": measures.describe_length(trusted("length")),
        "compat": measures.describe_compat(trusted("compat")),
        "comparisons": measures.describe_comparisons(trusted("model_comparisons")),
    }
