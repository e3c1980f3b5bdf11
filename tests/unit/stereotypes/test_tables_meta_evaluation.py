import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from unit.stereotypes.made_scores import score_rows, tabulate_one, write_model

TABLES = ("meta_evaluation", "roc", "auc_tests")


def run(folder, agreements, values, agreeing=(3, 4, 5), **options):
    model = write_model(folder, "m", score_rows(values), **options)
    pairs = [{"annotators": None if a is None else 5, "agreement": a} for a in agreements]
    return [tabulate_one(folder, name, pairs, model, agreeing=agreeing)[0] for name in TABLES]


def test_by_hand(tmp_path):
    # The differences are 2, -1, 1, 0, (not scored), 9.
    values = [(2.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (None, 1.0), (9.0, 0.0)]
    agreements = [5, 4, 3, 2, 0, None]
    areas, curves, tests = run(tmp_path, agreements, {"aul": values, "sss": values})
    found = {(row["method"], row["agreeing"]): row for row in areas}
    assert list(found) == [(m, k) for k in "345" for m in ("aul", "sss")]
    row = found["aul", "3"]
    assert (row["biased"], row["unbiased"], row["auc"]) == ("3", "1", "0.666667")
    assert found["aul", "4"]["auc"] == "0.500000"  # 2 wins twice, -1 twice not
    assert found["aul", "5"]["auc"] == "1.000000"
    points = [
        (row["false_positive_rate"], row["true_positive_rate"])
        for row in curves
        if (row["method"], row["agreeing"]) == ("aul", "5")
    ]
    assert points[0] == ("0.000000",) * 2 and points[-1] == ("1.000000",) * 2
    assert ("0.000000", "1.000000") in points
    assert [(row["agreeing"], row["method_a"], row["method_b"]) for row in tests] == [
        (k, "aul", "sss") for k in "345"
    ]
    assert {(row["difference"], row["p_value"], row["p_adjusted"]) for row in tests} == {
        ("0.000000", "", "")  # too few pairs to say how it varies
    }
    assert {row["auc_low"] + row["p_value"] for row in areas} == {""}


def test_turning_the_scores_round_turns_the_area_round(tmp_path):
    generator = np.random.default_rng(0)
    agreements = generator.integers(6, size=120).tolist()
    scores = generator.normal(size=(120, 2)) + np.array(agreements)[:, None] * [0.3, 0]
    values = {"aul": [tuple(map(float, one)) for one in scores]}
    values["sss"] = [one[::-1] for one in values["aul"]]
    areas, _, tests = run(tmp_path, agreements, values, agreeing=[3])
    aul, sss = areas
    labels = np.array(agreements) >= 3
    assert float(aul["auc"]) == pytest.approx(
        roc_auc_score(labels, scores[:, 0] - scores[:, 1]), abs=1e-6
    )
    assert float(aul["auc"]) + float(sss["auc"]) == pytest.approx(1, abs=2e-6)
    assert float(aul["auc_low"]) == pytest.approx(1 - float(sss["auc_high"]), abs=2e-6)
    assert aul["p_value"] == sss["p_value"] and float(aul["p_value"]) < 0.01
    (test,) = tests
    assert float(test["difference"]) == pytest.approx(2 * float(aul["auc"]) - 1, abs=2e-6)
    assert float(test["difference_low"]) > 0 and float(test["p_value"]) < 0.01


def test_methods_are_compared_over_the_pairs_that_both_scored(tmp_path):
    generator = np.random.default_rng(0)
    agreements = generator.integers(6, size=60).tolist()
    scores = [tuple(map(float, one)) for one in generator.normal(size=(60, 2))]
    short = [(None, 1.0) if number < 20 else one for number, one in enumerate(scores)]
    areas, _, tests = run(tmp_path, agreements, {"aul": scores, "sss": short}, agreeing=[3])
    assert areas[0]["auc"] != areas[1]["auc"]
    assert int(areas[1]["biased"]) + int(areas[1]["unbiased"]) == 40
    assert (tests[0]["difference"], tests[0]["p_value"]) == ("0.000000", "1.000000")


def test_equal_labels_have_no_area(tmp_path):
    values, methods = {"aul": [(-1.0, -2.0)] * 3}, ["aul", "sss"]
    areas, curves, tests = run(tmp_path, [5, 5, 5], values, agreeing=[3], methods=methods)
    assert curves == []
    for row in areas:
        assert row["auc"] == row["auc_low"] == row["p_value"] == ""
    assert [row["biased"] for row in areas] == ["3", "0"]
    assert tests[0]["difference"] == tests[0]["p_adjusted"] == ""
