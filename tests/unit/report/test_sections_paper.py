import pytest

from evenhand.report.sections.paper import describe_papers, headings_by_id
from evenhand.report.write_front_page import write_front_page
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
    path = tmp_path / "items.csv"
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


@pytest.fixture
def page(templates, tmp_path):
    def write(items, written):
        out = tmp_path / "reproduction.html"
        write_front_page(
            templates=templates, out=out, page="reproduction", paper=items, written=written
        )
        return checks.parse(out)

    return write


def test_each_item_has_its_places_or_words(items, slguset, page):
    tree = page(items, [slguset])
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


def test_every_place_of_the_real_table_leads_somewhere(
    repository, templates, results, tmp_path, page
):
    out = tmp_path / "slguset.html"
    write_slguset_page(templates=templates, out=out, **arguments(results))
    ids = {node.attributes["id"] for node in checks.parse(out).css("[id]")}
    tree = page(repository / "resources/paper_items.csv", [out])
    links = [a.attributes["href"].split("#") for a in tree.css("#in-the-paper td a")]
    assert {file for file, _ in links} == {"slguset.html"}
    places = {id for _, id in links}
    assert {"dataset-pairs", "bias-slguset-degrees"} <= places <= ids


def test_hostile_words_stay_words(items, slguset, page):
    hostile = "<img src=x>{{ 7*7 }}"
    items.write_text(ITEMS.replace("One place", hostile).replace("Not known.", hostile))
    slguset.write_text(BODY.replace("<bdi>Second</bdi>", "&lt;img src=x&gt;"))
    tree = page(items, [slguset])
    assert not tree.css("img")
    assert "49" not in tree.css_first("#in-the-paper").text()
    assert tree.css("#in-the-paper tbody tr:nth-child(2) a")[1].text() == "<img src=x>"
