"""Plan the report: its pages, and the inputs of each.

Functions of the (completed) configuration, as in `evenhand.plan`.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from evenhand import (
    plan,
    plan_classifiers,
    plan_individual,
    plan_legal,
    plan_predictions,
    plan_slguset,
    plan_stereotypes,
)
from evenhand.core.families import declared
from evenhand.core.resources import read_resource
from evenhand.report.page_list import BESIDE, EXPLORERS, PAGES

Config = dict[str, Any]


def audited_models(config: Config) -> list[str]:
    """Return the models that are scored on a set of pairs or an edition of SlguSet, in order."""
    scored = {model for models in plan_stereotypes.pair_sets(config).values() for model in models}
    if plan_slguset.editions(config) and plan_slguset.compares_genders(config):
        scored |= set(plan_slguset.scored_models(config))
    return [model for model in config["models"] if model in scored]


def card_files(config: Config) -> list[str]:
    """Return the cards of all audited models, and of all folders with several kinds of tables."""
    return [
        *(f"<results>/cards/{model}/README.md" for model in audited_models(config)),
        *(f"<results>/{folder}/README.md" for folder in card_folders(config)),
    ]


def card_inputs(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cards of models, by argument name."""
    pairs = plan_stereotypes.pair_sets(config)
    editions = plan_slguset.editions(config).values()
    editions = editions if plan_slguset.compares_genders(config) else ()
    chinese = plan_slguset.scored_models(config)
    scored = [f"{edition}/bias/{model}" for edition in editions for model in chinese]
    folder, tables = "<results>/stereotypes", "<results>/tables"
    return {
        "sets": [f"{folder}/{name}/pairs.json" for name in pairs],
        "gates": [f"{folder}/{name}/gates/{model}.json" for name in pairs for model in pairs[name]],
        "tables": [f"{tables}/pairs/{name}" for name in pairs],
        "bias": [f"{tables}/bias/{edition}" for edition in editions],
        "bias_gates": [f"<results>/{name}.gate.json" for name in scored],
    }


def card_folders(config: Config) -> dict[str, list[str]]:
    """Return the inputs of the cards of folders (pairs, people, the published SlguSet).

    The first file of each describes the folder, and the others are its tables.
    """
    files = {}
    for name, models in plan_stereotypes.pair_sets(config).items():
        kinds = ("scores", *plan_stereotypes.STORES)
        stores = [f"{kind}/{model}.parquet" for kind in kinds for model in models]
        files[f"stereotypes/{name}"] = ["pairs.json", "pairs.parquet", *stores]
    if "slguset_published" in plan_slguset.editions(config).values():
        bias = [f"bias/{model}.parquet" for model in plan_slguset.scored_models(config)]
        files["slguset_published"] = ["statistics.json", "slguset.parquet", *bias]
    paths = {
        folder: [f"<results>/{folder}/{name}" for name in names] for folder, names in files.items()
    }
    kinds = ("runs", "groups", "predictions")
    runs = [file for kind in kinds for file in plan_individual.table_runs(config, kind)]
    for name in config["individual_fairness"]["datasets"]:
        folder = f"<results>/tabular/{name}"
        tables = [file for file in runs if file.startswith(f"{folder}/")]
        paths[f"tabular/{name}"] = [f"{folder}/data.json", f"{folder}/data.parquet", *tables]
    return paths


Files = dict[str, str | list[str]]

#: Pages of every run.
ALWAYS = ("front", "reproduction", "certificate", "known_errors", "provenance")

#: JSON documents that pages show as tables.
DOCUMENTS = ("/statistics.json", "/report.json", "/pairs.json", "/data.json", "/splits.json")


def read_shown(table: Path) -> dict[str, dict[str, Any]]:
    """Return how `snakemake --report` shows outputs: the arguments of ``report``, by path.

    Parameters
    ----------
    table : Path
        ``shown.csv``: the path below the results, as in its rule; the category; the caption's
        stem; a description; and the data set or model (which may have wildcards, or be blank).
        Captions are files in the same folder, with paths relative to the rules.
    """
    columns = ["file", "category", "caption", "result", "of"]
    captions = {path.stem for path in table.parent.glob("*.rst")}
    choices = {"caption": sorted(captions)}
    rows = read_resource(table, columns, optional=("of",), unique=("file",), choices=choices)
    return {
        f"<results>/{row['file']}": {
            "caption": f"../{table.parent.name}/{row['caption']}.rst",
            "category": row["category"],
            "labels": {name: row[name] for name in ("result", "of") if row[name]},
        }
        for row in rows
    }


