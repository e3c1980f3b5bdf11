import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.individual import compare_methods as comparing
from evenhand.individual import write_findings as findings
from evenhand.individual.check_paper import accuracies_with, check_paper, mix
from evenhand.individual.find_fronts import dominators, find_fronts
from evenhand.individual.lines import lines_of
from evenhand.individual.names import read_titles
from evenhand.individual.published import number, read_settings, settings_of
from evenhand.individual.results import by_setting, read_groups, read_runs
from evenhand.individual.summary import summarise
from evenhand.individual.sweep_lambdas import sweep_lambdas
from evenhand.individual.tabulate_results import judge, tabulate_results


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def resources(repository):
    return repository / "resources/iifr"


def tabulate(resources, folder, runs, groups):
    outs = {f"table_{n}": folder / f"iifr_table_{n}.csv" for n in "4678"}
    counts = tabulate_results(
        runs=runs,
        groups=groups,
        **{f"published_{n}": resources / f"published_table_{n}.csv" for n in "4678"},
        settings=resources / "settings.csv",
        inconsistencies=resources / "inconsistencies.csv",
        **outs,
    )
    return counts, {name: rows_of(path) for name, path in outs.items()}


def find(rows, **said):
    found = [row for row in rows if all(row[name] == value for name, value in said.items())]
    assert len(found) == 1, said
    return found[0]


def test_interval_over_seeds_by_hand():
    # mean 2, sd 1, t(2) = 4.3027: 2 +- 4.3027 / sqrt(3)
    found = summarise([1.0, 2.0, 3.0])
    assert (found["mean"], found["sd"], found["seeds"]) == (2.0, 1.0, 3)
    assert found["high"] - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert found["low"] == pytest.approx(4 - found["high"])


def test_no_number_from_no_run_and_no_spread_from_one():
    assert summarise([]) == {"mean": None, "sd": None, "low": None, "high": None, "seeds": 0}
    one = summarise([3.0])
    assert (one["mean"], one["sd"], one["low"], one["seeds"]) == (3.0, None, None, 1)


@pytest.mark.parametrize(
    ("text", "value", "rounding"), [(".192", 0.192, 0.0005), ("85.5", 85.5, 0.05), ("71", 71, 0.5)]
)
def test_printed_numbers_say_how_exact_they_are(text, value, rounding):
    assert (number(text).value, number(text).rounding) == (value, pytest.approx(rounding))


def test_a_printed_number_is_a_number():
    for text in ("", "nan", "1e3", "-", "8,5"):
        with pytest.raises(ValueError, match="not a number"):
            number(text)


def test_verdicts():
    ours = {"mean": 84.0, "sd": 0.5, "seeds": 20}
    assert judge(number("85.0"), ours, None) == ("reproduced", None)
    assert judge(number("83.0"), ours, None)[0] == "reproduced"
    far = judge(number("85.5", "easier rows"), ours, None)
    assert far == (
        "not_reproduced",
        "1.5 above our mean, 3.0 sd of single runs; easier rows",
    )
    assert judge(number("85.5"), ours, "a copy") == ("inconsistent_in_paper", "a copy")
    assert judge(None, ours, None)[0] == "no_published_value"
    assert judge(number("84.0"), ours | {"sd": None, "seeds": 1}, None)[0] == "undecided"
    nothing = {"mean": None, "sd": None, "seeds": 0}
    assert judge(number("84.0"), nothing, None)[0] == "not_run"
    assert judge(number("84.0"), nothing, None, 3) == ("not_run", "every run diverged (3)")


def test_what_is_printed_may_be_rounded():
    ours = {"mean": 100.0, "sd": 0.0, "seeds": 5}
    assert judge(number("100"), ours, None)[0] == "reproduced"
    assert judge(number("99.95"), ours | {"mean": 99.954}, None)[0] == "reproduced"
    assert judge(number("99.9"), ours, None)[0] == "not_reproduced"


