"""The paper's tables: which settings are reported, and the verdicts."""

import math
import re

import pytest

from evenhand.errors import InputError
from evenhand.individual.published import number, read_settings
from evenhand.individual.reproduction import judge
from evenhand.individual.results import SETTING, by_setting, summarise
from evenhand.individual.study import reported_settings
from evenhand.individual.tables import table_4, table_6, table_7, table_8, tests
from unit.cases import load_cases, read_csv
from unit.individual.made_study import FACTS, RESOURCES, find, run, study

CASES = load_cases(__file__)


def test_interval_over_seeds_by_hand():
    # mean 52, sd 1, t(2) = 4.3027: 52 +- 4.3027 / sqrt(3)
    found = summarise([51.0, 52.0, 53.0], 100.0)
    assert (found["mean"], found["sd"], found["seeds"]) == (52.0, 1.0, 3)
    assert found["high"] - 52 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert found["low"] == pytest.approx(104 - found["high"])
    blank = dict.fromkeys(("mean", "sd", "low", "high"))
    assert summarise([], 1.0) == blank | {"seeds": 0}
    assert summarise([3.0], 100.0) == blank | {"mean": 3.0, "seeds": 1}
    # no end is outside the scale
    assert summarise([99.0, 100.0], 100.0)["high"] == 100.0
    assert summarise([0.0, 0.1], 1.0)["low"] == 0.0


@pytest.mark.parametrize(("paper", "summary", "lost", "verdict", "reason"), CASES["verdicts"])
def test_verdicts(paper, summary, lost, verdict, reason):
    found = judge(number(paper) if paper else None, summary, None, *lost)
    assert found[0] == verdict
    assert (found[1] or "").startswith(reason or "") and bool(found[1]) == bool(reason)
    assert judge(number("1"), summary, "a copy", *lost) == ("inconsistent_in_paper", "a copy")


def test_tables_beside_the_paper():
    rows = [run(seed=s, acc=85.0 + s) for s in range(3)] + [run(seed=9, diverged=True)]
    iifr = {"individual": "iifr_cosine", "lambda": 1.0}
    rows += [run(seed=s, epsilon=e, **iifr) for e in (0.8, 0.9) for s in range(2)]
    rows += [run(seed=s, split="official") for s in range(2)]
    made = study(rows)
    four = [row for row in table_4.rows(made) if row["dataset"] == "adult"]
    mlp = find(four, method="mlp", individual="none", metric="acc", split="random")
    assert (mlp["published"], mlp["mean"], mlp["sd"]) == (85.5, 86, 1)
    assert (mlp["seeds"], mlp["diverged"], mlp["verdict"]) == (3, 1, "reproduced")
    official = find(four, method="mlp", individual="none", metric="acc", split="official")
    assert (official["published"], official["verdict"]) == (None, "no_published_value")
    copy = find(four, method="alfr", individual="none", metric="ifr_p")
    assert (copy["published"], copy["mean"]) == (30.5, None)
    assert copy["verdict"] == "inconsistent_in_paper"
    absent = find(four, method="laftr_dp", individual="none", metric="acc")
    assert (absent["verdict"], absent["seeds"]) == ("not_run", 0)
    assert not [row for row in four if row["verdict"] == "not_run" and not row["published"]]
    six = table_6.rows(made)
    male = find(six, method="mlp", individual="none", group=0, metric="ifr_p", split="random")
    assert (male["published"], male["mean"], male["seeds"]) == (71, 45, 3)
    eight = [row for row in table_8.rows(made) if row["metric"] == "acc"]
    assert [(row["epsilon"], row["seeds"]) for row in eight] == [
        (0.75, 0), (0.8, 2), (0.85, 0), (0.9, 2), (0.95, 0), (1, 3)  # at 1 the MLP
    ]  # fmt: skip


def test_the_papers_data_sets_that_were_not_run_are_left_out():
    rows = [run(seed=s, dataset="loans") for s in range(2)]
    loss = {"individual": "iifr_cosine", "lambda": 1.0}
    rows += [run(seed=0, dataset="loans", epsilon=e, **loss) for e in (0.8, 0.9)]
    for member in (table_4, table_6, table_7, table_8):
        assert {row["dataset"] for row in member.rows(study(rows))} == {"loans"}


