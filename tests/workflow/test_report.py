"""`snakemake --report`: one file or an archive, of the results as they are, without a network."""

import base64
import json
import re
import zipfile

import pytest
from selectolax.lexbor import LexborHTMLParser


@pytest.fixture(scope="module")
def made(demo_template, tmp_path_factory):
    return demo_template.copy(tmp_path_factory.mktemp("report") / "demo")


@pytest.fixture(scope="module")
def html(made):
    made.run("all", "--report", "report.html")
    return made.read("report.html")


def results_of(html: str) -> list[dict]:
    """What the report tells of each file."""
    found = re.search(r'<script id="results">\s*var results = (\{.*?\});\s*</script>', html, re.S)
    return list(json.loads(found[1]).values())


def test_it_shows_pages_tables_and_cards_with_captions(html):
    results = results_of(html)
    shown = {one["name"]: one for one in results}
    assert {"index.html", "legal_cases.html", "provenance.html"} <= shown.keys()
    assert {"groups.csv", "shift.csv", "README.md"} <= shown.keys()
    caption = shown["shift.csv"]["caption"]
    assert "swiss" in caption and "{{" not in caption
    assert all(one["caption"] for one in results)
    assert shown["index.html"]["labels"] == {"result": "Findings"}
    assert shown["shift.csv"]["labels"] == {"result": "shift", "of": "swiss"}
    found = re.search(r'<script id="categories">\s*var categories = (.*?);\s*</script>', html, re.S)
    assert {"Pages", "Legal data", "Cards", "Provenance"} <= set(json.loads(found[1]))


def test_a_page_in_it_is_the_page(made, html):
    page = next(one for one in results_of(html) if one["name"] == "legal_cases.html")
    data = base64.b64decode(page["data_uri"].partition("base64,")[2])
    assert data == (made.root / "results/report/legal_cases.html").read_bytes()


def test_it_asks_no_other_computer_for_anything(html):
    tree = LexborHTMLParser(html)
    assert len(tree.css("script")) > 10
    assert tree.css("[src], link") == []  # all is inside: scripts that draw add data: addresses
    assert not [style for style in tree.css("style") if "@import" in style.text()]


def test_an_archive_with_another_caption_has_the_same_files_and_reruns_nothing(made, html):
    assert made.plan("all") == []
    made.edit("workflow/report/shown.csv", "Legal data,legal,{table}", "Law,legal,{table}")
    made.append("workflow/report/legal.rst", "\nOne sentence more.\n")
    assert made.plan("all") == []
    made.run("all", "--report", "report.zip")
    with zipfile.ZipFile(made.root / "report.zip") as archive:
        names = [name.rsplit("/", 1)[-1] for name in archive.namelist()]
        (page,) = (name for name in archive.namelist() if name.endswith("report.html"))
        assert b"One sentence more." in archive.read(page)
    assert sorted(names) == sorted([*(one["name"] for one in results_of(html)), "report.html"])