def test_tables_beside_the_paper(resources, tmp_path, run, write):
    rows = [run(seed=s, acc=85.0 + s) for s in range(3)]
    rows += [run(seed=9, diverged=True)]
    iifr = {"individual": "iifr_cosine", "lambda": 1.0}
    rows += [run(seed=s, epsilon=e, **iifr) for e in (0.8, 0.9) for s in range(2)]
    rows += [run(seed=s, method="my_loss") for s in range(2)]
    rows += [run(seed=s, split="official") for s in range(2)]
    runs, groups = write(rows)
    counts, tables = tabulate(resources, tmp_path, [runs], [groups])
    assert (counts["runs"], counts["diverged"]) == (12, 1)
    four = [row for row in tables["table_4"] if row["dataset"] == "adult"]
    mlp = find(four, method="mlp", individual="none", metric="acc", split="random")
    assert (mlp["paper"], mlp["ours_mean"], mlp["ours_sd"]) == ("85.5", "86", "1")
    assert (mlp["seeds"], mlp["diverged"], mlp["verdict"]) == ("3", "1", "reproduced")
    official = find(four, method="mlp", individual="none", metric="acc", split="official")
    assert (official["paper"], official["verdict"]) == ("", "no_published_value")
    own = find(four, method="my_loss", metric="acc")
    assert (own["paper"], own["seeds"], own["verdict"]) == ("", "2", "no_published_value")
    copy = find(four, method="alfr", individual="none", metric="ifr_p")
    assert (copy["paper"], copy["verdict"], copy["ours_mean"]) == (
        "30.5",
        "inconsistent_in_paper",
        "",
    )
    absent = find(four, method="laftr_dp", individual="none", metric="acc")
    assert (absent["verdict"], absent["ours_mean"], absent["seeds"]) == ("not_run", "", "0")
    assert not [row for row in four if row["verdict"] == "not_run" and not row["paper"]]
    six = tables["table_6"]
    male = find(six, method="mlp", individual="none", group="0", metric="ifr_p", split="random")
    assert (male["paper"], male["ours_mean"], male["seeds"]) == ("71", "45", "3")
    eight = [row for row in tables["table_8"] if row["metric"] == "acc"]
    assert [row["epsilon"] for row in eight] == ["0.75", "0.8", "0.85", "0.9", "0.95", "1"]
    assert [row["seeds"] for row in eight] == ["0", "2", "0", "2", "0", "3"]  # at 1 the MLP


def test_the_papers_data_sets_that_were_not_run_are_left_out(resources, tmp_path, run, write):
    rows = [
        run(seed=s, dataset="loans", individual=i, **said) for s in range(2) for i, said in MLPS
    ]
    runs, groups = write(rows)
    _, tables = tabulate(resources, tmp_path, [runs], [groups])
    assert {name: {row["dataset"] for row in made} for name, made in tables.items()} == {
        f"table_{n}": {"loans"} for n in "4678"
    }


MLPS = [("none", {})] + [
    ("iifr_cosine", {"lambda": 1.0, "epsilon": epsilon}) for epsilon in (0.8, 0.9)
]


def test_a_mean_over_pairs_does_not_stand_for_the_papers_sum(resources, tmp_path, run, write):
    said = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 0.8, "reduction": "mean"}
    runs, groups = write([run(seed=s, **said) for s in range(2)])
    _, tables = tabulate(resources, tmp_path, [runs], [groups])
    row = find(
        [row for row in tables["table_4"] if row["dataset"] == "adult"],
        method="mlp",
        individual="iifr_cosine",
        metric="acc",
        choice="named",
    )
    assert (row["verdict"], row["paper"]) == ("not_run", "80.1")
    shown = find(tables["table_4"], reduction="mean", metric="acc", choice="alike")
    assert (shown["verdict"], shown["paper"], shown["seeds"]) == ("no_published_value", "", "2")


def own_grid(run):
    """A grid on a data set of one's own none of whose weights the settings name."""
    rows = []
    for s in (1, 0):
        rows.append(run(seed=s, dataset="loans"))
        # lambda .3 comes before .2, and mu 7 before 3: the order of the grid
        for lam, epsilon in ((0.3, 0.6), (0.2, 0.6), (1.0, 0.7)):
            said = {"dataset": "loans", "individual": "iifr_cosine", "lambda": lam}
            rows.append(run(seed=s, epsilon=epsilon, **said))
            rows.append(run(seed=s, epsilon=epsilon, method="alfr", mu=7.0, **said))
            rows.append(run(seed=s, epsilon=epsilon, method="alfr", mu=3.0, **said))
        rows += [run(seed=s, dataset="loans", method="alfr", mu=mu) for mu in (7.0, 3.0)]
        rows += [run(seed=s, dataset="loans", method="my_loss", mu=mu) for mu in (1.0, 2.0)]
        own = {"individual": "mine", "dataset": "loans"}
        rows += [run(seed=s, **own, **{"lambda": lam}) for lam in (5.0, 0.5)]
    return rows


def shown_in(rows):
    return {
        (row["method"], row["individual"], row["lambda"], row["epsilon"], row["mu"], row["choice"])
        for row in rows
    }


