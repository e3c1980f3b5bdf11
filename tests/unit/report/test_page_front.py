"""The front page, and the counts of published numbers on the comparison with the papers."""

import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.legal.classifier_tables import claims, group_scores, table_2, table_4
from evenhand.report.headline import PUBLISHED, SYSTEMS, Headline
from evenhand.report.headlines import individual_fairness, language_models, legal, mitigation
from unit.report import checks, made_stereotypes
from unit.report.checks import HOSTILE


@pytest.fixture
def stereotypes(tmp_path):
    return made_stereotypes.files(made_stereotypes.write_results(tmp_path / "pairs", text=HOSTILE))


@pytest.fixture
def slguset(results):
    return [results / "tables/corpus", results / "tables/bias/slguset"]


def rows_of(tree):
    """Return the rows of the table of verdicts, by system."""
    rows = tree.css("#verdicts tbody tr")
    return {row.css_first("th").text(): [td.text() for td in row.css("td")] for row in rows}


def test_systems_that_are_not_run_are_named(write):
    tree = write("front")
    assert tree.css_first("#left-out p").text().count(" no ") == len(SYSTEMS)
    checks.check_no_request(tree)
    tree = write("reproduction")
    assert not tree.css("#verdicts, nav a[href='#verdicts']")


def test_systems_without_files_have_nothing_to_show(write):
    tree = write("front", systems=list(SYSTEMS))
    assert not tree.css("#left-out")
    for system in SYSTEMS:
        section = tree.css_first(f"#{system.replace('_', '-')}")
        assert "figure" not in section.text()
    tree = write("reproduction", systems=list(SYSTEMS))
    assert tree.text().count("No published number to compare with.") == len(PUBLISHED)


def test_verdicts_are_counted_over_the_systems(write, stereotypes, slguset):
    systems = ["slguset", "language_models"]
    tree = write("reproduction", [*stereotypes, *slguset], systems=systems)
    assert rows_of(tree)["Language models"] == ["1", "1"]
    assert rows_of(tree)["Texts"] == ["Not run in this configuration"]
    assert [td.text() for td in tree.css("#verdicts tfoot td")] == ["1", "1"]
    assert "1 of 2 published numbers" in tree.css_first(".lead").text()
    links = [a.attributes["href"] for a in tree.css("#verdicts th a")]
    assert links == ["#slguset", "#language-models"]
    checks.check_no_request(tree)
    assert "1 of 2 published" in write("front", stereotypes, systems=systems).text()
    assert "1 of 2" not in write("front", stereotypes, systems=systems, pages=["front"]).text()


def test_each_verdict_names_the_results_it_was_counted_in(write, results):
    published = results / "slguset_published"
    files = [published / "statistics.json", published / "report.json"]
    files.append(results / "tables/sentences/slguset_published")
    tree = write("reproduction", files, systems=["slguset"])
    named = [row.attributes["data-files"] for row in tree.css("#slguset tr[data-files]")]
    assert named == [
        "sentences_slguset_published_table_1",
        *("slguset_published_statistics", "slguset_published_report"),
    ]
    for part in ("#verdicts", "#slguset"):
        listed = [node.text() for node in tree.css(f"{part} details .downloads bdi")]
        assert sorted(listed) == sorted(named)
    together = tree.css_first("#verdicts tr[data-files]").attributes["data-files"]
    assert together.split() == named


def test_traced_files_are_counted(write, tmp_path):
    provenance = tmp_path / "provenance.json"
    intermediate = {"stage": "c", "result": False}
    entries = [{"stage": "a", "result": True}, {"stage": None}, intermediate]
    provenance.write_text(json.dumps({"files": entries}))
    tree = write("front", [provenance], pages=["provenance"])
    assert "1 of 2 result files are traced" in tree.css_first("#trust").text()
    assert [a.attributes["href"] for a in tree.css("#trust a")] == ["provenance.html"]


def test_only_pages_of_this_run_are_linked_to(write, stereotypes):
    link = "#language-models a[href='language_models.html']"
    for page in ("language_models", "provenance"):
        tree = write("front", stereotypes, systems=["language_models"], pages=[page])
        assert bool(tree.css(link)) == (page == "language_models")


