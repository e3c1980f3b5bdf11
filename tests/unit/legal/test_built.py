import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.legal.built import BuiltCases, label_names, with_none
from unit.io.damage import damage
from unit.legal.made_cases import court, write_cases


@pytest.fixture
def written(tmp_path):
    return lambda kind, *cases: write_cases(tmp_path / "d.parquet", kind, list(cases))


def test_groups_with_the_unknown_one_last(written):
    genders = ("female", None, "male", "female")
    data = written("ecthr", *({"applicant_gender": gender} for gender in genders))
    groups = {one.attribute.name: one for one in BuiltCases(data).groups}
    assert "applicant_birth_year" not in groups  # a number, no group
    assert groups["applicant_gender"].names == ("male", "female", "n/a")
    assert groups["applicant_gender"].codes.tolist() == [1, 2, 0, 1]
    assert groups["defendant_state"].names[-1] == "unknown"
    assert groups["defendant_state"].codes.tolist() == [2, 2, 2, 2]


def test_labels(written):
    ecthr = BuiltCases(
        written("ecthr", {"labels": ["3", "P1-1"]}, {"labels": []}, {"labels": None})
    )
    known, hot = ecthr.labels
    assert known.tolist() == [True, True, False]
    assert hot.tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, 0, 1], [0] * 10, [0] * 10]
    assert with_none(hot, ecthr.dataset)[:, -1].tolist() == [0, 1, 1]
    assert label_names(ecthr.dataset)[-1] == "none"


def test_single_labels_are_one_each(written):
    _, hot = BuiltCases(written("cail", {}, {})).labels
    assert with_none(hot, court("cail")).tolist() == [[1, 0, 0, 0, 0, 0]] * 2


def test_cases_to_train_on_and_to_score(written):
    splits = ("train", "dev", "test", None)
    data = BuiltCases(written("cail", *({"split": split} for split in splits), {"labels": None}))
    assert data.labelled.tolist() == [0, 1, 2]
    assert data.trained.tolist() == [True, False, False, False, False]
    assert data.parts["train"].tolist() == [True, False, False, False, True]
    assert data.parts["all"].all()


def test_what_build_cases_did_not_write(tmp_path):
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"case_id": ["a"]}), other)
    with pytest.raises(InputError, match="does not say which labels and attributes it has"):
        _ = BuiltCases(other).dataset
    other.write_text("no table", encoding="utf-8")
    with pytest.raises(InputError, match="not a Parquet file"):
        _ = BuiltCases(other).dataset


def test_a_damaged_data_set(written):
    data = written("cail", {}, {})
    words, cases = damage(data, "split"), BuiltCases(data)
    with pytest.raises(InputError, match=words):
        _ = cases.splits
    with pytest.raises(InputError, match=words):
        list(cases.batches("case_id", "split"))
    assert len(cases.labels[0]) == 2  # reads other columns
