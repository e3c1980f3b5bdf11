import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from evenhand.errors import InputError
from evenhand.legal.measure_shift import measure_shift
from unit.legal.made_cases import read_csv, write_cases


def measured(tmp_path, kind, cases, **options):
    data, out = write_cases(tmp_path / "d.parquet", kind, cases), tmp_path / "shift.csv"
    settings = {"seed": 1, "resamples": 200} | options
    counts = measure_shift(data=data, out=out, kind=kind, dataset="mine", **settings)
    rows = read_csv(out)
    return counts, {(row["attribute"], row["group"], row["splits"]): row for row in rows}


def distance(row, name="distance"):
    return float(row[name])


MULTI = [
    *[{"labels": ["2", "3"], "split": "train"}] * 3,
    *[{"labels": [], "split": "train"}] * 2,
    *[{"labels": ["3", "P1-1"], "split": "test"}] * 4,
    {"labels": ["P1-1"], "split": "test"},
    {"labels": None, "split": "test"},
]


def test_all_labels_count_and_the_published_errors_stand_beside(tmp_path):
    _, rows = measured(tmp_path, "ecthr", MULTI)
    row = rows["all", "all", "train-test"]
    assert (row["train_cases"], row["other_cases"]) == ("5", "5")  # one has no known label
    # 2, 3, P1-1, none
    assert distance(row) == pytest.approx(jensenshannon([3, 3, 0, 2], [0, 4, 5, 0]), abs=1e-6)
    # as published: none, 2, 3 and, of the lowest only, P1-1 (which is then dropped)
    lowest = jensenshannon([2, 3, 0, 0], [0, 0, 4, 1])
    dropped = jensenshannon([2, 3, 3], [0, 0, 4])
    both = jensenshannon([2, 3, 0], [0, 0, 4])
    assert distance(row, "compat_lowest_only") == pytest.approx(lowest, abs=1e-6)
    assert distance(row, "compat_last_dropped") == pytest.approx(dropped, abs=1e-6)
    assert distance(row, "compat_published") == pytest.approx(both, abs=1e-6)


def test_a_task_with_single_labels_has_no_compat(tmp_path):
    cases = [{"labels": ["Privacy"]}, {"labels": ["Unions"], "split": "dev"}]
    _, rows = measured(tmp_path, "scotus", cases)
    row = rows["all", "all", "train-dev"]
    assert distance(row) == pytest.approx(np.sqrt(np.log(2)), abs=1e-6)
    assert row["compat_published"] == ""


def shifted(train, test, n=120):
    """Single-labelled cases of men with these shares of approval in train and test."""
    return [
        {"labels": ["0" if number < share * n else ">120"], "split": split,
         "defendant_gender": "male"}
        for split, share in (("train", train), ("test", test))
        for number in range(n)
    ]  # fmt: skip


def test_a_shift_is_above_the_noise_and_none_is_not(tmp_path):
    counts, rows = measured(tmp_path, "cail", shifted(0.2, 0.8))
    row = rows["defendant_gender", "male", "train-test"]
    assert row["above_noise"] == "true"
    assert float(row["noise_95"]) < float(row["low"]) < distance(row) < float(row["high"])
    assert counts["above_noise"] == 3  # all, men, and the cases whose region is not known
    _, rows = measured(tmp_path, "cail", shifted(0.5, 0.5))
    row = rows["defendant_gender", "male", "train-test"]
    assert (distance(row), row["above_noise"], row["p"]) == (0, "false", "1.000000")


def test_a_group_without_cases_on_a_side(tmp_path):
    counts, rows = measured(tmp_path, "cail", shifted(0.2, 0.8))
    row = rows["defendant_gender", "female", "train-test"]
    assert row["train_cases"] == "0"
    assert row["distance"] == row["low"] == row["p"] == row["above_noise"] == ""
    empty = [row for row in rows.values() if row["distance"] == ""]
    assert counts["without_cases"] == len(empty)


def test_the_draws_of_a_row_do_not_depend_on_other_rows(tmp_path):
    few = measured(tmp_path, "cail", shifted(0.4, 0.6))[1]
    more = [*shifted(0.4, 0.6), {"defendant_gender": "female"}]
    row = ("defendant_gender", "male", "train-test")
    assert measured(tmp_path, "cail", more)[1][row] == few[row]
    assert measured(tmp_path, "cail", shifted(0.4, 0.6), seed=2)[1][row] != few[row]


def test_no_resamples(tmp_path):
    with pytest.raises(InputError, match="0 resamples"):
        measured(tmp_path, "cail", [{}], resamples=0)
