import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.legal.measure_counterfactual import MEASURES, compared, measure_counterfactual
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import predictions, write


def logits(p: float) -> float:
    return math.log(p / (1 - p))


def js(p: float, q: float) -> float:
    """Of two Bernoulli distributions, in nats."""

    def entropy(x: float) -> float:
        return -x * math.log(x) - (1 - x) * math.log(1 - x)

    return entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2


def test_several_labels_by_hand():
    one = np.array([[[logits(0.6), logits(0.2)], [logits(0.51), logits(0.2)]]], dtype=np.float32)
    twin = np.array([[[logits(0.7), logits(0.2)], [logits(0.49), logits(0.2)]]], dtype=np.float32)
    found = compared(one, twin, "multi_label")
    assert found["ifr_b"].tolist() == [[100, 0]]
    assert found["ifr_p"].tolist() == [[0, 100]]
    expected = [js(0.6, 0.7) / 2, js(0.51, 0.49) / 2]
    np.testing.assert_allclose(found["divergence"], [expected], rtol=1e-4)


def test_single_labels_by_hand():
    p, q = math.log(0.6), math.log(0.4)
    found = compared(np.array([[[p, q]]]), np.array([[[q, p]]]), "multi_class")
    assert found["ifr_b"].tolist() == [[0]]
    assert found["divergence"].item() == pytest.approx(js(0.6, 0.4))


@given(st.integers(0, 1000), st.sampled_from(["multi_class", "multi_label"]))
def test_a_twin_that_is_answered_alike_is_treated_fairly(seed, task):
    generator = np.random.default_rng(seed)
    one, twin = generator.normal(size=(2, 2, 5, 3))
    same = compared(one, one, task)
    assert (same["ifr_b"] == 100).all()
    assert (same["ifr_p"] == 100).all()
    assert (same["divergence"] == 0).all()
    for name in MEASURES:  # neither is the first
        np.testing.assert_allclose(compared(one, twin, task)[name], compared(twin, one, task)[name])


@pytest.fixture
def data(tmp_path):
    cases = [{"split": split, "labels": ["2"]} for split in ("train", "dev", *["test"] * 8)]
    return write_cases(tmp_path / "d.parquet", "ecthr", cases)


def run(data, *runs):
    path, out = write(data.parent / "p.parquet", *runs), data.parent / "out.csv"
    counts = measure_counterfactual(
        data=data, predictions=[path], out=out, kind="ecthr", dataset="mine", resamples=200
    )
    return {(row["objective"], row["measure"]): row for row in read_csv(out)}, counts


def said(data, objective="erm", seed=1, changed=0, without=1):
    """Twins whose answers differ in the first label for some cases; some have no twin."""
    one = predictions(data, "ecthr", lambda true: true, objective=objective, seed=seed)
    twins = one.logits.copy()
    test = np.flatnonzero(one.splits == "test")
    twins[test[:changed], 0] *= -1
    if without:
        twins[test[-without:]] = np.nan
    return one._replace(twin_logits=twins)


def test_a_table_by_hand(data):
    rows, counts = run(
        data, said(data, seed=1, changed=5), said(data, seed=2, changed=3),
        said(data, "iifr_text", seed=1),
    )  # fmt: skip
    erm, fair = rows["erm", "ifr_b"], rows["iifr_text", "ifr_b"]
    assert (erm["cases"], erm["twins"], erm["seeds"]) == ("8", "7", "2")
    assert float(erm["value"]) == pytest.approx(100 * 3 / 7, abs=1e-5)
    assert erm["difference"] == erm["verdict"] == ""
    assert (float(fair["value"]), fair["sd"], fair["verdict"]) == (100, "", "higher")
    assert float(fair["difference"]) == pytest.approx(100 * 4 / 7, abs=1e-5)
    assert float(fair["erm"]) == float(erm["value"])
    assert rows["iifr_text", "divergence"]["verdict"] == "lower"
    assert float(rows["erm", "macro_f1"]["value"]) == float(rows["iifr_text", "macro_f1"]["value"])
    assert counts == {"rows": 8, "higher": 2, "lower": 1}


def test_other_scores_stand_beside_those_of_erm(data):
    worse = said(data, "iifr_text")
    worse.logits[np.flatnonzero(worse.splits == "test")[:4]] *= -1
    rows, _ = run(data, said(data), worse)
    erm, fair = rows["erm", "macro_f1"], rows["iifr_text", "macro_f1"]
    assert float(erm["value"]) == float(fair["erm"]) > float(fair["value"])
    difference = float(fair["value"]) - float(erm["value"])
    assert float(fair["difference"]) == pytest.approx(difference, abs=2e-6)
    assert erm["erm"] == erm["difference"] == ""


def test_trainings_without_twins_are_left_out(data):
    plain = said(data)._replace(twin_logits=None)
    rows, _ = run(data, plain, said(data, "iifr_text"))
    assert {objective for objective, _ in rows} == {"iifr_text"}
    assert rows["iifr_text", "ifr_b"]["difference"] == ""
    with pytest.raises(InputError, match="no training predicts a twin"):
        run(data, plain)
    with pytest.raises(InputError, match="no training predicts a twin"):
        run(data, said(data, without=8))


def test_the_same_bytes_again(data):
    run(data, said(data, changed=2))
    first = (data.parent / "out.csv").read_bytes()
    run(data, said(data, changed=2))
    assert (data.parent / "out.csv").read_bytes() == first