def test_a_mean_over_pairs_is_not_compared_with_the_papers_sum():
    other = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 0.8, "reduction": "mean"}
    rows = list(table_4.rows(study([run(seed=s, **other) for s in range(2)])))
    row = find(rows, method="mlp", individual="iifr_cosine", metric="acc", choice="named")
    assert (row["verdict"], row["published"]) == ("not_run", 80.1)
    alike = find(rows, reduction="mean", metric="acc", choice="alike")
    assert (alike["verdict"], alike["published"], alike["seeds"]) == ("no_published_value", None, 2)


def own_grid():
    """A grid on another data set none of whose weights the settings name."""
    rows = []
    for s in (1, 0):
        rows.append(run(seed=s, dataset="loans"))
        # lambda .3 comes before .2, and mu 7 before 3: the order of the grid
        for lam, epsilon in ((0.3, 0.6), (0.2, 0.6), (1.0, 0.7)):
            loss = {"dataset": "loans", "individual": "iifr_cosine", "lambda": lam}
            loss |= {"epsilon": epsilon, "seed": s}
            rows.append(run(**loss))
            rows += [run(method="alfr", mu=mu, **loss) for mu in (7.0, 3.0)]
        rows += [run(seed=s, dataset="loans", method="alfr", mu=mu) for mu in (7.0, 3.0)]
        rows += [run(seed=s, dataset="loans", method="my_loss", mu=mu) for mu in (1.0, 2.0)]
        own = {"individual": "mine", "dataset": "loans", "seed": s}
        rows += [run(**own, **{"lambda": lam}) for lam in (5.0, 0.5)]
    return rows


OWN = {
    ("mlp", "none", 0, None, None, "named"),
    ("mlp", "iifr_cosine", 0.3, 0.6, None, "first"),
    ("mlp", "mine", 5, None, None, "first"),
    ("alfr", "none", 0, None, 7, "first"),
    ("alfr", "iifr_cosine", 0.3, 0.6, 7, "first"),
    ("my_loss", "none", 0, None, 1, "every"),
    ("my_loss", "none", 0, None, 2, "every"),
}


@pytest.mark.parametrize("member", [table_4, table_6, table_7, tests])
def test_no_method_is_dropped_whose_setting_is_not_named(member):
    rows = list(member.rows(study(own_grid())))
    named = ("method", "individual", "lambda", "epsilon", "mu", "choice")
    # the MLP has nothing to be tested against
    expected = OWN - {("mlp", "none", 0, None, None, "named")} if member is tests else OWN
    assert {tuple(row[name] for name in named) for row in rows} == expected
    if member is not tests:
        assert {row["verdict"] for row in rows} == {"no_published_value"}


LAMBDA, BASE = SETTING.index("lambda"), SETTING.index("js_base")


@pytest.mark.parametrize(
    ("weights", "base", "named", "diverged", "expected"),
    [
        ((9.0, 0.4, 0.3), "e", 9.0, 9.0, [(9.0, "e", "named")]),
        ((9.0, 0.4, 0.3), "e", 1.0, 9.0, [(1.0, "e", "named"), (0.4, "e", "first")]),
        ((0.4, 1.0), "2", 1.0, None, [(1.0, "e", "named"), (1.0, "2", "alike")]),
    ],
)
def test_what_is_reported_for_a_named_setting(weights, base, named, diverged, expected):
    loss = {"dataset": "loans", "individual": "iifr_cosine", "epsilon": 0.8, "js_base": base}
    rows = [
        run(diverged=weight == diverged, **loss, **{"lambda": weight}) | {"run": i, "file": 0}
        for i, weight in enumerate(weights)
    ]
    chosen = [{"dataset": "*", "setting": rows[0] | {"lambda": named, "js_base": "e"}}]
    found = reported_settings("loans", chosen, by_setting(rows))
    assert [(one.setting[LAMBDA], one.setting[BASE], one.choice) for one in found] == expected


