import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix

from evenhand.errors import InputError
from evenhand.learning.probes import PROBED_CASES, probed_features
from evenhand.legal.predictions import (
    NO_ATTRIBUTE,
    PREDICTIONS,
    Predictions,
    labelled,
    read_predictions,
    write_predictions,
)
from unit.io.damage import damage


def training(seed=1, cases=3, labels=2, objective="erm"):
    """A training whose logits count up."""
    return Predictions(
        "linear",
        objective,
        NO_ATTRIBUTE,
        seed,
        np.array([f"c{number}" for number in range(cases)]),
        np.array(["train", "dev", "test"][:cases]),
        np.arange(cases * labels, dtype=np.float32).reshape(cases, labels) + seed,
    )


def write_rows(path, rows):
    """Rows as they are, right or wrong."""
    pq.write_table(pa.Table.from_pylist(rows, PREDICTIONS), path)
    return path


def row(**given):
    """A row."""
    usual = ["linear", "erm", "none", 1, "c1", "test", [0.0, 1.0], None, None]
    return dict(zip(PREDICTIONS.names, usual, strict=True)) | given


def test_they_come_back(tmp_path):
    wrote = [training(1), training(2), training(1, objective="irm")]
    path = tmp_path / "p.parquet"
    assert write_predictions(path, wrote) == 9
    assert pq.read_schema(path).equals(PREDICTIONS)
    found = read_predictions(path)
    assert [one.training for one in found] == [one.training for one in wrote]
    for one, other in zip(found, wrote, strict=True):
        assert one.case_ids.tolist() == other.case_ids.tolist()
        assert one.splits.tolist() == other.splits.tolist()
        assert (one.logits == other.logits).all()


def test_features_of_some_cases_come_back_on_request(tmp_path):
    generator = np.random.default_rng(0)
    splits = np.repeat(["train", "dev", "test"], [PROBED_CASES + 50, 3, 4])
    values = generator.normal(size=(len(splits), 3))
    kept = probed_features(values, splits, np.flatnonzero(splits == "train"))
    there = np.isfinite(kept).all(axis=1)
    assert [int(there[splits == one].sum()) for one in ("train", "dev", "test")] == [
        PROBED_CASES, 3, 4,
    ]  # fmt: skip
    np.testing.assert_allclose(kept[there], values[there], atol=1e-2)
    ids = np.array([f"c{number}" for number in range(len(splits))])
    one = training()._replace(
        case_ids=ids, splits=splits, logits=np.zeros((len(ids), 2), np.float32), features=kept
    )
    write_predictions(tmp_path / "p.parquet", [training(2), one])
    without, found = read_predictions(tmp_path / "p.parquet", features=True)
    assert without.features is None
    assert found.features.tobytes() == kept.tobytes()
    assert read_predictions(tmp_path / "p.parquet")[1].features is None


def test_of_wide_features_the_leading_components_are_kept():
    generator = np.random.default_rng(0)
    low = generator.normal(size=(400, 2)) @ generator.normal(size=(2, 300))
    splits = np.repeat(["train", "test"], [300, 100])
    kept = probed_features(csr_matrix(low), splits, np.arange(300)).astype(np.float64)
    assert kept.shape == (400, 256)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), np.linalg.norm(low, axis=1), rtol=1e-2)


def test_the_same_predictions_are_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_predictions(tmp_path / name, [training()])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_none_are_a_file_too(tmp_path):
    assert write_predictions(tmp_path / "p.parquet", []) == 0
    assert read_predictions(tmp_path / "p.parquet") == []


def test_a_logit_that_is_no_number_is_never_written(tmp_path):
    broken = training()
    broken.logits[1, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        write_predictions(tmp_path / "p.parquet", [broken])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([row(), row(case_id="c2", logits=[0.0])], "one number for each label"),
        ([row(logits=[])], "one number for each label"),
        ([row(logits=[0.0, None])], "one number for each label"),
        ([row(logits=[0.0, float("inf")])], "one number for each label"),
        ([row(), row()], "a case twice"),
        ([row(), row(seed=2), row(case_id="c2")], "in several places"),
    ],
)
def test_broken_rows_are_refused(tmp_path, rows, problem):
    with pytest.raises(InputError, match=problem):
        read_predictions(write_rows(tmp_path / "p.parquet", rows))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"case_id": ["a"]}), path)
    with pytest.raises(InputError, match=r"other columns|lacks the column"):
        read_predictions(path)
    path.write_text("no table")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_predictions(path)


@pytest.mark.parametrize("column", ["case_id", "logits"])
def test_damaged_predictions_are_never_read(tmp_path, column):
    path = tmp_path / "p.parquet"
    write_predictions(path, [training()])
    with pytest.raises(InputError, match=damage(path, column)):
        read_predictions(path)


def test_only_labelled_cases_of_a_split_count():
    known = np.array([True, True, False, True])
    splits = np.array(["train", "", "dev", "test"])
    assert labelled(known, splits).tolist() == [0, 3]


def test_twins_come_back(tmp_path):
    logits = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]], dtype=np.float32)
    nobody = np.full((3, 2), np.nan, dtype=np.float32)
    wrote = [training(1)._replace(counterfactual_logits=logits), training(2)]
    wrote.append(training(3)._replace(counterfactual_logits=nobody))
    write_predictions(tmp_path / "p", wrote)
    assert pq.read_table(tmp_path / "p")["twin_logits"].null_count == 7
    one, other, last = read_predictions(tmp_path / "p")
    np.testing.assert_array_equal(one.counterfactual_logits, logits)
    assert other.counterfactual_logits is None
    assert last.counterfactual_logits is None


@pytest.mark.parametrize("twin", [[1.0], [1.0, float("nan")]])
def test_twins_that_are_not_whole(tmp_path, twin):
    path = write_rows(tmp_path / "p", [row(), row(case_id="c2", twin_logits=twin)])
    with pytest.raises(InputError, match="without one number for each label"):
        read_predictions(path)
    half = np.array([[1.0, np.nan]] * 3, dtype=np.float32)
    with pytest.raises(ValueError, match="not finite"):
        write_predictions(tmp_path / "q", [training()._replace(counterfactual_logits=half)])
