import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.legal.compare_objectives import compare_objectives
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import (
    noisy,
    people,
    predictions,
    right,
    write,
    write_people,
)


def compared(tmp_path, data, kind, *trainings, **options):
    path = write(tmp_path / "p.parquet", *trainings)
    out = tmp_path / "tests.csv"
    counts = compare_objectives(
        data=data, predictions=[path], out=out, kind=kind, dataset="mine",
        **({"resamples": 499} | options),
    )  # fmt: skip
    return counts, {(row["objective"], row["attribute"], row["measure"]): row
                    for row in read_csv(out)}  # fmt: skip


DRO = {"objective": "group_dro", "attribute": "defendant_gender"}


def test_a_better_objective_is_higher_over_seeds_and_cases(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    runs = [predictions(data, "cail", noisy(seed, 3), seed=seed) for seed in range(1, 6)]
    runs += [predictions(data, "cail", noisy(10 + seed, 1), seed=seed, **DRO)
             for seed in range(1, 6)]  # fmt: skip
    counts, rows = compared(tmp_path, data, "cail", *runs)
    assert counts["tests"] == 4
    row = rows["group_dro", "defendant_gender", "mean"]
    assert row["verdict"] == "higher"
    assert row["seeds"] == "5"
    assert 0 < float(row["low"]) < float(row["difference"]) < float(row["high"])
    assert float(row["difference"]) == pytest.approx(float(row["value"]) - float(row["erm"]))
    assert 0 < float(row["seeds_low"]) < float(row["difference"]) < float(row["seeds_high"])
    assert float(row["p_cases"]) == pytest.approx(1 / 500, abs=1e-6)
    assert float(row["p_cases_adjusted"]) >= float(row["p_cases"])
    assert float(row["p_seeds_adjusted"]) >= float(row["p_seeds"])


def test_the_p_value_over_seeds_is_that_of_scipy(tmp_path):
    from scipy.stats import ttest_rel
    from sklearn.metrics import f1_score

    data, _ = write_people(tmp_path / "d.parquet", men=15, women=15, splits=("test",))
    runs = {
        name: [predictions(data, "cail", noisy(seed + start), seed=seed, **more)
               for seed in (1, 2, 3)]
        for name, start, more in (("erm", 0, {}), ("dro", 7, DRO))
    }  # fmt: skip
    true = np.array([number % 3 for _ in range(2) for number in range(15)])
    each = {
        name: [
            100 * f1_score(true, one.logits.argmax(axis=1), labels=range(6), average="macro",
                           zero_division=0)
            for one in some
        ]
        for name, some in runs.items()
    }  # fmt: skip
    _, rows = compared(tmp_path, data, "cail", *runs["erm"], *runs["dro"])
    row = rows["group_dro", "defendant_gender", "overall"]
    expected = ttest_rel(each["dro"], each["erm"])
    assert float(row["p_seeds"]) == pytest.approx(expected.pvalue, abs=1e-6)
    low, high = expected.confidence_interval()
    assert [float(row["seeds_low"]), float(row["seeds_high"])] == pytest.approx(
        [low, high], abs=1e-5
    )


def test_a_handful_of_cases_shows_nothing(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=3, women=1)
    bad = lambda hot: np.roll(right(hot), 1, axis=1)  # noqa: E731
    runs = [predictions(data, "cail", bad, seed=seed) for seed in (1, 2, 3)]
    runs += [predictions(data, "cail", right, seed=seed, **DRO) for seed in (1, 2, 3)]
    _, rows = compared(tmp_path, data, "cail", *runs)
    # of the 16 ways to swap four cases one is as good, and one as bad
    assert float(rows["group_dro", "defendant_gender", "mean"]["p_cases"]) == pytest.approx(
        2 / 16, abs=0.05
    )


def test_many_tests_are_given_swaps_enough_for_one_to_be_shown(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", splits=("test",))
    runs = [predictions(data, "cail", noisy(seed, 5), seed=seed) for seed in range(1, 6)]
    runs += [predictions(data, "cail", noisy(50 + seed, 2), seed=seed, **DRO)
             for seed in range(1, 6)]  # fmt: skip
    _, rows = compared(tmp_path, data, "cail", *runs, resamples=1)
    assert len(rows) == 4
    assert float(rows["group_dro", "defendant_gender", "mean"]["p_cases_adjusted"]) < 0.05


def test_alike_classifiers_seldom_differ(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=10, women=4, splits=("test",))
    low = 0
    for start in range(40):
        runs = [predictions(data, "cail", noisy(100 * start + seed, 3), seed=seed, **more)
                for seed, more in ((1, {}), (2, {}))]  # fmt: skip
        runs += [predictions(data, "cail", noisy(100 * start + 50 + seed, 3), seed=seed, **DRO)
                 for seed in (1, 2)]  # fmt: skip
        _, rows = compared(tmp_path, data, "cail", *runs, resamples=199)
        low += sum(float(row["p_cases"]) <= 0.05 for row in rows.values())
    assert low <= 20  # of 160: 8 are expected


def test_the_same_predictions_do_not_differ(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12)
    runs = [predictions(data, "cail", noisy(seed), seed=seed, **more)
            for seed in (1, 2) for more in ({}, DRO)]  # fmt: skip
    counts, rows = compared(tmp_path, data, "cail", *runs)
    assert (counts["not_shown"], counts["tests"]) == (4, 4)
    for row in rows.values():
        assert float(row["difference"]) == float(row["low"]) == float(row["high"]) == 0
        assert float(row["p_cases"]) == float(row["p_seeds"]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_interval_and_p_value_say_the_same(tmp_path, seed):
    data, _ = write_people(tmp_path / "d.parquet", men=9, women=6)
    runs = [
        predictions(data, "cail", noisy(7 * seed + start + one, 2), seed=one, **more)
        for one in (1, 2)
        for start, more in ((0, {}), (100, DRO))
    ]
    _, rows = compared(tmp_path, data, "cail", *runs, resamples=999)
    for row in rows.values():
        p_value, low, high = (float(row[name]) for name in ("p_cases", "low", "high"))
        if abs(p_value - 0.05) > 0.005:
            assert (p_value < 0.05) == (low > 0 or high < 0)


def test_one_seed_and_equal_differences_have_no_p_value_over_seeds(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12)
    bad = lambda hot: np.roll(right(hot), 1, axis=1)  # noqa: E731
    one = [predictions(data, "cail", bad), predictions(data, "cail", right, **DRO)]
    _, rows = compared(tmp_path, data, "cail", *one)
    row = rows["group_dro", "defendant_gender", "mean"]
    assert (row["p_seeds"], row["verdict"]) == ("", "not shown")
    assert row["reason"] == "one seed does not say how differences vary"
    two = [*one, *(run._replace(seed=2) for run in one)]
    _, rows = compared(tmp_path, data, "cail", *two)
    assert rows["group_dro", "defendant_gender", "mean"]["reason"] == "all seeds differ by the same"


def test_what_cannot_be_tested_says_why(tmp_path):
    cases = [one | {"court_region": "Hunan"} for one in people(8, 8)]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    erm = predictions(data, "cail", right)
    region = {"objective": "group_dro", "attribute": "court_region"}
    _, rows = compared(tmp_path, data, "cail", erm, predictions(data, "cail", right, **region))
    row = rows["group_dro", "court_region", "gd"]
    assert (row["reason"], row["p_cases"], row["verdict"]) == ("one group only has cases", "", "")
    other = predictions(data, "cail", right, seed=9, **DRO)
    counts, rows = compared(tmp_path, data, "cail", erm, other)
    row = rows["group_dro", "defendant_gender", "mean"]
    assert (row["reason"], row["seeds"]) == ("there is no ERM of a seed in common", "0")
    assert counts["without_erm"] == 4


def test_an_objective_without_groups_is_tested_on_each_attribute_and_overall_once(tmp_path):
    cases = [one | {"court_region": region} for one in people(8, 8)
             for region in ("Hunan", "Beijing")]  # fmt: skip
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    runs = [predictions(data, "cail", noisy(seed + start, 3 - start / 10), seed=seed,
                        objective=objective)
            for start, objective in ((0, "erm"), (10, "class_balanced"))
            for seed in (1, 2, 3)]  # fmt: skip
    _, rows = compared(tmp_path, data, "cail", *runs)
    both = [
        rows["class_balanced", name, "overall"] for name in ("defendant_gender", "court_region")
    ]
    assert both[0] | {"attribute": ""} == both[1] | {"attribute": ""}
    # seven tests, not eight
    smallest = min(float(row["p_seeds"]) for row in rows.values())
    adjusted = min(float(row["p_seeds_adjusted"]) for row in rows.values())
    assert adjusted == pytest.approx(min(1, 7 * smallest), abs=1e-5)


def test_only_erm_gives_an_empty_table(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=4, women=4)
    counts, rows = compared(tmp_path, data, "cail", predictions(data, "cail", right))
    assert (counts["tests"], rows) == (0, {})


def test_resamples_are_needed(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=4, women=4)
    with pytest.raises(InputError, match="0 resamples say nothing"):
        compared(tmp_path, data, "cail", predictions(data, "cail", right), resamples=0)
