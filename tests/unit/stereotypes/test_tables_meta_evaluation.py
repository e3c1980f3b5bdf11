import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from unit.stereotypes.made_scores import (
    made_set,
    read_csv,
    score_rows,
    tabulate_one,
    write_model,
    write_pairs,
)

TABLES = ("meta_evaluation", "roc", "auc_tests")


def run(folder, pairs, model, **options):
    paths = {name: folder / f"{name}.csv" for name in TABLES}
    for name, path in paths.items():
        counts = tabulate_one(name, pairs=pairs, **model, out=path, **options)
    return *(read_csv(paths[name]) for name in TABLES), counts


def annotated(folder, agreements):
    rows = [{"annotators": None if a is None else 5, "agreement": a} for a in agreements]
    return write_pairs(folder / "pairs.parquet", rows)


def test_by_hand(tmp_path):
    pairs = annotated(tmp_path, [5, 4, 3, 2, 0, None])
    # The differences are 2, -1, 1, 0, (not scored), 9.
    values = [(2.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (None, 1.0), (9.0, 0.0)]
    model = write_model(tmp_path, "m", score_rows({"aul": values, "sss": values}))
    areas, curves, tests, counts = run(tmp_path, pairs, model)
    assert "reason" not in counts
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
    pairs = annotated(tmp_path, agreements)
    scores = generator.normal(size=(120, 2)) + np.array(agreements)[:, None] * [0.3, 0]
    values = {"aul": [tuple(map(float, one)) for one in scores]}
    values["sss"] = [one[::-1] for one in values["aul"]]
    model = write_model(tmp_path, "m", score_rows(values))
    areas, _, tests, _ = run(tmp_path, pairs, model, agreeing=[3])
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
    pairs = annotated(tmp_path, agreements)
    scores = [tuple(map(float, one)) for one in generator.normal(size=(60, 2))]
    short = [(None, 1.0) if number < 20 else one for number, one in enumerate(scores)]
    model = write_model(tmp_path, "m", score_rows({"aul": scores, "sss": short}))
    areas, _, tests, _ = run(tmp_path, pairs, model, agreeing=[3])
    assert areas[0]["auc"] != areas[1]["auc"]
    assert int(areas[1]["biased"]) + int(areas[1]["unbiased"]) == 40
    assert (tests[0]["difference"], tests[0]["p_value"]) == ("0.000000", "1.000000")


def test_it_is_left_out_without_annotations(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.parquet", [{}] * 3)
    model = write_model(tmp_path, "m", score_rows({"aul": [(-1.0, -2.0)] * 3}))
    *tables, counts = run(tmp_path, pairs, model)
    assert tables == [[], [], []] and counts["reason"] == "no pair has been rated by annotators"


def test_one_kind_of_label_is_blank(tmp_path):
    pairs = annotated(tmp_path, [5, 5, 5])
    model = write_model(tmp_path, "m", score_rows({"aul": [(-1.0, -2.0)] * 3}))
    areas, curves, tests, _ = run(tmp_path, pairs, model, agreeing=[3], methods=["aul", "sss"])
    assert curves == []
    for row in areas:
        assert row["auc"] == row["auc_low"] == row["p_value"] == ""
    assert [row["biased"] for row in areas] == ["3", "0"]
    assert tests[0]["difference"] == tests[0]["p_adjusted"] == ""


def test_untrusted_models_have_no_row_and_same_bytes(tmp_path):
    options = made_set(tmp_path, pairs=80, seeds=0, sides=2)
    pairs = options.pop("pairs")
    options.pop("nulls")
    run(tmp_path, pairs, options)
    first = [(tmp_path / f"{name}.csv").read_bytes() for name in TABLES]
    bad = write_model(tmp_path, "bad", [], trusted=False)
    both = {key: options[key] + bad[key] for key in options}
    *_, counts = run(tmp_path, pairs, both)
    assert first == [(tmp_path / f"{name}.csv").read_bytes() for name in TABLES]
    assert list(counts["untrusted"]) == ["bad"]