def page_inputs(config: Config, shards: Iterable[str]) -> dict[str, list[str]]:
    """Return the results that each page shows, without pages that have none."""
    individual = individual_files(config)
    names = plan_predictions.names(config, trained=True)
    trained = flat(plan_predictions.page_files(names))
    # tables of cases, for the test texts that are near duplicates of training texts
    cases = "<results>/tables/cases/"
    audited = [f"{cases}{config['predictions'][name]['dataset']}" for name in names]
    texts = [f"{cases}{name}" for name in plan_classifiers.scored(config)]
    classifiers = [*plan_classifiers.table_folders(config), *trained, *texts]
    files = {
        "slguset": slguset_files(config, shards),
        "sentences": flat(explorer_files(config)),
        "language_models": flat(models_files(config)),
        "individual_fairness": individual,
        "people": flat(plan_individual.people_files(config)),
        "legal_cases": plan_legal.page_files(config),
        "legal_classifiers": classifiers,
        "cases": flat(plan_classifiers.cases_page_files(config)),
        "predictions": flat(
            plan_predictions.page_files(config["predictions"]) | {"cases": audited}
        ),
        "predicted": flat(plan_predictions.explorer_files(config)),
        "mitigation": [*individual, *classifiers],
    }
    return {page: results for page, results in files.items() if results}


def slguset_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the results that the SlguSet report shows."""
    files = []
    slguset, rounds = "<results>/slguset", plan_slguset.annotation_rounds(config)
    annotated = [annotation.name for annotation in rounds.values() if annotation.sheets]
    if shards := list(shards):
        files += ["<results>/tables/corpus", f"{slguset}/candidates.parquet"]
        files += [f"{slguset}/sentences/{shard}.counts.json" for shard in shards]
        files += [f"{slguset}/annotation/{name}/sample.parquet" for name in rounds]
        files.append(f"{slguset}/annotation/{config['slguset']['annotation']['round']}/drawn.csv")
        if config["slguset"]["acceptance"]["learn"]:
            files.append("<results>/tables/acceptance")
        if annotated:
            files += [f"{slguset}/annotation/{name}/answers.parquet" for name in annotated]
            files.append("<results>/tables/annotation")
    if config["slguset"]["published"]:
        files += ["<results>/tables/published", "<results>/slguset_published/report.json"]
    for edition in plan_slguset.editions(config).values():
        files += [
            f"<results>/{edition}/slguset.parquet",
            f"<results>/tables/sentences/{edition}",
            f"<results>/{edition}/statistics.json",
        ]
        if plan_slguset.scored_models(config):
            files.append(f"<results>/tables/bias/{edition}")
    return files


def models_files(config: Config) -> Files:
    """Return the results that the language-model report shows, by kind."""
    sets, pairs = plan_stereotypes.pair_sets(config), pair_files(config)
    tables = [f"<results>/tables/pairs/{name}" for name, models in sets.items() if models]
    results: Files = {"sets": pairs["sets"], "gates": pairs["gates"], "tables": tables}
    if config["stereotypes"]["released"]["scores"]:
        results["released"] = "<results>/tables/released"
    return {kind: files for kind, files in results.items() if files}


def pair_files(config: Config) -> Files:
    """Return the pairs of each scored set, and the scores and checks of its models, by kind."""
    sets = {name: models for name, models in plan_stereotypes.pair_sets(config).items() if models}
    folder = "<results>/stereotypes"
    scored = [(name, model) for name, models in sets.items() for model in models]
    return {
        "sets": [f"{folder}/{name}/pairs.json" for name in sets],
        "pairs": [f"{folder}/{name}/pairs.parquet" for name in sets],
        "scores": [f"{folder}/{name}/scores/{model}.parquet" for name, model in scored],
        "gates": [f"{folder}/{name}/gates/{model}.json" for name, model in scored],
    }


def individual_files(config: Config) -> list[str]:
    """Return the results that the report on individual fairness shows."""
    datasets = config["individual_fairness"]["datasets"]
    data = [f"<results>/tabular/{name}/data.json" for name in datasets]
    return ["<results>/tables/individual", *data] if data else []


def explorer_files(config: Config) -> Files:
    """Return the inputs of the explorer of sentences and pairs, by argument name."""
    sources = list(plan_slguset.editions(config).values())
    sources = sources if plan_slguset.compares_genders(config) else []
    models = plan_slguset.scored_models(config) if sources else []
    scores = [f"<results>/{name}/bias/{model}.parquet" for name in sources for model in models]
    files: Files = {
        "datasets": [f"<results>/{name}/slguset.parquet" for name in sources],
        "summaries": [f"<results>/tables/bias/{name}" for name in sources if models],
        "bias_scores": scores,
    }
    return {name: paths for name, paths in (files | pair_files(config)).items() if paths}


def pages(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the names of this run's pages, in the order of `evenhand.report.page_list.PAGES`."""
    made = {*ALWAYS, *page_inputs(config, shards)}
    return [page for page in PAGES if page in made]


