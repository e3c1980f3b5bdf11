"""The other tables: runs, Pareto fronts, tests, checks of the paper, and groups."""

import dataclasses
import importlib.util
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.individual.published import number, read_published
from evenhand.individual.results import by_setting, read_groups, read_runs
from evenhand.individual.tables import grid, groups, pareto_fronts, tests, training
from evenhand.individual.tables.pareto_fronts import dominators
from evenhand.learning.train_table import GROUPS, RUNS
from evenhand.metrics.inference import further, student_power, student_quantile
from unit.individual.made_study import FACTS, REPOSITORY, RESOURCES, find, run, study
from unit.learning.made_tables import table


def load_script():
    """The script of the checks as a module."""
    path = REPOSITORY / "benchmarks/iifr_checks.py"
    spec = importlib.util.spec_from_file_location("iifr_checks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()


@pytest.fixture
def write(tmp_path):
    """Write runs, and one group for each."""

    def make(rows, name="some"):
        rows = [{**row, "run": number} for number, row in enumerate(rows)]
        of_groups = [dict.fromkeys(GROUPS.names) | {"run": row["run"], "group": 0} for row in rows]
        paths = tmp_path / f"{name}.runs.parquet", tmp_path / f"{name}.groups.parquet"
        pq.write_table(pa.Table.from_pylist(rows, RUNS), paths[0])
        pq.write_table(pa.Table.from_pylist(of_groups, GROUPS), paths[1])
        return paths

    return make


def test_groups_belong_to_their_runs(write):
    one, of_one = write([run()], "one")
    two, of_two = write([run(seed=1), run(seed=2)], "two")
    rows = read_runs([one, two])
    assert len(read_groups([of_one, of_two], rows)[0]) == 3


def test_a_table_of_something_else_is_an_error(tmp_path, write):
    (tmp_path / "x.parquet").write_text("no table")
    with pytest.raises(InputError, match=r"x\.parquet: is not a Parquet file"):
        read_runs([tmp_path / "x.parquet"])
    _, of_groups = write([run()])
    with pytest.raises(InputError, match="lacks the column"):
        read_runs([of_groups])


def test_the_grid_leaves_diverged_runs_out_and_counts_them():
    lost = {"individual": "iifr_counterfactual", "lambda": 100.0, "diverged": True}
    rows = [run(seed=s, acc=float(s)) for s in (1, 3)]
    rows += [run(seed=0, **lost), run(seed=1, **lost, reason="a"), run(seed=2, **lost, reason="b")]
    found = list(grid.rows(study(rows)))
    assert len(found) == 18
    plain = find(found, metric="acc", individual="none")
    assert (plain["mean"], plain["seeds"], plain["diverged"]) == (2, 2, 0)
    empty = find(found, metric="acc", individual="iifr_counterfactual")
    assert (empty["mean"], empty["seeds"], empty["diverged"]) == (None, 0, 1)
    assert (empty["empty"], empty["reasons"]) == (2, "a; b")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_front_equals_the_comparison_of_all_pairs(points):
    found = dominators([g for g, _ in points], [b for _, b in points])

    def dominates(a, b):
        return a[0] >= b[0] and a[1] <= b[1] and a != b

    for point, other in zip(points, found, strict=True):
        assert (other is None) == (not any(dominates(one, point) for one in points))
        if other is not None:
            assert dominates(points[other], point)
            assert found[other] is None


def test_fronts_compare_within_a_data_set():
    rows = [run(balanced_acc=60.0, ddp=0.1), run(dataset="german", balanced_acc=50.0, ddp=0.2)]
    rows += [run(method="majority", balanced_acc=50.0, ddp=0.2, ifr_p=80.0)]
    rows += [run(method="alfr", mu=2.0, diverged=True)]
    found = list(pareto_fronts.rows(study(rows)))
    assert len(found) == 6  # nothing of the runs that diverged
    ddp = [row for row in found if row["front"] == "ddp"]
    assert find(ddp, dataset="german")["on_front"] is True
    assert find(ddp, method="majority")["dominated_by"] == "mlp"
    assert find(found, front="ifr_p", method="majority")["unfairness"] == pytest.approx(0.2)


def test_paired_t_by_hand():
    # differences 1, 2, 3: t = 2 / (1 / sqrt(3)) = 3.4641, p = 0.07418 with 2 degrees
    low, high, p = tests.paired_t([1.0, 2.0, 3.0])
    assert p == pytest.approx(0.0741799, rel=1e-5)
    assert (low + high) / 2 == pytest.approx(2)
    assert high - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    # the variance 1/3 + 3/7 makes t = 2 / sqrt(16 / 21) = 2.2913
    t = 2 / math.sqrt(16 / 21)
    wide = tests.paired_t([1.0, 2.0, 3.0], 3 / 7)
    assert wide[2] == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9)
    assert tests.paired_t([0.0, 0.0]) == (0.0, 0.0, 1.0)
    assert tests.paired_t([2.0, 2.0]) == (2.0, 2.0, None)


