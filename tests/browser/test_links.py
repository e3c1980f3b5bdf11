"""Every link of the report leads somewhere."""

from pathlib import Path
from urllib.parse import parse_qs, unquote

import pytest
from selectolax.lexbor import LexborHTMLParser

from browser.made_pages import DEMO, ONE_SYSTEM
from evenhand.report.page_list import PAGES
from in_browser import View
from unit.report.checks import sets_of

PLACES = {"demo": DEMO, "one_system": ONE_SYSTEM}
ORIGIN = ".downloads a[href^='provenance.html#']"


@pytest.fixture(scope="module", params=PLACES)
def trees(request, places) -> tuple[Path, dict[str, LexborHTMLParser]]:
    """A folder of pages, and the pages by their files."""
    folder = places(request.param)
    files = [PAGES[page][0] for page in PLACES[request.param]]
    texts = {file: (folder / file).read_text(encoding="utf-8") for file in files}
    return folder, {file: LexborHTMLParser(text) for file, text in texts.items()}


def anchors(tree: LexborHTMLParser) -> set[str]:
    """What an address of the page may name: ids, and the sets and rows of an explorer."""
    found = {node.attributes["id"] for node in tree.css("[id]")}
    for data in sets_of(tree).values():
        found |= {f"?set={data['key']}", *(f"{data['key']}/{id}" for id in data["id"]), *data["id"]}
    return found


def named(anchor: str) -> str:
    """What an address names; of a question to an explorer the set that it asks of."""
    if not anchor.startswith("?"):
        return unquote(anchor)
    return f"?set={parse_qs(anchor[1:])['set'][0]}"


def test_every_link_leads_somewhere(trees):
    folder, pages = trees
    known = {file: anchors(tree) for file, tree in pages.items()}
    lost = []
    for file, tree in pages.items():
        for link in tree.css("a[href]"):
            href = link.attributes["href"]
            path, _, anchor = href.partition("#")
            target = folder / unquote(path) if path else folder / file
            known_there = known.get(target.name, ())
            if not target.exists() or (anchor and named(anchor) not in known_there):
                lost.append((file, href))
    assert lost == []


def test_every_page_is_linked_to_and_says_which_it_is(trees):
    _, pages = trees
    for file, tree in pages.items():
        links = tree.css("nav.pages a")
        assert [link.attributes["href"] for link in links] == list(pages)
        [current] = tree.css("nav.pages [aria-current=page]")
        assert current.attributes["href"] == file


def test_every_table_says_where_it_came_from(trees, browser):
    """The way from a table to the record of its file, clicked."""
    folder, pages = trees
    file = next(file for file, tree in pages.items() if tree.css(ORIGIN))
    view = View(browser, folder / file)
    for fold in view.page.locator("figure details:has(.downloads) > summary").all():
        fold.click()  # where a figure has several tables
    view.page.locator(f"{ORIGIN}:visible").first.click()
    view.page.wait_for_url("**/provenance.html#*")
    target = view.page.locator(":target")
    assert target.is_visible()
    assert target.locator(".details").is_visible()
    view.heard = [words for words in view.heard if "provenance.html" not in words]  # asked for
    view.close()
