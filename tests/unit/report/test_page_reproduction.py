"""The comparison with the papers, and the table of their tables and figures."""

import re

import pytest

from evenhand.errors import InputError
from evenhand.report.page_list import PAGES
from evenhand.report.pages.reproduction import (
    COLUMNS,
    PAPERS,
    describe_papers,
    headings_by_id,
    read_items,
)
from unit.report import checks
from unit.report.made_results import files

ITEMS = """\
paper,item,shows,page,anchor,published,reason
wang,Table 1,One place,slguset,alone,yes,
wang,,In each set,slguset,*-scores,no,Not known.
wang,Table 2,Two places,slguset,alone *-scores,partly,Some known.
wang,Table 3,Not in this run,slguset,other,no,Not known.
wang,Table 4,Nothing,slguset,,no,Not known.
wang,Table 5,Belongs elsewhere,legal_cases,x,yes,
wang,Table 6,Belongs elsewhere,provenance,x,yes,
zhao,Table 1,Of another paper,sentences,x,yes,
"""
BODY = """\
<h2 id="first-title">The <b>first</b>
 set</h2><h3 id="first-scores">Scores &amp; more</h3>
<h2 id="second-title"><bdi>Second</bdi></h2><h3>Scores</h3><p id="second-scores">words</p>
<h3>Last</h3><div><p id="alone">here</p></div><p id="lost-scores">no title</p>
"""


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "paper_items.csv"
    path.write_text(ITEMS, encoding="utf-8")
    return path


@pytest.fixture
def slguset(tmp_path):
    path = tmp_path / "slguset.html"
    path.write_text(BODY, encoding="utf-8")
    return path


def test_an_id_has_the_words_of_its_heading_or_of_the_last_one_before_it():
    assert headings_by_id(BODY) == {
        "first-title": "The first set",
        "first-scores": "Scores & more",
        "second-title": "Second",
        "second-scores": "Scores",
        "alone": "Last",
        "lost-scores": "Last",
    }
    assert headings_by_id("<p id=a>text<script>'<h2 id=b>'</script>") == {"a": ""}


def test_places_are_those_that_the_page_has(items, slguset):
    [paper] = describe_papers(items, [slguset])
    assert paper["title"] == "Wang et al. 2023 (IIFR)"
    alone = {"heading": "Last", "links": [{"href": "slguset.html#alone", "words": ""}]}
    each = {
        "heading": "Scores & more",
        "links": [
            {"href": "slguset.html#first-scores", "words": "The first set"},
            {"href": "slguset.html#second-scores", "words": "Second"},
        ],
    }
    places = [row["places"] for row in paper["rows"]]
    assert places == [[alone], [each], [alone, each], [], []]


def test_papers_without_a_page_in_this_run_are_left_out(items, slguset):
    assert describe_papers(items, []) == []
    sentences = slguset.with_name("sentences.html")
    sentences.write_text("", encoding="utf-8")
    titles = [paper["title"] for paper in describe_papers(items, [slguset, sentences])]
    assert titles == ["Wang et al. 2023 (IIFR)", "Zhao et al. 2021 and 2023"]


def test_each_item_has_its_places_or_words(items, slguset, write):
    tree = write("reproduction", [items, slguset])
    assert tree.css_first("nav a[href='#in-the-paper']")
    rows = [
        [" ".join(cell.text().split()) for cell in row.css("th, td")]
        for row in tree.css("#in-the-paper tbody tr")
    ]
    assert rows[3:] == [
        ["Table 3", "Not in this run", "not in this run", "no. Not known."],
        ["Table 4", "Nothing", "none", "no. Not known."],
    ]
    assert rows[1][0] == "–"
    assert rows[0][3] == "yes"
    assert "The report shows 3 of 5 tables and figures." in tree.css_first("#in-the-paper").text()
    checks.check_no_request(tree)


def test_every_place_of_the_delivered_table_exists(repository, results, tmp_path, write):
    ids = {node.attributes["id"] for node in write("slguset", files(results)).css("[id]")}
    items = repository / "resources/paper_items.csv"
    tree = write("reproduction", [items, tmp_path / "slguset.html"])
    links = [a.attributes["href"].split("#") for a in tree.css("#in-the-paper td a")]
    assert {file for file, _ in links} == {"slguset.html"}
    places = {id for _, id in links}
    assert {"dataset-pairs", "bias-slguset-degrees"} <= places <= ids


