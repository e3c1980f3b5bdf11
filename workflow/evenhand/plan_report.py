"""Plan the report: its pages, and the inputs of each.

Functions of the (completed) configuration, as in `evenhand.plan`.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from evenhand import (
    plan,
    plan_cards,
    plan_classifiers,
    plan_individual,
    plan_legal,
    plan_predictions,
    plan_slguset,
    plan_stereotypes,
)
from evenhand.core.declared import declared
from evenhand.report.page_list import BESIDE, EXPLORERS, PAGES

Config = dict[str, Any]
Files = dict[str, str | list[str]]

#: Pages of every run.
ALWAYS = ("front", "reproduction", "certificate", "known_errors", "provenance")

#: Arguments of pages that are JSON documents shown as tables.
DOCUMENTS = ("statistics", "published_statistics", "published_report", "sets", "data", "splits")

#: The inputs that the explorer shares with the page of the language models.
EXPLORED_SETS = ("sets", "pairs", "scores", "gates")


def page_inputs(config: Config, shards: Iterable[str]) -> dict[str, Files]:
    """Return the inputs of each part's page by page name, without pages that have no inputs.

    The inputs of a page are by argument name.
    """
    files = {
        "slguset": slguset_page_files(config, shards),
        "sentences": explorer_files(config),
        "language_models": models_page_files(config),
        "individual_fairness": individual_page_files(config),
        "people": plan_individual.people_files(config),
        "legal_cases": plan_legal.page_files(config),
        "legal_classifiers": plan_classifiers.classifiers_page_files(config),
        "cases": plan_classifiers.cases_page_files(config),
        "predictions": plan_predictions.page_files(config),
        "predicted": plan_predictions.explorer_files(config),
        "mitigation": mitigation_page_files(config),
    }
    return {page: shown for page, shown in files.items() if shown}


def slguset_page_files(config: Config, shards: Iterable[str]) -> dict[str, str | list[str]]:
    """Return the inputs of the SlguSet report, by argument name."""
    files: dict[str, str | list[str]] = {}
    slguset, rounds = "<results>/slguset", plan_slguset.annotation_rounds(config)
    annotated = [one.name for one in rounds.values() if one.sheets]
    if shards := list(shards):
        files |= {
            "corpus": "<results>/tables/corpus",
            "candidates": f"{slguset}/candidates.parquet",
            "counts": [f"{slguset}/sentences/{shard}.counts.json" for shard in shards],
            "samples": [f"{slguset}/annotation/{name}/sample.parquet" for name in rounds],
            "drawn": f"{slguset}/annotation/{config['slguset']['annotation']['round']}/drawn.csv",
        }
        if config["slguset"]["acceptance"]["learn"]:
            files["acceptance"] = "<results>/tables/acceptance"
        if annotated:
            answers = [f"{slguset}/annotation/{name}/answers.parquet" for name in annotated]
            files |= {
                "answers": answers,
                "annotation": "<results>/tables/annotation",
            }
    if config["slguset"]["published"]:
        files |= {
            "published_filters": "<results>/tables/published",
            "published_report": "<results>/slguset_published/report.json",
        }
    for prefix, edition in plan_slguset.editions(config).items():
        files |= {
            f"{prefix}dataset": f"<results>/{edition}/slguset.parquet",
            f"{prefix}table_1": f"<results>/tables/sentences/{edition}",
            f"{prefix}statistics": f"<results>/{edition}/statistics.json",
        }
        if plan_slguset.scored_models(config):
            files.setdefault("bias", []).append(f"<results>/tables/bias/{edition}")
    return files


def models_page_files(config: Config) -> dict[str, str | list[str]]:
    """Return the inputs of the language-model report, by argument name."""
    sets = {name: models for name, models in plan_stereotypes.pair_sets(config).items() if models}
    files: dict[str, str | list[str]] = {}
    if sets:
        folder = "<results>/stereotypes"
        each = [(name, model) for name, models in sets.items() for model in models]
        files |= {
            "sets": [f"{folder}/{name}/pairs.json" for name in sets],
            "pairs": [f"{folder}/{name}/pairs.parquet" for name in sets],
            "scores": [f"{folder}/{name}/scores/{model}.parquet" for name, model in each],
            "gates": [f"{folder}/{name}/gates/{model}.json" for name, model in each],
        }
        files["tables"] = [f"<results>/tables/pairs/{name}" for name in sets]
    if config["stereotypes"]["released"]["scores"]:
        files["released"] = "<results>/tables/released"
    return files


def individual_page_files(config: Config) -> dict[str, str | list[str]]:
    """Return the inputs of the report on individual fairness, by argument name."""
    datasets = config["individual_fairness"]["datasets"]
    if not datasets:
        return {}
    return {
        "tables": "<results>/tables/individual",
        "data": [f"<results>/tabular/{name}/data.json" for name in datasets],
    }


def mitigation_page_files(config: Config) -> Files:
    """Return the inputs of the report on mitigation, by argument name."""
    people = individual_page_files(config)
    files: Files = {"individual": people["tables"], "data": people["data"]} if people else {}
    if folders := plan_classifiers.table_folders(config):
        files["tables"] = folders
    return files


def explorer_files(config: Config) -> Files:
    """Return the inputs of the explorer of sentences and pairs, by argument name."""
    sources = list(plan_slguset.editions(config).values())
    sources = sources if plan_slguset.compares_genders(config) else []
    models = plan_slguset.scored_models(config) if sources else []
    scores = [f"<results>/{one}/bias/{model}.parquet" for one in sources for model in models]
    files: Files = {
        "datasets": [f"<results>/{one}/slguset.parquet" for one in sources],
        "summaries": [f"<results>/tables/bias/{one}" for one in sources if models],
        "bias_scores": scores,
    }
    sets = models_page_files(config)
    files |= {name: sets[name] for name in EXPLORED_SETS if name in sets}
    return {name: paths for name, paths in files.items() if paths}


def pages(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the names of this run's pages, in the order of `evenhand.report.page_list.PAGES`."""
    made = {*ALWAYS, *page_inputs(config, shards)}
    return [page for page in PAGES if page in made]