def test_tests_pair_by_seed():
    rows = [run(seed=s, acc=80.0 + s) for s in range(4)]
    rows += [run(seed=s, method="my", acc=70.0 + 2 * s, balanced_acc=55.0) for s in (1, 2, 3)]
    rows += [run(seed=0, method="my", diverged=True)]
    rows += [run(seed=7, method="logistic_regression"), run(seed=1, method="mlp_without_attribute")]
    found = list(tests.rows(study(rows)))
    constant = find(found, method="my", metric="balanced_acc")
    assert constant["reason"] == "the differences do not vary"
    row = find(found, method="my", metric="acc")
    # 72 - 81, 74 - 82, 76 - 83: mean -8
    assert (row["seeds"], row["difference"], row["against"]) == (3, -8.0, "mlp")
    assert row["p_value"] <= row["p_adjusted"] <= 1
    assert row["p_resampled"] > row["p_value"]
    tested = sum(one.get("p_value") is not None for one in found)
    error = (row["difference_high"] - row["difference"]) / student_quantile(2)
    power = student_power(error, 3, delta=5, level=1 - 0.05 / tested)
    assert tested > 1 and row["power"] == pytest.approx(power)
    assert row["further_seeds"] > further(lambda n: student_power(error, 3, delta=5, times=n), 3)
    alone = find(found, method="logistic_regression", metric="acc")
    assert (alone.get("difference"), alone["p_adjusted"], alone["seeds"]) == (None, None, 0)
    assert alone["reason"] == "they have no seed in common"
    once = find(found, method="mlp_without_attribute", metric="acc")
    assert once["reason"] == "one seed gives no variance between runs"


def test_a_measure_that_no_seed_can_change_has_no_test():
    rows = [run(seed=s, ifr_p=80.0 + s, acc=80.0 + s) for s in range(3)]
    rows += [run(seed=s, method="mlp_without_attribute", ifr_b=100.0, ifr_p=100.0, acc=75.0 + s / 2)
             for s in range(3)]  # fmt: skip
    found = list(tests.rows(study(rows)))
    blind = find(found, method="mlp_without_attribute", metric="ifr_p")
    assert (blind["difference"], blind["reason"]) == (19.0, "it holds by construction")
    assert {blind.get(name) for name in ("p_value", "p_adjusted", "verdict")} == {None}
    row = find(found, method="mlp_without_attribute", metric="acc")
    tested = sum(one.get("p_value") is not None for one in found)
    assert tested == 6 and row["p_adjusted"] == pytest.approx(6 * row["p_value"])


def test_networks_that_decide_the_same_for_everybody_are_not_equivalent():
    rows = [run(seed=s, positive_rate=0.0, ifr_b=100.0, ifr_p=80.0 + s) for s in range(3)]
    rows += [{**row, "method": "alfr", "mu": 2.0, "ifr_p": 80.5 + row["seed"]} for row in rows]
    rows += [run(seed=s, method="cfair", mu=2.0, ifr_b=99.0 + s / 2) for s in range(3)]
    found = list(tests.rows(study(rows)))
    row = find(found, method="alfr", metric="ifr_b")
    assert (row["verdict"], row["reason"][:4]) == ("inconclusive", "both")
    # probabilities may differ all the same
    assert find(found, method="alfr", metric="ifr_p")["reason"] == "the differences do not vary"
    row = find(found, method="cfair", metric="ifr_b")
    assert (row["verdict"], row["reason"][:3]) == ("inconclusive", "one")


def test_only_random_splits_share_rows():
    rows = [run(seed=s, split="official", acc=80.0 + s) for s in range(3)]
    rows += [run(seed=s, split="official", method="my", acc=70.0 + 2 * s) for s in range(3)]
    row = find(tests.rows(study(rows)), method="my", metric="acc")
    assert row["p_value"] and row["p_resampled_adjusted"] is None


def test_individual_losses_are_tested_against_the_method_without():
    named = {"method": "alfr", "individual": "iifr_cosine", "mu": 2.0, "lambda": 0.5}
    settings = [run(epsilon=0.8, **named), run(method="alfr", mu=2.0), run()]
    loss, plain, mlp = (next(iter(by_setting([one]))) for one in settings)
    references = tests.references(loss)
    assert (references["none"], references["mlp"]) == (plain, mlp)
    assert references["control"][1] == "alfr_control"
    assert "none" not in tests.references(mlp)


