import json
from pathlib import Path

import pytest

from evenhand.core.tables import write_tables
from evenhand.legal.classifier_tables import calibration, table_2, table_4, tests
from evenhand.legal.write_classifier_findings import TABLES, write_classifier_findings
from unit.legal.made_cases import declaration

REPOSITORY = Path(__file__).parents[3]
MEMBERS = {"table_4": table_4, "tests": tests, "table_2": table_2, "calibration": calibration}


#: The objectives of the tables.
TITLES = {"erm": "ERM", "group_dro": "Group DRO"}


def gap(attribute, verdict, p_labels=0.01, classifier="linear", ours=9.0, measure="gd"):
    return {
        "attribute": attribute, "classifier": classifier, "objective": "erm", "measure": measure,
        "ours": ours, "noise_mean": 2.5, "noise_border": 4.0, "p_labels": p_labels,
        "noise_verdict": verdict, "trained_for": "none",
    }  # fmt: skip


def comparison(measure, verdict, difference=1.0, **more):
    return {"measure": measure, "verdict": verdict, "difference": difference} | more


def group(name, worst, **marks):
    return {"classifier": "linear", "attribute": "court_region", "group": name, "worst": worst} | {
        "fewest_train_cases": False, "most_drift": False, "most_wci": False
    } | marks  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """The counts and findings of data sets, each the rows of some tables."""

    def write(*datasets, declarations=None):
        folders = [tmp_path / f"set {number}" for number in range(len(datasets))]
        for folder, rows in zip(folders, datasets, strict=True):
            write_tables(folder, [(MEMBERS[name].TABLE, rows.get(name, [])) for name in TABLES])
        counts = write_classifier_findings(
            tables=folders,
            declarations=declarations or [declaration("cail")] * len(folders),
            claims=REPOSITORY / "resources/legal/published_claims.csv",
            out=tmp_path / "findings.json",
            objectives=list(TITLES),
            objective_titles=list(TITLES.values()),
        )
        return counts, json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))

    return write


@pytest.fixture
def finding_of(written):
    """A finding on the first of some data sets."""
    return lambda name, *datasets: finding(written(*datasets)[1], name)


def finding(document, name, dataset="set 0"):
    (row,) = (row for row in document["findings"] if (row["id"], row["dataset"]) == (name, dataset))
    return row


def test_the_average_loss_beside_the_papers(finding_of):
    rows = [comparison("mean", "below", -1.0), comparison("mean", "inconclusive", 0.5),
            comparison("worst", "above", 2.0)]  # fmt: skip
    found = finding_of("average_loss_against_erm", {"tests": rows})
    assert found["numbers"] == {"mean": -0.25, "worst": 2}
    assert found["holds"] is False  # not of both, as in the paper
    assert "by −0.25 points and the worst group by +2.00" in found["sentence"]
    assert found["sentence"].endswith("(FairLex: −0.17 and −0.78).")


def test_causes_of_the_worst_group(written):
    rows = [
        group("Beijing", True, fewest_train_cases=True),
        group("Hunan", False, most_drift=True),
        group("Sichuan", None, most_wci=None),  # without a test case
    ]
    tie = [group("male", False, most_drift=True), group("female", False)]
    tie = [row | {"attribute": "defendant_gender"} for row in tie]
    _, document = written({"table_2": rows + tie}, {"table_2": tie})
    found = finding(document, "worst_group_explained")
    assert found["numbers"] == {
        "attributes": 1, "ties": 1, "by_chance": 0.5, "fewest_train_cases": 1, "most_drift": 0,
        "most_wci": 0,
    }  # fmt: skip
    assert found["holds"] is True
    assert "Of 1 combination of attribute and classifier, it has the fewest" in found["sentence"]
    assert "1 further combination has several worst groups and does not" in found["sentence"]
    assert ("worst_group_explained", "set 1") not in [
        (row["id"], row["dataset"]) for row in document["findings"]
    ]


def test_constant_classifiers(written):
    rows = [
        gap("court_region", None) | {"objective": objective, "trained_for": attribute, "seeds": 2}
        | {"constant_seeds": constant, "always": "none"}
        for objective, attribute, constant in (
            ("erm", "none", 2), ("group_dro", "court_region", 1), ("irm", "court_region", 0),
        )
    ]  # fmt: skip
    _, document = written({"table_4": rows * 2}, {"table_4": rows[2:]})
    found = finding(document, "says_always_the_same")
    assert found["numbers"] == {"trainings": 3, "constant": 2}
    assert found["sentence"] == (
        "On set 0, 2 of 3 classifiers predict the same labels for every test case: linear with ERM"
        " (2 of 2 seeds) and linear with Group DRO for Region (1 of 2 seeds). Their gaps"
        " between groups come from the labels, not from what was learned."
    )
    found = finding(document, "says_always_the_same", "set 1")
    assert (found["holds"], found["numbers"]["constant"]) == (False, 0)


def test_linear_against_encoders(finding_of):
    rows = [
        gap("court_region", None, classifier=classifier, measure=measure, ours=ours)
        | {"stands_for": stands_for}
        for classifier, stands_for, scores in (
            ("words", "linear", (40, 30, 9)),
            ("encoder", "transformer", (50, 20, 5)),
            ("frozen", "none", (90, 90, 0)),
        )
        for measure, ours in zip(("mean", "worst", "gd"), scores, strict=True)
    ]
    found = finding_of("linear_worse", {"table_4": rows})
    assert found["numbers"] == {
        "mean": {"compared": 1, "worse": 1},
        "worst": {"compared": 1, "worse": 0},
        "gd": {"compared": 1, "worse": 1},
    }
    assert found["holds"] is False


def test_calibration(finding_of):
    rows = [{"classifier": "linear", "objective": "erm", "attribute": "court_region",
             "group": name, "verdict": verdict}
            for name, verdict in (("Hunan", "above"), ("Beijing", "inconclusive"),
                                  ("all", None))]  # fmt: skip
    found = finding_of("calibration_by_group", {"calibration": rows})
    assert found["numbers"] == {"groups": 2, "above_noise": 1}
    assert found["sentence"].endswith(
        "of the same size (linear, Region: Hunan). If no group differed, about 0.1 would be."
    )


def test_several_data_sets(written):
    counted = {"seeds": 2, "always": "none"}
    one = {"table_4": [gap("court_region", "above") | counted | {"constant_seeds": 2}]}
    two = {"table_4": [gap("applicant_age", "equivalent") | counted | {"constant_seeds": 0}]}
    counts, document = written(one, two)
    assert finding(document, "says_always_the_same", "set 1")["numbers"]["constant"] == 0
    found = finding(document, "says_always_the_same", None)
    assert found["numbers"] == {"trainings": 2, "constant": 1}
    assert found["sentence"].startswith("Over 2 data sets, 1 of 2 classifiers predicts the same")
    assert counts == {"findings": 3, "left_out": 12}
    assert sum(document["left_out"].values()) == 12
