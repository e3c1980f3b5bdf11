import json
from pathlib import Path

import pytest

from evenhand.core.tables import write_tables
from evenhand.individual.tables import grid, tests
from evenhand.learning import objectives
from evenhand.learning.objective import REMOVES, load_objective
from evenhand.legal.classifier_tables import attribute_leakage
from evenhand.legal.classifier_tables import tests as of_texts
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_CONSTANT, ONE_SEED
from evenhand.predictions.tables import gaps, groups
from evenhand.report.headlines.mitigation import (
    REFITTED,
    REMOVAL,
    Change,
    answers,
    by_kind,
    by_method,
    compare_weights,
    conclude,
    describe,
    equal_methods,
    find_changes,
    find_gaps,
    on_gaps,
    unconfirmed,
)
from evenhand.report.study import Study
from unit.report import checks
from unit.report.headlines.kept import check_kept

#: A row of the tests of texts.
BLANK = dict.fromkeys(of_texts.TABLE.header) | {"trained_for": "none"}


def change(method: str, difference: float, verdict: str) -> Change:
    ends = (difference - 1, difference + 1)
    return Change(method, "mine", "ddp", "t.csv", True, 9, 9 + difference, difference, *ends, 2,
                  verdict)  # fmt: skip


def test_the_significant_changes_of_each_method_are_counted_by_direction():
    changes = [
        change("b", -5, "below"),
        change("a", 4, "above"),
        change("b", 3, "above"),
        change("b", -3, "below"),
        change("b", 0.5, "inconclusive"),
    ]
    b, a = by_method(changes)
    assert [b[key] for key in ("method", "comparisons", "better", "worse")] == ["b", 4, 2, 1]
    assert [a[key] for key in ("method", "comparisons", "better", "worse")] == ["a", 1, 0, 1]
    assert b["clearest"] == changes[0]


def test_a_single_data_set_is_named_once():
    one, two = change("a", 4, "above"), change("b", 3, "above")
    found = conclude([one, two])
    assert found.caption.startswith("<bdi>mine</bdi>. ↑: higher")
    assert "dDP (spread of the groups’ shares of positive predictions)" in found.more[0]
    assert checks.rows(found.figure, "name") == ["dDP ↓ a", "dDP ↓ b"]
    found = conclude([one, two._replace(of="yours")])
    assert found.caption.startswith("↑: higher")
    assert checks.rows(found.figure, "name") == ["mine, dDP ↓ a", "yours, dDP ↓ b"]


def test_each_attribute_with_a_significant_change_is_named():
    changes = [change(f"m{n}", 9 - n, "above")._replace(of="loans (age)") for n in range(5)]
    changes += [change("m0", 3, "above")._replace(of=f"loans ({name})") for name in "bcd"]
    found = conclude(changes)
    (answer,) = answers(by_kind(by_method(changes)))
    for name in ("age", *"bcd"):
        assert f"loans ({name})" in answer and any(f"loans ({name})" in one for one in found.more)
    assert "m1" not in answer and answer.endswith("; and 4 more.") and len(found.more) == 4
    unclear = conclude([each._replace(verdict="inconclusive") for each in changes])
    assert sum("changes dDP" in words for words in unclear.more) == 3


def test_a_method_without_a_significant_change_shows_both_directions():
    changes = [change("a", 3, "inconclusive"), change("a", 2, "inconclusive")]
    assert by_method(changes)[0]["opposite"] is None
    changes.append(change("a", -1, "inconclusive"))
    assert by_method(changes)[0]["opposite"] is changes[2]
    changes.insert(0, change("a", 5, "above"))
    assert by_method(changes)[0]["opposite"] is None


@pytest.mark.parametrize(("alone", "advised"), [(None, True), (61, True), (58, False)])
def test_more_runs_are_advised_of_a_method_whose_loss_may_add_something(alone, advised):
    undecided = change("a", -4, "inconclusive")._replace(further=3)
    gained = change("a", -9, "below")._replace(after=60, alone=alone)
    assert gained.gap and bool(conclude([gained, undecided]).next) is advised


def loss(name, weight, mean):
    """A row of the grid: IFR_p of the plain network with an individual loss."""
    row = {"dataset": "d", "method": "mlp", "individual": name, "lambda": weight, "mean": mean}
    return row | {"metric": "ifr_p", "split": "random"}