def page_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the files of this run's pages."""
    return [f"<results>/report/{PAGES[name][0]}" for name in pages(config, shards)]


def paper_pages(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the pages of this run with results that may also be in a paper."""
    inputs = page_inputs(config, shards)
    return [f"<results>/report/{PAGES[name][0]}" for name in inputs if name not in EXPLORERS]


def headline_files(config: Config, shards: Iterable[str]) -> dict[str, list[str]]:
    """Return the front page's inputs for each system of this configuration."""
    inputs = page_inputs(config, shards)
    systems = declared("evenhand.report.headline", "SYSTEMS")
    files = {}
    for system, its_pages in systems.items():
        patterns = declared(f"evenhand.report.headlines.{system}", "FILES")
        results = dict.fromkeys(file for page in its_pages for file in inputs.get(page, ()))
        if its_pages[0] in inputs:
            files[system] = [
                file
                for file in results
                if any(fnmatchcase(file.removeprefix("<results>/"), end) for end in patterns)
            ]
    if "slguset" in files and not plan_slguset.compares_genders(config):
        files["slguset"] = [file for file in files["slguset"] if "/tables/bias/" not in file]
    if "slguset" in files:  # not a result: the paper's counts
        files["slguset"] += plan_slguset.pack_files(config, "published_bias.csv")
    return files


def legal_titles(config: Config) -> dict[str, str]:
    """Return the titles of legal data sets, of their attributes and of objectives, by name.

    Names are those that `evenhand.report.write_page` knows.
    """
    titles = dict(zip(config["legal"]["datasets"], plan_legal.titles(config), strict=True))
    for name in config["legal"]["datasets"]:
        for attribute, title in plan_legal.attribute_titles(config, name).items():
            titles[f"{name}/{attribute}"] = title
    if plan_classifiers.table_folders(config):
        for name, title in zip(*plan_classifiers.objective_titles().values(), strict=True):
            titles[f"objectives/{name}"] = title
    return titles


def reason_titles(config: Config) -> dict[str, str]:
    """Return the titles and meanings of the filters' reasons, by name."""
    titles = {}
    for name, (title, meaning) in plan_slguset.reasons(config).items():
        titles |= {f"reasons/{name}": title, f"meanings/{name}": meaning}
    return titles


def tables(config: Config, shards: Iterable[str]) -> list[str]:
    """Return all tables for readers, and the documents behind tables of a page.

    The report offers them in several formats.
    """
    shards = list(shards)
    files = flat(page_inputs(config, shards) | {"": other_tables(config, shards)})
    folders = [file for file in files if file.startswith("<results>/tables/") and "." not in file]
    return [file for file in files if file.endswith((".csv", *DOCUMENTS))] + folders


def traced_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the distinct results with recorded provenance: inputs of pages, others, and cards."""
    shards = list(shards)
    others = [*plan.other_files(config, shards), *card_files(config)]
    return flat(page_inputs(config, shards) | {"": others})


def deliverables(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the targets of a run: pages, exports, and all results with recorded provenance."""
    shards = list(shards)
    beside = [page for page in pages(config, shards) if page in EXPLORERS]
    report = [f"report/{name}" for name in (*beside, BESIDE, "tables")]
    return [
        *page_files(config, shards),
        *(f"<results>/{name}" for name in (*report, "provenance.json", "provenance.csv")),
        *traced_files(config, shards),
    ]


def other_tables(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the tables that no page shows, except SlguSet, which is not a table for a paper."""
    return [
        file
        for file in plan.other_files(config, shards)
        if file.endswith(".csv") and not file.endswith("/slguset.csv")
    ]


def flat(groups: Mapping[str, str | list[str]]) -> list[str]:
    """Return the distinct files of all groups."""
    lists = ([files] if isinstance(files, str) else files for files in groups.values())
    return list(dict.fromkeys(file for files in lists for file in files))
