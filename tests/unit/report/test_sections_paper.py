import pytest

from evenhand.report.pages import PAGES
from evenhand.report.render import write_page
from evenhand.report.sections.paper import describe_paper, headings_by_id
from evenhand.report.write_slguset_page import write_slguset_page
from unit.report import checks
from unit.report.made_results import arguments

ITEMS = """\
paper,item,shows,page,anchor,published,reason
wang,Table 1,One place,slguset,alone,yes,
wang,,In each set,slguset,*-scores,no,Not known.
wang,Table 2,Two places,slguset,alone *-scores,partly,Some known.
wang,Table 3,Not in this run,slguset,other,no,Not known.
wang,Table 4,Nothing,slguset,,no,Not known.
wang,Table 5,Belongs elsewhere,legal_cases,x,yes,
wang,Table 6,Belongs elsewhere,run,x,yes,
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
    path = tmp_path / "items.csv"
    path.write_text(ITEMS, encoding="utf-8")
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


def test_places_are_those_that_the_page_has(items):
    found = describe_paper(items, "slguset", None).on(BODY)
    alone = {"heading": "Last", "links": [{"href": "#alone", "words": ""}]}
    each = {
        "heading": "Scores & more",
        "links": [
            {"href": "#first-scores", "words": "The first set"},
            {"href": "#second-scores", "words": "Second"},
        ],
    }
    assert [row["places"] for row in found] == [[alone], [each], [alone, each], [], []]


def test_pages_with_more_of_the_paper_are_those_of_the_run(items):
    every = describe_paper(items, "slguset", None)
    assert every.title == "Wang et al. 2023 (IIFR)"
    assert [one["name"] for one in every.elsewhere] == ["Legal cases", "Run"]
    some = describe_paper(items, "slguset", ["slguset", "run"])
    assert some.elsewhere == [{"href": "run.html#in-the-paper", "name": "Run"}]


def test_a_page_without_items_or_table_has_no_section(items):
    assert describe_paper(items, "provenance", None) is None
    assert describe_paper(None, "slguset", None) is None


def test_each_item_is_told_with_its_places_or_in_words(items, templates, results, tmp_path):
    out = tmp_path / "slguset.html"
    write_slguset_page(templates=templates, out=out, paper=items, **arguments(results))
    tree = checks.parse(out)
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
    assert "Of the 5 here, 0 stand on this page." in tree.css_first("#in-the-paper p").text()
    checks.check_no_request(tree)


def test_every_place_of_the_real_table_leads_somewhere(repository, templates, results, tmp_path):
    out = tmp_path / "slguset.html"
    paper = repository / "resources/paper_items.csv"
    write_slguset_page(templates=templates, out=out, paper=paper, **arguments(results))
    tree = checks.parse(out)
    ids = {node.attributes["id"] for node in tree.css("[id]")}
    links = [a.attributes["href"] for a in tree.css("#in-the-paper td a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= ids
    assert "#dataset-pairs" in links
    assert "#bias-slguset-degrees" in links


def test_hostile_words_stay_words(items, templates, tmp_path):
    hostile = "<img src=x>{{ 7*7 }}"
    items.write_text(ITEMS.replace("One place", hostile).replace("Not known.", hostile))
    body = BODY.replace("<bdi>Second</bdi>", "&lt;img src=x&gt;")
    [place] = describe_paper(items, "slguset", None).on(body)[1]["places"]
    assert place["links"][1]["words"] == "<img src=x>"
    out = tmp_path / "page.html"
    page = tmp_path / "known_errors.html"  # a template with one heading from a value
    page.write_text(
        '{% extends "base.html" %}{% block content %}<h2 id="x-title">{{ heading }}</h2>'
        '<p id="x-scores"></p>{% endblock %}'
    )
    own = [path for path in templates if path.name != page.name]
    write_page(
        out, "known_errors", [*own, page], list(PAGES), sections=[], heading=hostile,
        paper=describe_paper(items, "slguset", None),
    )  # fmt: skip
    tree = checks.parse(out)
    assert not tree.css("img")
    assert "49" not in tree.css_first("main").text()
    [link] = tree.css("#in-the-paper tbody tr:nth-child(2) a")
    assert link.text() == hostile
