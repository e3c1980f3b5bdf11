"""Each table and figure of the papers stands where resources/paper_items.csv says."""

from fnmatch import fnmatchcase

import pytest
from selectolax.lexbor import LexborHTMLParser

from evenhand.report.page_list import PAGES
from evenhand.report.paper_items import read_items

#: What the demo has nothing to show under, and why.
NOT_IN_THE_DEMO = {
    ("slguset", "*-correlations"): "one model reads Chinese",
    ("slguset", "*-compounds"): "no sentence contains these words",
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


def test_each_item_has_its_places_or_a_reason(items, places):
    tree = LexborHTMLParser((places("demo") / "reproduction.html").read_text(encoding="utf-8"))
    rows = tree.css("#in-the-paper tbody tr")
    papers = list(dict.fromkeys(row["paper"] for row in items))
    own = sorted(items, key=lambda row: papers.index(row["paper"]))
    assert [tr.css_first("th").text() for tr in rows] == [row["shows"] for row in own]
    for tr, row in zip(rows, own, strict=True):
        _, found, published = tr.css("td")
        links = [a.attributes["href"].split("#") for a in found.css("a")]
        assert {file for file, _ in links} <= {PAGES[row["page"]][0]}
        for anchor in row["anchor"].split():
            shown = any(fnmatchcase(id, anchor) for _, id in links)
            assert shown or (row["page"], anchor) in NOT_IN_THE_DEMO
        assert links or found.text() in ("none", "not in this run")
        assert published.text().startswith(row["published"])
        assert row["reason"] in published.text()