OWN = {
    ("mlp", "none", "0", "", "", "named"),
    ("mlp", "iifr_cosine", "0.3", "0.6", "", "first"),
    ("mlp", "mine", "5", "", "", "first"),
    ("alfr", "none", "0", "", "7", "first"),
    ("alfr", "iifr_cosine", "0.3", "0.6", "7", "first"),
    ("my_loss", "none", "0", "", "1", "every"),
    ("my_loss", "none", "0", "", "2", "every"),
}


def test_nothing_is_dropped_whose_setting_is_not_named(resources, tmp_path, run, write):
    runs, groups = write(own_grid(run))
    _, tables = tabulate(resources, tmp_path, [runs], [groups])
    for name in ("table_4", "table_6", "table_7"):
        assert shown_in(tables[name]) == OWN
        assert {row["verdict"] for row in tables[name]} == {"no_published_value"}
    out = tmp_path / "tests.csv"
    comparing.compare_methods(runs=[runs], settings=resources / "settings.csv", out=out)
    # the MLP has nothing to be tested against
    assert shown_in(rows_of(out)) == OWN - {("mlp", "none", "0", "", "", "named")}


def test_the_first_setting_that_did_not_diverge_stands(run):
    said = {"dataset": "loans", "individual": "iifr_cosine", "epsilon": 0.8}
    rows = [
        {**run(seed=0, diverged=lam == 9.0, **said, **{"lambda": lam}), "run": i, "file": 0}
        for i, lam in enumerate((9.0, 0.4, 0.3))
    ]
    lines = lines_of(
        "loans", [{"dataset": "*", "setting": rows[0], "source": ""}], by_setting(rows)
    )
    assert [(line.setting[4], line.choice) for line in lines] == [(9.0, "named")]
    named = {"dataset": "*", "setting": {**rows[0], "lambda": 1.0}, "source": ""}
    lines = lines_of("loans", [named], by_setting(rows))
    assert [(line.setting[4], line.choice) for line in lines] == [(1.0, "named"), (0.4, "first")]


def test_the_same_numbers_in_another_base_stand_before_the_first(run):
    said = {"dataset": "loans", "individual": "iifr_cosine", "epsilon": 0.8, "js_base": "2"}
    rows = [
        {**run(seed=0, **said, **{"lambda": lam}), "run": i, "file": 0}
        for i, lam in enumerate((0.4, 1.0))
    ]
    named = {"dataset": "*", "setting": {**rows[1], "js_base": "e"}, "source": ""}
    lines = lines_of("loans", [named], by_setting(rows))
    assert [(line.setting[4], line.setting[8], line.choice) for line in lines] == [
        (1.0, "e", "named"),
        (1.0, "2", "alike"),
    ]


def test_findings_rest_on_what_stands(resources, tmp_path, run, write):
    rows = own_grid(run)
    rows += [run(seed=s, dataset="loans", method="mlp_without_attribute") for s in range(2)]
    said = {"dataset": "loans", "individual": "iifr_counterfactual", "lambda": 7.0}
    rows += [run(seed=s, ifr_p=60.0 + s, **said) for s in range(2)]
    found = summaries(resources, tmp_path, *write(rows))
    by_id = {one["id"]: one["sentence"] for one in found["findings"]}
    assert "(lambda 0.3, epsilon 0.6, the first that was run)" in by_id["gain_with_fewer_positives"]
    assert "(lambda 7, the first that was run)" in by_id["counterfactual_pairs"]
    assert "ALFR (mu 7, the first that was run" in by_id["adversaries_less_fair"]
    assert "lambda 0.2 to 0.3" in by_id["one_class_from_lambda"]
    assert "the first that was run" in by_id["without_attribute_beats_iifr"]


def test_thresholds_of_ones_own(resources, tmp_path, run, write):
    """Bits and a mean over pairs: nothing of the paper's stands beside them."""
    said = {"individual": "iifr_cosine", "reduction": "mean", "js_base": "2", "lambda": 0.5}
    for dataset in ("adult", "loans"):
        rows = [run(seed=s, dataset=dataset, epsilon=e, **said) for s in (0, 1) for e in (0.5, 0.6)]
        runs, groups = write(rows, dataset)
        _, tables = tabulate(resources, tmp_path, [runs], [groups])
        eight = [row for row in tables["table_8"] if row["metric"] == "acc"]
        own = [row for row in eight if row["choice"] == "most"]
        assert [(row["epsilon"], row["paper"], row["seeds"]) for row in own] == [
            ("0.5", "", "2"),
            ("0.6", "", "2"),
        ]
        assert {row["seeds"] for row in eight if row["paper"]} <= {"0"}