def test_sentences_and_counts_link_to_the_results_behind_them(write, slguset):
    tree = write("front", slguset, systems=["slguset"])
    sentence = tree.css_first("#slguset .say .refs")
    assert sentence.text() == "[1]"
    (link,) = sentence.css("a")
    assert link.attributes["href"] == "provenance.html#file-tables-corpus-funnel-csv"
    listed = [node.text() for node in tree.css("#slguset .read-from li code")]
    tables = ("corpus/funnel", "bias/slguset/models", "corpus/quarantine")
    assert listed == [f"tables/{name}.csv" for name in tables]
    assert {link.text() for link in tree.css("#slguset .refs a")} == {"1", "2"}
    assert tree.css("#trust li") and not tree.css("#trust .refs")  # the list above has them
    bare = write("front", slguset, systems=["slguset"], pages=["front", "slguset"])
    assert bare.css_first("#slguset .say .refs").text() == "[1]"
    assert not bare.css(".refs a, .read-from a")


def test_the_clearest_finding_comes_first_with_the_next_step(write, slguset, tmp_path):
    classifiers = tmp_path / "tables/classifiers/mine"
    names = ("classifier", "attribute", "objective", "measure", "noise_verdict")
    low = dict(zip(names, ("linear", "age", "erm", "worst", "above"), strict=True))
    low |= {"ours": 9, "low": 5, "high": 12, "noise_border": 30, "noise_mean": 40, "p": 0.01}
    small = low | {
        "classifier": "other",
        "noise_verdict": "inconclusive",
        "smallest_group": 2,
        "ours": 31,
        "p": 0.5,
    }
    group = {"classifier": "linear", "objective": "erm", "attribute": "age", "split": "test"}
    group |= {"convention": "all", "seed": "mean", "group": "old", "score": 9, "low": 5, "high": 12}
    group |= {"difference": -30, "difference_low": -40, "difference_high": -20, "p_cases": 0.001}
    group |= {"verdict": "below"}
    tables = [(table_2.TABLE, []), (group_scores.TABLE, [group]), (claims.TABLE, [])]
    write_tables(classifiers, [*tables, (table_4.TABLE, [small, low])])
    tree = write("front", [classifiers], systems=["slguset", "legal"])
    assert [heading.text() for heading in tree.css("main h2")][1:3] == [
        "Is this classifier fair to groups by macro-F1?",
        "Is this data set balanced and clean?",
    ]
    first = tree.css_first("#legal").text()
    assert "of the group old is 9.0 (95 % interval 5.0 to 12.0) by the classifier linear" in first
    assert (
        "Do not use the classifier linear under plain training where the groups of mine, age"
        in " ".join(first.split())
    )
    *findings, further = json.loads(tree.css_first("#findings").text())
    assert further == "2 further statements: see the report."
    assert (
        findings[0].startswith("In mine, age, the macro-F1 (mean F1 of all classes, with")
        and len(findings) == 2
    )


def test_significant_statements_precede_those_without_a_significant_result(write, monkeypatch):
    labels = "Labels go with attributes."
    made = {
        legal: Headline("None is.", more=["Some are.", labels], significant=[labels]),
        language_models: Headline("None at all."),
        mitigation: Headline("One is fairer.", main="DRO is fairer."),
    }
    for module, headline in made.items():
        monkeypatch.setattr(module, "describe", lambda study, headline=headline: headline)
    tree = write("front", [], systems=["legal", "language_models", "mitigation"])
    *lines, none, nothing, further = json.loads(tree.css_first("#findings").text())
    assert (lines, {none, nothing}) == (["DRO is fairer.", labels], {"None is.", "None at all."})
    assert further == "2 further statements: see the report."  # the counts behind two of them


def test_which_group_fares_worse_is_a_question_of_its_own(write, monkeypatch):
    made = Headline(sentence="All alike.", groups="Women, on D.")
    monkeypatch.setattr(individual_fairness, "describe", lambda study: made)
    tree = write(
        "front", [], systems=["individual_fairness"], pages=["front", "individual_fairness"]
    )
    questions = {dt.text(): dt.next.text() for dt in tree.css("#short dt")}
    assert questions["Are similar people treated alike?"] == "All alike."
    assert questions["Which group fares worse?"] == "Women, on D."
    assert tree.css_first('#short dt a[href="individual_fairness.html#table-7"]')


def test_the_first_note_on_trust_is_shown_and_further_ones_are_folded(write, results, slguset):
    def folded(files):
        tree = write("front", files, systems=["slguset"])
        assert len(tree.css("#trust > ul > li")) == 1
        return len(tree.css("#trust details li"))

    corpus, bias = slguset
    assert folded([corpus]) == 1 and folded([bias]) == 0
    assert folded([bias, results / "slguset_published/report.json"]) == 1
