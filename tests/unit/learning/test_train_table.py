import dataclasses
import math

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.learning import stacked
from evenhand.learning.train_table import GROUPS, PREDICTIONS, REASON, RUNS
from evenhand.metrics.individual import binary, ifr_b, ifr_p
from unit.learning.made_tables import table, train

METHODS = ["mlp", "mlp_without_attribute", "alfr", "laftr_dp", "laftr_eo", "cfair", "cfair_eo"]


def test_the_grid_and_its_tables(tmp_path):
    made = table(values=3)
    counts, runs, groups, _ = train(
        tmp_path,
        made,
        "alfr",
        individual=["none", "iifr_cosine", "iifr_counterfactual"],
        lambdas=[0.1, 1.0],
        epsilons=[0.8, 0.5, 0.9],
        mus=[1.0, 4.0],
    )
    # none 1; cosine two lambdas at .8 and 1 at .5 and .9; counterfactual 2: times 2 mus, 2 seeds
    assert counts == {"runs": 28, "diverged": 0, "empty": 0, "predictions": 28 * 72}
    assert [row["run"] for row in runs] == list(range(28))
    assert [
        (row["individual"], row["seed"], row["lambda"], row["epsilon"], row["mu"])
        for row in runs[4:12]
    ] == [
        ("iifr_cosine", 0, lam, epsilon, mu)
        for lam, epsilon in ((0.1, 0.8), (1.0, 0.8), (1.0, 0.5), (1.0, 0.9))
        for mu in (1.0, 4.0)
    ]
    assert {row["lambda"] for row in runs[:4]} == {0.0}
    assert {(row["epsilon"], row["n_pairs"], row["reduction"]) for row in runs[:4]} == {
        (None, None, None)
    }
    assert all(row["n_train"] == 168 and row["n_test"] == 72 for row in runs)
    assert len(groups) == 28 * 3
    assert sum(row["n"] for row in groups[:3]) == 72
    for path, schema in (("out", RUNS), ("groups", GROUPS), ("predictions", PREDICTIONS)):
        assert pq.read_schema(tmp_path / f"{path}.parquet").equals(schema)


def test_the_measures_are_those_of_the_predictions(tmp_path):
    made = table(values=3)
    _, runs, groups, predictions = train(tmp_path, made, seeds=1)
    row = np.array([one["row"] for one in predictions])
    p = np.array([one["p"] for one in predictions])
    flipped = np.array(
        [[math.nan if v is None else v for v in one["p_flipped"]] for one in predictions]
    )
    assert (np.isnan(flipped).argmax(axis=1) == made.a[row]).all()
    label = p > 0.5
    y, a = made.y[row], made.a[row]
    (found,) = runs
    assert found["acc"] == pytest.approx(100 * np.mean(label == y))
    halves = [np.mean(label[y == j] == j) for j in (0, 1)]
    assert found["balanced_acc"] == pytest.approx(100 * np.mean(halves))
    assert found["positive_rate"] == pytest.approx(np.mean(label))
    assert found["ifr_b"] == pytest.approx(ifr_b(binary(p), binary(flipped)))
    assert found["ifr_p"] == pytest.approx(ifr_p(binary(p), binary(flipped)))
    assert found["ifr_p_all"] == pytest.approx(ifr_p(binary(p), binary(flipped), strict=True))
    positive = [np.mean(label[a == code]) for code in range(3)]
    assert found["ddp"] == pytest.approx(max(positive) - min(positive))
    paper = dataclasses.replace(made, meta={"gap": "deviation"})
    (of_paper,) = train(tmp_path, paper, seeds=1)[1]
    assert of_paper["ddp"] == pytest.approx(np.std(positive))
    false = [np.mean(label[(a == code) & (y == 0)]) for code in range(3)]
    assert found["deo_0"] == pytest.approx(max(false) - min(false))
    for code in range(3):
        group = groups[code]
        assert group["positive_rate"] == pytest.approx(positive[code])
        assert group["fpr"] == pytest.approx(false[code])
        own = a == code
        assert group["ifr_p"] == pytest.approx(ifr_p(binary(p[own]), binary(flipped[own])))
    mean = sum(group["n"] * group["ifr_p"] for group in groups) / len(row)
    assert found["ifr_p"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("method", "values"), [*zip(METHODS, [2, 2, 3, 2, 3, 2, 3], strict=True), ("laftr_dp", 3)]
)
def test_each_method_learns_something(tmp_path, method, values):
    made = table(n=300, values=values)
    options = {"individual": ["iifr_cosine"], "lambdas": [0.01], "mus": [0.1]}
    _, runs, _, _ = train(tmp_path, made, method, epochs=12, **options)
    majority = 100 * max(np.mean(made.y), 1 - np.mean(made.y))
    assert all(row["acc"] > majority + 5 for row in runs)
    if method == "mlp_without_attribute":  # takes no individual loss, and says so in its rows
        assert {row["individual"] for row in runs} == {"none"}
        assert {(row["ifr_b"], row["ifr_p_all"]) for row in runs} == {(100, 100)}
    assert {row["mu"] for row in runs} == ({None} if method.startswith("mlp") else {0.1})