def test_individual_losses_are_compared_at_the_largest_weight_that_all_have(tmp_path):
    rows = [
        loss("none", 0, 9), loss("iifr_cosine", 0.1, 60), loss("iifr_cosine", 1, 50),
        loss("iifr_counterfactual", 0.1, 85), loss("iifr_counterfactual", 1, 97.6),
        loss("iifr_counterfactual", 4, 99),
    ]  # fmt: skip
    write_tables(tmp_path, [(grid.TABLE, rows)])
    words = compare_weights([tmp_path])
    assert words.files == ("tables/individual/grid.csv",)
    assert words == (
        "IFR_p depends on the weight λ of the individual loss, so compare losses at the same λ:"
        " at λ 1, IFR_p of the plain network is"
        " 50.0 with <bdi>IIFR on cosine pairs</bdi> and 97.6 with"
        " <bdi>IIFR on counterfactual pairs</bdi>."
    )
    write_tables(tmp_path, [(grid.TABLE, rows[:3])])
    assert compare_weights([tmp_path]) == ""


def test_a_change_of_people_has_its_decisions_and_what_the_loss_adds(tmp_path):
    def row(individual, metric, verdict, reach, difference, **values):
        ends = {"difference_low": difference - reach, "difference_high": difference + reach}
        names = {"dataset": "d", "method": "cfair", "individual": individual, "metric": metric}
        numbers = {"mean": 60 + difference, "against_mean": 60, "difference": difference}
        same = dict.fromkeys(tests.TABLE.header) | {"against": "mlp", "lambda": 0.1, "delta": 5}
        same |= {"mu": 4, "js_base": "e", "split": "random", "verdict": verdict}
        return same | names | numbers | ends | values

    def found(*rows):
        write_tables(tmp_path, [(tests.TABLE, rows)])
        changes = find_changes([], [tmp_path], [], {})
        return next(change for change in changes if "IIFR" in change.method)

    loss = row("iifr_cosine", "ifr_p", "above", 2, 10)
    alone = row("none", "ifr_p", "inconclusive", 9, 11, **{"lambda": 0})
    flip = row("iifr_cosine", "ifr_b", "inconclusive", 9, 11)
    change = found(loss, alone, flip)
    assert change.decisions == (40, 29) and not change.decisions_differ and change.alone_varies
    assert found(loss, flip | {"verdict": "above"}).decisions_differ
    assert found(loss).decisions is None and not found(loss).alone_varies
    others = [{"verdict": "above"}, {"difference_low": None}, {"mu": 9}, {"metric": "ddp"}]
    others += [{"difference_low": 10, "difference_high": 13}, {"against": "none"}]
    assert not any(found(loss, alone | other).alone_varies for other in others)


def worst(method="DRO", verdict="above", difference=10.0, *, gap=False, **more):
    """A change of the worst group, from 50."""
    made = Change(
        method, "mine", "worst", "tables/classifiers/mine/tests.csv", gap, 50.0,
        50.0 + difference, difference, 5.0, 15.0, delta=5.0, verdict=verdict, attribute="age",
        tests=7,
    )  # fmt: skip
    return made._replace(**more)


def undecided(method="DRO", difference=10.0, **more):
    return worst(method, "inconclusive", difference, **more)


UNDECIDED = [undecided(f"u{number}") for number in range(3)]
SEED, NOTHING = undecided(reason=ONE_SEED), undecided(reason=CONSTANT)
BLIND = undecided("MLP without the attribute")  # its IFR_p is 100
MANY = [undecided(name) for name in (*(f"variant {number}" for number in range(9)), "DRO")]
WORSE = [worst(f"w{number}", gap=True) for number in range(5)]
LARGE = [undecided(n, points) for n, points in {"a": 6.0, "b": 8.0, "c": 7.0, "d": -9.0}.items()]


def gap(measure, verdict="below", method="DRO", **more):
    """A change of a gap of rates that a finding on plain training names."""
    same = {"measure": measure, "label": "surgeon", "gap": True, "is_named": True}
    return worst(method, verdict, **(same | {"before": 50.0, "difference": -10.0} | more))


def raised(measure="fpr", **more):
    """An undecided rise of a gap of rates, with an interval above 0."""
    same = {"before": 5.0, "after": 15.0, "difference": 10.0, "lacks": "seeds", "seeds": 3}
    same |= {"is_named": False}
    return gap(measure, **({"verdict": "inconclusive"} | same | more))


