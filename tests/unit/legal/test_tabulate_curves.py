"""The ways of all trainings as one table."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.legal.tabulate_curves import HEADER, _curves, tabulate_curves
from unit.io.damage import damage
from unit.report.made_classifiers import train


def rows_of(path, *histories):
    counts = tabulate_curves(histories=list(histories), out=path, dataset="mine")
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        rows = list(reader)
    assert reader.fieldnames == HEADER
    assert counts["rows"] == len(rows)
    return rows, counts


def test_each_seed_then_the_mean_of_those_that_got_so_far(tmp_path):
    rows, counts = rows_of(tmp_path / "o.csv", train(tmp_path / "a.parquet"))
    assert counts["trainings"] == 2
    place = [(row["seed"], row["epoch"], row["seeds"], row["macro_f1"]) for row in rows]
    assert place == [
        ("0", "1", "", "20.000000"),
        ("0", "2", "", "40.000000"),
        ("1", "1", "", "30.000000"),
        ("mean", "1", "2", "25.000000"),
        ("mean", "2", "1", "40.000000"),
    ]
    assert [row["macro_f1_sd"] for row in rows] == ["", "", "", "7.071068", ""]
    assert [row["loss"] for row in rows] == ["1.000000", "0.500000", *["1.000000"] * 2, "0.500000"]
    assert {row["learning_rate"] for row in rows} == {"0.5", ""}
    assert {(row["dataset"], row["objective"], row["trained_for"]) for row in rows} == {
        ("mine", "erm", "none")
    }
    assert [row["best"] for row in rows] == ["false"] * 3 + [""] * 2


def test_what_is_not_finite_is_blank_and_no_part_of_a_mean(tmp_path):
    rows, _ = rows_of(tmp_path / "o.csv", train(tmp_path / "a.parquet", loss=float("nan")))
    assert {row["loss"] for row in rows} == {""}
    assert rows[-1]["macro_f1"] == "40.000000"


def test_settings_stand_apart_in_the_order_of_the_files(tmp_path):
    dro = train(tmp_path / "dro.parquet", "group_dro", "gender")
    erm = train(tmp_path / "erm.parquet")
    rows, _ = rows_of(tmp_path / "o.csv", dro, erm)
    settings = list(dict.fromkeys((row["objective"], row["trained_for"]) for row in rows))
    assert settings == [("group_dro", "gender"), ("erm", "none")]


def test_a_training_given_twice(tmp_path):
    one = train(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="linear erm none, seed 0, was in another file already"):
        tabulate_curves(histories=[one, one], out=tmp_path / "o.csv", dataset="mine")


def test_a_file_that_is_no_history(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_text("no table")
    with pytest.raises(InputError, match=r"a\.parquet: is not a Parquet file"):
        tabulate_curves(histories=[path], out=tmp_path / "o.csv", dataset="mine")
    pq.write_table(pa.table({"seed": [1]}), path)
    with pytest.raises(InputError, match=r"lacks the column \w+; give the history of a training"):
        tabulate_curves(histories=[path], out=tmp_path / "o.csv", dataset="mine")


def test_a_damaged_history(tmp_path):
    path = train(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=damage(path, "epoch")):
        tabulate_curves(histories=[path], out=tmp_path / "o.csv", dataset="mine")


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_mean_lies_between_its_seeds(scores):
    fixed = dict.fromkeys(("steps", "gradient_norm", "dev_loss", "best"), 1)
    fixed |= {"learning_rate": 0.1, "losses": [1.0], "dev_mean_group_f1": None}
    seeds = {
        seed: [
            fixed | {"epoch": epoch, "dev_macro_f1": score, "dev_worst_group_f1": None}
            for epoch, score in enumerate(own, 1)
        ]
        for seed, own in enumerate(scores)
    }
    rows = list(_curves(seeds))
    means = [row for row in rows if row["seed"] == "mean"]
    assert [row["epoch"] for row in means] == list(range(1, max(map(len, scores)) + 1))
    for mean in means:
        own = [
            row["macro_f1"]
            for row in rows
            if row["seed"] != "mean" and row["epoch"] == mean["epoch"]
        ]
        assert mean["seeds"] == len(own)
        assert min(own) - 1e-9 <= mean["macro_f1"] <= max(own) + 1e-9