@pytest.mark.parametrize("method", ["logistic_regression", "majority"])
def test_classifiers_have_one_run_a_seed(tmp_path, method):
    made = table(n=400)
    _, runs, _, _ = train(
        tmp_path, made, method, individual=["none", "iifr_cosine"], lambdas=[0.1, 1.0]
    )
    assert [(row["seed"], row["lambda"], row["individual"]) for row in runs] == [
        (0, 0, "none"),
        (1, 0, "none"),
    ]
    for row in runs:
        if method == "majority":
            assert row["ifr_p"] == row["ifr_b"] == 100
            assert row["ddp"] == 0
            assert row["balanced_acc"] == 50
        else:
            assert row["acc"] > 75
            assert row["ifr_p"] < 60


def test_a_run_that_diverges_is_marked_and_counted(tmp_path):
    made = table()
    counts, runs, groups, predictions = train(
        tmp_path, made, individual=["iifr_cosine"], lambdas=[0.1, 1e300], epsilons=[0.5]
    )
    assert counts["diverged"] == 2
    assert [row["diverged"] for row in runs] == [False, True] * 2
    for row in runs:
        measures = [row[name] for name in ("acc", "positive_rate", "ifr_p", "ddp", "deo_1")]
        assert all(value is None for value in measures) == row["diverged"]
    assert [row["acc"] is None for row in groups] == [False, False, True, True] * 2
    assert {row["n"] is None for row in groups} == {False}
    assert all((one["p"] is None) == (one["run"] in (1, 3)) for one in predictions)


def rare(seed=0, people=2):
    """A table with three groups of which one has two people, so that some splits lack it."""
    made = table(n=200, values=3, seed=seed)
    a = np.where(made.a == 2, 0, made.a)
    a[:people] = 2
    x = np.column_stack([made.x[:, :3], np.eye(3)[a]])
    return dataclasses.replace(made, a=a.astype(np.int16), x=x)