#: Changes, of which all that is concluded is kept.
CONCLUDED = {
    "nothing was compared": [],
    "a rise is fairer, and less fair where it is of a gap": [
        worst(), worst(gap=True), undecided(), worst("other", "below"),
    ],
    "the clearest comes first": [worst(), undecided(low=-1.0)],
    "none is significant: the next step is on the largest change, with the fewest seeds": [
        *(undecided(low=None, further=n) for n in (9, 2)),
        undecided("smaller", 7.0, low=None, further=1),
        undecided("harmful", -6.0, low=None, further=1),
    ],
    "many are of one seed": [undecided(f"m{n}", reason=ONE_SEED) for n in range(6)],
    "one is undecided": [worst(), undecided("other", low=-1.0)],
    "less fair, mixed and the same": [
        worst("mixed"), worst("mixed", gap=True), worst("worse", gap=True),
        worst("same", "equivalent"),
    ],
    "shown on these data only": [
        worst("both"), *(worst(name, elsewhere=False) for name in ("both", "here")),
    ],
    "without the loss the same": [worst(alone=60.0)],
    "without the loss the same, and it varies": [worst(alone=60.0, alone_varies=True)],
    "a gap, and a gap that falls without the loss too": [
        worst(gap=True), worst(gap=True, verdict="below", alone=50.0), worst(),
    ],
    "undecided on other data": [worst(), undecided(of="yours")],
    "one seed": [SEED],
    "nothing can be judged": [NOTHING],
    "nothing can be judged of one side": [undecided(reason=ONE_CONSTANT)],
    "one seed, and nothing": [NOTHING, SEED, NOTHING],
    "three undecided": UNDECIDED,
    "and one that cannot be judged": [*UNDECIDED, undecided("c", reason=CONSTANT)],
    "and one that is fairer": [worst(), *UNDECIDED, undecided("c", reason=CONSTANT)],
    "the blind network is not named": [*UNDECIDED, undecided("c", reason=CONSTANT), BLIND],
    "many undecided": MANY,
    "a method that helps elsewhere is not among them": [
        worst(), *MANY[:-1], MANY[-1]._replace(of="yours"),
    ],
    "many that are fairer": [worst(f"m{number}") for number in range(5)],
    "three that are fairer": [worst(f"m{number}") for number in range(3)],
    "every method that is named is in the figure": [*WORSE, undecided(), worst("b0"), worst("b1")],
    "large but not confirmed": [worst(), *LARGE],
    "the gaps that the findings name come first, the largest of them": [
        worst(), gap("tpr", before=20.0), gap("selection_rate"),
        gap("fpr", verdict="inconclusive", lacks="seeds", seeds=3, before=30.0),
        gap("fpr", method="other", verdict="equivalent"),
        gap("tpr", attribute="sex", reason=CONSTANT),
    ],
    "a gap of the same attribute that is clearly worse is beside one that is fairer": [
        gap("selection_rate"), *(raised(measure="tpr", method=name) for name in ("DRO", "other")),
        raised(attribute="sex"), raised(difference=4.0), raised(low=-1.0), raised(gap=False),
        raised(reason=CONSTANT),
    ],
    "a significant one of another attribute too, and one that is named once": [
        gap("selection_rate"), gap("tpr", before=30.0, after=39.0, difference=9.0, verdict="above"),
        raised(verdict="above", attribute="sex", lacks=""),
    ],
    "small, of one seed or constant are not large": [
        undecided("small", 5.0), undecided("seed", 40.0, reason=ONE_SEED),
        undecided("nothing", 30.0, reason=ONE_CONSTANT),
    ],
}  # fmt: skip

#: Changes, of which the words are kept.
WORDED = [
    worst(alone=55.0),
    worst(alone=60.0),
    worst(elsewhere=False),
    worst(elsewhere=True),
    worst(seeds=3, few_seeds=True),
    worst(gap=True),
    undecided(),
    NOTHING,
    worst(decisions=(13.34, 1.6)),
    worst(decisions=(13.3, 1.6), decisions_differ=True),
    worst(decisions=(13.3, 1.6), decisions_p=0.0504),
    undecided(reason="why"),
    worst(verdict="equivalent", difference=0.0),
    worst("LAFTR", "below", -10.0, gap=True, measure="deo_1", attribute=""),
]


def test_what_is_concluded_of_changes_is_what_is_kept():
    found = {name: conclude(changes) for name, changes in CONCLUDED.items()}
    check_kept("mitigation", found, "## words", *(one.words for one in WORDED))


def test_as_many_gaps_are_drawn_as_are_stated():
    changes = [worst(), *(gap("tpr", attribute=name, before=ord(name)) for name in "abcde")]
    for most in (3, 6):
        headline = conclude(changes, gaps=most)
        stated = [words for words in headline.more if words.startswith("<b>Gap by")]
        drawn = [name for name in checks.rows(headline.figure, "name") if name.startswith("gap of")]
        assert len(stated) == len(drawn) == min(most, 5)
        assert drawn[0] == "gap of true positive rates of surgeon by e ↓ DRO"


def test_without_a_significant_change_the_answer_states_one_gap():
    several = [gap("tpr", "inconclusive", name) for name in ("DRO", "IRM", "LEACE", "JTT")]
    for significant, number in (([], 1), ([worst("V-REx")], 3)):
        assert conclude([*significant, *several]).short.count("<b>Gap by") == number


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("inconclusive", "No significant change, though one is not excluded"),
        ("equivalent", "No change that matters"),
    ],
)
def test_methods_without_a_significant_change_are_named_once(verdict, words):
    short = conclude([worst(f"m{number}", verdict) for number in range(4)]).short
    names = ", ".join(f"<bdi>m{number}</bdi>" for number in range(3))
    assert short == f"<b>{words}</b>: {names} and <bdi>m3</bdi>."