def test_other_data_sets_use_the_settings_of_any(resources):
    settings = read_settings(resources / "settings.csv")
    own = settings_of(settings, "loans")
    assert {row["key"][0] for row in own} == {"loans"}
    assert {row["setting"]["method"] for row in own} >= {"mlp", "alfr", "majority"}
    kinds = [(*row["key"][:3], row["key"][-1]) for row in settings_of(settings, "adult")]
    assert len(kinds) == len(set(kinds))


def test_runs_are_given_once(run, write):
    path, _ = write([run(), run(seed=1)])
    with pytest.raises(InputError, match="holds the seed 0 of mlp"):
        read_runs([path, path])


def test_groups_belong_to_their_runs(run, write):
    one, of_one = write([run()], "one")
    two, of_two = write([run(seed=1), run(seed=2)], "two")
    rows = read_runs([one, two])
    assert set(read_groups([of_one, of_two], rows)) == {0, 1}
    with pytest.raises(InputError, match="not as many"):
        read_groups([of_one], rows)
    with pytest.raises(InputError, match="holds the run 1"):
        read_groups([of_two, of_one], rows)


def test_a_table_of_something_else_is_an_error(tmp_path, write, run):
    (tmp_path / "x.parquet").write_text("no table")
    with pytest.raises(InputError, match=r"x\.parquet: is not a Parquet file"):
        read_runs([tmp_path / "x.parquet"])
    _, groups = write([run()])
    with pytest.raises(InputError, match="lacks the column"):
        read_runs([groups])


def test_sweeps_leave_diverged_runs_out_and_count_them(tmp_path, run, write):
    said = {"individual": "iifr_counterfactual", "lambda": 100.0}
    rows = [run(seed=s, acc=float(s)) for s in (1, 3)] + [run(seed=0, diverged=True, **said)]
    counts = sweep_lambdas(runs=[write(rows)[0]], out=tmp_path / "out.csv")
    assert counts == {"settings": 2, "rows": 18, "diverged": 1, "empty": 0}
    found = rows_of(tmp_path / "out.csv")
    plain = find(found, metric="acc", individual="none")
    assert (plain["mean"], plain["seeds"], plain["diverged"]) == ("2", "2", "0")
    lost = find(found, metric="acc", individual="iifr_counterfactual")
    assert (lost["mean"], lost["low"], lost["seeds"], lost["diverged"]) == ("", "", "0", "1")


def test_front_by_hand():
    # good: 3, 2, 2, 1, 3; bad: 3, 1, 2, 1, 3. The last equals the first, and both stay.
    assert dominators([3, 2, 2, 1, 3], [3, 1, 2, 1, 3]) == [None, None, 1, 1, None]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_front_equals_the_comparison_of_all_pairs(points):
    found = dominators([g for g, _ in points], [b for _, b in points])

    def beats(a, b):
        return a[0] >= b[0] and a[1] <= b[1] and a != b

    for point, other in zip(points, found, strict=True):
        assert (other is None) == (not any(beats(one, point) for one in points))
        if other is not None:
            assert beats(points[other], point)
            assert found[other] is None


def test_fronts_compare_within_a_data_set(tmp_path, run, write):
    rows = [run(balanced_acc=60.0, ddp=0.1), run(dataset="german", balanced_acc=50.0, ddp=0.2)]
    rows += [run(method="majority", balanced_acc=50.0, ddp=0.2, diverged=False)]
    rows += [run(method="alfr", mu=2.0, diverged=True)]
    counts = find_fronts(runs=[write(rows)[0]], out=tmp_path / "out.csv")
    assert counts["points"] == 6
    found = [row for row in rows_of(tmp_path / "out.csv") if row["front"] == "ddp"]
    assert find(found, dataset="german")["on_front"] == "true"
    assert find(found, method="majority")["dominated_by"] == "mlp"
    assert not [row for row in found if row["method"] == "alfr"]


def test_paired_t_by_hand():
    # differences 1, 2, 3: t = 2 / (1 / sqrt(3)) = 3.4641, p = 0.07418 with 2 degrees
    low, high, p = comparing.paired_t([1.0, 2.0, 3.0])
    assert p == pytest.approx(0.0741799, rel=1e-5)
    assert (low + high) / 2 == pytest.approx(2)
    # the variance 1/3 + 3/7 makes t = 2 / sqrt(16 / 21) = 2.2913
    t = 2 / math.sqrt(16 / 21)
    wide = comparing.paired_t([1.0, 2.0, 3.0], 3 / 7)
    assert wide[2] == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9)


def test_differences_that_do_not_vary_have_no_p_value():
    assert comparing.paired_t([0.0, 0.0]) == (0.0, 0.0, 1.0)
    assert comparing.paired_t([2.0, 2.0]) == (2.0, 2.0, None)


