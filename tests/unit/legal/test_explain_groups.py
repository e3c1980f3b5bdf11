import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from evenhand.errors import InputError
from evenhand.legal.explain_groups import explain_groups
from evenhand.legal.measure_shift import measure_shift
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import predictions, right, write

CASES = [
    *[{"labels": ["0"], "split": "train", "defendant_gender": "male"}] * 6,
    *[{"labels": ["0"], "split": "train", "defendant_gender": "female"}] * 2,
    *[{"labels": ["0"], "split": "test", "defendant_gender": "male"}] * 3,
    *[{"labels": ["<=12"], "split": "test", "defendant_gender": "male"}] * 1,
    *[{"labels": ["<=12"], "split": "test", "defendant_gender": "female"}] * 3,
    {"labels": None, "split": "train", "defendant_gender": "female"},
    {"labels": ["<=36"], "split": "test"},
]


def explained(tmp_path, cases, *says):
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    shift, out = tmp_path / "shift.csv", tmp_path / "table_2.csv"
    measure_shift(data=data, out=shift, kind="cail", dataset="mine", resamples=20)
    runs = [predictions(data, "cail", say, seed=seed) for seed, say in enumerate(says)]
    runs.append(predictions(data, "cail", right, objective="irm", attribute="defendant_gender"))
    path = write(tmp_path / "p.parquet", *runs)
    counts = explain_groups(data=data, predictions=[path], shift=shift, out=out, kind="cail",
                            dataset="mine")  # fmt: skip
    return counts, {(row["attribute"], row["group"]): row for row in read_csv(out)}


def fails_the_second_label(hot):
    logits = right(hot)
    logits[hot[:, 1] == 1] = right(hot[:1])  # says the first one
    return logits


def test_what_may_explain_a_gap(tmp_path):
    counts, rows = explained(tmp_path, CASES, fails_the_second_label)
    man, woman = rows["defendant_gender", "male"], rows["defendant_gender", "female"]
    assert (man["train_cases"], man["test_cases"]) == ("6", "4")
    assert (woman["train_cases"], woman["test_cases"]) == ("2", "3")  # one has no known label
    assert {row["worst_class"] for row in rows.values()} == {"<=12"}
    assert (woman["worst_class_f1"], woman["worst_class_cases"]) == ("0.000000", "4")
    assert (man["wci"], woman["wci"]) == ("0.250000", "1.000000")
    assert float(woman["drift"]) == pytest.approx(jensenshannon([1, 0], [0, 1]), abs=1e-6)
    assert float(man["drift"]) == pytest.approx(jensenshannon([1, 0], [3, 1]), abs=1e-6)
    assert float(man["score"]) == pytest.approx(100 * (6 / 7) / 6)
    assert woman["score"] == "0.000000"
    for mark in ("worst", "fewest_train_cases", "most_drift", "most_wci"):
        assert (man[mark], woman[mark]) == ("false", "true")
    assert woman["few"] == "true"
    assert counts == {"rows": 9, "attributes": 1, "fewest_train_cases": 1, "most_drift": 1,
                      "most_wci": 1}  # fmt: skip


def test_of_equally_bad_classes_none_explains_a_gap(tmp_path):
    _, rows = explained(tmp_path, CASES, lambda hot: right(np.roll(hot, 1, axis=1)))
    for name in ("male", "female"):
        row = rows["defendant_gender", name]
        assert (row["worst_class_f1"], row["most_wci"]) == ("0.000000", "")
        assert row["as_bad"] == "2"


def test_scores_are_means_over_seeds_of_erm_alone(tmp_path):
    _, rows = explained(tmp_path, CASES, fails_the_second_label, right)
    woman = rows["defendant_gender", "female"]
    assert woman["seeds"] == "2"
    assert float(woman["score"]) == pytest.approx(100 / 6 / 2)


def test_groups_without_test_cases_and_ties_have_no_mark(tmp_path):
    _, rows = explained(tmp_path, CASES, right)
    beijing = rows["court_region", "Beijing"]
    assert beijing["score"] == beijing["wci"] == beijing["worst"] == ""
    same = [
        {"labels": ["0"], "split": split, "defendant_gender": gender}
        for split in ("train", "test")
        for gender in ("male", "female")
    ]
    _, rows = explained(tmp_path, same, right)
    for row in (rows["defendant_gender", "male"], rows["defendant_gender", "female"]):
        assert [row[mark] for mark in ("worst", "fewest_train_cases", "most_wci")] == ["false"] * 3


def test_a_table_of_another_stage(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "cail", CASES)
    other = tmp_path / "other.csv"
    other.write_text("attribute,group\n", encoding="utf-8")
    path = write(tmp_path / "p.parquet", predictions(data, "cail", right))
    with pytest.raises(InputError, match="lacks the column splits; give what measure_shift wrote"):
        explain_groups(data=data, predictions=[path], shift=other, out=tmp_path / "o.csv",
                       kind="cail", dataset="mine")  # fmt: skip
