"""Findings follow the numbers."""

import pytest

from evenhand.individual.names import titles_of
from evenhand.individual.tables import findings
from unit.individual.made_study import run, study
from unit.learning.made_tables import table

LOSS = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 0.8}


def found(rows, people=None):
    """The findings by name."""
    return {row["finding"]: row for row in findings.rows(study(rows, people))}


def collapsing(**iifr):
    """Eight seeds of the MLP, of IIFR with measures by seed, and of the MLP without attribute."""
    rows = []
    for s in range(8):
        noise = {"positive_rate": 0.2 + 0.001 * (s % 3), "ifr_p": 60.0 + s % 2}
        rows.append(run(seed=s, balanced_acc=77.0 + 0.1 * (s % 4), **noise))
        rows.append(run(seed=s, **LOSS, **{name: value(s) for name, value in iifr.items()}))
        rows.append(run(seed=s, **LOSS | {"lambda": 0.1}))
        rows.append(run(seed=s, method="mlp_without_attribute", ifr_p=100.0, balanced_acc=76.0))
    return rows


def test_a_gain_by_predicting_one_class():
    by_name = found(
        collapsing(
            positive_rate=lambda s: 0.005 + 0.0001 * (s % 5),
            ifr_p=lambda s: 80.0 + s % 3,
            balanced_acc=lambda s: 55.0,
        )
    )
    gain = by_name["gain_with_fewer_positives"]
    assert gain["holds"] is True and gain["sentence"].startswith(
        "The gain of IIFR on cosine pairs comes"
    )
    words = "IFR_p rises from 60.5 to 80.9 (+20.4, significant), the share of positive predictions"
    words += " falls from 20.1"
    assert words in gain["sentence"]
    blind = by_name["without_attribute_beats_iifr"]
    assert (
        blind["holds"] is True
        and "IFR_p of 100.0, the MLP with IIFR on cosine pairs 80.9" in blind["sentence"]
    )
    assert (
        "76.0 without the attribute and 55.0 with IIFR (the 95 % intervals do not"
        in blind["sentence"]
    )
    cliff = by_name["one_class_from_lambda"]
    assert cliff["holds"] is True and "(under 1 %) at lambda 1," in cliff["sentence"]
    assert {"headline_blind_fairer", "headline_fewer_positives"} <= by_name.keys()
    assert "counterfactual_pairs" not in by_name


def test_findings_turn_with_the_numbers():
    by_name = found(
        collapsing(
            positive_rate=lambda s: 0.2 + 0.001 * ((s + 1) % 3),
            ifr_p=lambda s: 80.0 + s % 3,
            balanced_acc=lambda s: 77.0 + 0.1 * (s % 3),
        )
    )
    gain = by_name["gain_with_fewer_positives"]
    assert gain["holds"] is False and "(not significant after adjustment)" in gain["sentence"]
    assert by_name["one_class_from_lambda"]["holds"] is False
    assert "headline_other_gain" in by_name and "headline_no_gain" not in by_name


def test_a_gain_with_more_positive_predictions():
    rates = {"positive_rate": lambda s: 0.4 + 0.001 * (s % 2), "ifr_p": lambda s: 80.0 + s % 3}
    gain = found(collapsing(**rates))["gain_with_fewer_positives"]
    assert (
        gain["holds"] is False
        and "(not significant after adjustment)" not in gain["sentence"].split(", and")[0]
    )


def test_no_gain_is_reported_where_there_is_none():
    by_name = found(collapsing(ifr_p=lambda s: 30.0 + s % 3))
    assert by_name["headline_no_gain"]["sentence"] == (
        "On Adult, IIFR on cosine pairs shows no gain: at its weight λ 1, IFR_p falls from 60.5 to"
        " 30.9 (−29.6, significant)."
    )
    assert not {"headline_other_gain", "headline_fewer_positives"} & by_name.keys()


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        (
            lambda s: 75.9 + s % 2,
            "balanced accuracy is 76.0 without the attribute and 76.4 with IIFR.",
        ),
        (lambda s: 77.0 + s % 2, "77.5 with IIFR (the 95 % intervals do not overlap)."),
    ],
)
def test_a_higher_mean_alone_is_not_called_higher(accuracy, words):
    by_name = found(collapsing(balanced_acc=accuracy))
    assert words in by_name["without_attribute_beats_iifr"]["sentence"]


