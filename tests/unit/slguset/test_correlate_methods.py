import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import InputError
from evenhand.slguset.correlate_methods import compare, correlate_methods
from evenhand.stereotypes.scores import SCORES
from unit.slguset.made_bias import ROWS, write_dataset, write_model

BIAS = [row[3] for row in ROWS]
DRAW = {"seed": 0, "resamples": 200}


def write_scores(folder, name, differences, trusted=True, ids=None):
    """AUL of the male sentence is the difference, that of the female one 0; AULA is null."""
    rows = []
    for number, difference in enumerate(differences):
        for variant in ("original", "shuffled"):
            for side in ("more", "less"):
                row = dict.fromkeys(SCORES.names)
                aul = {"more": difference, "less": 0.0}[side]
                rows.append(
                    row
                    | {
                        "pair_id": str(number) if ids is None else ids[number],
                        "side": side,
                        "variant": variant,
                        "aul": aul if variant == "original" else 99.0,
                    }
                )
    pq.write_table(pa.Table.from_pylist(rows, SCORES), folder / f"{name}.scores.parquet")
    gate = {"model": name, "trusted": trusted, "reason": None if trusted else "few_scored"}
    gate["blank_methods"] = {"aula": "no_attention"}
    (folder / f"{name}.scores.json").write_text(json.dumps(gate), encoding="utf-8")


def run(folder, names=("a",), scored=("a",), **options):
    counts = correlate_methods(
        dataset=folder / "dataset.parquet",
        bias=[folder / f"{name}.parquet" for name in names],
        gates=[folder / f"{name}.gate.json" for name in names],
        scores=[folder / f"{name}.scores.parquet" for name in scored],
        score_gates=[folder / f"{name}.scores.json" for name in scored],
        out=folder / "out.csv",
        **{"resamples": 200} | options,
    )
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)), counts


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", BIAS)
    write_scores(tmp_path, "a", [1.0, -0.3, -0.5, None, 0.0])
    return tmp_path


def test_by_hand(folder):
    (row, blank), _ = run(folder)
    assert [value for value in blank.values() if value] == ["a", "aula", "0", "no_attention"]
    bias, aul = [0.5, -0.1, 0.3, 0.0], [1.0, -0.3, -0.5, 0.0]
    assert (row["model"], row["method"], row["n"]) == ("a", "aul", "4")
    assert float(row["pearson"]) == pytest.approx(np.corrcoef(bias, aul)[0, 1], abs=1e-6)
    assert float(row["spearman"]) == pytest.approx(stats.spearmanr(bias, aul).statistic, abs=1e-6)
    assert row["sign_agreement"] == "0.750000"  # two zeros agree
    assert (row["share_male"], row["share_male_bias"]) == ("0.250000", "0.500000")
    assert float(row["pearson_low"]) <= float(row["pearson"]) <= float(row["pearson_high"])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_interval_is_that_of_whole_clusters_drawn(seed, clusters):
    random = np.random.default_rng(seed)
    x, y = random.normal(3, 1, (2, 40))
    member_of = random.integers(clusters, size=40)
    labels = np.unique(member_of)
    found = compare(x, y, member_of, **DRAW)
    drawn = np.random.default_rng(0).integers(len(labels), size=(200, len(labels)))
    plain = []
    for row in drawn:
        rows = np.concatenate([np.flatnonzero(member_of == labels[k]) for k in row])
        if len({*rows}) > 1:
            plain.append(np.corrcoef(x[rows], y[rows])[0, 1])
    low, high = np.quantile(plain, [0.025, 0.975])
    assert (found["pearson_low"], found["pearson_high"]) == pytest.approx((low, high), abs=1e-6)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20))
def test_a_method_that_says_the_same_agrees_fully(values):
    bias = np.array(values)
    found = compare(bias, 3 * bias, np.arange(len(bias)), **DRAW)
    assert found["sign_agreement"] == 1.0
    assert found["share_male"] == found["share_male_bias"]
    if np.ptp(bias) > 1e-3:
        assert found["pearson"] == pytest.approx(1) and found["spearman"] == pytest.approx(1)


def test_nothing_varies_or_one_cluster():
    found = compare(np.ones(3), np.arange(3.0), np.arange(3), **DRAW)
    assert found["pearson"] is found["spearman"] is found["pearson_low"] is None
    found = compare(np.arange(3.0), np.arange(3.0), np.zeros(3), **DRAW)
    assert found["pearson"] == pytest.approx(1) and found["pearson_low"] is None


def test_a_model_that_is_not_trusted_has_the_reason_and_no_number(folder):
    write_scores(folder, "a", [1.0] * 5, trusted=False)
    (row,), _ = run(folder)
    assert (row["model"], row["method"], row["reason"]) == ("a", "", "few_scored")
    assert {row[name] for name in ("pearson", "spearman", "sign_agreement")} == {""}


def test_models_with_only_one_of_both_are_named(folder):
    write_model(folder, "b", BIAS)
    write_scores(folder, "c", [1.0] * 5)
    rows, counts = run(folder, ("a", "b"), ("c", "a"))
    assert {row["model"] for row in rows} == {"a"}
    assert counts["left_out"] == ["b", "c"]


def test_scores_of_other_sentences(folder):
    write_scores(folder, "a", [1.0] * 4)
    with pytest.raises(InputError, match=r"a.scores.parquet: its pairs are not the sentences"):
        run(folder)
    write_scores(folder, "a", [1.0] * 5, ids=["0", "1", "2", "3", "9"])
    with pytest.raises(InputError, match="its pairs are not the sentences"):
        run(folder)
    with pytest.raises(InputError, match="1 tables of scores and 0 gates"):
        correlate_methods(
            dataset=folder / "dataset.parquet",
            bias=[folder / "a.parquet"],
            gates=[folder / "a.gate.json"],
            scores=[folder / "a.scores.parquet"],
            score_gates=[],
            out=folder / "out.csv",
        )


def test_same_bytes(folder):
    run(folder)
    first = (folder / "out.csv").read_bytes()
    run(folder)
    assert (folder / "out.csv").read_bytes() == first