def test_the_first_setting_has_the_weight_of_the_adversary_that_is_named():
    """So that a method with IIFR is compared with the same method without."""
    loss = {"dataset": "loans", "method": "alfr", "individual": "iifr_cosine", "epsilon": 0.8}
    rows = [run(**loss, **{"lambda": 1.0}, mu=mu) | {"run": i, "file": 0}
            for i, mu in enumerate((0.1, 4.0, 10.0))]  # fmt: skip
    chosen = [{"dataset": "*", "setting": rows[1] | {"lambda": 0.5}}]
    named, first = reported_settings("loans", chosen, by_setting(rows))
    assert (named.choice, first.choice) == ("named", "first")
    assert (first.setting[LAMBDA], first.setting[SETTING.index("mu")]) == (1.0, 4.0)


@pytest.mark.parametrize("dataset", ["adult", "loans"])
def test_other_thresholds_are_not_compared(dataset):
    """Bits and a mean over pairs: the paper has no such numbers."""
    other = {"individual": "iifr_cosine", "reduction": "mean", "js_base": "2", "lambda": 0.5}
    rows = [run(seed=s, dataset=dataset, epsilon=e, **other) for s in (0, 1) for e in (0.8, 0.9)]
    eight = [row for row in table_8.rows(study(rows)) if row["metric"] == "acc"]
    own = [row for row in eight if row["choice"] == "most"]
    assert [(row["epsilon"], row["published"], row["seeds"]) for row in own] == [
        (0.8, None, 2), (0.9, None, 2)
    ]  # fmt: skip
    assert {row["seeds"] for row in eight if row["published"]} <= {0}


def test_the_papers_rows_of_eidig_are_of_its_own_network():
    """Released weights on whole numbers for Adult and German; COMPAS has no such network."""
    rows = [
        run(seed=s, dataset=dataset, method=method)
        for s in range(2)
        for dataset in ("adult", "compas", "german")
        for method in ("eidig", "eidig_integers")
        if (dataset, method) != ("compas", "eidig_integers")
    ]
    four, six, seven = (list(one.rows(study(rows))) for one in (table_4, table_6, table_7))
    assert {
        (row["dataset"], row["method"])
        for row in [*four, *seven]
        if row["method"].startswith("eidig") and row["published"]
    } == {("adult", "eidig_integers"), ("compas", "eidig"), ("german", "eidig_integers")}
    cell = find(seven, dataset="adult", method="eidig_integers", metric="ddp")
    assert (cell["published"], cell["verdict"]) == (0.027, "inconsistent_in_paper")
    ages = find(seven, dataset="german", method="eidig_integers", metric="deo_1")
    assert "EIDIG's 4 bins" in ages["reason"] and ages["verdict"] == "not_reproduced"
    own = find(six, method="eidig_integers", dataset="adult", group=0, metric="ifr_p")
    assert own["verdict"] == "inconsistent_in_paper"
    base = find(four, dataset="adult", method="eidig", metric="acc")
    assert base["verdict"] == "no_published_value"


def test_printed_numbers_are_plain_decimals_and_groups_are_in_order():
    names = {"value", "published", "share", "positive"}
    for path in FACTS:
        rows = read_csv(path)
        cells = names - ({"value"} if path.stem.endswith(("_1", "_2")) else set())
        printed = [row[name] for row in rows for name in cells & row.keys()]
        assert all(re.fullmatch(r"|\d*\.?\d+", one) for one in printed)
        if path.stem == "published_rates":
            groups: dict[str, list[str]] = {}
            for row in rows:
                groups.setdefault(row["dataset"], []).append(row["group"])
            assert all(one == [f"{i}" for i in range(len(one))] for one in groups.values())


def test_settings_that_are_no_numbers(tmp_path):
    file = tmp_path / "settings.csv"
    text = (RESOURCES / "settings.csv").read_text(encoding="utf-8")
    header, first, *_ = text.splitlines()
    cells = first.split(",")
    cells[header.split(",").index("lambda")] = "much"
    file.write_text(f"{header}\n{','.join(cells)}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"settings\.csv: in the row .*'much'"):
        read_settings(file)
