import csv
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.slguset.bin_bias import BINS, UNIT, bin_bias, counted, edges
from unit.slguset.test_summarise_bias import ROWS, write_dataset, write_model

BIAS = [row[3] for row in ROWS]
FINITE = st.floats(-50, 50, allow_nan=False)


def run(folder, *names):
    counts = bin_bias(
        dataset=folder / "dataset.parquet",
        bias=[folder / f"{name}.parquet" for name in names],
        gates=[folder / f"{name}.gate.json" for name in names],
        out=folder / "out.csv",
    )
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), counts


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", BIAS)
    write_model(tmp_path, "b", [row[4] for row in ROWS])
    write_model(tmp_path, "silent", [None] * len(ROWS))
    write_model(tmp_path, "broken", [9.0] * len(ROWS), trusted=False)
    return tmp_path


def test_all_models_share_edges_and_each_counts_its_scored_sentences(folder):
    rows, counts = run(folder, "b", "silent", "broken", "a")
    assert counts == {"models": 2, "left_out": 2, "sentences": {"b": 4, "a": 5}}
    assert [row["model"] for row in rows] == ["b"] * BINS + ["a"] * BINS
    of_b, of_a = rows[:BINS], rows[BINS:]
    assert [(r["low"], r["high"]) for r in of_a] == [(r["low"], r["high"]) for r in of_b]
    for some, n in ((of_b, 4), (of_a, 5)):
        assert sum(int(row["sentences"]) for row in some) == n
        assert sum(float(row["share"]) for row in some) == pytest.approx(1, abs=1e-4)
        assert some[0]["low"] == some[-1]["high"] == ""
        assert all(low["high"] == high["low"] != "" for low, high in pairwise(some))
    assert of_a[BINS // 2]["low"] == "0.000000"
    for row in of_a:  # as someone counts who has this table alone
        low, high = float(row["low"] or "-inf"), float(row["high"] or "inf")
        assert int(row["sentences"]) == sum(low <= value < high for value in BIAS)


def test_without_a_model_to_trust_the_table_is_empty(folder):
    rows, counts = run(folder, "silent", "broken")
    assert rows == [] and counts == {"models": 0, "left_out": 2, "sentences": {}}


def test_what_lies_far_out_is_in_the_bins_at_the_ends():
    values = np.concatenate([np.linspace(-1, 1, 2000), [-40.0, 70.0]])
    inner = edges([values])
    assert inner[0] > -1.1 and inner[-1] < 1.1
    found = counted(values, inner)
    assert sum(found) == 2002
    assert found[0] == (values < inner[0]).sum() and found[-1] == (values >= inner[-1]).sum()


@pytest.mark.parametrize("value", [0.0, 1e-12])
def test_a_model_that_leans_nowhere_has_bins_too(value):
    inner = edges([np.array([value])])
    assert len(set(inner)) == BINS - 1
    assert counted(np.array([value]), inner)[BINS // 2] == 1


@given(st.lists(st.lists(FINITE, min_size=1).map(np.array), min_size=1, max_size=3))
def test_no_sentence_is_lost_and_edges_mirror_each_other(values):
    inner = edges(values)
    assert inner == [-edge for edge in inner[::-1]]
    assert all(edge == float(f"{edge:.6f}") for edge in inner)
    assert min(np.diff(inner)) >= UNIT / 2
    for one in values:
        assert sum(counted(one, inner)) == len(one)
