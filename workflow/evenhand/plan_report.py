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
from evenhand.report.pages import BESIDE, EXPLORERS, PAGES

Config = dict[str, Any]
Files = dict[str, str | list[str]]

#: Pages that each run has.
ALWAYS = ("front", "reproduction", "certificate", "known_errors", "provenance")

#: What pages read of JSON documents and show as a table, by the names of their arguments.
DOCUMENTS = ("statistics", "published_statistics", "published_report", "sets", "data", "splits")

#: The inputs of the page of the language models that the explorer reads too.
EXPLORED_SETS = ("sets", "pairs", "scores", "gates")


def page_inputs(config: Config, shards: Iterable[str]) -> dict[str, Files]:
    """What the page of each part shows, by the name of the page; pages that show nothing are not.

    A page's results are by the names of its arguments.
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
    """The results that the page of SlguSet shows, by the name of its argument."""
    files: dict[str, str | list[str]] = {}
    slguset, rounds = "<results>/slguset", plan_slguset.annotation_rounds(config)
    annotated = [one.name for one in rounds.values() if one.complete]
    if shards := list(shards):
        files |= {
            "corpus": "<results>/tables/corpus",
            "candidates": f"{slguset}/candidates.parquet",
            "counts": [f"{slguset}/sentences/{shard}.counts.json" for shard in shards],
            "samples": [f"{slguset}/annotation/{name}/sample.parquet" for name in rounds],
            "drawn": f"{slguset}/annotation/{config['slguset']['annotation']['round']}/drawn.csv",
        }
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
    """The results that the page of the language models shows, by the name of its argument."""
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
    """The results that the page of individual fairness shows, by the name of its argument."""
    datasets = config["individual_fairness"]["datasets"]
    if not datasets:
        return {}
    return {
        "tables": "<results>/tables/individual",
        "data": [f"<results>/tabular/{name}/data.json" for name in datasets],
    }


def mitigation_page_files(config: Config) -> Files:
    """The results that the report on mitigation shows, by the name of its argument."""
    people = individual_page_files(config)
    files: Files = {"individual": people["tables"], "data": people["data"]} if people else {}
    if folders := plan_classifiers.table_folders(config):
        files["tables"] = folders
    return files


def explorer_files(config: Config) -> Files:
    """Return the inputs of the explorer of sentences and pairs, by the names of its arguments."""
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
    """The pages that are made, of `evenhand.report.pages.PAGES`, in its order."""
    made = {*ALWAYS, *page_inputs(config, shards)}
    return [page for page in PAGES if page in made]


def page_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Return the places of the pages."""
    return [f"<results>/report/{PAGES[name][0]}" for name in pages(config, shards)]


def paper_pages(config: Config, shards: Iterable[str]) -> list[str]:
    """The pages of this run with results that a paper may have, too."""
    shown = page_inputs(config, shards)
    return [f"<results>/report/{PAGES[name][0]}" for name in shown if name not in EXPLORERS]


def headline_files(config: Config, shards: Iterable[str]) -> dict[str, list[str]]:
    """The results that the front page reads of each system that this configuration has."""
    shown = page_inputs(config, shards)
    systems = declared("evenhand.report.headline", "SYSTEMS")
    found = {}
    for system, (*_, its_pages) in systems.items():
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
    if "slguset" in found:  # no result: what the paper counts
        found["slguset"] += plan_slguset.pack_files(config, "published_bias.csv")
    return found


def titles(config: Config) -> dict[str, list[str]]:
    """Names and titles of legal data sets, their attributes and filters, for the front page."""
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
    """What the page of SlguSet is told of the filters' reasons."""
    reasons = plan_slguset.reasons(config)
    return {
        "reasons": list(reasons),
        "reason_names": [name for name, _ in reasons.values()],
        "reason_meanings": [meaning for _, meaning in reasons.values()],
    }


def tables(config: Config, shards: Iterable[str]) -> list[str]:
    """All results that are tables for people, and documents behind tables of a page.

    They are offered in several forms.
    """
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    files = flat(*shown, {"": other_tables(config, shards)})
    documents = flat(*({name: page.get(name, []) for name in DOCUMENTS} for page in shown))
    folders = [file for file in files if file.startswith("<results>/tables/") and "." not in file]
    return [file for file in files if file.endswith(".csv") or file in documents] + folders


def traced_files(config: Config, shards: Iterable[str]) -> list[str]:
    """The results whose origin is told, each once: what pages show, the rest, and the cards."""
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    rest = [*plan.other_files(config, shards), *plan_cards.card_files(config)]
    return flat(*shown, {"": rest})


def deliverables(config: Config, shards: Iterable[str]) -> list[str]:
    """Return every result that a run is made for: pages, exports, and all that is traced."""
    shards = list(shards)
    beside = [page for page in pages(config, shards) if page in EXPLORERS]
    report = [f"report/{name}" for name in (*beside, BESIDE, "tables")]
    return [
        *page_files(config, shards),
        *(f"<results>/{name}" for name in (*report, "provenance.json", "provenance.csv")),
        *traced_files(config, shards),
    ]


def other_tables(config: Config, shards: Iterable[str]) -> list[str]:
    """Tables that no page shows; SlguSet itself is no table for a paper."""
    return [
        file
        for file in plan.other_files(config, shards)
        if file.endswith(".csv") and not file.endswith("/slguset.csv")
    ]


def flat(*groups: dict[str, str | list[str]]) -> list[str]:
    """All files of some groups, each once."""
    files = [file for group in groups for file in group.values()]
    return list(dict.fromkeys(one for f in files for one in ([f] if isinstance(f, str) else f)))
