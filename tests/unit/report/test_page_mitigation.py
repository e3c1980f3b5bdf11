"""The report on mitigation: of small trainings that the real stages have scored, and of people."""

import pytest

from evenhand.individual.tables import grid, pareto_fronts
from evenhand.individual.tables import tests as differences
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_CONSTANT, ONE_SEED
from evenhand.legal.objective_titles import Titles
from evenhand.report.headlines.mitigation import Change, by_method, conclude, unconfirmed
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
    assert Titles()["no_title"] == "no title"
    tree = page(changes={"tests": lambda rows: [r | {"objective": "no_title"} for r in rows]})
    assert "No title" in text(tree, "#mine")


def test_a_comparison_that_cannot_be_judged_has_no_p_value(page):
    unjudged = {"reason": CONSTANT, "verdict": "inconclusive", "p_cases_adjusted": 0.123}
    tree = page(changes={"tests": lambda rows: [row | unjudged for row in rows]})
    words = text(tree, "#mine")
    assert "cannot be judged" in words and "0.123" not in words and "undecided" not in words


def test_a_published_number_without_a_run(page):
    def more(rows):
        theirs = {"stands_for": "transformer", "objective": "v_rex", "measure": "mean"}
        blank = {"classifier": None, "ours": None, "published": 60.2}
        return [*rows, rows[0] | theirs | blank]

    assert "without a run of ours: transformer with V-REx, mean over groups 60.2." in text(
        page(changes={"table_4": more}), "#mine"
    )


def test_a_classifier_that_predicts_one_class_is_not_drawn(page):
    def constant(rows):
        same = {"constant_seeds": 3, "always": "x", "noise_verdict": "inconclusive"}
        return [row | same if row["objective"] == "group_dro" else row for row in rows]

    words = "right is more accurate"
    assert words in text(page(people={}), "#glance")
    assert words not in text(page(changes={"table_4": constant}, people={}), "#glance")


def change(method="DRO", verdict="above", difference=10.0, gap=False, **ends) -> Change:
    numbers = {"low": 5.0, "high": 15.0} | ends
    return Change(
        method, "mine", "worst", "tables/classifiers/mine/tests.csv", gap, 50.0,
        50.0 + difference, difference, **numbers, delta=5.0, verdict=verdict, attribute="age",
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
        "1 of 2 comparisons of <bdi>DRO</bdi> with plain training is significant (1 fairer, 0 less"
        " fair)."
    )
    words = "<bdi>DRO</bdi> on <bdi>mine</bdi> raises worst group of <bdi>age</bdi> (its macro-F1)"
    words += " from 50.0 to 60.0, which is fairer (+10.0 points, 95 % interval 5.0 to 15.0)."
    assert found.more[0] == words
    assert found.more[0].files == ("tables/classifiers/mine/tests.csv",)
    assert found.next == ""
    none = conclude([change(verdict="inconclusive", low=None, further=n) for n in (9, 1)])
    assert none.next == (
        "Train <bdi>DRO</bdi> on <bdi>mine</bdi> with 1 more seed (repeated runs): its effect on"
        " the worst group of <bdi>age</bdi> (its macro-F1) is undecided, and a true change of 5"
        " points would then be significant in 80 % of such tests."
    )
    assert none.strength == 0 and none.sentence.startswith("None of 2 comparisons")
    assert ": not significant" in none.more[0]


def short(*changes) -> str:
    """Return the short answer without elements."""
    return conclude(changes).short.striptags()


WORST = ": worst group of age (its macro-F1) +10.0 points (significant)"


def test_each_method_is_named_with_its_data_set_and_what_it_changed():
    other = change("other", "inconclusive", low=-1.0)
    assert short(change(), other) == (
        f"Fairer: DRO on mine{WORST}. Undecided (not significant, but a change is not excluded):"
        " other on mine."
    )
    mixed = [change("mixed"), change("mixed", gap=True)]
    same = change("same", "equivalent")
    assert short(*mixed, change("worse", gap=True), same) == (
        f"Less fair: worse on mine{WORST}. Fairer by one measure and less fair by another:"
        f" mixed on mine{WORST}. No change that matters: same on mine."
    )
    here = [change("both"), *(change(name)._replace(elsewhere=False) for name in ("both", "here"))]
    assert short(*here) == (
        f"Fairer: both on mine{WORST}. Fairer on these data, not shown for others: here on"
        f" mine{WORST}."
    )
    alone = change()._replace(alone=60.0)
    words = (
        f"Fairer, but no evidence that IIFR is the cause: DRO on mine{WORST}. The same method"
        " without IIFR: +10.0 points"
    )
    assert short(alone) == f"{words}."
    assert short(alone._replace(alone_varies=True)) == (
        f"{words}; its runs vary more, and it is not significant."
    )
    two = [change(), change(verdict="inconclusive")._replace(of="yours")]
    assert short(*two).endswith("change is not excluded): DRO on yours.")


def test_a_method_is_named_by_the_reason_why_no_change_is_known():
    untested = change(verdict="inconclusive")._replace(reason=ONE_SEED)
    words = "Undecided, as one run (seed) shows no variation between runs: DRO on mine"
    assert short(untested) == f"{words}."
    nothing = change(verdict="inconclusive")._replace(reason=CONSTANT)
    assert "significant; 1 cannot be judged, as a classifier predicts the same" in (
        conclude([nothing]).sentence
    )
    assert short(nothing, untested, nothing) == (
        f"{words} (in 1 of 3 comparisons). Cannot be judged (plain training, the"
        " method or both predict the same for every case): DRO on mine (in 2 of 3 comparisons)."
    )
    assert short(nothing._replace(reason=ONE_CONSTANT)) == short(nothing)