def test_changes_of_gaps_that_matter_are_stated_first():
    """Before larger gaps that trainings for others do not change, or that labels may explain."""
    same = {"verdict": "equivalent", "difference": 0.1}
    changes = [
        gap("tpr", attribute="age", before=90.0, trained_for="student", **same),
        gap("selection_rate", attribute="job", before=80.0, is_explained=True, **same),
        gap("fpr", attribute="town", before=70.0, **same),
        gap("tpr", attribute="sex", before=20.0),
    ]
    first, second, third, rest = on_gaps(changes)
    assert "by <bdi>sex</bdi>" in first and "by <bdi>town</bdi>" in second
    assert "by <bdi>job</bdi> under plain training</b> (unlike labels may explain it)" in third
    assert rest.startswith(
        "1 further training for other attributes changes no gap of plain training"
    )
    assert len(on_gaps(changes, brief=True)) == 3
    # a change that is significant, whatever the method was trained for, but after its aim
    other = gap("tpr", attribute="age", trained_for="student", refitted=True, before=90.0)
    assert "by <bdi>age</bdi>" in on_gaps([other])[0]
    aim = gap("fpr", "inconclusive", attribute="student", difference=-9.0, low=None)
    first, second = on_gaps([other, aim])
    assert "by <bdi>student</bdi>" in first and "by <bdi>age</bdi>" in second
    assert "significant, but perhaps by the new last layer alone)" in second
    worse = other._replace(verdict="above", difference=9.0)
    headline = conclude([other, aim])
    assert first in headline.main and headline.main.startswith(headline.sentence)
    assert (
        "</bdi>: by the attribute that it was trained for, gap of false positive rates of"
        " <bdi>surgeon</bdi> by <bdi>student</bdi> (highest minus lowest group) −9.0 points (not"
        " significant); by another, gap of true positive rates of"
    ) in headline.short
    assert "(significant, but perhaps by the new last layer alone)" in headline.short
    assert "Gap by <bdi>student" not in headline.short  # it is stated
    lacking = aim._replace(lacks="seeds", seeds=3)
    for changes, heading, clause in [
        ([worse, lacking], "Less fair by an attribute that it was not trained for", "(fairer, sig"),
        ([worse, worse._replace(trained_for="")], "Less fair", "; by another, "),
    ]:
        short = conclude(changes).short
        assert f"<b>{heading}</b>: <bdi>DRO</bdi> on <bdi>mine</bdi>: by the attr" in short
        assert clause in short
    found = conclude([worse, worse._replace(label="nurse"), worst()]).sentence
    assert "(1 fairer, 2 less fair, the 2 less fair ones perhaps by a new last layer" in found
    found = conclude([worse, worst("IRM", gap=True)]).sentence
    assert "(0 fairer, 2 less fair, 1 of the less fair ones perhaps by a new last" in found


def test_the_gaps_of_plain_training_are_those_of_its_audit(tmp_path):
    row = BLANK | {"classifier": "linear", "attribute": "age"}
    row |= {
        "objective": "dro",
        "erm": 40,
        "value": 30,
        "difference": -10,
        "verdict": "below",
        "delta": 5,
    }
    rows = [row | {"measure": name, "label": "x"} for name in ("tpr", "fpr")]
    folder = tmp_path / "tables/classifiers/d"
    write_tables(folder, [(of_texts.TABLE, rows)])
    files = [folder]
    found = [("erm", "tpr", "above"), ("erm", "fpr", "inconclusive"), ("dro", "fpr", "above")]
    for number, (objective, metric, verdict) in enumerate(found):
        trained = {"dataset": "d", "classifier": "linear", "objective": objective}
        meta = tmp_path / f"predictions/p{number}/meta.json"
        meta.parent.mkdir(parents=True)
        meta.write_text(json.dumps({"trained": trained}))
        named = {"attribute": "age", "metric": metric, "verdict": verdict}
        named |= {"gap": 0.4, "noise_95": 0.1, "p_adjusted": 0.01}
        tables = tmp_path / f"tables/predictions/p{number}"
        write_tables(tables, [(gaps.TABLE, [dict.fromkeys(gaps.TABLE.header) | named])])
        files += [meta, tables]
    [statement, *_] = describe(Study(files)).more
    assert statement.startswith("<b>Gap by <bdi>age</bdi> under plain training</b>: ")
    assert "true positive rates of <bdi>x</bdi> goes from 40.0 to 30.0 points" in statement
    assert "false positive" not in statement
    # predictions that were made elsewhere name no training
    meta.write_text(json.dumps({}))
    assert describe(Study(files[:1] + files[-2:])).more[0].startswith("<bdi>dro</bdi>")