def test_tests_pair_by_seed(resources, tmp_path, run, write):
    rows = [run(seed=s, acc=80.0 + s) for s in range(4)]
    rows += [run(seed=s, method="majority", acc=70.0 + 2 * s) for s in (1, 2, 3)]
    rows += [run(seed=0, method="majority", diverged=True)]
    rows += [run(seed=7, method="logistic_regression")]
    out = tmp_path / "out.csv"
    comparing.compare_methods(runs=[write(rows)[0]], settings=resources / "settings.csv", out=out)
    found = rows_of(out)
    row = find(found, method="majority", metric="acc")
    # 72 - 81, 74 - 82, 76 - 83: mean -8
    assert (row["seeds"], float(row["difference"]), row["against"]) == ("3", -8.0, "mlp")
    assert float(row["p_value"]) <= float(row["p_adjusted"]) <= 1
    assert float(row["p_resampled"]) > float(row["p_value"])
    alone = find(found, method="logistic_regression", metric="acc")
    assert (alone["difference"], alone["p_value"], alone["seeds"]) == ("", "", "0")
    assert alone["reason"] == "they have no seed in common"


def test_individual_losses_are_tested_against_the_method_without(run):
    named = {"method": "alfr", "individual": "iifr_cosine", "mu": 2.0, "lambda": 0.5}
    key = next(iter(by_setting([run(epsilon=0.8, **named)])))
    plain = next(iter(by_setting([run(method="alfr", mu=2.0)])))
    mlp = next(iter(by_setting([run()])))
    references = comparing.references(key)
    assert (references["none"], references["mlp"]) == (plain, mlp)


@pytest.fixture
def checks(resources, tmp_path):
    def check(**other):
        paths = {f"published_{n}": resources / f"published_table_{n}.csv" for n in "4678"}
        names = {"mixes": "published_mixes", "rates": "published_rates"}
        paths |= {key: resources / f"{name}.csv" for key, name in names.items()}
        paths |= {"inconsistencies": resources / "inconsistencies.csv"} | other
        counts = check_paper(**paths, out=tmp_path / "checks.csv")
        return counts, rows_of(tmp_path / "checks.csv")

    return check


def test_the_papers_contradictions_are_found_by_arithmetic(checks):
    counts, rows = checks()
    odd = [row for row in rows if row["result"] == "contradiction"]
    assert counts["unlisted"] == 0
    assert counts["unchecked"] == 0
    found = {(row["kind"], row["dataset"], row["method"], row["individual"]) for row in odd}
    assert found == {
        ("mix", "adult", "cfair_eo", "iifr_cosine"),
        ("copy", "adult", "cfair_eo", "iifr_cosine"),
        ("mix", "adult", "alfr", "none"),
        ("mix", "adult", "cfair_eo", "none"),
        ("swapped", "adult", "eidig_integers", "none"),
        ("misprint", "adult", "eidig_integers", "none"),
        ("copy", "compas", "laftr_dp", "none"),
        ("infeasible", "compas", "laftr_dp", "none"),
    }
    assert {(row["kind"], row["known_error"]) for row in odd if row["table"] == "7"} == {
        ("misprint", "iifr-table7-eidig-misprint"),
        ("copy", "iifr-table7-laftr-compas"),
        ("infeasible", "iifr-table7-laftr-compas"),
    }
    assert all(bool(row["known_error"]) == (row["listed"] == "true") for row in rows)
    row = find(odd, kind="mix", individual="iifr_cosine", metric="ifr_p")
    # .67506 x 73.4 + .32494 x 37.0
    assert float(row["computed"]) == pytest.approx(61.572184)


def test_the_papers_rows_of_eidig_are_of_its_own_network(resources, tmp_path, run, write):
    """Released weights on whole numbers for Adult and German; COMPAS has no such network."""
    rows = [
        run(seed=s, dataset=dataset, method=method)
        for s in range(2)
        for dataset in ("adult", "compas", "german")
        for method in ("eidig", "eidig_integers")
        if (dataset, method) != ("compas", "eidig_integers")
    ]
    runs, groups = write(rows)
    _, tables = tabulate(resources, tmp_path, [runs], [groups])
    of_paper = {
        (row["dataset"], row["method"])
        for name in ("table_4", "table_7")
        for row in tables[name]
        if row["method"].startswith("eidig") and row["paper"]
    }
    assert of_paper == {
        ("adult", "eidig_integers"),
        ("compas", "eidig"),
        ("german", "eidig_integers"),
    }
    cell = find(tables["table_7"], dataset="adult", method="eidig_integers", metric="ddp")
    assert (cell["paper"], cell["verdict"]) == ("0.027", "inconsistent_in_paper")
    ages = find(tables["table_7"], dataset="german", method="eidig_integers", metric="deo_1")
    assert "EIDIG's 4 bins" in ages["reason"] and ages["verdict"] == "not_reproduced"
    six = find(
        tables["table_6"], method="eidig_integers", dataset="adult", group="0", metric="ifr_p"
    )
    assert six["verdict"] == "inconsistent_in_paper"
    base = find(tables["table_4"], dataset="adult", method="eidig", metric="acc")
    assert base["verdict"] == "no_published_value"


