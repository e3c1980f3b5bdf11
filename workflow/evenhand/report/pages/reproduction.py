"""Our numbers against the papers', and where each table and figure of the papers is.

``paper_items.csv`` lists the tables and figures of the papers: paper (of `PAPERS`), item (its
number; blank if unknown), shows (its content), page (of `evenhand.report.page_list.PAGES`), anchor
(ids of that page, separated by blanks), published (of `PUBLISHED_BESIDE`: whether the page shows
the paper's numbers beside ours), and the reason why they, or ours, are missing.

An anchor that begins with ``*-`` names one place for each data set, set of pairs or source of
the page: ``*-scores`` is ``set-mine-scores`` and so on. Without an anchor we have no such item.
A page has an id of this table only where it shows something under it.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.report.headline import PUBLISHED
from evenhand.report.page_list import PAGES
from evenhand.report.pages.front import published_counts, system_cards
from evenhand.report.sections.individual_tables import describe_checks
from evenhand.report.study import Study

COLUMNS = ["paper", "item", "shows", "page", "anchor", "published", "reason"]
OPTIONAL = ("item", "anchor", "reason")

#: How each paper is cited.
PAPERS = {
    "zhao": "Zhao et al. 2021 and 2023",
    "kaneko": "Kaneko and Bollegala 2022",
    "chalkidis": "Chalkidis et al. 2022 (FairLex)",
    "wang": "Wang et al. 2023 (IIFR)",
}

PUBLISHED_BESIDE = ("yes", "partly", "no")

ANCHOR = re.compile(r"(\*-)?[a-z][a-z0-9]*(-[a-z0-9]+)*")


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    cards = system_cards(study, PUBLISHED)
    for card in cards:
        card["files"] = card["counted"]
    items = study.path("paper_items.csv")
    sections = [(card["id"], card["title"]) for card in cards if card["headline"]]
    sections += [("in-the-paper", "Tables and figures")] * bool(items)
    counted = published_counts(cards)
    everything = [("verdicts", "All published numbers")] * bool(counted["verdicts"])
    return counted | {
        "sections": [*everything, *sections],
        "checks": describe_checks(study.tables("tables/individual").get("inconsistencies", [])),
        "papers": describe_papers(items, study.paths("*.html")) if items else [],
    }


def read_items(path: Path) -> list[dict[str, str]]:
    """Return the rows of ``paper_items.csv``, in its order.

    Raises
    ------
    InputError
        The table is not well formed: an unknown paper or page, another word than yes, partly and
        no, an invalid anchor, or a missing reason.
    """
    choices = {"paper": PAPERS, "page": PAGES, "published": PUBLISHED_BESIDE}
    unique = ("paper", "item", "shows")
    return read_resource(
        path, COLUMNS, optional=OPTIONAL, unique=unique, choices=choices, make=_checked
    )


def _checked(row: dict[str, str]) -> dict[str, str]:
    for anchor in row["anchor"].split():
        if not ANCHOR.fullmatch(anchor):
            remedy = "use small letters, digits and hyphens, with *- before them for a place"
            raise InputError(f"{anchor!r} cannot be an anchor", remedy=f"{remedy} in each data set")
    if not row["anchor"] and row["published"] != "no":
        raise InputError("numbers of a paper stand beside nothing")
    if row["published"] != "yes" and not row["reason"]:
        raise InputError("does not say why the paper's numbers are not there")
    return row


def describe_papers(items: Path, pages: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the papers of which this run has a page, each with its tables and figures.

    Parameters
    ----------
    items : path
        ``resources/paper_items.csv``.
    pages : iterable of path
        The pages of this run.

    Returns
    -------
    list of dict
        title (how the paper is cited) and rows (of `read_items`) with `places`: the heading of its
        page under which each is shown, and links to it.
    """
    headings = {path.name: headings_by_id(path.read_text(encoding="utf-8")) for path in pages}
    papers: dict[str, list[dict[str, Any]]] = {}
    for row in read_items(items):
        file = PAGES[row["page"]][0]
        if file in headings:
            places = _places(row["anchor"].split(), headings[file], file)
            papers.setdefault(row["paper"], []).append(row | {"places": places})
    return [{"title": PAPERS[paper], "rows": rows} for paper, rows in papers.items()]


def headings_by_id(html: str) -> dict[str, str]:
    """Return the ids of HTML in their order, each with the words of its heading.

    The heading is the element itself, or else the last heading before it.
    """
    headings: dict[str, str] = {}
    heading = ""
    for node in LexborHTMLParser(html).css("h1, h2, h3, h4, h5, h6, [id]"):
        if re.fullmatch(r"h[1-6]", node.tag):
            heading = " ".join(node.text().split())
        if id := node.attributes.get("id"):
            headings[id] = heading
    return headings


def _places(anchors: list[str], headings: Mapping[str, str], file: str) -> list[dict[str, Any]]:
    """Return, for each existing anchor, its heading, and href and words of each link to it.

    The words are the title of the part of the page; without parts there are none.
    """
    places = []
    for anchor in anchors:
        parts = {id: "" for id in headings if id == anchor}
        if anchor.startswith("*"):
            ids = (id for id in headings if id.endswith(anchor[1:]))
            titles = {id: headings.get(f"{id.removesuffix(anchor[1:])}-title") for id in ids}
            parts = {id: title for id, title in titles.items() if title is not None}
        if parts:
            links = [{"href": f"{file}#{id}", "words": words} for id, words in parts.items()]
            places.append({"heading": headings[next(iter(parts))], "links": links})
    return places