def test_hostile_words_stay_words(items, slguset, write):
    hostile = "<img src=x>{{ 7*7 }}"
    items.write_text(ITEMS.replace("One place", hostile).replace("Not known.", hostile))
    slguset.write_text(BODY.replace("<bdi>Second</bdi>", "&lt;img src=x&gt;"))
    tree = write("reproduction", [items, slguset])
    assert not tree.css("img")
    assert "49" not in tree.css_first("#in-the-paper").text()
    assert tree.css("#in-the-paper tbody tr:nth-child(2) a")[1].text() == "<img src=x>"


ROW = dict(zip(COLUMNS, ["wang", "Table 9", "S", "slguset", "a-b", "partly", "R"], strict=True))


def table(folder, *changes):
    path = folder / "items.csv"
    lines = [",".join((ROW | change)[name] for name in COLUMNS) for change in changes]
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def known(repository):
    return read_items(repository / "resources/paper_items.csv")


def test_each_paper_has_items(known):
    assert {row["paper"] for row in known} == set(PAPERS)


def test_numbers_of_tables_and_figures_stand_there_once(known):
    for paper in PAPERS:
        seen = [
            (kind, number)
            for row in known
            if row["paper"] == paper and row["item"]
            for kind, number in numbers(row["item"])
        ]
        assert len(seen) == len(set(seen))


def test_no_number_of_a_table_is_left_out(known):
    """FairLex numbers its tables to 11, IIFR its tables to 8 and its figures to 6."""
    last = {("chalkidis", "Table"): 11, ("wang", "Table"): 8, ("wang", "Figure"): 6}
    for (paper, kind), highest in last.items():
        found = [
            number
            for row in known
            if row["paper"] == paper
            for one, number in numbers(row["item"])
            if one == kind
        ]
        assert sorted(found) == [*range(1, highest + 1)]


def numbers(item):
    """``Tables 6 and 7`` as two numbers, ``Figures 4 to 6`` as three; no item has none."""
    if not item:
        return []
    kind, first, last = re.fullmatch(r"(Table|Figure)s? (\d+)(?: (?:to|and) (\d+))?", item).groups()
    return [(kind, n) for n in range(int(first), int(last or first) + 1)]


def test_each_anchor_stands_in_a_template(repository, known):
    """A place that the demo does not fill is not mistyped."""
    folder = repository / "workflow/evenhand/report/templates"
    texts = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.html"))
    ids = set(re.findall(r'\bid="([^"]+)"', texts))
    sections = ("table-4", "table-6", "table-7", "table-8")
    written = {id.replace("{{ id }}", one) for id in ids for one in ("", *sections)}
    for anchor in {one for row in known for one in row["anchor"].split()}:
        if anchor.startswith("*"):
            assert any(id.endswith("}}" + anchor[1:]) for id in ids), anchor
        else:
            assert anchor in written, anchor


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"paper": "mine"}], r"items.csv:2: the paper is 'mine'; write one of zhao"),
        ([{"page": "mine"}], f"the page is 'mine'; write one of {next(iter(PAGES))}"),
        ([{"published": "some"}], "the published is 'some'; write one of yes, partly, no"),
        ([{"anchor": "A"}], "'A' cannot be an anchor"),
        ([{"anchor": "a *b"}], r"'\*b' cannot be an anchor"),
        ([{"anchor": "a--b"}], "'a--b' cannot be an anchor"),
        ([{"anchor": ""}], "numbers of a paper stand beside nothing"),
        ([{"reason": ""}], "does not say why the paper's numbers are not there"),
        ([{"shows": ""}], "the cell of shows is blank"),
        ([{}, {"reason": "T"}], "repeats line 2"),
    ],
)
def test_a_malformed_table_is_an_error(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_items(table(tmp_path, *changes))


def test_numbers_that_are_all_there_need_no_reason(tmp_path):
    [row] = read_items(table(tmp_path, {"published": "yes", "reason": "", "item": ""}))
    assert row["reason"] == row["item"] == ""
