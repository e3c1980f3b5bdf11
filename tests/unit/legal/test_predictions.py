import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix

from evenhand.errors import InputError
from evenhand.learning.probes import PROBED_CASES, probed_features
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.predictions import PREDICTIONS, Predictions, read_predictions, write_predictions
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


def test_they_come_back(tmp_path):
    counterfactuals = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]], dtype=np.float32)
    wrote = [
        training(1),
        training(2)._replace(counterfactual_logits=counterfactuals),
        training(3)._replace(counterfactual_logits=np.full_like(counterfactuals, np.nan)),
        training(1, objective="irm"),
    ]
    for name in ("a", "b"):
        assert write_predictions(tmp_path / name, wrote) == 12
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert pq.read_schema(tmp_path / "a").equals(PREDICTIONS)
    assert pq.read_table(tmp_path / "a")["twin_logits"].null_count == 10
    found = read_predictions(tmp_path / "a")
    assert [run.training for run in found] == [run.training for run in wrote]
    for run, expected in zip(found, wrote, strict=True):
        assert run.case_ids.tolist() == expected.case_ids.tolist()
        assert run.splits.tolist() == expected.splits.tolist()
        assert (run.logits == expected.logits).all()
    np.testing.assert_array_equal(found[1].counterfactual_logits, counterfactuals)
    assert {id(found[n].counterfactual_logits) for n in (0, 2, 3)} == {id(None)}
    assert write_predictions(tmp_path / "none", []) == 0
    assert read_predictions(tmp_path / "none") == []


def test_features_of_some_cases_come_back_on_request(tmp_path):
    generator = np.random.default_rng(0)
    splits = np.repeat(["train", "dev", "test"], [PROBED_CASES + 50, 3, 4])
    values = generator.normal(size=(len(splits), 3))
    kept = probed_features(values, splits, np.flatnonzero(splits == "train"))
    there = np.isfinite(kept).all(axis=1)
    counts = [int(there[splits == split].sum()) for split in ("train", "dev", "test")]
    assert counts == [PROBED_CASES, 3, 4]
    np.testing.assert_allclose(kept[there], values[there], atol=1e-2)
    ids, logits = np.arange(len(splits)).astype(str), np.zeros((len(splits), 2), np.float32)
    run = training()._replace(case_ids=ids, splits=splits, logits=logits, features=kept)
    write_predictions(tmp_path / "p.parquet", [training(2), run])
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


@pytest.mark.parametrize("column", ["logits", "counterfactual_logits"])
def test_a_logit_that_is_not_finite_is_never_written(tmp_path, column):
    half = np.array([[1.0, np.nan]] * 3, dtype=np.float32)
    with pytest.raises(ValueError, match="not finite"):
        write_predictions(tmp_path / "p.parquet", [training()._replace(**{column: half})])
    assert not list(tmp_path.iterdir())


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"case_id": ["a"]}), path)
    with pytest.raises(InputError, match="lacks the column"):
        read_predictions(path)
    write_predictions(path, [training()])
    with pytest.raises(InputError, match=damage(path, "logits")):
        read_predictions(path)