def test_the_papers_contradictions_are_found_by_arithmetic():
    rows = list(script.check_published(script.read_facts(RESOURCES)))
    odd = [row for row in rows if row["result"] == "contradiction"]
    assert len(rows) == 32 and not [row for row in rows if row["result"] == "cannot_be_checked"]
    assert all(row["listed"] for row in odd)
    assert {(row["kind"], row["dataset"], row["method"], row["individual"]) for row in odd} == {
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
    assert all(bool(row["known_error"]) == row["listed"] for row in rows)
    row = find(odd, kind="mix", individual="iifr_cosine", metric="ifr_p")
    # .67506 x 73.4 + .32494 x 37.0
    assert row["computed"] == pytest.approx(61.572184)


def test_the_checks_are_those_of_the_script(monkeypatch):
    monkeypatch.setattr("sys.argv", ["iifr_checks.py"])
    assert script.main() == 0


def test_a_contradiction_that_is_not_listed():
    published = script.read_facts(RESOURCES)
    place = ("adult", "mlp", "iifr_cosine", None, None, "ifr_p")
    cells = published.cells["4"] | {place: number("60.6")}
    rows = script.check_published(published._replace(cells=published.cells | {"4": cells}))
    [odd] = [row for row in rows if row["result"] == "contradiction" and not row["listed"]]
    assert (odd["kind"], odd["method"], odd["metric"]) == ("mix", "mlp", "ifr_p")


def test_a_listed_cell_that_cannot_be_checked():
    published = script.read_facts(RESOURCES)
    other = published.inconsistencies[0] | {"method": "unknown"}
    rows = script.check_published(
        published._replace(inconsistencies=[*published.inconsistencies, other])
    )
    [row] = [row for row in rows if row["result"] == "cannot_be_checked"]
    assert row["words"].endswith("(we do not have these cells)") and row["known_error"]


def test_feasible_accuracies_by_hand():
    # Equal groups of base rate 0 and 1: the accuracy is (1 - fpr + tpr) / 2, and the gap of
    # the positive rates is |tpr - fpr| = 0, so it is 1/2.
    gaps = [number("0.000"), number("1.000"), number("1.000")]
    ends = script.accuracies_with((gaps[0], number("0.5"), number("0.5")), ((0.5, 0.0), (0.5, 1.0)))
    assert ends == pytest.approx((50, 50), abs=0.06)
    # The base rates are alike, and so gaps of both rates of 1 make a gap of 1 or of 0.
    assert script.accuracies_with((number("0.5"), *gaps[1:]), ((0.5, 0.5), (0.5, 0.5))) is None


def counted(*published, made=None):
    """The groups of a table, beside published numbers, by quantity and value."""
    made = made or table(60, values=3)
    names = ("dataset", "quantity", "value", "published")
    printed = [dict(zip(names, one, strict=True)) | {"file": "facts.csv"} for one in published]
    facts = dataclasses.replace(read_published(FACTS), groups=printed)
    rows = groups.rows(study([], {made.name: made}, published=facts))
    return {(row["quantity"], row["value"]): row for row in rows}


def test_groups_are_counted():
    made = table(60, values=3)
    rows = counted(made=made)
    assert rows["rows", ""]["reproduced"] == 60
    assert rows["P(Y=1)", ""]["reproduced"] == pytest.approx(made.y.mean())
    assert not any(row.get("verdict") for row in rows.values())
    for code, value in enumerate(made.attribute_values):
        group = made.a == code
        assert rows["P(A)", value]["count"] == group.sum()
        assert rows["P(Y=1|A)", value]["reproduced"] == pytest.approx(made.y[group].mean())


@pytest.mark.parametrize(
    ("printed", "positive", "verdict", "digits"),
    [
        ("0.667", 4, "reproduced", "rounded"),
        ("0.666", 4, "reproduced", "truncated"),
        ("0.665", 4, "not_reproduced", ""),
        ("1", 4, "reproduced", "rounded"),
        ("", 4, "not_checked", ""),
        (".50", 3, "reproduced", "both"),
    ],
)
def test_verdicts_on_groups(printed, positive, verdict, digits):
    made = table(6)
    made.y[:] = np.arange(6) < positive
    rows = counted(("made", "P(Y=1)", "", printed), ("adult", "P(A)", "Male", "0.1"), made=made)
    row = rows["P(Y=1)", ""]
    assert (row["verdict"], row["digits"], row["published"]) == (verdict, digits, printed)


def test_a_published_group_that_the_table_lacks():
    with pytest.raises(InputError, match=r"facts.csv: has P\(A\) of g9 of made, which the table"):
        counted(("made", "P(A)", "g9", "0.5"))


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("compas", "compas/compas-scores-two-years.csv", {"not_checked": 4}),
        ("german", "german_credit/german.data-numeric", {"reproduced": 10}),
    ],
)
def test_the_papers_numbers(mirror, name, file, expected):
    reader = importlib.import_module(f"evenhand.tabular.formats.{name}")
    made = reader.read([mirror / file], {})
    rows = groups.rows(study([], {name: made}))
    assert Counter(row["verdict"] for row in rows if row.get("verdict")) == expected


def test_training_is_that_of_each_data_set():
    people = {"adult": table(name="adult"), "own": table(name="own")}
    adult, own = training.rows(study([], people))
    assert (adult["hidden"], adult["adversary"]) == ("30, 20, 15, 15, 10", "10")
    assert (adult["learning_rate"], adult["batch"], adult["epochs"]) == (0.1, 256, 10)
    assert own["dataset"] == "own"
