import inspect
import json

import pytest

from evenhand.core.stage import modules_of
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.legal.classifier_tables import claims, table_2, table_4
from evenhand.report.headline import PUBLISHED, SYSTEMS
from evenhand.report.write_front_page import write_front_page
from unit.report import checks, made_results, made_stereotypes
from unit.report.checks import HOSTILE


@pytest.fixture
def page(templates, tmp_path):
    def made(**arguments):
        out = tmp_path / "index.html"
        write_front_page(templates=templates, out=out, **arguments)
        return checks.parse(out)

    return made


@pytest.fixture
def stereotypes(tmp_path):
    folder = made_stereotypes.write_results(tmp_path / "results", text=HOSTILE)
    given = made_stereotypes.arguments(folder)
    return [*given["sets"], *given["gates"], *given["tables"], given["released"]]


@pytest.fixture
def slguset(tmp_path):
    folder = made_results.write_results(tmp_path / "slguset_results")
    return [folder / "tables/corpus", folder / "tables/bias/slguset"]


def rows_of(tree):
    """The rows of the table of verdicts, by system."""
    rows = tree.css("#verdicts tbody tr")
    return {row.css_first("th").text(): [td.text() for td in row.css("td")] for row in rows}


def test_a_system_that_is_left_out_is_named(page):
    tree = page(systems=[])
    assert tree.css_first("#left-out p").text().count("?") == len(SYSTEMS)
    checks.check_no_request(tree)
    tree = page(systems=[], page="reproduction")
    assert set(map(tuple, rows_of(tree).values())) == {("Not run in this configuration",)}


def test_a_system_without_a_file_says_that_there_is_nothing(page):
    tree = page(systems=list(SYSTEMS))
    assert not tree.css("#left-out")
    for system in SYSTEMS:
        section = tree.css_first(f"#{system.replace('_', '-')}")
        assert "There is nothing to draw yet." in section.text()
    tree = page(systems=list(SYSTEMS), page="reproduction")
    assert tree.text().count("There is no published number to compare with.") == len(PUBLISHED)


def test_verdicts_are_counted_over_the_systems(page, stereotypes, slguset):
    given = {"systems": ["slguset", "language_models"], "language_models": stereotypes}
    tree = page(**given, slguset=slguset, page="reproduction")
    assert rows_of(tree)["Language models"] == ["1", "1", "0", "0", "1"]
    assert rows_of(tree)["Texts"] == ["Not run in this configuration"]
    together = [td.text() for td in tree.css("#verdicts tfoot td")]
    assert together == ["1", "1", "0", "0", "1"]
    assert "1 of 2 published numbers" in tree.css_first(".lead").text()
    assert "1 of 2 published" in page(**given).text()
    assert "1 of 2" not in page(**given, pages=["front"]).text()
    assert [a.attributes["href"] for a in tree.css("#verdicts th a")] == [
        "#slguset",
        "#language-models",
    ]
    checks.check_no_request(tree)


def test_each_verdict_names_the_results_it_was_counted_in(page, tmp_path):
    folder = made_results.write_results(tmp_path / "results")
    files = ["statistics.json", "report.json"]
    given = [folder / "slguset_published" / file for file in files]
    given.append(folder / "tables/sentences/slguset_published")
    tree = page(systems=["slguset"], slguset=given, page="reproduction")
    rows = tree.css("#slguset tr[data-files]")
    assert len(rows) == 3
    named = [row.attributes["data-files"] for row in rows]
    assert named == [
        "sentences_slguset_published_table_1",
        *("slguset_published_statistics", "slguset_published_report"),
    ]
    for where in ("#verdicts", "#slguset"):
        listed = [one.text() for one in tree.css(f"{where} details .downloads bdi")]
        assert sorted(listed) == sorted(named)
    together = tree.css_first("#verdicts tr[data-files]").attributes["data-files"]
    assert together.split() == named


