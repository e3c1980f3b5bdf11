"""Each table and figure of the papers stands where resources/paper_items.csv says."""

from fnmatch import fnmatchcase

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.pages import PAGES
from evenhand.report.paper_items import read_items

#: What the demo has nothing to show under, and why.
NOT_IN_THE_DEMO = {
    ("slguset", "*-correlations"): "one model reads Chinese",
    ("slguset", "*-compounds"): "no sentence holds these words",
    ("individual_fairness", "table-8-cells"): "one threshold is run",
}


@pytest.fixture(scope="module")
def items(repository):
    return read_items(repository / "resources/paper_items.csv")


@pytest.fixture(scope="module")
def trees(places, items):
    folder = places("demo")
    return {
        page: LexborHTMLParser((folder / PAGES[page][0]).read_text(encoding="utf-8"))
        for page in {row["page"] for row in items}
    }


def test_each_place_is_on_the_pages_of_the_demo(items, trees):
    ids = {
        page: {node.attributes["id"] for node in tree.css("[id]")} for page, tree in trees.items()
    }
    lost = {
        (row["page"], anchor)
        for row in items
        for anchor in row["anchor"].split()
        if not any(fnmatchcase(id, anchor) for id in ids[row["page"]])
    }
    assert lost == set(NOT_IN_THE_DEMO)


def test_each_item_is_on_its_page_with_its_places_or_a_reason(items, trees):
    for page, tree in trees.items():
        rows = tree.css("#in-the-paper tbody tr")
        own = [row for row in items if row["page"] == page]
        assert [tr.css_first("th").text() for tr in rows] == [row["shows"] for row in own]
        for tr, row in zip(rows, own, strict=True):
            _, places, published = tr.css("td")
            links = [a.attributes["href"].removeprefix("#") for a in places.css("a")]
            for anchor in row["anchor"].split():
                shown = any(fnmatchcase(link, anchor) for link in links)
                assert shown or (page, anchor) in NOT_IN_THE_DEMO
            assert links or places.text() in ("none", "not in this run")
            assert published.text().startswith(row["published"])
            assert row["reason"] in published.text()
