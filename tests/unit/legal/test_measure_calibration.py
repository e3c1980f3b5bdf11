import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.legal.measure_calibration import measure_calibration
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import predictions, right, write, write_people, wrong_for


def measured(tmp_path, data, kind, *trainings, **options):
    out, bins = tmp_path / "calibration.csv", tmp_path / "bins.csv"
    path = write(tmp_path / "p.parquet", *trainings)
    counts = measure_calibration(
        data=data, predictions=[path], out=out, bins_out=bins, kind=kind, dataset="mine",
        **({"permutations": 199} | options),
    )  # fmt: skip
    rows = {(row["attribute"], row["group"]): row for row in read_csv(out)}
    return counts, rows, read_csv(bins)


def test_too_sure_for_one_group(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet")
    run = predictions(data, "cail", wrong_for(genders, "female"))
    counts, rows, bins = measured(tmp_path, data, "cail", run)
    man, woman = rows["defendant_gender", "male"], rows["defendant_gender", "female"]
    sure = np.exp(2) / (np.exp(2) + 5 * np.exp(-2))
    assert float(woman["confidence"]) == float(man["confidence"]) == pytest.approx(sure, abs=1e-6)
    assert (man["share_right"], woman["share_right"]) == ("1.000000", "0.400000")
    assert float(woman["excess"]) == pytest.approx(sure - 0.4, abs=1e-5)
    assert float(woman["ece"]) == pytest.approx(sure - 0.4, abs=1e-5)
    assert float(man["ece"]) == pytest.approx(1 - sure, abs=1e-5)
    assert (man["verdict"], woman["verdict"]) == ("not above noise", "above noise")
    assert counts["above_noise"] == 1
    everybody = rows["defendant_gender", "all"]
    assert (everybody["cases"], everybody["share_right"]) == ("120", "0.700000")
    assert everybody["verdict"] == everybody["p"] == ""
    found = [row for row in bins if row["group"] == "female"]
    assert [(row["bin"], row["predictions"], row["share_right"]) for row in found] == [
        ("14", "60", "0.400000")
    ]
    assert float(found[0]["from"]) <= sure < float(found[0]["to"])


def test_several_labels_are_judged_each(tmp_path):
    cases = [{"labels": ["2", "3"], "split": "test", "applicant_gender": "male"},
             {"labels": [], "split": "test"}]  # fmt: skip
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    half = predictions(data, "ecthr", lambda hot: np.zeros(hot.shape))
    _, rows, _ = measured(tmp_path, data, "ecthr", half)
    man = rows["applicant_gender", "male"]
    assert (man["cases"], man["predictions"]) == ("1", "10")
    assert (man["confidence"], man["share_right"], man["ece"]) == (
        "0.500000", "0.200000", "0.300000"
    )  # fmt: skip
    assert (rows["applicant_gender", "all"]["share_right"], man["verdict"]) == (
        "0.100000",
        "too few cases",
    )
    assert rows["applicant_gender", "female"]["ece"] == ""


def test_seeds_are_averaged(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet", men=10, women=10)
    runs = [
        predictions(data, "cail", right, seed=1),
        predictions(data, "cail", wrong_for(genders, "male", 1.0), seed=2),
    ]
    _, rows, bins = measured(tmp_path, data, "cail", *runs)
    man = rows["defendant_gender", "male"]
    assert (man["seeds"], man["share_right"]) == ("2", "0.500000")
    sure = float(man["confidence"])
    assert float(man["ece"]) == pytest.approx((sure + 1 - sure) / 2, abs=1e-6)
    assert float(man["ece_sd"]) == pytest.approx(np.std([1 - sure, sure], ddof=1), abs=1e-5)
    own = [row for row in bins if row["group"] == "male"]
    assert [row["predictions"] for row in own] == ["20"]


def test_bins_and_permutations_are_needed(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=2, women=2)
    with pytest.raises(InputError, match="there must be a bin"):
        measured(tmp_path, data, "cail", predictions(data, "cail", right), bins=0)