def test_many_methods_without_a_significant_change_are_counted():
    undecided = [change(f"u{number}", "inconclusive") for number in range(3)]
    constant = change("c", "inconclusive")._replace(reason=CONSTANT)
    assert short(*undecided).endswith(": u0 on mine; u1 on mine; u2 on mine.")
    assert short(*undecided, constant) == (
        "No change is significant. Not shown to help: u0, u1 and u2. Cannot be judged (these, or"
        " plain training, predict the same for every case): c. Not significant, by method and"
        " data set: undecided (3) and cannot be judged (1)."
    )
    assert short(change(), *undecided, constant).endswith(
        "(significant). Not shown to help: u0, u1 and u2. Cannot be judged (these, or plain"
        " training, predict the same for every case): c. Not significant, by method and data"
        " set: undecided (3) and cannot be judged (1)."
    )
    names = [f"variant {number}" for number in range(9)]
    long = [change(name, "inconclusive") for name in (*names, "DRO")]
    assert "help: DRO, variant 0, variant 1," in short(*long)
    assert "variant 6 and 2 others. Not significant, by" in short(*long)
    blind = change("MLP without the attribute", "inconclusive")  # its IFR_p is 100
    assert "help: u0, u1 and u2. " in short(*undecided, constant, blind)
    long[-1] = long[-1]._replace(of="yours")
    assert "help: variant 0," in short(change(), *long)  # not DRO, which helps elsewhere
    many = [change(f"m{number}") for number in range(5)]
    assert short(*many).endswith(f"m2 on mine{WORST}; and 2 more.")
    assert short(*many[:3]).endswith(f"m2 on mine{WORST}.")


def test_large_changes_that_are_not_confirmed_are_listed_by_direction():
    def undecided(method, difference):
        return change(method, "inconclusive", difference=difference)

    small, seed = undecided("small", 5.0), undecided("seed", 40.0)._replace(reason=ONE_SEED)
    nothing = undecided("nothing", 30.0)._replace(reason=ONE_CONSTANT)
    large = [undecided("a", 6.0), undecided("b", 8.0), undecided("c", 7.0), undecided("d", -9.0)]
    (words,) = unconfirmed([small, seed, nothing, *large, change()])
    assert words.striptags() == (
        "Large but not confirmed (not significant; a method can be in both lists, by different"
        " measures). Fairer: b on mine, worst group of age +8.0 points; c on mine,"
        " worst group of age +7.0 points. Less fair: d on mine, worst group of age −9.0 points."
    )
    assert words in conclude([change(), *large]).more
    assert unconfirmed([small, seed, nothing]) == []


def test_every_method_that_is_named_is_in_the_figure():
    worse = [change(f"w{number}", gap=True) for number in range(5)]
    better, undecided = [change("b0"), change("b1")], change("undecided", "inconclusive")
    names = checks.rows(conclude([*worse, undecided, *better]).figure, "name")
    assert names == [
        *(f"worst group of age ↓ w{number}" for number in range(3)),
        *(f"worst group of age ↑ b{number}" for number in range(2)),
    ]
    # the change that it is named for
    for other in (change(gap=True), change(gap=True, verdict="below")._replace(alone=50.0)):
        figure = conclude([other, change()]).figure
        assert checks.rows(figure, "name") == ["worst group of age ↑ DRO"]


def test_without_comparisons_nothing_is_shown():
    assert conclude([]).sentence == "No method was compared with plain training."


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ({}, {"alone": 55.0}, "; without IIFR the method reaches 55.0."),
        ({}, {"alone": 60.0}, "reaches 60.0, so there is no evidence that IIFR adds anything."),
        (
            {},
            {"elsewhere": False},
            "runs on these data; other data were not tested).",
        ),
        ({}, {"elsewhere": True}, " to 15.0)."),
        ({}, {"seeds": 3, "few_seeds": True}, " to 15.0; both with the same 3 seeds only)."),
        ({"gap": True}, {}, "to 60.0, which is less fair ("),
        ({"verdict": "inconclusive"}, {}, "to 60.0 (+10.0 points"),
        (
            {"verdict": "inconclusive"},
            {"reason": CONSTANT},
            f": worst group of <bdi>age</bdi> (its macro-F1) cannot be judged, as {CONSTANT}.",
        ),
        (
            {},
            {"decisions": (13.34, 1.6)},
            "15.0); the decisions that change with the attribute alone: 13.3 % → 1.6 % (not"
            " significant after adjustment).",
        ),
        ({}, {"decisions": (13.3, 1.6), "decisions_differ": True}, "1.6 % (significant)."),
        ({}, {"decisions": (13.3, 1.6), "decisions_p": 0.0504}, "after adjustment, p 0.0504)."),
        ({"verdict": "inconclusive"}, {"reason": "why"}, ": not significant, as why."),
        ({"verdict": "inconclusive"}, {}, ": not significant after adjustment for all tests"),
        ({"difference": 0.0, "verdict": "equivalent"}, {}, "from 50.0 to 50.0 (0.0 points"),
    ],
)
def test_a_change_states_its_direction_and_why_it_is_not_significant(given, more, words):
    assert words in change(**given)._replace(**more).words
