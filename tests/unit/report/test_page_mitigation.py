"""The report on mitigation: of small trainings that the real stages have scored, and of people."""

import pytest

from evenhand.individual.tables import grid, pareto_fronts
from evenhand.individual.tables import tests as differences
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_SEED
from evenhand.legal.objective_titles import Titles
from evenhand.report.headlines.mitigation import Change, by_method, conclude
from unit.legal.made_cases import declaration
from unit.made_tables import edited
from unit.report import checks, made_classifiers, made_individual
from unit.report.checks import text
from unit.report.made_pages import OBJECTIVES


@pytest.fixture(scope="module")
def folder(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifiers")
    return made_classifiers.write_results(repository, folder)[0]


@pytest.fixture
def page(write, folder, tmp_path):
    def written(changes=None, people=None, tables=folder):
        if changes:
            tables = tmp_path / "tables/classifiers/mine"
            edited(folder, tables, **changes)
        files, declarations = ([tables], [declaration("cail")]) if tables else ([], [])
        if people != {}:
            files += made_individual.results(tmp_path / "r", people or made_individual.rows())
        titles = checks.titles(mine="Mine", **OBJECTIVES)
        return write("mitigation", files, declarations=declarations, **titles)

    return written


def test_either_half_stands_alone(page):
    tree = page(tables=None)
    assert tree.css_first("#tests") and not tree.css_first("#mine")
    tree = page(people={})
    assert tree.css_first("#mine") and not tree.css_first("#tests")


@pytest.mark.parametrize(
    ("member", "id"),
    [(grid, "sweeps"), (pareto_fronts, "fronts"), (differences, "tests")],
)
def test_each_table_of_people_may_be_missing(page, member, id):
    tree = page(people={k: v for k, v in made_individual.rows().items() if k is not member})
    assert tree.css(".absent") == tree.css(f"#{id} .absent") and len(tree.css(".absent")) == 1


def test_objectives_have_titles(page):
    assert Titles()["no_title"] == "no title"
    tree = page(changes={"tests": lambda rows: [r | {"objective": "no_title"} for r in rows]})
    assert "No title" in text(tree, "#mine")


def test_a_published_number_without_a_run(page):
    def more(rows):
        theirs = {"stands_for": "transformer", "objective": "v_rex", "measure": "mean"}
        blank = {"classifier": None, "ours": None, "published": 60.2}
        return [*rows, rows[0] | theirs | blank]

    assert "without a run of ours: transformer with V-REx, mean over groups 60.2." in text(
        page(changes={"table_4": more}), "#mine"
    )


def change(method="DRO", verdict="above", difference=10.0, gap=False, **ends) -> Change:
    numbers = {"low": 5.0, "high": 15.0} | ends
    return Change(
        method, "mine", "worst", "tables/classifiers/mine/tests.csv", gap, 50.0,
        50.0 + difference, difference, **numbers, delta=5.0, verdict=verdict,
    )  # fmt: skip


def test_a_rise_is_better_unless_it_is_a_gap_that_rises():
    made = [change(), change(gap=True), change(verdict="inconclusive"), change("other", "below")]
    assert [(one["method"], one["better"], one["worse"]) for one in by_method(made)] == [
        ("DRO", 1, 1),
        ("other", 0, 1),
    ]


def test_the_clearest_change_comes_with_its_interval():
    found = conclude([change(), change(verdict="inconclusive", low=-1.0)])
    assert found.strength == 2
    assert found.sentence == (
        "1 of 2 comparisons with plain training is significant (1 fairer, 0 less fair)."
        " The clearest:"
    )
    words = "raises <bdi>worst</bdi> from 50.0 to 60.0, which is fairer (+10.0 points"
    assert words in found.more[0]
    assert ", 95 % interval 5.0 to 15.0)." in found.more[0]
    assert found.more[0].files == ("tables/classifiers/mine/tests.csv",)
    assert found.next == ""
    none = conclude([change(verdict="inconclusive", low=None, further=n) for n in (9, 1)])
    assert none.next.startswith(
        "Train 1 more seed (repeated runs) with <bdi>DRO</bdi> to test its effect on <bdi>worst"
    )
    assert none.strength == 0 and none.sentence.startswith("None of 2 comparisons")
    assert ": not significant" in none.more[0]
    other = change("other", "inconclusive", low=-1.0)
    assert conclude([change(), other]).short == (
        "Fairer: <bdi>DRO</bdi>. Undecided (not significant, but a change is not excluded):"
        " <bdi>other</bdi>."
    )
    worse = change("worse", gap=True)
    mixed = [change("mixed"), change("mixed", gap=True)]
    same = change("same", "equivalent")
    assert conclude([*mixed, worse, same]).short == (
        "Less fair: <bdi>worse</bdi>. Fairer by one measure and less fair by another:"
        " <bdi>mixed</bdi>. No change that matters: <bdi>same</bdi>."
    )
    here = [change("both"), *(change(name)._replace(elsewhere=False) for name in ("both", "here"))]
    assert conclude(here).short == (
        "Fairer: <bdi>both</bdi>. Fairer on these data, not shown for others: <bdi>here</bdi>."
    )
    same_alone = change()._replace(alone=60.0)
    assert conclude([same_alone]).short == (
        "Fairer, but no more than the same method without the individual loss (IIFR):"
        " <bdi>DRO</bdi>."
    )
    untested = change(verdict="inconclusive")._replace(reason=ONE_SEED)
    words = "Undecided, as one seed allows no test over seeds: <bdi>DRO</bdi>"
    assert conclude([untested]).short == f"{words}."
    nothing = change(verdict="inconclusive")._replace(reason=CONSTANT)
    assert "significant; 1 cannot be judged, as both classifiers predict the same" in (
        conclude([nothing]).sentence
    )
    assert conclude([nothing, untested, nothing]).short == (
        f"{words} (1 of 3 comparisons). Cannot be judged (the same prediction for every case):"
        " <bdi>DRO</bdi> (2 of 3 comparisons)."
    )
    assert conclude([]).sentence == "No method was compared with plain training."


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ({}, {"alone": 55.0}, "; the same method without the individual loss has 55.0."),
        ({}, {"alone": 60.0}, "has 60.0, so there is no evidence that the loss adds anything."),
        ({}, {"elsewhere": False}, "; shown for other seeds, not for other data)."),
        ({}, {"elsewhere": True}, " to 15.0)."),
        ({}, {"seeds": 3, "few_seeds": True}, " to 15.0; both over the same 3 seeds)."),
        ({"gap": True}, {}, "to 60.0, which is less fair ("),
        ({"verdict": "inconclusive"}, {}, "to 60.0 (+10.0 points"),
        ({"verdict": "inconclusive"}, {"reason": CONSTANT}, f": cannot be judged, as {CONSTANT}."),
        ({"verdict": "inconclusive"}, {"reason": "why"}, ": not significant, as why."),
        ({"verdict": "inconclusive"}, {}, ": not significant after adjustment for all tests"),
        ({"difference": 0.0, "verdict": "equivalent"}, {}, "from 50.0 to 50.0 (0.0 points"),
    ],
)
def test_a_change_states_its_direction_and_why_it_is_not_significant(given, more, words):
    assert words in change(**given)._replace(**more).words
