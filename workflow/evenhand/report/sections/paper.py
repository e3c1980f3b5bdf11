"""Section: the tables and figures of a system's paper, and where ours stand on the page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from evenhand.report.pages import PAGES
from evenhand.report.paper_items import PAPERS, read_items

HEADING = re.compile(r"h[1-6]")


@dataclass(frozen=True)
class Paper:
    """What a page says of the paper behind it.

    Attributes
    ----------
    title : str
        How the paper is cited.
    rows : list of dict
        Its tables and figures that belong to the page (see `evenhand.report.paper_items`).
    elsewhere : list of dict
        href and name of the pages of this run that show its other tables and figures.
    """

    title: str
    rows: list[dict[str, str]]
    elsewhere: list[dict[str, str]]

    def on(self, body: str) -> list[dict[str, Any]]:
        """The rows with `places`: under what heading the page shows them, and links to it.

        Parameters
        ----------
        body : str
            The page's content, as HTML.
        """
        places = headings_by_id(body)
        return [row | {"places": _places(row["anchor"].split(), places)} for row in self.rows]


def describe_paper(path: Path | None, page: str, pages: list[str] | None) -> Paper | None:
    """What the page says of its paper; None without a table, or with none of its items.

    Parameters
    ----------
    path : path or None
        ``resources/paper_items.csv``.
    page : str
        Which page, of `evenhand.report.pages.PAGES`. It shows items of one paper.
    pages : list of str or None
        Those that this run makes; all of them if it is not said.
    """
    items = read_items(path) if path else []
    rows = [row for row in items if row["page"] == page]
    if not rows:
        return None
    paper = rows[0]["paper"]
    others = dict.fromkeys(row["page"] for row in items if row["paper"] == paper)
    made = PAGES if pages is None else pages
    return Paper(
        PAPERS[paper],
        rows,
        [
            {"href": f"{PAGES[other][0]}#in-the-paper", "name": PAGES[other][1]}
            for other in others
            if other != page and other in made
        ],
    )


class _Headings(HTMLParser):
    """Each id of a page with the heading that it is, or that comes before it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self.words: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if HEADING.fullmatch(tag):
            self.words, self.inside = [], True
        if id := dict(attributes).get("id"):
            self.found[id] = self.words

    def handle_endtag(self, tag: str) -> None:
        if HEADING.fullmatch(tag):
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.words.append(data)


def headings_by_id(body: str) -> dict[str, str]:
    """The ids of HTML in their order, each with the words of its heading.

    That is the element itself if it is a heading, and else the last heading before it.
    """
    reader = _Headings()
    reader.feed(body)
    reader.close()
    return {id: " ".join("".join(words).split()) for id, words in reader.found.items()}


def _places(anchors: list[str], known: Mapping[str, str]) -> list[dict[str, Any]]:
    """For each anchor that is there its heading, and href and words of each link to it.

    The words are the title of the part of the page; without parts there are none.
    """
    found = []
    for anchor in anchors:
        parts = {id: "" for id in known if id == anchor}
        if anchor.startswith("*"):
            ends = (id for id in known if id.endswith(anchor[1:]))
            titles = {id: known.get(f"{id.removesuffix(anchor[1:])}-title") for id in ends}
            parts = {id: title for id, title in titles.items() if title is not None}
        if parts:
            links = [{"href": f"#{id}", "words": words} for id, words in parts.items()]
            found.append({"heading": known[links[0]["href"][1:]], "links": links})
    return found