def test_traced_files_are_counted(page, tmp_path):
    provenance = tmp_path / "provenance.json"
    between = {"stage": "c", "result": False}
    made = [{"stage": "a", "result": True}, {"stage": None}, between]
    provenance.write_text(json.dumps({"files": made}))
    tree = page(systems=[], provenance=provenance, pages=["provenance"])
    assert "1 of 2 result files are traced" in tree.css_first("#trust").text()
    assert [a.attributes["href"] for a in tree.css("#trust a")] == ["provenance.html"]
    provenance.write_text("[]")
    with pytest.raises(InputError, match="lists no files"):
        page(systems=[], provenance=provenance)


def test_only_pages_of_this_run_are_linked_to(page, stereotypes):
    given = {"systems": ["language_models"], "language_models": stereotypes}
    link = "#language-models a[href='language_models.html']"
    assert page(**given, pages=["language_models"]).css(link)
    assert not page(**given, pages=["provenance"]).css(link)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"systems": ["mine"]}, "there is no system 'mine'; use language_models"),
        ({"systems": ["slguset"], "legal": ["a.csv"]}, "there are files of legal"),
        ({"systems": ["legal"], "names": ["a"]}, "not one title for each name"),
        ({"systems": ["legal"], "legal": ["a.csv"]}, "a.csv: is no file that this headline"),
    ],
)
def test_arguments_that_do_not_fit_are_an_error(page, given, message):
    with pytest.raises(InputError, match=message):
        page(**given)


def test_the_headlines_count_as_the_stage_s_own_code():
    arguments = inspect.signature(write_front_page).bind(
        templates=[], out="o", systems=["legal", "slguset"]
    )
    modules = modules_of(write_front_page, "m", arguments.arguments)
    assert modules[1:] == ["evenhand.report.headlines.legal", "evenhand.report.headlines.slguset"]


def test_a_sentence_and_a_count_lead_to_the_results_that_they_were_read_from(page, slguset):
    tree = page(systems=["slguset"], slguset=slguset)
    sentence = tree.css_first("#slguset .say .refs")
    assert sentence.text() == "[1]"
    (link,) = sentence.css("a")
    assert link.attributes["href"] == "provenance.html#file-tables-corpus-funnel-csv"
    listed = [node.text() for node in tree.css("#slguset .read-from li code")]
    tables = ("corpus/funnel", "bias/slguset/models", "corpus/quarantine")
    assert listed == [f"tables/{name}.csv" for name in tables]
    numbers = {link.text() for link in tree.css("#slguset .refs a")}
    assert numbers == {"1", "2"}
    assert {link.text() for link in tree.css("#trust .refs a")} == {"1", "2", "3"}
    bare = page(systems=["slguset"], slguset=slguset, pages=["front", "slguset"])
    assert bare.css_first("#slguset .say .refs").text() == "[1]"
    assert not bare.css(".refs a, .read-from a")


def test_the_clearest_finding_comes_first_with_what_to_do_next(page, tmp_path):
    classifiers = tmp_path / "tables/classifiers/mine"
    names = ("classifier", "attribute", "objective", "measure", "noise_verdict")
    gap = dict(zip(names, ("linear", "age", "erm", "gd", "above"), strict=True))
    gap |= {"ours": 9, "low": 5, "high": 12, "noise_border": 3, "p_labels": 0.01}
    small = gap | {"noise_verdict": "inconclusive", "smallest_group": 2, "ours": 1}
    write_tables(
        classifiers, [(table_2.TABLE, []), (table_4.TABLE, [small, gap]), (claims.TABLE, [])]
    )
    tree = page(systems=["slguset", "legal"], legal=[classifiers])
    assert [one.text() for one in tree.css("main h2")][1:3] == [
        "Is this classifier fair to groups?",
        "Is this data set balanced and clean?",
    ]
    first = tree.css_first("#legal").text()
    assert "macro-F1) of 9.0 (95 % interval 5.0 to 12.0), where chance gives up to 3.0" in first
    assert "the smallest group has 2 cases" in first
    found = json.loads(tree.css_first("#findings").text())
    assert found[0].startswith("Of 2 gaps between groups") and len(found) == 2