CASES, SEEDS = {"low": 4, "high": 16}, {"seeds_low": -3, "seeds_high": 23}


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        (CASES | SEEDS, (-3, 23, "seeds")),
        (CASES | {"seeds_low": 5, "seeds_high": 15}, (4, 16, "cases")),
        (CASES, (4, 16, "cases")),
        (SEEDS, (-3, 23, "seeds")),
    ],
)
def test_a_change_has_the_wider_interval_and_names_it(tmp_path, ends, shown):
    row = BLANK | {"classifier": "linear", "objective": "dro"}
    row |= {"measure": "worst", "attribute": "age", "erm": 40, "value": 50, "difference": 10}
    tested = [row | ends | {"delta": 5, "verdict": "above"}]
    write_tables(tmp_path, [(of_texts.TABLE, tested)])
    [change] = find_changes([tmp_path], [], [], {})
    assert (change.low, change.high, change.over) == shown
    low, high = (f"{end:.1f}".replace("-", "−") for end in shown[:2])
    assert f"+10.0 points, 95 % interval over {shown[2]} {low} to {high}" in change.words
    found = conclude([change])
    [drawn] = found.figure.to_dict()["data"]["values"]
    assert (drawn["low"], drawn["high"]) == shown[:2]
    assert "over seeds or, if it is wider, over cases" in str(found.figure.to_dict())


def test_an_interval_that_excludes_zero_without_significance_is_before_adjustment():
    for change in (gap("tpr", "inconclusive", lacks="seeds", seeds=3), undecided()):
        [statement] = [words for words in conclude([change]).more if "95 % interval" in words]
        assert "5.0 to 15.0 before adjustment" in statement
        assert "not over the 3 seeds after adjustment" in statement or (
            "not significant after adjustment for 7 tests" in statement
        )
    change = undecided(named_training="skills")  # which the first cell of its row names
    assert "5.0 to 15.0 before adjustment): not significant after adj" in change.in_short
    assert "trained for" in change.words and "trained for" not in change.in_short
    changes = [worst(), change, change._replace(named_training="age")]
    [large] = [words for words in conclude(changes).more if "Large but not confirmed" in words]
    assert large.count("trained for <bdi>") == 2
    for other in (worst(), undecided(low=-1.0), undecided(reason=ONE_SEED), undecided(low=None)):
        assert "adjustment" not in other.words


def test_a_change_has_the_number_of_tests_of_its_adjustment(tmp_path):
    row = BLANK | {"classifier": "linear", "objective": "dro"}
    row |= {"difference": 9, "value": 49, "erm": 40, "delta": 5, "verdict": "inconclusive"}
    row |= {"p_cases_adjusted": 0.2, "trained_for": "none", "split": "test"}
    rows = [
        row | {"attribute": attribute, "measure": measure}
        for attribute in ("age", "sex")
        for measure in ("overall", "mean", "gd", "worst")
    ]  # without groups, the overall score of both attributes is one test
    write_tables(tmp_path, [(of_texts.TABLE, [*rows, row | {"p_cases_adjusted": None}])])
    changes = find_changes([tmp_path], [], [], {})
    assert [change.tests for change in changes] == [7] * 4

    row = dict.fromkeys(tests.TABLE.header) | {"dataset": "d", "method": "cfair", "lambda": 1}
    row |= {"individual": "none", "against": "mlp", "difference": 9, "mean": 49, "delta": 5}
    row |= {"against_mean": 40, "verdict": "inconclusive", "p_adjusted": 0.2}
    rows = [row | {"metric": metric} for metric in ("ifr_p", "ifr_b", "acc", "ddp")]
    write_tables(tmp_path, [(tests.TABLE, [*rows, row | {"dataset": "e", "metric": "ddp"}])])
    changes = find_changes([], [tmp_path], [], {})
    assert {(change.of, change.tests) for change in changes} == {("d", 4), ("e", 1)}
    measures = sorted(change.measure for change in changes if change.of == "d")
    assert measures == ["ddp", "ifr_b", "ifr_p"]
    assert not next(change for change in changes if change.measure == "ifr_b").gap


