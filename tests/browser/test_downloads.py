"""Whatever a page shows as a table or a figure can be had as data; no browser is needed."""

import csv
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from browser.made_pages import DEMO
from evenhand.report.page_list import PAGES


@pytest.fixture(scope="module")
def pages(places) -> tuple[Path, dict[str, LexborHTMLParser]]:
    """The folder of the demo's pages, and the pages by their files."""
    folder = places("demo")
    files = [PAGES[page][0] for page in DEMO]
    return folder, {file: LexborHTMLParser((folder / file).read_bytes()) for file in files}


def after(node: LexborNode) -> LexborNode | None:
    """The element behind another one."""
    found = node.next
    while found is not None and not found.is_element_node:
        found = found.next
    return found


def above(node: LexborNode, tag: str) -> LexborNode | None:
    found = node.parent
    while found is not None and found.tag != tag:
        found = found.parent
    return found


def shown(tree: LexborHTMLParser) -> Iterator[tuple[str, LexborNode | None]]:
    """What each table and figure is called, and the list of its downloads.

    The list stands behind the box of a table, folded if it is long, and inside a figure.
    """
    for node in tree.css("main table, main figure"):
        figure = node if node.tag == "figure" else above(node, "figure")
        found = figure.css_first("ul.downloads") if figure else after(node.parent)
        if not figure and found is not None:
            found = next(iter(found.css("ul.downloads, details.files > ul.downloads")), None)
        words = node.css_first("caption, figcaption")
        yield f"{node.tag}: {' '.join(words.text().split())[:80] if words else ''}", found


def test_every_table_and_every_figure_can_be_had_as_data(pages):
    folder, trees = pages
    without = []
    for file, tree in trees.items():
        for name, downloads in shown(tree):
            links = downloads.css("a[download]") if downloads else []
            hrefs = [unquote(link.attributes["href"]) for link in links]
            if not [href for href in hrefs if href.endswith(".csv")]:
                without.append((file, name))
            without += [(file, name, href) for href in hrefs if not (folder / href).is_file()]
    assert without == []


def test_what_is_offered_as_data_are_tables_with_rows_of_one_length(pages):
    folder, trees = pages
    hrefs = {
        unquote(link.attributes["href"])
        for tree in trees.values()
        for link in tree.css("ul.downloads a[download]")
        if link.attributes["href"].endswith(".csv")
    }
    assert len(hrefs) > 100
    for href in sorted(hrefs):
        with (folder / href).open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = csv.reader(stream)
        assert all(header), href
        assert {len(row) for row in rows} <= {len(header)}, href
