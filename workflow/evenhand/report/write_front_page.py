"""Stage: the front page with the findings, or the comparison with the papers."""

import importlib
from pathlib import Path
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin, Source
from evenhand.core.tables import read_tables
from evenhand.errors import InputError
from evenhand.report.headline import (
    NOT_REPRODUCED,
    PUBLISHED,
    REPRODUCED,
    SYSTEMS,
    VERDICTS,
    say,
    total,
)
from evenhand.report.page_list import PAGES, links_to_pages
from evenhand.report.read import read_json
from evenhand.report.render import Page
from evenhand.report.sections.individual_tables import describe_checks
from evenhand.report.sections.paper import describe_papers
from evenhand.report.sections.planted import describe_planted

#: The section of the front page that follows the findings.
AFTER = [("trust", "How far to trust this", "")]

#: The main findings, which the console prints: one of each kind of planted truth, if there is one,
#: then the clearest finding of each system.
MAIN = 3


def write_front_page(
    *,
    templates: list[Input],
    out: Output,
    systems: Annotated[list[str] | None, Plugin("evenhand.report.headlines")] = None,
    slguset: list[Source] | None = None,
    language_models: list[Source] | None = None,
    individual_fairness: list[Source] | None = None,
    legal: list[Source] | None = None,
    mitigation: list[Source] | None = None,
    predictions: list[Source] | None = None,
    names: list[str] | None = None,
    titles: list[str] | None = None,
    provenance: Input | None = None,
    page: str = "front",
    planted: Input | None = None,
    paper: Input | None = None,
    written: list[Input] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the front page, or the comparison with published numbers.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    out
        The page, HTML.
    systems
        The systems of this configuration, of `evenhand.report.headline.SYSTEMS`. The others are
        listed as not run.
    slguset, language_models, individual_fairness, legal, mitigation, predictions
        Results of each system, by their paths below the results; ``FILES`` of its module in
        `evenhand.report.headlines` lists them. Missing results are not mentioned.
    names, titles
        Name and title of each legal data set, of its attributes as ``data_set/attribute``, and of
        the filters of SlguSet as ``filters/name`` and of objectives as ``objectives/name``.
    provenance
        ``provenance.json``, for the number of traced files.
    page
        ``front`` or ``reproduction``.
    planted
        The truth planted in the data, see `evenhand.report.sections.planted`.
    paper
        ``resources/paper_items.csv``: the tables and figures of the papers.
    written
        The pages of this run that may show them.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Returns
    -------
    dict
        systems, verdicts (counts over all of them), doubts, planted (facts that were found),
        bytes.

    Raises
    ------
    InputError
        A system is unknown or has files although it is left out, the numbers of names and titles
        differ, or the headline does not know a file.
    """
    given = {
        "slguset": slguset,
        "language_models": language_models,
        "individual_fairness": individual_fairness,
        "legal": legal,
        "mitigation": mitigation,
        "predictions": predictions,
    }
    chosen = systems or []
    for system in chosen:
        if system not in SYSTEMS:
            raise InputError(f"there is no system {system!r}", remedy=f"use {', '.join(SYSTEMS)}")
    for system, files in given.items():
        if files and system not in chosen:
            raise InputError(f"there are files of {system}, which is not among the systems")
    if len(names or []) != len(titles or []):
        raise InputError("there is not one title for each name")
    title_of = dict(zip(names or [], titles or [], strict=True))
    links = links_to_pages(page, pages)
    made = {link["href"]: link["name"] for link in links}
    cards = []
    for system in SYSTEMS if page == "front" else PUBLISHED:
        question, own = SYSTEMS[system]
        title = question if page == "front" else PUBLISHED[system]
        shown = [PAGES[name] for name in own if PAGES[name][0] in made and system in chosen]
        card = dict.fromkeys(("headline", "counts"))
        card |= {"id": system.replace("_", "-"), "title": title, "files": []}
        card["links"] = [{"href": href, "name": name} for href, name in shown]
        if system in chosen:
            module = importlib.import_module(f"evenhand.report.headlines.{system}")
            found = module.describe(list(map(Path, given[system] or [])), title_of)
            card |= {"headline": found, "counts": total(found.verdicts)}
            card["files"] = found.files if page == "front" else _counted_in([card])
        cards.append(card)
    if page == "front":  # the clearest finding first, and remedies behind what they should mend
        cards.sort(
            key=lambda card: (
                card["id"] == "mitigation",
                -card["headline"].strength if card["headline"] else 0,
            )
        )
    results = [file for files in given.values() for file in files or ()]
    truths = describe_planted(planted, results) if planted else []
    headlines = [card["headline"] for card in cards if card["headline"]]
    main = [say("planted_line", one=one) for one in truths if one["main"]]
    main += [one.line for one in headlines]
    counts = total(verdicts for one in headlines for verdicts in one.verdicts)
    written = Page(page, out, templates, pages).write(
        sections=[
            *([] if page == "front" else [("verdicts", "All published numbers", "")]),
            *([("short", "In short", "")] if page == "front" and main else []),
            *((card["id"], card["title"], "") for card in cards if card["headline"]),
            *([("planted", "Planted truth", "")] if truths else []),
            *(AFTER if page == "front" else []),
            *([("in-the-paper", "Tables and figures", "")] if paper else []),
        ],
        truths=truths,
        findings=main[:MAIN],
        cards=cards,
        verdicts=VERDICTS,
        counts=counts,
        judged=sum(n for verdict, n in counts.items() if verdict in (REPRODUCED, NOT_REPRODUCED)),
        reproduced=counts[REPRODUCED],
        traced=_traced(provenance) if provenance else None,
        papers=describe_papers(paper, written or []) if paper else [],
        checks=_checks(individual_fairness or []) if page == "reproduction" else None,
        made=made,
        counted_in=_counted_in,
        hrefs={page: href for page, (href, _) in PAGES.items()},
    )
    return {
        "systems": len(chosen),
        "verdicts": counts,
        "doubts": sum(len(one.doubts) for one in headlines),
        "planted": sum(bool(one["holds"]) for one in truths),
        "bytes": written,
    }


def _counted_in(cards: list[dict[str, Any]]) -> list[str]:
    """Return the results in which the verdicts of some systems were counted."""
    lines = [one for card in cards if card["headline"] for one in card["headline"].verdicts]
    return list(dict.fromkeys(file for one in lines for file in one.files))


def _checks(files: list[Path]) -> dict[str, Any] | None:
    """Return the consistency checks of a paper's tables, from the folder among these files."""
    folder = next((path for path in map(Path, files) if path.is_dir()), None)
    return describe_checks(read_tables(folder).get("inconsistencies", [])) if folder else None


def _traced(path: Path) -> dict[str, int]:
    document = read_json(path)
    if not (isinstance(document, dict) and isinstance(document.get("files"), list)):
        raise InputError("lists no files", file=path)
    files = [one for one in document["files"] if one.get("result", True)]  # not those between
    return {"files": len(files), "traced": sum(one.get("stage") is not None for one in files)}


if __name__ == "__main__":
    stage.run(write_front_page)