def test_changes_that_lack_seeds_alone_ask_for_more(tmp_path):
    def headline(*p_of_cases, **values):
        row = BLANK | {"classifier": "linear", "seeds": 2}
        row |= {"measure": "worst", "attribute": "age", "erm": 40, "delta": 5}
        row |= {"verdict": "inconclusive"} | values
        rows = [
            row | {"objective": f"o{n}", "difference": n, "value": 40 + n, "p_cases_adjusted": p}
            for n, p in enumerate(p_of_cases, 1)
        ]
        write_tables(tmp_path, [(of_texts.TABLE, rows)])
        return conclude(find_changes([tmp_path], [], [], {}))

    small = [undecided(f"s{n}", 6.0 - n, low=None, further=n) for n in (3, 2)]
    assert conclude(small).next.startswith("Train <bdi>s2</bdi> on <bdi>mine</bdi> with 2 more")
    asked = headline(0.04, 0.001, 0.05)
    assert asked.next.striptags().startswith("Train with more seeds (5 instead of 2): 2 changes")
    assert asked.next.striptags().endswith("The largest: o2 on " + tmp_path.name + ", linear, worst"
                                           " group of age +2.0 points.")  # fmt: skip
    assert ". 2 are significant over cases, but not over the 2 seeds (" in asked.sentence
    few = {"of": "a", "lacks": "seeds", "seeds": 3}
    several = [undecided(**few), undecided(of="b", lacks="both", seeds=6)]
    several += [undecided(**few), undecided(of="c", lacks="seeds", seeds=6)]
    several.append(undecided(of="d", lacks="cases", seeds=9))
    unlike = conclude(several)
    assert "3 are significant over cases, but not over the 3 or 6 seeds (" in unlike.sentence
    assert ("with more seeds (5 instead of 3 for <bdi>a</bdi>; 8 instead of 6 for <bdi>b</bdi> and "
            "<bdi>c</bdi>): ") in unlike.next  # fmt: skip
    fixed = headline(0.04, reason="they are one classifier")
    assert "age +1.0 points, where they are one classifier." in fixed.next.striptags()
    texts = "Test more texts, or name fewer attributes and objectives"
    over_cases = headline(0.105, p_seeds_adjusted=0.001)
    assert over_cases.next.startswith(f"{texts}: 1 change is significant over seeds, but not over")
    both = {"p_cases": 0.005, "p_seeds": 0.001}
    seeds = f"{texts}, and train with more seeds (5 instead of 2): 1 change is significant over "
    assert headline(0.105, **both).next.startswith(f"{seeds}cases and over seeds before adj")
    mixed = headline(0.04, 0.105, p_seeds_adjusted=0.001).next
    assert mixed.startswith(f"{seeds}seeds, but not over cases after adjustment; 1 is significant")
    turned = gap("fpr", verdict="inconclusive", turned=True, lacks="cases", seeds=3, low=None)
    (stated,) = on_gaps([turned])
    assert "the other way round, so that its size is known less well (" in stated
    assert "significant over the 3 seeds, but not over cases)" in stated
    for other in (headline(0.05), headline(None), headline(0.01, verdict="above")):
        assert other.next == "" and "over cases" not in other.sentence


def test_a_gap_by_an_attribute_that_the_method_was_not_trained_for_is_less_fair(tmp_path):
    row = BLANK | {"classifier": "linear", "objective": "leace"}
    row |= {"measure": "tpr", "label": "1", "low": 5, "high": 30, "seeds_low": 5, "seeds_high": 30}
    row |= {"trained_for": "age", "delta": 5, "seeds": 5, "erm": 20}
    overall = {"measure": "overall", "attribute": "age", "label": None}
    rows = [
        row | overall | {"value": 6, "difference": -14, "verdict": "below"},
        row | {"attribute": "age", "value": 2, "difference": -18, "verdict": "below"},
        row | {"attribute": "skills", "value": 38, "difference": 18, "verdict": "above"},
    ]
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    gaps = {(tmp_path.name, "linear", name, "tpr"): False for name in ("age", "skills")}
    changes = find_changes([tmp_path], [], [], {}, gaps)
    assert {change.attribute: change.trained_for for change in changes} == {
        "age": "",
        "skills": "age",
    }
    assert by_method(changes)[0]["trained"] == "age"
    found = conclude(changes)
    assert "(1 fairer, 1 less fair, which is perhaps by a new last layer alone)" in found.sentence
    assert found.short.startswith("2 of 2 comparisons are significant: 1 fairer, 1 less fair.<br> ")
    assert "Fairer by one measure and less fair by another" in found.short
    assert "under plain training</b>" not in found.short  # each gap is stated once
    assert "most frequent label" not in found.short + str(found.more)
    unlearned = conclude(find_changes([tmp_path], [], [], {}, gaps, {(tmp_path.name, "linear")}))
    for words in (unlearned.short, *unlearned.more[:2]):
        assert " (where plain training is not better than the most frequent label)" in words
    apart = conclude([change._replace(training=change.attribute) for change in changes])
    assert "by another" not in apart.short and "<b>Less fair</b>" in apart.short
    assert "macro-F1 over all cases −14.0 points (significant)" in found.short
    own = next(words for words in found.more if "Gap by <bdi>age</bdi>" in words)
    assert own.endswith("macro-F1 over all cases −14.0 points (significant).")
    assert "by <bdi>skills</bdi> (trained for <bdi>age</bdi>, with a new last layer)" in found.short
    study = Study([tmp_path / "tables/classifiers/d"])
    write_tables(study.files[0], [(of_texts.TABLE, rows), (attribute_leakage.TABLE, [])])
    [words] = describe(study).doubts
    assert words.startswith("<bdi>leace</bdi>: the last layer is fitted anew")
    other = {"verdict": "inconclusive", "attribute": "age", "trained_for": "skills"}
    unclear = [change._replace(**other) if change.trained_for else change for change in changes]
    unclear.sort(key=lambda change: not change.significant)
    assert "perhaps less fair" not in conclude(unclear).short  # that is another classifier
    rows[0] |= {"verdict": "inconclusive", "p_cases_adjusted": 0.01}
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    found = conclude(find_changes([tmp_path], [], [], {}, gaps))
    assert "macro-F1 over all cases −14.0 points (not significant over seeds)" in found.short
    other = next(words for words in found.more if "Gap by <bdi>skills</bdi>" in words)
    assert "<bdi>leace</bdi> (trained for <bdi>age</bdi>, with a new last layer) on" in other


