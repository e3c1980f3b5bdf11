"""Stage: the report on language models and their sets of stereotype pairs, one HTML file."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.report.headlines.language_models import by_model, conclude, results_of
from evenhand.report.read import read_json
from evenhand.report.render import Page, slug
from evenhand.report.sections import stereotypes_measures as measures
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.sections.stereotypes_examples import describe_examples
from evenhand.report.sections.stereotypes_meta import describe_meta
from evenhand.report.sections.stereotypes_scores import describe_scores
from evenhand.report.sections.stereotypes_words import (
    ASIDE,
    exclusion_words,
    method_title,
    untrusted_models,
)
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.pairs import FLAGS

#: Rows of the figure at a glance.
MOST = 30


def write_models_page(
    *,
    templates: list[Input],
    out: Output,
    sets: list[Input] | None = None,
    tables: list[Source] | None = None,
    gates: list[Source] | None = None,
    pairs: list[Source] | None = None,
    scores: list[Source] | None = None,
    released: Input | None = None,
    examples: int = 5,
    provenance: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the report on language models, one HTML file.

    The page states which optional inputs are missing. For a model that failed its validity check
    it gives the reason and no score.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    sets
        ``pairs.json`` of each set, in the order of the page.
    tables
        The folder of the tables of each set, named after it.
    gates
        ``{set}/gates/{model}.json``.
    pairs
        ``{set}/pairs.parquet``, for the examples.
    scores
        ``{set}/scores/{model}.parquet``, for the examples.
    released
        ``stereoset_released.csv``.
    examples
        Pairs shown per model and side; 0 shows none.
    provenance
        The place of ``provenance.json`` relative to the page; blank: no link.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.
    """
    folders = {path.name: path for path in tables or []}
    documents = _documents(sets or [])
    checked = {(path.parents[1].name, path.stem): read_json(path) for path in gates or []}
    found = {*folders, *(name for name, _ in checked)}
    order = [*documents, *sorted(found - documents.keys())]
    described = [
        _set(
            name,
            documents.get(name),
            read_tables(folders[name]) if name in folders else {},
            {model: gate for (one, model), gate in checked.items() if one == name},
            next((path for path in pairs or [] if path.parent.name == name), None),
            {path.stem: path for path in scores or [] if path.parents[1].name == name},
            examples,
        )
        for name in order
    ]
    _name_apart(described)
    titles = {one["name"]: one["title"] for one in described}
    models = measures.describe_models(checked)
    for row in models["checks"] if models else ():
        row["set"] = titles[row["set"]]
    places = {f"tables/pairs/{name}": one for name, one in folders.items()}
    files = [f"{place}/models.csv" for place in places]
    scored = [one for one in described if one["scores"]]
    results = []
    for one in scored:
        file, sides = f"tables/pairs/{one['name']}/bias_scores.csv", one["about"]["sides"]
        results += results_of(one["title"], file, sides, one["scores"]["models"])
    sections = [
        ("glance", "At a glance", "At a glance"),
        ("reading", "How to read it", "What the numbers mean"),
        *((one["id"], one["title"], one["title"]) for one in described),
        ("models", "Models", "What the models are, and whether they may be trusted"),
        ("released", "Check on StereoSet", "A check on numbers that others published"),
        ("limits", "Limits", "What these numbers cannot tell"),
    ]
    written = Page("language_models", out, templates, pages).write(
        sections=sections,
        sets=described,
        headline=conclude(results, [f"{place}/bias_scores.csv" for place in places], MOST),
        by_model=by_model(results),
        methods=_methods(scored),
        aside=ASIDE,
        models=models,
        models_files=files,
        released=measures.describe_released(released),
        more_tables=MoreTables(places),
        provenance=provenance,
        flags=FLAGS,
        exclusion=exclusion_words,
        method_title=method_title,
    )
    return {
        "sets": len(described),
        "models": len({model for one in described for model in one["known_models"]}),
        "untrusted": len({model for one in described for model in one["untrusted"]}),
        "bytes": written,
    }


def _documents(paths: list[Path]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        document = read_json(path)
        name = document.get("name")
        if not isinstance(name, str) or not name:
            raise InputError("does not say the set's name", file=path)
        if name in found:
            raise InputError(f"describes the set {name} a second time", file=path)
        found[name] = document
    return found


def _set(
    name: str,
    document: dict[str, Any] | None,
    tables: dict[str, list[dict[str, Any]]],
    gates: dict[str, dict[str, Any]],
    pairs: Path | None,
    scores: dict[str, Path],
    examples: int,
) -> dict[str, Any]:
    """Return the content of the page on one set."""
    rows = tables.get("bias_scores", [])
    untrusted = untrusted_models(rows, gates)
    trusted = {
        table: [row for row in found if row.get("model") not in untrusted]
        for table, found in tables.items()
    }
    compared = [
        row
        for row in tables.get("model_comparisons", [])
        if not {row["model_a"], row["model_b"]} & untrusted.keys()
    ]

    def rows_of(table: str) -> list[dict[str, Any]]:
        return trusted.get(table, [])

    about = measures.describe_pairs(document)
    result = describe_scores(rows, about["sides"], untrusted) if rows else None
    return {
        "name": name,
        "about": about,
        "untrusted": untrusted,
        "known_models": sorted({row["model"] for row in rows} | gates.keys()),
        "scores": result,
        "sentence": result["sentence"] if result else Markup("Its scores are not there."),
        "stereoset": measures.by_model(rows_of("stereoset")),
        "accuracy": measures.describe_accuracy(rows_of("token_accuracy")),
        "all_masked": measures.by_model(rows_of("all_masked")),
        "meta": describe_meta(*map(rows_of, ("meta_evaluation", "roc", "auc_tests"))),
        "length": measures.describe_length(rows_of("length")),
        "compat": measures.describe_compat(rows_of("compat")),
        "comparisons": measures.describe_comparisons(compared),
        "examples": describe_examples(pairs, scores, untrusted, examples),
    }


def _name_apart(described: list[dict[str, Any]]) -> None:
    """Give each set an id and a title that are unique on the page."""
    titles = [one["about"]["title"] for one in described]
    ids: set[str] = set()
    for one in described:
        title = one["about"]["title"]
        one["title"] = title or one["name"]
        if title and titles.count(title) > 1:
            one["title"] = f"{title} ({one['name']})"
        start = identity = f"set-{slug(one['name'])}"
        number = 2
        while identity in ids:
            identity, number = f"{start}-{number}", number + 1
        one["id"] = identity
        ids.add(identity)


def _methods(scored: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the methods that the page mentions; all if it mentions none."""
    shown = {
        row["method"]
        for one in scored
        for model in one["scores"]["models"]
        for row in model["rows"]
    }
    return {name: method for name, method in METHODS.items() if name in shown or not shown}


if __name__ == "__main__":
    stage.run(write_models_page)