def page_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the files of this run's pages."""
    return [f"<results>/report/{PAGES[name][0]}" for name in pages(config, shards)]


def paper_pages(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the pages of this run with results that may also be in a paper."""
    shown = page_inputs(config, shards)
    return [f"<results>/report/{PAGES[name][0]}" for name in shown if name not in EXPLORERS]


def headline_files(config: Config, shards: Iterable[str]) -> dict[str, list[str]]:
    """Return the front page's inputs for each system of this configuration."""
    shown = page_inputs(config, shards)
    systems = declared("evenhand.report.headline", "SYSTEMS")
    found = {}
    for system, (_, its_pages) in systems.items():
        patterns = declared(f"evenhand.report.headlines.{system}", "FILES").values()
        files = flat(*(shown[page] for page in its_pages if page in shown))
        if its_pages[0] in shown:
            found[system] = [
                file
                for file in files
                if any(
                    fnmatchcase(file.removeprefix("<results>/"), pattern) for pattern in patterns
                )
            ]
    if "slguset" in found and not plan_slguset.compares_genders(config):
        found["slguset"] = [one for one in found["slguset"] if "/tables/bias/" not in one]
    if "slguset" in found:  # not a result: the paper's counts
        found["slguset"] += plan_slguset.pack_files(config, "published_bias.csv")
    return found


def titles(config: Config) -> dict[str, list[str]]:
    """Return names and titles of legal data sets, attributes, objectives and filters."""
    datasets = list(config["legal"]["datasets"])
    found = dict(zip(datasets, plan_legal.titles(config), strict=True))
    for name in datasets:
        for attribute, title in plan_legal.attribute_titles(config, name).items():
            found[f"{name}/{attribute}"] = title
    if plan_classifiers.table_folders(config):
        for name, title in zip(*plan_classifiers.objective_titles().values(), strict=True):
            found[f"objectives/{name}"] = title
    for name, title in plan_slguset.filter_titles(config).items():
        found[f"filters/{name}"] = title
    return {"names": list(found), "titles": list(found.values())}


def reason_options(config: Config) -> dict[str, list[str]]:
    """Return the arguments of the SlguSet report for the filters' reasons."""
    reasons = plan_slguset.reasons(config)
    return {
        "reasons": list(reasons),
        "reason_names": [name for name, _ in reasons.values()],
        "reason_meanings": [meaning for _, meaning in reasons.values()],
    }


def tables(config: Config, shards: Iterable[str]) -> list[str]:
    """Return all tables for readers, and the documents behind tables of a page.

    The report offers them in several formats.
    """
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    files = flat(*shown, {"": other_tables(config, shards)})
    documents = flat(*({name: page.get(name, []) for name in DOCUMENTS} for page in shown))
    folders = [file for file in files if file.startswith("<results>/tables/") and "." not in file]
    return [file for file in files if file.endswith(".csv") or file in documents] + folders


def traced_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the distinct results with recorded provenance: inputs of pages, others, and cards."""
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    rest = [*plan.other_files(config, shards), *plan_cards.card_files(config)]
    return flat(*shown, {"": rest})


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


def flat(*groups: dict[str, str | list[str]]) -> list[str]:
    """Return the distinct files of some groups."""
    files = [file for group in groups for file in group.values()]
    return list(dict.fromkeys(one for f in files for one in ([f] if isinstance(f, str) else f)))
