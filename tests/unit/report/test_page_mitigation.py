"""The report on mitigation: of small trainings that the real stages have scored, and of people."""

import pytest

from evenhand.individual.tables import grid, pareto_fronts
from evenhand.individual.tables import tests as differences
from evenhand.legal.classifier_tables.tests import CONSTANT
from evenhand.text.phrases import Titles
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
    ("member", "id"), [(grid, "sweeps"), (pareto_fronts, "fronts"), (differences, "tests")]
)
def test_each_table_of_people_may_be_missing(page, member, id):
    tree = page(people={k: v for k, v in made_individual.rows().items() if k is not member})
    assert tree.css(".absent") == tree.css(f"#{id} .absent") and len(tree.css(".absent")) == 1


def test_the_fronts_of_a_data_set_have_one_scale_of_accuracy(page):
    [row] = made_individual.rows()[pareto_fronts][:1]
    fronts = [
        row | {"front": "ddp", "balanced_acc": 60},
        row | {"front": "ifr_p", "balanced_acc": 80},
    ]
    tree = page(people=made_individual.rows() | {pareto_fronts: fronts})
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for spec in checks.charts(tree, "#fronts")
        for layer in spec["layer"]
    ]
    assert domains and all(low < 60 and high > 80 for low, high in domains)


def test_objectives_have_titles(page):
    assert text(page(), "main").count("(erm_group_uniform)") == 1
    assert Titles()["no_title"] == "no title"
    tree = page(changes={"tests": lambda rows: [r | {"objective": "no_title"} for r in rows]})
    assert "No title" in text(tree, "#mine")


def test_a_comparison_that_cannot_be_judged_has_no_p_value(page):
    unjudged = {"reason": CONSTANT, "verdict": "inconclusive", "p_cases_adjusted": 0.123}
    tree = page(changes={"tests": lambda rows: [row | unjudged for row in rows]})
    words = text(tree, "#mine")
    assert "cannot be judged" in words and "0.123" not in words and "undecided" not in words


def test_differences_have_intervals_over_cases_and_over_seeds(page):
    ends = {"difference": 2.5, "low": -1.25, "high": 6.25, "seeds_low": -4.0, "seeds_high": 9.0}
    tree = page(changes={"tests": lambda rows: [row | ends for row in rows]})
    assert "+2.5cases −1.3 to +6.3seeds −4.0 to +9.0" in text(tree, "#mine td")
    ends |= {"seeds_low": None, "seeds_high": None}  # one seed
    tree = page(changes={"tests": lambda rows: [row | ends for row in rows]})
    assert "cases −1.3 to +6.3" in text(tree, "#mine td")
    assert "seeds −4" not in text(tree, "#mine td")


def test_a_published_number_without_a_run(page):
    def more(rows):
        theirs = {"stands_for": "transformer", "objective": "v_rex", "measure": "mean"}
        blank = {"classifier": None, "ours": None, "published": 60.2}
        return [*rows, rows[0] | theirs | blank]

    assert "without a run of ours: transformer with V-REx, mean over groups 60.2." in text(
        page(changes={"table_4": more}), "#mine"
    )


@pytest.mark.parametrize("verdict", ["inconclusive", "above"])
def test_a_classifier_that_predicts_one_class_is_neither_drawn_nor_judged(page, verdict):
    def constant(rows):
        same = {"constant_seeds": 3, "always": "x", "noise_verdict": verdict, "from_labels": True}
        return [row | same if row["objective"] == "group_dro" else row for row in rows]

    words = "right is more accurate"
    assert words in text(page(people={}), "#glance")
    tree = page(changes={"table_4": constant}, people={})
    assert words not in text(tree, "#glance")
    judged = [cell.text() for cell in tree.css("#mine .judged")]
    assert any("cannot be judged" in cell for cell in judged)
    assert not any("but from labels" in cell for cell in judged)
