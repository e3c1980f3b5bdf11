"""The cases' data: what the script gets is what the trainings said, by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.errors import InputError
from evenhand.legal.built import load_dataset
from evenhand.metrics.classification import predicted_labels
from evenhand.report.sections.cases import DIGITS, EVIDENCE, describe_cases, likelihoods
from evenhand.report.sections.cases import decoded as value
from unit.legal.made_cases import write_cases
from unit.legal.made_predictions import predictions, right, write
from unit.report import made_case_page
from unit.report.made_case_page import said


def describe(made, **more):
    return describe_cases(
        made["names"][0], made["titles"][0], made["kinds"][0], made["cases"][0],
        made.get("records", ()), made["predictions"], **more,
    )  # fmt: skip


@pytest.fixture
def made(tmp_path):
    return made_case_page.ecthr(tmp_path)


@pytest.fixture
def data(made):
    return describe(made, called={"erm": "ERM"})["data"]


def test_cases_of_the_splits_stand_test_first(made, data):
    assert data["id"] == ["ecthr-1", "ecthr-2", "ecthr-4", "ecthr-3"]
    assert [value(data["split"], i) for i in range(4)] == ["test", "test", "test", "dev"]
    assert describe(made)["cases"] == {"train": 1, "dev": 1, "test": 3}
    assert describe(made, splits=["train"])["data"]["id"] == ["ecthr-5"]


def test_what_is_known_of_a_case(data):
    assert data["date"] == [None, "2015", "1999-01-01", None]  # of the second the year alone
    assert value(data["numbers"], 1) == [["Application", "123/45"]]
    assert value(data["numbers"], 0) == []
    assert [value(data["gold"], i) for i in range(4)] == [[1], [3, 4], None, [10]]
    assert data["labels"][1] == "3" and data["labels"][10] == "none"
    assert data["several"] is True
    gender = next(one for one in data["attributes"] if one["name"] == "applicant_gender")
    assert gender["groups"] == ["male", "female", "n/a"]
    assert [value(gender["value"], i) for i in range(4)] == ["male", "female", "n/a", "female"]
    assert value(gender["rule"], 1) == "title in procedure"
    assert value(gender["evidence"], 1) == [["facts, paragraph 1", "She "]]
    year = next(one for one in data["attributes"] if one["name"] == "applicant_birth_year")
    assert year["groups"] == [] and value(year["value"], 1) == "1950"


def test_what_two_seeds_say_by_hand(data):
    erm, dro = data["trainings"]
    assert erm["name"] == "linear, ERM"
    assert dro["name"] == "linear, group dro, trained for Applicant's gender"
    assert [one["trained_for"] for one in (erm, dro)] == ["", "applicant_gender"]
    assert [one["seeds"] for one in (erm, dro)] == [2, 1]
    # case 1: the first seed says label 3, the second nothing
    low, high = 1 / (1 + math.exp(2)), 1 / (1 + math.exp(-2))
    assert said(data, 0, 0, 1) == (1, pytest.approx((low + high) / 2, abs=5e-4))
    assert said(data, 0, 0, 10)[0] == 1  # "none", once
    # case 2: both say label 6, and not label 8, which applies too
    assert said(data, 0, 1, 3) == (2, pytest.approx(1 / (1 + math.exp(-3)), abs=5e-4))
    assert said(data, 0, 1, 4) == (0, pytest.approx(low, abs=5e-4))
    assert erm["right"] == [1, 0, None, 2]
    # the case of dev has no label, and nobody gives it one
    assert said(data, 0, 3, 10)[0] == 2
    near, far = math.log1p(math.exp(-2)), math.log1p(math.exp(2))
    losses = [near / 2 + (9 * near + far) / 20, None, None, near]
    losses[1] = (8 * near + math.log1p(math.exp(-3)) + far) / 10
    assert erm["loss"] == [one if one is None else round(1000 * one) for one in losses]
    assert dro["right"] == [0, 0, None, 0]
    assert said(data, 1, 0, 0) == (1, pytest.approx(1 / (1 + math.exp(-1)), abs=5e-4))


def test_one_label_of_several_by_hand(tmp_path):
    found = describe(made_case_page.cail(tmp_path))
    data = found["data"]
    classes = len(data["labels"])
    assert data["several"] is False and "none" not in data["labels"]
    # two seeds give "<=12" four times the odds of each other class, one half of them
    share = [4 / (classes + 3), 4 / (classes + 3), 0.5 / (classes - 0.5)]
    assert said(data, 0, 0, 1) == (2, pytest.approx(sum(share) / 3, abs=1e-3))
    assert said(data, 0, 0, 0)[0] == 1  # the first of equals, where "<=12" is less likely
    assert data["trainings"][0]["right"] == [1, 2, 2]
    loss = -sum(math.log(one) for one in share) / 3
    assert data["trainings"][0]["loss"][1] == round(1000 * loss)
    assert [value(data["language"], i) for i in range(3)] == ["zh-Hans"] * 3
    assert data["text"][0] == made_case_page.LANTERN


def test_without_classifiers_the_cases_are_there(made):
    found = describe(made | {"predictions": []})
    assert found["rows"] == 4 and found["trainings"] == 0
    assert found["data"]["trainings"] == []


def test_no_cases_at_all(tmp_path):
    empty = write_cases(tmp_path / "d.parquet", "ecthr", [])
    made = {"names": ["mine"], "titles": ["Mine"], "kinds": ["ecthr"], "cases": [empty]}
    found = describe(made | {"predictions": []})
    assert found["rows"] == 0 and found["shown"] == [] and found["data"]["id"] == []


def test_a_split_without_a_known_label_has_no_predictions(tmp_path):
    cases = [{"labels": ["3"], "split": "train"}, {"labels": None, "split": "test"}]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    path = write(tmp_path / "p.parquet", predictions(data, "ecthr", right))
    made = {"names": ["mine"], "titles": ["Mine"], "kinds": ["ecthr"], "cases": [data]}
    assert describe(made | {"predictions": [path]})["data"]["trainings"] == []
    found = describe(made | {"predictions": [path]}, splits=["test", "train"])["data"]
    assert found["trainings"][0]["right"] == [None, 1]


def test_predictions_of_other_cases_are_refused(made, tmp_path):
    other = write_cases(
        tmp_path / "o.parquet", "ecthr", [{"labels": ["3"], "split": "test", "case_id": "x"}]
    )
    path = write(tmp_path / "o_p.parquet", predictions(other, "ecthr", right))
    with pytest.raises(InputError, match="not of the cases"):
        describe(made | {"predictions": [path]})


def test_no_more_cases_than_asked_for_and_how_many_are_left_out(made):
    found = describe(made, most=2)
    assert (found["rows"], found["left_out"]) == (2, 2)
    assert found["data"]["id"] == ["ecthr-1", "ecthr-2"]
    assert found["data"]["trainings"][0]["right"] == [1, 0]


@pytest.mark.parametrize(
    ("characters", "text"),
    [(0, ""), (9, "A lantern…"), (1000, f"{made_case_page.PLANTED}\nMore ")],
)
def test_the_facts_are_cut(made, characters, text):
    assert describe(made, characters=characters)["data"]["text"][1] == text


def test_long_evidence_is_cut(tmp_path):
    found = [{"part": "context", "paragraph": 2, "start": 0, "end": 999, "words": "w" * 999}]
    cases = [{"split": "test", "applicant_gender_evidence": found}]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    made = {"names": ["mine"], "titles": ["Mine"], "kinds": ["ecthr"], "cases": [data]}
    gender = describe(made | {"predictions": []})["data"]["attributes"][2]
    [[place, words]] = value(gender["evidence"], 0)
    assert place == "header or procedure, paragraph 3"
    assert words == "w" * EVIDENCE + "…"


@pytest.mark.parametrize(
    "more", [{"splits": []}, {"splits": ["test", "test"]}, {"splits": ["all"]},
             {"characters": -1}, {"most": 0}]
)  # fmt: skip
def test_what_cannot_be_shown_is_refused(made, more):
    with pytest.raises(InputError, match="page"):
        describe(made, **more)


def test_digits_need_no_escape():
    assert len(DIGITS) == 88 and json.dumps(DIGITS) == f'"{DIGITS}"'
    assert not set(DIGITS) & set("<>&\"'\\ ")


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(-30, 30)), st.integers(0, 3))
def test_the_likeliest_label_is_the_one_that_is_given(logits, label):
    true = np.zeros((3, 4), bool)
    true[:, label] = True
    for kind in ("cail", "ecthr"):
        dataset = load_dataset(kind)
        probability, loss = likelihoods(logits, true, dataset)
        assert (loss >= 0).all() and ((probability >= 0) & (probability <= 1)).all()
        given = predicted_labels(logits, dataset.task)
        if kind == "cail":
            assert np.allclose(probability.sum(axis=-1), 1)
            assert np.allclose(loss, -np.log(probability[..., label]))
            assert np.allclose((probability * given).sum(-1), probability.max(-1))
        else:
            assert (given <= (probability >= 0.5)).all()
            sure = np.where(true, probability, 1 - probability)
            assert np.allclose(np.exp(-loss * 4), sure.prod(axis=-1))