def test_a_contradiction_that_is_not_listed_is_counted(checks, resources, tmp_path):
    text = (resources / "published_table_4.csv").read_text(encoding="utf-8")
    changed = tmp_path / "published_table_4.csv"
    old, new = "adult,mlp,iifr_cosine,,,ifr_p,90.6", "adult,mlp,iifr_cosine,,,ifr_p,60.6"
    assert old in text
    changed.write_text(text.replace(old, new), encoding="utf-8")
    assert checks(published_4=changed)[0]["unlisted"] == 1


def test_mix_by_hand():
    value, open_ = mix([(0.75, number("80")), (0.25, number("40"))])
    assert value == 70
    assert open_ == pytest.approx(0.5 + 0.01 * 40)


def test_feasible_accuracies_by_hand():
    # Equal groups of base rate 0 and 1: the accuracy is (1 - fpr + tpr) / 2, and the gap of
    # the positive rates is |tpr - fpr| = 0, so it is 1/2.
    gaps = [number("0.000"), number("1.000"), number("1.000")]
    ends = accuracies_with([gaps[0], number("0.5"), number("0.5")], [(0.5, 0.0), (0.5, 1.0)])
    assert ends == pytest.approx((50, 50), abs=0.06)
    # The base rates are alike, and so gaps of both rates of 1 make a gap of 1 or of 0.
    assert accuracies_with([number("0.5"), *gaps[1:]], [(0.5, 0.5), (0.5, 0.5)]) is None


def test_feasible_accuracies_hold_what_classifiers_have():
    generator = np.random.default_rng(0)
    groups = [(0.6, 0.3), (0.4, 0.5)]
    for _ in range(5):
        tpr, fpr = generator.uniform(size=2), generator.uniform(size=2)
        base = np.array([0.3, 0.5])
        positive = tpr * base + fpr * (1 - base)
        accuracy = 100 * np.dot([0.6, 0.4], tpr * base + (1 - fpr) * (1 - base))
        gaps = [number(f"{abs(np.subtract(*rate)):.3f}") for rate in (positive, fpr, tpr)]
        low, high = accuracies_with(gaps, groups)
        assert low <= accuracy <= high


def summaries(resources, folder, runs, groups, data=None):
    tabulate(resources, folder, [runs], [groups])
    sweep_lambdas(runs=[runs], out=folder / "iifr_sweeps.csv")
    find_fronts(runs=[runs], out=folder / "iifr_fronts.csv")
    comparing.compare_methods(
        runs=[runs], settings=resources / "settings.csv", out=folder / "iifr_tests.csv"
    )
    findings.write_findings(
        **{f"table_{n}": folder / f"iifr_table_{n}.csv" for n in "4678"},
        **{name: folder / f"iifr_{name}.csv" for name in ("sweeps", "fronts", "tests")},
        out=folder / "findings.json",
        data=data,
    )
    return json.loads((folder / "findings.json").read_text(encoding="utf-8"))


def collapsing(run, iifr):
    rows = []
    said = {"individual": "iifr_cosine", "lambda": 1.0, "epsilon": 0.8}
    for s in range(8):
        noise = {"positive_rate": 0.2 + 0.001 * (s % 3), "ifr_p": 60.0 + s % 2}
        rows.append(run(seed=s, balanced_acc=77.0 + 0.1 * (s % 4), **noise))
        rows.append(run(seed=s, **said, **{name: value(s) for name, value in iifr.items()}))
        rows.append(run(seed=s, **said | {"lambda": 0.1}))
        rows.append(run(seed=s, method="mlp_without_attribute", ifr_p=100.0, balanced_acc=76.0))
    return rows


def test_findings_follow_the_numbers(resources, tmp_path, run, write):
    iifr = {
        "positive_rate": lambda s: 0.005 + 0.0001 * (s % 5),
        "ifr_p": lambda s: 80.0 + s % 3,
        "balanced_acc": lambda s: 55.0,
    }
    found = summaries(resources, tmp_path, *write(collapsing(run, iifr)))
    by_id = {one["id"]: one for one in found["findings"]}
    assert by_id["gain_with_fewer_positives"]["holds"] is True
    assert by_id["without_attribute_beats_iifr"]["holds"] is True
    assert by_id["one_class_from_lambda"]["holds"] is True
    assert "at lambda 1" in by_id["one_class_from_lambda"]["sentence"]
    assert "100.0 against 80.9" in by_id["without_attribute_beats_iifr"]["sentence"]
    assert any("comes with fewer positive" in words for words in found["headline"])
    assert found["left_out"]["counterfactual_pairs"] == 1