def test_adversaries_are_lower_higher_or_not_significantly_different():
    def test(method, difference, p):
        numbers = {"against_mean": 60.0, "mean": 60 + difference, "difference": difference}
        names = {"method": method, "individual": "none", "metric": "ifr_p", "against": "mlp"}
        return names | numbers | {"choice": "named", "p_adjusted": p}

    tests = [test("alfr", -9, 0.01), test("cfair", -1, 0.6), test("laftr_dp", 9, 0.01)]
    every = findings.Rows("D", [], [], [], [*tests, test("cfair_eo", 1, None)])
    facts = findings.adversaries(every)
    assert facts["holds"] is False
    assert [[row["method"] for row in facts[kind]] for kind in ("lower", "higher", "unclear")] == [
        ["alfr"], ["laftr_dp"], ["cfair", "cfair_eo"]
    ]  # fmt: skip
    assert findings.adversaries(findings.Rows("D", [], [], [], tests[:1]))["holds"] is True
    assert findings.adversaries(findings.Rows("D", [], [], [], [])) is None
    rows = [run(seed=s, ifr_p=60.0 + s) for s in range(4)]
    rows += [run(seed=s, method="alfr", mu=4.0, ifr_p=40.0 + s + s % 2 / 9) for s in range(4)]
    rows += [run(seed=s, method="cfair", mu=4.0, ifr_p=60.0 + 3 * (s % 2)) for s in range(4)]
    assert found(rows)["adversaries_less_fair"]["sentence"] == (
        "Adversarial models without IIFR, by IFR_p (MLP: 61.5): significantly lower: ALFR (41.6);"
        " CFAIR (full) (61.5) does not differ significantly from the MLP."
    )


def test_a_cell_that_two_tables_print_counts_once():
    rows = [run(seed=s) for s in range(2)]
    rows += [run(seed=s, **LOSS | {"epsilon": e}) for s in range(2) for e in (0.75, 0.8)]
    by_name = found(rows)
    # Table 4 and 7 have the MLP and IIFR at 0.8 (12 cells), and Table 8 these and 0.75 (6 more);
    # Table 6 has 4 more
    assert by_name["headline_cells"]["sentence"].startswith("Of 22 cells of the paper")
    eight = by_name["reproduced_table_8"]["sentence"]
    assert eight.startswith("Of 18 cells of Table 8 that could be judged, 3 lie ")
    assert eight.endswith("18 cells could not be judged.")


def test_settings_that_nobody_named_are_described():
    other = {"dataset": "loans", "individual": "iifr_cosine", "epsilon": 0.6}
    rows = []
    for s in range(2):
        rows.append(run(seed=s, dataset="loans"))
        rows += [run(seed=s, **other, **{"lambda": lam}) for lam in (0.3, 0.2)]
        rows += [run(seed=s, dataset="loans", method="alfr", mu=mu) for mu in (7.0, 3.0)]
        rows.append(run(seed=s, dataset="loans", method="mlp_without_attribute"))
        pairs = {"individual": "iifr_counterfactual", "lambda": 7.0, "ifr_p": 60.0 + s}
        rows.append(run(seed=s, dataset="loans", **pairs))
    sentences = {name: row["sentence"] for name, row in found(rows).items()}
    which = "IIFR on cosine pairs (lambda 0.3, epsilon 0.6, the first setting that was run)"
    assert which in sentences["gain_with_fewer_positives"]
    assert which in sentences["without_attribute_beats_iifr"]
    assert "(lambda 7, the first setting that was run)" in sentences["counterfactual_pairs"]
    assert "ALFR (mu 7, the first setting that was run: " in sentences["adversaries_less_fair"]
    assert "lambda from 0.2 to 0.3" in sentences["one_class_from_lambda"]


def test_a_front_names_few_methods():
    rows = [run(method=f"method_{n}", balanced_acc=50.0 + n, ddp=0.1 + n / 100) for n in range(8)]
    rows += [run(method="method_7", mu=1.0, balanced_acc=60.0, ddp=0.4)]
    by_name = found([*rows, run(method="off", balanced_acc=0.0, ddp=0.9)])
    sentence = by_name["front_ddp"]["sentence"]
    assert "of 10 in all: method 7 (2), method 0 (1), " in sentence
    assert (
        "balanced accuracy and dDP, of 10" in sentence and "method 3 (1) and 3 others" in sentence
    )
    assert sentence.endswith("and 3 others. Off has none.")


