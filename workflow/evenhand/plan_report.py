"""What the Snakefile asks about the report: which pages there are, and what each of them shows.

Functions of the (completed) configuration, as in `evenhand.plan`.
"""

import importlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from evenhand import plan, plan_legal
from evenhand.report.pages import PAGES

Config = dict[str, Any]
Files = dict[str, str | list[str]]

#: Pages that each run has.
ALWAYS = ("front", "known_errors", "provenance", "run")

#: What pages read of JSON documents and show as a table, by the names of their arguments.
DOCUMENTS = ("statistics", "published_statistics", "published_report", "sets", "data", "divided")

#: What the explorer takes of what the pages of SlguSet and of the language models show.
EXPLORED = ("dataset", "bias", "bias_scores")
EXPLORED_SETS = ("sets", "pairs", "scores", "gates")


def page_inputs(config: Config, shards: Iterable[str]) -> dict[str, Files]:
    """What the page of each part shows, by the name of the page; pages that show nothing are not.

    A page's results are by the names of its arguments.
    """
    files = {
        "slguset": plan.result_files(config, shards),
        "sentences": explorer_files(config),
        "language_models": plan.models_page_files(config),
        "individual_fairness": plan.individual_page_files(config),
        "legal_cases": plan_legal.page_files(config),
        "legal_classifiers": plan_legal.classifiers_page_files(config),
        "cases": plan_legal.cases_page_files(config),
    }
    return {page: shown for page, shown in files.items() if shown}


def explorer_files(config: Config) -> Files:
    """The sentences and pairs that can be looked at one by one."""
    slguset, sets = plan.result_files(config, ()), plan.models_page_files(config)
    names = [f"{edition}{name}" for edition in ("", "published_") for name in EXPLORED]
    return {name: slguset[name] for name in names if name in slguset} | {
        name: sets[name] for name in EXPLORED_SETS if name in sets
    }


def pages(config: Config, shards: Iterable[str]) -> list[str]:
    """The pages that are made, of `evenhand.report.pages.PAGES`, in its order."""
    made = {*ALWAYS, *page_inputs(config, shards)}
    return [page for page in PAGES if page in made]


def page_files(config: Config, shards: Iterable[str]) -> list[str]:
    """Where they are; the page of the run is the last."""
    return [f"<results>/report/{PAGES[name][0]}" for name in pages(config, shards)]


def headline_files(config: Config, shards: Iterable[str]) -> dict[str, list[str]]:
    """The results that the front page reads of each system that this configuration has."""
    shown = page_inputs(config, shards)
    systems = importlib.import_module("evenhand.report.headline").SYSTEMS
    found = {}
    for system, (*_, its_pages) in systems.items():
        module = importlib.import_module(f"evenhand.report.headlines.{system}")
        files = plan.flat(*(shown[page] for page in its_pages if page in shown))
        if its_pages[0] in shown:
            found[system] = [
                file
                for file in files
                if any(
                    fnmatchcase(file.removeprefix("<results>/"), pattern)
                    for pattern in module.FILES.values()
                )
            ]
    if "slguset" in found:  # no result: what the paper counts
        found["slguset"].append(f"{config['slguset']['tables']}/published_bias.csv")
    return found


def legal_options(config: Config) -> dict[str, list[str]]:
    """Name and title of each legal data set, as the front page is told."""
    options = plan_legal.page_options(config)
    return {"legal_names": options["names"], "legal_titles": options["titles"]}


def tables(config: Config, shards: Iterable[str]) -> list[str]:
    """All results that are tables for people, and documents behind tables of a page.

    They are offered in several forms.
    """
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    files = plan.flat(*shown, {"": other_tables(config, shards)})
    documents = plan.flat(*({name: page.get(name, []) for name in DOCUMENTS} for page in shown))
    return [file for file in files if file.endswith(".csv") or file in documents]


def traced_files(config: Config, shards: Iterable[str]) -> list[str]:
    """The results whose origin is told, each once: what pages show, and the rest."""
    shards = list(shards)
    shown = page_inputs(config, shards).values()
    return plan.flat(*shown, {"": plan.other_files(config, shards)})


def other_tables(config: Config, shards: Iterable[str]) -> list[str]:
    """Tables that no page shows; SlguSet itself is no table for a paper."""
    return [
        file
        for file in plan.other_files(config, shards)
        if file.endswith(".csv") and not file.endswith("/slguset.csv")
    ]
