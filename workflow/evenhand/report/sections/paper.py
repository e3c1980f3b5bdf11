"""Section: the tables and figures of the papers, with links to ours in the report."""

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from evenhand.report.page_list import PAGES
from evenhand.report.paper_items import PAPERS, read_items

HEADING = re.compile(r"h[1-6]")


def describe_papers(items: Path, written: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the papers of which this run has a page, each with its tables and figures.

    Parameters
    ----------
    items : path
        ``resources/paper_items.csv``.
    written : iterable of path
        The pages of this run.

    Returns
    -------
    list of dict
        title (how the paper is cited) and rows (see `evenhand.report.paper_items`) with `places`:
        the heading of its page under which each is shown, and links to it.
    """
    known = {path.name: headings_by_id(path.read_text(encoding="utf-8")) for path in written}
    papers: dict[str, list[dict[str, Any]]] = {}
    for row in read_items(items):
        file = PAGES[row["page"]][0]
        if file in known:
            places = _places(row["anchor"].split(), known[file], file)
            papers.setdefault(row["paper"], []).append(row | {"places": places})
    return [{"title": PAPERS[paper], "rows": rows} for paper, rows in papers.items()]


class _Headings(HTMLParser):
    """Parse a page into its ids, each with its own heading or the last heading before it."""

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
    """Return the ids of HTML in their order, each with the words of its heading.

    The heading is the element itself, or else the last heading before it.
    """
    reader = _Headings()
    reader.feed(body)
    reader.close()
    return {id: " ".join("".join(words).split()) for id, words in reader.found.items()}


def _places(anchors: list[str], known: Mapping[str, str], file: str) -> list[dict[str, Any]]:
    """Return, for each existing anchor, its heading, and href and words of each link to it.

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
            links = [{"href": f"{file}#{id}", "words": words} for id, words in parts.items()]
            found.append({"heading": known[next(iter(parts))], "links": links})
    return found
