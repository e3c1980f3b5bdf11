"""The data of cases: what the page gets is what the trainings predict, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.errors import InputError
from evenhand.metrics.classification import predicted_labels
from evenhand.report.explore_cases import EVIDENCE, describe_cases, explore_cases, likelihoods
from evenhand.report.explorer import cell
from unit.legal.made_cases import court, write_cases
from unit.legal.made_predictions import predictions, right, write
from unit.report import made_case_page
from unit.report.checks import parse
from unit.report.test_explore_sentences import answers, facts


def describe(made, **more):
    given = {
        "objective_titles": {},
        "splits": ["test", "dev"],
        "characters": 300,
        "most": 9999,
    } | more
    return describe_cases(
        made["cases"][0].stem, made["titles"][0], made["cases"][0],
        made.get("records", ()), made["predictions"], **given,
    )  # fmt: skip


@pytest.fixture
def made(tmp_path):
    return made_case_page.ecthr(tmp_path / "mine")


@pytest.fixture
def data(made):
    return describe(made, objective_titles={"erm": "ERM"})[0]


@pytest.fixture
def page(made, templates, tmp_path):
    def write(**given):
        out = tmp_path / "cases.html"
        counts = explore_cases(
            templates=templates, out=out, tables_out=tmp_path / "cases", **made | given
        )
        return parse(out), counts

    return write


def test_cases_of_the_splits_are_in_their_order(made, data):
    assert data["id"] == ["ecthr-1", "ecthr-2", "ecthr-4", "ecthr-3"]
    assert facts(data, "split") == [["test"], ["test"], ["test"], ["dev"]]
    assert describe(made)[1:] == ({"train": 1, "dev": 1, "test": 3}, 0)
    assert describe(made, splits=["train"])[0]["id"] == ["ecthr-5"]


def test_what_is_known_of_a_case(data):
    assert facts(data, "date") == [[], ["2015"], ["1999-01-01"], []]  # of the second the year alone
    assert facts(data, "numbers") == [[], ["Application 123/45"], [], []]
    assert facts(data, "labels") == [["3"], ["6", "8"], [], ["no label"]]
    labels = next(one for one in data["columns"] if one["name"] == "labels")
    assert {value for value, _ in labels["options"]} >= {"3", "6", "8", "no label"}
    assert facts(data, "labelled") == [["yes"], ["yes"], ["no"], ["yes"]]
    gender = next(one for one in data["columns"] if one["name"] == "applicant_gender")
    assert [value for value, _ in gender["options"]] == ["male", "female", "n/a"]
    assert facts(data, "applicant_gender") == [["male"], ["female"], ["n/a"], ["female"]]
    assert facts(data, "applicant_gender_rule")[1] == ["title in procedure"]
    assert facts(data, "applicant_gender_evidence")[1] == ["She  (facts, paragraph 1)"]
    year = next(one for one in data["columns"] if one["name"] == "applicant_birth_year")
    assert "filter" not in year and facts(data, "applicant_birth_year")[1] == ["1950"]


def number(model, row, label):
    """The probability of a label in percent, and the seeds that predict it."""
    at = model["row"].index(row) * len(model["classes"]) + model["classes"].index(label)
    return model["cells"][at], cell(model["cell_notes"], at)[0]


def test_what_two_seeds_predict_by_hand(data):
    erm, dro = data["models"]
    assert erm["name"] == "linear, ERM"
    assert dro["name"] == "linear, group dro, trained for Applicant's gender"
    assert erm["asks"] == {"classifier": "linear", "objective": "erm", "trained": ""}
    assert dro["asks"]["trained"] == "applicant_gender"
    assert [one["over"] for one in (erm, dro)] == ["2 seeds", "1 seed"]
    assert erm["row"] == [0, 1, 3]  # the third has no label
    # case 1: the first seed predicts label 3, the second nothing
    low, high = 1 / (1 + math.exp(2)), 1 / (1 + math.exp(-2))
    assert number(erm, 0, "3") == (pytest.approx(50 * (low + high), abs=0.05), "1 of 2")
    assert number(erm, 0, "no label") == (None, "1 of 2")
    # case 2: both predict label 6, and not label 8, which applies too
    assert number(erm, 1, "6") == (pytest.approx(100 / (1 + math.exp(-3)), abs=0.05), "2 of 2")
    assert number(erm, 1, "8") == (pytest.approx(100 * low, abs=0.05), "0 of 2")
    assert answers(erm, "predicted") == [[], ["6"], ["no label"]]
    assert answers(erm, "missed") == [["3"], ["8"], []]
    assert answers(erm, "wrongly") == [[], [], []]
    assert answers(dro, "wrongly") == [["2"], ["2"], ["2"]]
    right, loss, differ = erm["measures"]
    assert (right, differ) == ([1, 0, 2], [2, 0, 0])
    assert answers(erm, "answer") == [["wrong", "differ"], ["wrong"], ["right"]]
    near, far = math.log1p(math.exp(-2)), math.log1p(math.exp(2))
    expected = [near / 2 + (9 * near + far) / 20, 0, near]
    expected[1] = (8 * near + math.log1p(math.exp(-3)) + far) / 10
    assert loss == pytest.approx(expected, abs=5e-4)
    assert dro["measures"][0] == [0, 0, 0]
    assert number(dro, 0, "2") == (pytest.approx(100 / (1 + math.exp(-1)), abs=0.05), "1 of 1")


def test_one_label_of_several_by_hand(tmp_path):
    data, _, _ = describe(made_case_page.cail(tmp_path))
    [model] = data["models"]
    classes = len(model["classes"])
    assert "no label" not in model["classes"]
    # two seeds give "<=12" four times the odds of each other class, one half of them
    share = [4 / (classes + 3), 4 / (classes + 3), 0.5 / (classes - 0.5)]
    assert number(model, 0, "<=12") == (pytest.approx(100 * sum(share) / 3, abs=0.05), "2 of 3")
    assert number(model, 0, "0")[1] == "1 of 3"  # the first of equals, where "<=12" is less likely
    assert model["measures"][0] == [1, 2, 2]
    assert model["measures"][1][1] == pytest.approx(-sum(map(math.log, share)) / 3, abs=5e-4)
    assert [cell(data["language"], i) for i in range(3)] == [["zh-Hans"]] * 3
    assert facts(data, "text")[0] == [made_case_page.LANTERN]


def test_a_split_without_a_known_label_has_no_predictions(tmp_path):
    cases = [{"labels": ["3"], "split": "train"}, {"labels": None, "split": "test"}]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    path = write(tmp_path / "p.parquet", predictions(data, right))
    made = {"titles": ["Mine"], "cases": [data]}
    assert describe(made | {"predictions": [path]})[0]["models"] == []
    found, _, _ = describe(made | {"predictions": [path]}, splits=["test", "train"])
    assert (found["models"][0]["row"], found["models"][0]["measures"][0]) == ([1], [1])


def test_predictions_of_other_cases_are_refused(made, tmp_path):
    other = write_cases(
        tmp_path / "o.parquet", "ecthr", [{"labels": ["3"], "split": "test", "case_id": "x"}]
    )
    path = write(tmp_path / "o_p.parquet", predictions(other, right))
    with pytest.raises(InputError, match="not of the cases"):
        describe(made | {"predictions": [path]})


def test_says_what_it_leaves_out(made, page):
    data, _, left_out = describe(made, most=2)
    assert (data["id"], left_out) == (["ecthr-1", "ecthr-2"], 2)
    assert data["models"][0]["measures"][0] == [1, 0]
    tree, counts = page(most=3)
    assert counts["left_out"] == {"mine": 1}
    assert "the last 1 of these are not on this page" in tree.css_first("#items").text()


@pytest.mark.parametrize(
    ("characters", "text"),
    [(0, []), (9, ["A lantern…"]), (1000, [f"{made_case_page.PLANTED}\nMore "])],
)
def test_the_facts_are_cut(made, page, characters, text):
    assert facts(describe(made, characters=characters)[0], "text")[1] == text
    tree, _ = page(characters=characters)
    absent = "The texts of the cases are not on this page" in tree.css_first("#reading").text()
    assert absent == (characters == 0)


def test_long_evidence_is_cut(tmp_path):
    evidence = [{"part": "context", "paragraph": 2, "start": 0, "end": 999, "words": "w" * 999}]
    cases = [{"split": "test", "applicant_gender_evidence": evidence}]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    document, _, _ = describe({"titles": ["Mine"], "cases": [data], "predictions": []})
    words = facts(document, "applicant_gender_evidence")[0]
    assert words == ["w" * EVIDENCE + "… (header or procedure, paragraph 3)"]


def test_data_sets_with_classifiers_come_first(templates, made, tmp_path):
    plain = made_case_page.ecthr(tmp_path / "plain")
    path = plain["cases"][0].rename(tmp_path / "plain/plain.parquet")
    given = {"titles": plain["titles"], "cases": [path]}
    out = tmp_path / "cases.html"
    counts = explore_cases(templates=templates, out=out, tables_out=tmp_path / "t",
                           **made_case_page.joined(given, made))  # fmt: skip
    options = [one.attributes["value"] for one in parse(out).css("select[name=set] option")]
    assert options == ["mine", "plain"]
    assert counts["models"] == {"mine": 2, "plain": 0}
    assert "no classifier was trained on it" in parse(out).css_first("#items").text()


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(-30, 30)), st.integers(0, 3))
def test_the_likeliest_label_is_the_one_that_is_predicted(logits, label):
    true = np.zeros((3, 4), bool)
    true[:, label] = True
    for kind in ("cail", "ecthr"):
        dataset = court(kind)
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