@pytest.mark.parametrize("others", [["age"], ["skills", "age"]])
def test_the_trainings_of_a_method_for_several_attributes_have_names(tmp_path, others):
    row = BLANK | {"classifier": "linear", "objective": "leace", "measure": "worst", "erm": 20}
    row |= {"low": 5, "high": 30, "seeds_low": 5, "seeds_high": 30, "delta": 5, "seeds": 5}
    row |= {"value": 38, "difference": 18}
    rows = [
        row | {"trained_for": name, "attribute": name, "verdict": verdict}
        for name, verdict in zip(others, ("inconclusive", "above"), strict=False)
    ]
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    named = {
        True: "<bdi>leace</bdi> on",
        False: "<bdi>leace</bdi> (trained for <bdi>skills</bdi>) on",
    }
    short = conclude(find_changes([tmp_path], [], [], {})).short
    assert named[len(others) == 1] in short
    assert ("(trained for <bdi>age</bdi>)" in short) is (len(others) == 2)
    rows = [row | {"attribute": "age", "trained_for": name} for name in ("age", "age+skills")]
    write_tables(tmp_path, [(of_texts.TABLE, [each | {"verdict": "above"} for each in rows])])
    changes = find_changes([tmp_path], [], [], {})
    assert {each["trained"] for each in by_method(changes)} == {"age", "age × skills"}


def test_one_training_of_several_classifiers_counts_once(tmp_path):
    row = BLANK | {"measure": "worst", "erm": 20, "low": 5, "high": 30, "attribute": "age"}
    row |= {"seeds_low": 5, "seeds_high": 30, "delta": 5, "seeds": 5, "verdict": "above"}
    rows = [
        row | {"classifier": name, "objective": objective, "value": value, "difference": value - 20}
        for name, of_dro in (("linear", 38), ("balanced", 37))
        for objective, value in (("leace", 38), ("group_dro", of_dro))
    ]
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    changes = find_changes([tmp_path], [], [], {})
    of = f"{tmp_path.name}, "
    assert sorted((change.method, change.of) for change in changes) == [
        ("group_dro", of + "balanced"),
        ("group_dro", of + "linear"),
        ("leace", of + "linear and balanced (one training)"),
    ]
    assert "3 comparisons" in conclude(changes).sentence
    constant = [each | {"reason": CONSTANT} for each in rows]
    write_tables(tmp_path, [(of_texts.TABLE, constant)])
    assert len(find_changes([tmp_path], [], [], {})) == 4


@pytest.mark.parametrize(("p", "named"), [(0.01, True), (0.2, False)])
def test_a_small_cost_is_named_if_it_is_significant_over_cases(tmp_path, p, named):
    row = BLANK | {"classifier": "linear", "objective": "jtt", "trained_for": "none", "erm": 20}
    row |= {"low": 5, "high": 30, "seeds_low": -5, "seeds_high": 40, "delta": 5, "seeds": 5}
    row |= {"attribute": "age", "value": 38, "verdict": "inconclusive"}
    rows = [row | {"measure": "worst", "difference": 18}]
    rows.append(row | {"measure": "overall", "difference": -4, "p_cases_adjusted": p})
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    (words,) = unconfirmed(find_changes([tmp_path], [], [], {}))
    cost = "at the same time, macro-F1 over all cases −4.0 points (not significant over seeds)"
    assert (cost in words) == named


def test_methods_with_the_same_results_are_named():
    both = [worst(name) for name in ("DRO", "balanced batches")]
    both += [undecided(name, -3.0, measure="gd") for name in ("DRO", "balanced batches")]
    [words] = equal_methods([*both, worst("IRM")])
    assert "<bdi>DRO</bdi> and <bdi>balanced batches</bdi> have the same results" in words
    other = [*both[:-1], both[-1]._replace(after=both[-1].after + 0.1)]
    constant = [change._replace(reason=CONSTANT) for change in both]
    assert not [*equal_methods(other), *equal_methods(constant)]