def test_what_is_printed_alike_is_unchanged():
    rows = [run(seed=s, acc=84.60 + s / 100, ddp=0.1 + s / 1000) for s in range(4)]
    pairs = {"individual": "iifr_counterfactual", "lambda": 0.1}
    for s in range(4):
        pair = {"acc": 84.61 + s / 90, "ifr_p": 90.0 + s % 2, "ddp": 0.1 + s / 500}
        rows += [run(seed=s, **pairs, **pair, ifr_b=98.0 + s % 2)]
    pairs = found(rows)["counterfactual_pairs"]
    assert pairs["holds"] is True
    assert pairs["sentence"] == (
        "With IIFR on counterfactual pairs (lambda 0.1), IFR_p rises from 50.0 to 90.5 (+40.5,"
        " significant), the share of decisions that change with the attribute falls from 50.0 to"
        " 1.5 % (−48.5, significant), accuracy is unchanged at 84.6 and"
        " dDP (difference of the groups’ shares of positive"
        " predictions) rises from 10.2 to 10.3 points (not significant after"
        " adjustment)."
    )


def test_lost_runs_are_counted_with_their_reason():
    why = "the test part of the split of seed 2 has nobody with group = c"
    lost = {"dataset": "loans", "seed": 2, "diverged": True}
    rows = [run(seed=s, dataset="loans", ifr_p=50.0 + s) for s in (0, 1)]
    rows += [run(**lost, reason=why), run(**lost | {"seed": 3})]
    rows += [run(**lost, method="alfr", mu=4.0, reason=why)]
    by_name = found(rows)
    assert by_name["runs_not_made"]["sentence"] == (
        f"2 of 5 runs could not be made and are in no mean: {why}."
    )
    assert by_name["diverged_runs"]["sentence"] == "1 of 5 runs diverged and is in no mean."
    alone = found([run(diverged=True)])
    assert set(alone) == {"diverged_runs"}  # nothing is concluded from nothing
    assert alone["diverged_runs"]["sentence"] == "1 of 1 run diverged and is in no mean."


@pytest.mark.parametrize(("dataset", "paper"), [("adult", True), ("loans", False)])
def test_the_paper_reports_one_run_of_its_own_data_sets(dataset, paper):
    by_name = found([run(seed=s, dataset=dataset, ifr_p=50.0 + s) for s in range(3)])
    sentence = by_name["noise_of_runs"]["sentence"]
    assert sentence.startswith("Single runs of the MLP differ in IFR_p with a standard deviation")
    assert "1.0 points (3 seeds)" in sentence
    assert ("the paper reports one run" in sentence) is paper


def test_headlines_use_the_titles_of_the_data_sets():
    made = table(name="x")
    made.meta["title"] = "Y Z"
    rows = [run(seed=s, dataset="x", ifr_p=50.0 - s) for s in range(2)]
    rows += [run(seed=s, dataset="x", **LOSS) for s in range(2)]
    sentence = found(rows, {"x": made})["headline_other_gain"]["sentence"]
    assert sentence.startswith("On Y Z, we found no evidence")


def test_titles_that_two_data_sets_share():
    names = {"by_age": "Loans", "by_sex": "Loans", "adult": "Census", "plain": ""}
    documents = [{"name": name, "meta": {"title": title}} for name, title in names.items()]
    assert titles_of(documents) == {
        "by_age": "Loans (by_age)",
        "by_sex": "Loans (by_sex)",
        "adult": "Census",
        "plain": "plain",
    }


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"left_out": 3, "filled": 0}, "3 of 9 rows were left out because a cell is blank."),
        ({"filled": 1, "policy": "category"}, "1 blank cell of features was taken as a value."),
        ({"left_out": 2, "filled": 5}, "blank, and 5 blank cells of features were filled in."),
    ],
)
def test_blank_cells_are_stated_by_what_became_of_them(facts, words):
    facts = {"title": "T", "rows": 9, "left_out": 0, "policy": "impute"} | facts
    sentence = findings._say("missing_rows", facts)
    assert sentence.startswith("On T, ") and sentence.endswith(words)
