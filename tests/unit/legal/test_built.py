import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.legal import built
from unit.io.damage import damage
from unit.legal.made_cases import court, write_cases


def test_groups_with_the_unknown_one_last(tmp_path):
    data = write_cases(
        tmp_path / "d.parquet",
        "ecthr",
        [{"applicant_gender": one} for one in ("female", None, "male", "female")],
    )
    groups = {one.attribute.name: one for one in built.read_groups(data, court("ecthr"))}
    assert "applicant_birth_year" not in groups  # a number, no group
    assert groups["applicant_gender"].names == ("male", "female", "n/a")
    assert groups["applicant_gender"].codes.tolist() == [1, 2, 0, 1]
    assert groups["defendant_state"].names[-1] == "unknown"
    assert groups["defendant_state"].codes.tolist() == [2, 2, 2, 2]


def test_a_value_that_is_no_group(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "cail", [{"defendant_gender": "man"}])
    with pytest.raises(InputError, match="the defendant_gender 'man', which is no group"):
        built.read_groups(data, court("cail"))


def test_an_attribute_that_the_data_set_lacks(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "cail", [{}])
    table = pq.read_table(data)
    pq.write_table(table.drop_columns(["court_region"]), data)
    names = [one.name for one in built.attributes_of(data, court("cail"))]
    assert names == ["defendant_gender"]


def test_labels(tmp_path):
    cases = [{"labels": ["3", "P1-1"]}, {"labels": []}, {"labels": None}]
    data, ecthr = write_cases(tmp_path / "d.parquet", "ecthr", cases), court("ecthr")
    known, hot = built.read_labels(data, ecthr)
    assert known.tolist() == [True, True, False]
    assert hot.tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, 0, 1], [0] * 10, [0] * 10]
    assert built.with_none(hot, ecthr)[:, -1].tolist() == [0, 1, 1]
    assert built.label_names(ecthr)[-1] == "none"


def test_single_labels_are_one_each(tmp_path):
    data, cail = write_cases(tmp_path / "d.parquet", "cail", [{}, {}]), court("cail")
    _, hot = built.read_labels(data, cail)
    assert built.with_none(hot, cail).tolist() == [[1, 0, 0, 0, 0, 0]] * 2
    write_cases(data, "cail", [{"labels": []}])
    with pytest.raises(InputError, match="without a label of its own"):
        built.read_labels(data, cail)
    labels = pa.array([[6]], pa.list_(pa.int32()))
    with pytest.raises(InputError, match="none of the 6"):
        built.hot_labels(data, labels, np.array([True]), cail)


def test_what_build_cases_did_not_write(tmp_path):
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"case_id": ["a"]}), other)
    with pytest.raises(InputError, match="lacks the column date"):
        built.read_splits(other)
    other.write_text("no table", encoding="utf-8")
    with pytest.raises(InputError, match="not a Parquet file"):
        list(built.case_batches(other, ["text"]))


def test_a_damaged_data_set(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "cail", [{}, {}])
    words = damage(data, "split")
    with pytest.raises(InputError, match=words):
        built.read_splits(data)
    with pytest.raises(InputError, match=words):
        list(built.case_batches(data, ["case_id", "split"]))
    assert len(built.read_labels(data, court("cail"))[0]) == 2  # asks not for it