def test_findings_turn_with_the_numbers(resources, tmp_path, run, write):
    iifr = {
        "positive_rate": lambda s: 0.2 + 0.001 * ((s + 1) % 3),
        "ifr_p": lambda s: 80.0 + s % 3,
        "balanced_acc": lambda s: 77.0 + 0.1 * (s % 3),
    }
    found = summaries(resources, tmp_path, *write(collapsing(run, iifr)))
    by_id = {one["id"]: one for one in found["findings"]}
    assert by_id["gain_with_fewer_positives"]["holds"] is False
    assert "may be chance" in by_id["gain_with_fewer_positives"]["sentence"]
    assert by_id["one_class_from_lambda"]["holds"] is False


def test_no_gain_is_spoken_of_where_there_is_none(resources, tmp_path, run, write):
    iifr = {"ifr_p": lambda s: 30.0 + s % 3}
    found = summaries(resources, tmp_path, *write(collapsing(run, iifr)))
    (said,) = [words for words in found["headline"] if "IFR_p" in words]
    assert said.endswith("IIFR does not raise IFR_p above that of the same network without it.")
    assert not any("what IIFR gains" in words for words in found["headline"])


def test_a_higher_mean_alone_is_not_called_higher(resources, tmp_path, run, write):
    iifr = {"balanced_acc": lambda s: 75.9 + s % 2}  # the other network has 76 in each run
    found = summaries(resources, tmp_path, *write(collapsing(run, iifr)))
    (one,) = [one for one in found["findings"] if one["id"] == "without_attribute_beats_iifr"]
    assert "a balanced accuracy whose 95 % interval overlaps (76.0 against 76.4)" in one["sentence"]


def test_adversaries_lie_below_above_or_cannot_be_told():
    def test(method, difference, p):
        named = {"method": method, "individual": "none", "metric": "ifr_p", "against": "mlp"}
        numbers = {"against_mean": 60.0, "mean": 60 + difference, "seeds": 8, "choice": ""}
        chance = {"p_adjusted": p, "p_resampled_adjusted": p}
        return named | numbers | chance | {"difference": difference}

    rows = [test("alfr", -9, 0.01), test("cfair", -1, 0.6), test("laftr_dp", 9, 0.01)]
    found = findings.adversaries("D", [], [], [], [*rows, test("cfair_eo", 1, None)])
    assert found["sentence"] == (
        "On D, the MLP has an IFR_p of 60.0; of the adversarial models without IIFR these lie below"
        " it: ALFR (51.0); these above it: LAFTR (dp) (69.0); these cannot be told from it: CFAIR"
        " (full) (59.0) and CFAIR (eo) (61.0)."
    )
    assert found["holds"] is False
    assert findings.adversaries("D", [], [], [], rows[:1])["holds"] is True
    assert findings.adversaries("D", [], [], [], []) is None


def test_a_cell_that_two_tables_print_counts_once(resources, tmp_path, run, write):
    rows = [run(seed=s) for s in range(2)]
    rows += [
        run(seed=s, individual="iifr_cosine", epsilon=e, **{"lambda": 1.0})
        for s in range(2)
        for e in (0.75, 0.8)
    ]
    found = summaries(resources, tmp_path, *write(rows))
    # Table 4 and 7 have the MLP and IIFR at 0.8 (12 cells), and Table 8 these and 0.75 (6 more);
    # Table 6 has 4 more
    assert any(words.startswith("Of 22 cells of the paper") for words in found["headline"])


def test_a_front_names_few_methods(resources, tmp_path, run, write):
    rows = [run(method=f"method_{n}", balanced_acc=50.0 + n, ddp=0.1 + n / 100) for n in range(8)]
    rows += [run(method="method_7", mu=1.0, balanced_acc=60.0, ddp=0.4)]
    found = summaries(resources, tmp_path, *write(rows))
    (one,) = [one for one in found["findings"] if one["id"] == "front_ddp"]
    assert "beats method 7 (2), method 0 (1), " in one["sentence"]
    assert "method 3 (1) and 3 others on both" in one["sentence"]
    assert len(one["numbers"]["on_front"]) == 8