@pytest.mark.parametrize("method", ["mlp", "logistic_regression"])
def test_a_seed_that_leaves_a_group_empty_harms_no_other(tmp_path, method):
    made = rare()
    options = {"individual": ["none", "iifr_cosine"], "lambdas": [0.1, 1.0], "seeds": 8}
    counts, runs, groups, predictions = train(tmp_path, made, method, **options)
    lost = {row["seed"] for row in runs if row["reason"]}
    assert 0 < len(lost) < 8
    of_seed = 1 if method == "logistic_regression" else 3
    assert counts["runs"] == len(runs) == 8 * of_seed
    assert (counts["empty"], counts["diverged"]) == (of_seed * len(lost), 0)
    assert [row["run"] for row in runs] == list(range(len(runs)))
    order = [(row["individual"], row["seed"], row["lambda"]) for row in runs]
    assert order == sorted(order, key=lambda one: (one[0] != "none", one))
    for row in runs:
        own = [group for group in groups if group["run"] == row["run"]]
        assert row["n_train"] + row["n_test"] == 200 and row["n_test"] == 60
        assert sum(group["n"] for group in own) == 60
        if row["seed"] in lost:
            assert "has no row with group = g2" in row["reason"]
            assert f"of seed {row['seed']}" in row["reason"]
            assert row["diverged"] and row["acc"] is None and row["n_pairs"] is None
        else:
            assert row["reason"] is None and not row["diverged"] and row["acc"] is not None
            assert min(group["n"] for group in own) > 0
    blank = {one["run"] for one in predictions if one["p"] is None}
    assert blank == {row["run"] for row in runs if row["seed"] in lost}
    assert pq.read_schema(tmp_path / "out.parquet").equals(RUNS.append(REASON))


def test_the_base_is_of_loss_and_metric(tmp_path):
    made = table(n=400)
    _, (nats,), _, _ = train(tmp_path, made, seeds=1)
    _, (bits,), _, _ = train(tmp_path, made, seeds=1, js_base="2")
    assert bits["acc"] == nats["acc"]  # nothing to do with it without an individual loss
    assert bits["ifr_p"] < nats["ifr_p"]
    assert (nats["js_base"], bits["js_base"]) == ("e", "2")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"individual": ["iifr_euclid"]}, "no individual loss 'iifr_euclid'"),
        ({"split": "stratified"}, "`split` is stratified"),
        ({"lambdas": [], "individual": ["iifr_cosine"]}, "is empty"),
        (
            {"epsilons": [0.8, 1.5], "individual": ["iifr_cosine"], "epsilon_unit": "quantile"},
            "a quantile lies between 0 and 1",
        ),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, problem):
    with pytest.raises(InputError, match=problem):
        train(tmp_path, table(), **options)


def test_a_group_without_a_label_has_blank_rates(tmp_path):
    made = table(n=400, values=3)
    y = np.where(made.a == 2, 0, made.y).astype(np.int8)
    _, runs, groups, _ = train(tmp_path, dataclasses.replace(made, y=y), seeds=1)
    assert runs[0]["deo_1"] is None
    assert runs[0]["deo_0"] is not None
    assert runs[0]["acc"] is not None
    assert (groups[2]["tpr"], groups[2]["balanced_acc"]) == (None, None)
    assert groups[2]["fpr"] is not None


def checkpointed(tmp_path, made, **options):
    """A training of two adversaries' weights, by the folder of its checkpoints: bytes of tables."""
    chosen = {"individual": ["none", "iifr_cosine"], "mus": [1.0, 4.0], "seeds": 3} | options

    def resumable(folder):
        with scratch_at(folder):
            train(tmp_path, made, "alfr", **chosen)
        return [path.read_bytes() for path in sorted(tmp_path.glob("*.parquet"))]

    return resumable


@pytest.mark.parametrize("step", [12, 44])
def test_a_training_that_was_stopped_goes_on_to_the_same_bytes(
    tmp_path, monkeypatch, interrupted, step
):
    # three stacks of two runs for the pairs that are drawn, three for the cosine; six steps an
    # epoch, two epochs
    monkeypatch.setattr(stacked, "STACK", 2)
    pairs = ["iifr_counterfactual", "iifr_cosine"]
    interrupted.goes_on(checkpointed(tmp_path, table(values=3), individual=pairs), step)


def test_a_checkpoint_of_another_grid_or_table_is_refused(tmp_path, interrupted):
    interrupted.refused(
        checkpointed(tmp_path, table()),
        checkpointed(tmp_path, table(), mus=[2.0, 4.0]),
        checkpointed(tmp_path, table(seed=1)),
    )