def test_each_classifier_of_one_plain_training_has_its_gaps(tmp_path):
    files = []
    for name in ("linear", "balanced"):
        meta, tables = tmp_path / f"predictions/{name}/meta.json", tmp_path / "tables/predictions"
        meta.parent.mkdir(parents=True)
        trained = {"dataset": "mine", "classifier": name, "objective": "erm"}
        meta.write_text(json.dumps({"trained": trained}))
        row = {"attribute": "age", "metric": "tpr", "verdict": "above", "gap": 0.2}
        made = [(gaps.TABLE, [dict.fromkeys(gaps.TABLE.header) | row]), (groups.TABLE, [])]
        write_tables(tables / name, made)
        files += [meta, tables / name]
    names = {(classifier, metric) for _, classifier, _, metric in find_gaps(Study(files))}
    assert names == {("linear", "tpr"), ("balanced", "tpr")}


@pytest.mark.parametrize(("of_all", "fairer"), [(17, False), (30, False), (3, True), (-2, True)])
def test_a_worst_group_that_changes_as_all_cases_do_is_not_fairer(tmp_path, of_all, fairer):
    row = BLANK | {"classifier": "linear", "objective": "jtt", "trained_for": "none", "erm": 20}
    row |= {"low": 5, "high": 30, "seeds_low": 5, "seeds_high": 30, "delta": 5, "seeds": 5}
    row |= {"attribute": "age", "value": 38, "verdict": "above"}
    rows = [row | {"measure": "worst", "difference": 18}]
    rows.append(row | {"measure": "overall", "difference": of_all})
    write_tables(tmp_path, [(of_texts.TABLE, rows)])
    found = conclude(find_changes([tmp_path], [], [], {}))
    assert ("<b>Fairer</b>" in found.short) is fairer
    alike = "1 worst group changes as much as all cases together, which is no change of fairness"
    assert (alike in found.sentence) is not fairer
    assert (f"no more than all cases together ({of_all:+.1f})" in found.more[0]) is not fairer
    assert "Large but not confirmed" not in str(found.more) and not found.next


def test_a_plain_classifier_that_has_not_learned_is_named(tmp_path):
    metas = []
    for name, objective, share in (("a", "erm", 0.5), ("b", "erm", 0.4), ("c", "group_dro", 0.5)):
        metas.append(tmp_path / "predictions" / name / "meta.json")
        metas[-1].parent.mkdir(parents=True)
        trained = {"dataset": "mine", "classifier": name, "objective": objective}
        metas[-1].write_text(json.dumps({"trained": trained, "majority": share}))
        every = {"attribute": "all", "group": "all", "metric": "accuracy"}
        every |= {"value": 0.52, "low": 0.45, "high": 0.59}
        row = dict.fromkeys(groups.TABLE.header) | every
        tables = [(groups.TABLE, [row]), (gaps.TABLE, [])]
        write_tables(tmp_path / "tables/predictions" / name, tables)
    folders = sorted((tmp_path / "tables/predictions").iterdir())
    [words] = describe(Study([*metas, *folders])).doubts
    assert words.startswith("<bdi>mine, a</bdi>, plain training: the accuracy of this classifier")


@pytest.mark.parametrize(
    ("change", "named"),
    [({}, True), ({"score_low": 41}, False), ({"objective": "dfr"}, False),
     ({"attribute": "sex"}, False), ({"chance": 45}, False), ({"read_from": "logits"}, False)],
)  # fmt: skip
def test_an_attribute_that_removal_leaves_readable_is_named(tmp_path, change, named):
    row = {"classifier": "linear", "objective": "leace", "trained_for": "age", "attribute": "age"}
    row |= {"read_from": "features", "probe": "linear", "chance": 33, "from_labels": 42}
    row |= {"score": 50, "score_low": 44, "score_high": 56}
    row = dict.fromkeys(attribute_leakage.TABLE.header) | row | change
    folder = tmp_path / "tables/classifiers/d"
    tables = [(attribute_leakage.TABLE, [row, row | {"classifier": "b"}]), (of_texts.TABLE, [])]
    write_tables(folder, tables)
    doubts = describe(Study([folder])).doubts
    assert all(words.startswith("<bdi>d, linear and b (one training)</bdi>") for words in doubts)
    assert [("<bdi>age</bdi> from the features" in words) for words in doubts] == [True] * named


def test_the_objectives_that_remove_an_attribute_are_those_whose_aim_it_is():
    names = {path.stem for path in Path(objectives.__file__).parent.glob("[a-z]*.py")}
    assert {name for name in names if load_objective(name).AIM in REMOVES} == {*REMOVAL}
    assert {name for name in names if load_objective(name).last_layer} == {*REFITTED}