def test_what_is_printed_alike_is_unchanged(resources, tmp_path, run, write):
    rows = [run(seed=s, acc=84.60 + s / 100, ddp=0.1 + s / 1000) for s in range(4)]
    said = {"individual": "iifr_counterfactual", "lambda": 0.1}
    rows += [
        run(seed=s, acc=84.61 + s / 90, ifr_p=90.0 + s % 2, ddp=0.1 + s / 500, **said)
        for s in range(4)
    ]
    found = summaries(resources, tmp_path, *write(rows))
    (one,) = [one for one in found["findings"] if one["id"] == "counterfactual_pairs"]
    assert "IFR_p goes from 50.0 to 90.5, accuracy is unchanged at 84.6 and dDP" in one["sentence"]
    assert "dDP goes from 0.102 to 0.103 (which may be chance)." in one["sentence"]


def prepared(folder, name, title):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "meta": {"title": title}}), encoding="utf-8")
    return path


def test_findings_call_data_sets_by_their_titles(resources, tmp_path, run, write):
    rows = [run(seed=s, dataset=name, ifr_p=50.0 + s) for s in range(2) for name in ("adult", "x")]
    data = [
        prepared(tmp_path, "adult", "Adult (UCI census income)"),
        prepared(tmp_path, "x", "Y Z"),
    ]
    found = summaries(resources, tmp_path, *write(rows), data=data)
    starts = {one["sentence"].split(",")[0] for one in found["findings"] if one["dataset"]}
    assert starts == {"On Adult", "On Y Z"}


def test_titles_that_two_data_sets_share(tmp_path):
    files = [prepared(tmp_path, name, "Loans") for name in ("by_age", "by_sex")]
    files += [prepared(tmp_path, "adult", "Census"), prepared(tmp_path, "plain", "")]
    assert read_titles(files) == {
        "by_age": "Loans (by_age)",
        "by_sex": "Loans (by_sex)",
        "adult": "Census",
        "plain": "plain",
    }
    (tmp_path / "bad.json").write_text("[")
    with pytest.raises(InputError, match="is not JSON"):
        read_titles([tmp_path / "bad.json"])


def test_runs_that_could_not_be_made_are_counted_with_their_reason(tmp_path, resources, run, write):
    why = "the test part of the split of seed 2 has nobody with group = c"
    rows = [run(seed=s, dataset="loans", ifr_p=50.0 + s) for s in (0, 1)]
    rows += [run(seed=2, dataset="loans", diverged=True, reason=why)]
    rows += [run(seed=3, dataset="loans", diverged=True, reason=None)]
    rows += [run(seed=2, dataset="loans", method="alfr", mu=4.0, diverged=True, reason=why)]
    runs, groups = write(rows)
    counts, tables = tabulate(resources, tmp_path, [runs], [groups])
    assert (counts["diverged"], counts["empty"]) == (1, 2)
    row = find(tables["table_4"], method="mlp", metric="acc")
    assert (row["seeds"], row["diverged"], row["empty"]) == ("2", "1", "1")
    lost = find(tables["table_4"], method="alfr", metric="acc")
    assert "of 1 the split leaves a group or a label empty" in lost["reason"]
    found = summaries(resources, tmp_path, runs, groups)
    by_id = {one["id"]: one["sentence"] for one in found["findings"]}
    assert (
        by_id["runs_not_made"]
        == f"On loans, 2 of 5 runs could not be made, and are in no mean: {why}."
    )
    assert by_id["diverged_runs"].startswith("On loans, 1 of 5 runs diverged")


def test_one_run_is_the_papers_own_only(resources, tmp_path, run, write):
    for name, said in (("adult", True), ("loans", False)):
        (tmp_path / name).mkdir()
        runs = write([run(seed=s, dataset=name, ifr_p=50.0 + s) for s in range(3)], name)
        found = summaries(resources, tmp_path / name, *runs)
        (one,) = [one for one in found["findings"] if one["id"] == "noise_of_runs"]
        assert ("the paper reports one run" in one["sentence"]) is said


def test_nothing_is_found_in_nothing(resources, tmp_path, run, write):
    found = summaries(resources, tmp_path, *write([run(diverged=True)]))
    names = {one["id"] for one in found["findings"]}
    assert names == {"diverged_runs"}
    assert found["findings"][0]["numbers"] == {"diverged": 1, "runs": 1}


def test_same_runs_same_bytes(resources, tmp_path, run, write):
    rows = [run(seed=s, acc=80.0 + s) for s in range(3)]
    rows += [run(seed=s, method="alfr", mu=m) for m in (4.0, 2.0) for s in range(2)]
    for name, some in (("a", rows), ("b", rows[::-1])):
        (tmp_path / name).mkdir()
        summaries(resources, tmp_path / name, *write(some, name))
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
