"""The correlations of other methods with the bias."""

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InputError
from evenhand.slguset.tables.methods import compare
from unit.slguset.made_bias import ROWS, tabulate, write_dataset, write_model, write_scores

BIAS = [row[3] for row in ROWS]


def run(folder, names=("a",), scored=("a",)):
    return tabulate(folder, *names, scored=scored)[0]["methods"]


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "dataset.parquet")
    write_model(tmp_path, "a", BIAS)
    write_scores(tmp_path, "a", [1.0, -0.3, -0.5, None, 0.0])
    return tmp_path


def test_by_hand(folder):
    row, blank = run(folder)
    assert [blank[name] for name in ("model", "method", "n", "reason")] == [
        "a",
        "aula",
        0,
        "no_attention",
    ]
    assert blank["pearson"] is blank["share_male"] is None
    bias, aul = [0.5, -0.1, 0.3, 0.0], [1.0, -0.3, -0.5, 0.0]
    assert (row["model"], row["method"], row["n"]) == ("a", "aul", 4)
    assert row["pearson"] == pytest.approx(np.corrcoef(bias, aul)[0, 1], abs=1e-6)
    assert row["spearman"] == pytest.approx(stats.spearmanr(bias, aul).statistic, abs=1e-6)
    assert row["sign_agreement"] == 0.75  # two zeros agree
    assert (row["share_male"], row["share_male_bias"]) == (0.25, 0.5)
    assert row["pearson_low"] is None  # two surface pairs


def test_the_interval_is_close_to_that_of_the_bootstrap():
    random = np.random.default_rng(0)
    clusters = np.repeat(np.arange(120), 5)
    x, y = random.normal(3, 1, (2, 600)) + random.normal(size=120)[clusters]
    found = compare(x, y, clusters)
    plain = []
    for drawn in random.integers(120, size=(1000, 120)):
        rows = (5 * drawn[:, None] + np.arange(5)).ravel()
        plain.append(np.corrcoef(x[rows], y[rows])[0, 1])
    low, high = np.quantile(plain, [0.025, 0.975])
    assert (found["pearson_low"], found["pearson_high"]) == pytest.approx((low, high), abs=0.02)


def test_nothing_varies_or_one_cluster():
    found = compare(np.ones(3), np.arange(3.0), np.arange(3))
    assert found["pearson"] is found["spearman"] is found["pearson_low"] is None
    found = compare(np.arange(3.0), np.arange(3.0), np.zeros(3))
    assert found["pearson"] == pytest.approx(1) and np.isnan(found["pearson_low"])


def test_a_model_that_is_not_trusted_has_the_reason_and_no_number(folder):
    write_scores(folder, "a", [1.0] * 5, trusted=False)
    (row,) = run(folder)
    assert (row["model"], row["method"], row["reason"]) == ("a", None, "few_scored")
    assert {row[name] for name in ("pearson", "spearman", "sign_agreement")} == {None}


def test_scores_of_others(folder):
    for ids in (["0", "1", "2", "3"], ["0", "1", "2", "3", "9"]):
        write_scores(folder, "a", [1.0] * len(ids), ids=ids)
        with pytest.raises(InputError, match=r"a.scores.parquet: its pairs are not the sentences"):
            run(folder)
