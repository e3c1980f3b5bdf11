import csv
import json
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.legal.compare_objectives import HEADER as TESTS
from evenhand.legal.explain_groups import HEADER as TABLE_2
from evenhand.legal.measure_calibration import HEADER as CALIBRATION
from evenhand.legal.tabulate_classifiers import HEADER as TABLE_4
from evenhand.legal.write_classifier_findings import write_classifier_findings

CLAIMS = Path(__file__).parents[3] / "resources" / "legal" / "published_claims.csv"


def table(path, header, *rows, dataset="mine"):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(dict.fromkeys(header) | {"dataset": dataset} | row)
    return path


def gap(attribute, verdict, p_labels=0.01, classifier="linear", ours=9.0, measure="gd"):
    return {
        "attribute": attribute, "classifier": classifier, "objective": "erm", "measure": measure,
        "ours": ours, "noise_mean": 2.5, "noise_border": 4.0, "p_labels": p_labels,
        "noise_verdict": verdict,
    }  # fmt: skip


def comparison(measure, verdict, difference=1.0):
    return {"measure": measure, "verdict": verdict, "difference": difference}


def group(name, worst, **marks):
    none = dict.fromkeys(("fewest_train_cases", "most_drift", "most_wci"), "false")
    return {"classifier": "linear", "attribute": "court_region", "group": name,
            "worst": worst} | none | marks  # fmt: skip


def written(tmp_path, *datasets, **more):
    paths = {name: [] for name in ("table_4", "tests", "table_2", "calibration")}
    headers = {"table_4": TABLE_4, "tests": TESTS, "table_2": TABLE_2, "calibration": CALIBRATION}
    for number, rows in enumerate(datasets):
        for name, header in headers.items():
            path = tmp_path / f"{name}_{number}.csv"
            some = rows.get(name) or [{}]
            paths[name].append(table(path, header, *some, dataset=f"set {number}"))
    out = tmp_path / "findings.json"
    counts = write_classifier_findings(**paths, claims=CLAIMS, out=out, **more)
    return counts, json.loads(out.read_text(encoding="utf-8"))


def finding(document, name, dataset="set 0"):
    found = [row for row in document["findings"] if (row["id"], row["dataset"]) == (name, dataset)]
    assert len(found) == 1
    return found[0]


def test_gaps(tmp_path):
    rows = [
        gap("court_region", "above noise", 0.2),
        gap("defendant_gender", "above noise"),
        gap("applicant_age", "too few cases"),
        gap("applicant_gender", "not above noise"),
        gap("decision_direction", ""),  # one group only
    ]
    _, document = written(tmp_path, {"table_4": rows})
    found = finding(document, "gaps_above_noise")
    assert found["holds"] is True
    assert found["numbers"] == {
        "gaps": 4, "above_noise": 2, "too_few_cases": 1, "explained_by_labels": 1
    }  # fmt: skip
    assert found["sentence"] == (
        "On set 0, 2 of 4 gaps between groups under ERM are larger than what random groups of the"
        " same sizes show (linear, court region: GD 9.0, by chance up to 4.0 and linear,"
        " defendant gender: GD 9.0, by chance up to 4.0). If groups did not differ at"
        " all, chance would still bring about 0.2."
        " Of the rest, 1 could hardly stand out: a group has too few cases."
        " 1 of 2 gaps above noise is no larger than among random groups with the same labels."
    )
    assert document["headline"] == [found["sentence"]]


def test_attributes_are_called_by_their_titles(tmp_path):
    named = {"attributes": ["court_region"], "attribute_titles": ["Where it sat"]}
    _, document = written(tmp_path, {"table_4": [gap("court_region", "above noise")]}, **named)
    assert "(linear, Where it sat: GD 9.0" in finding(document, "gaps_above_noise")["sentence"]
    with pytest.raises(InputError, match="one title for each attribute"):
        written(tmp_path, {}, attributes=["court_region"])


def test_nothing_above_noise(tmp_path):
    _, document = written(tmp_path, {"table_4": [gap("court_region", "not above noise")]})
    found = finding(document, "gaps_above_noise")
    assert found["holds"] is False
    assert "none of 1 gap between groups under ERM are larger" in found["sentence"]


def test_objectives_are_better_where_gd_is_lower(tmp_path):
    rows = [comparison("gd", "lower"), comparison("gd", "higher"), comparison("gd", "not shown"),
            comparison("gd", ""), comparison("worst", "higher"), comparison("mean", "lower"),
            comparison("overall", "higher")]  # fmt: skip
    _, document = written(tmp_path, {"tests": rows})
    found = finding(document, "objectives_against_erm")
    assert found["numbers"] == {
        "mean": {"tests": 1, "better": 0, "worse": 1},
        "worst": {"tests": 1, "better": 1, "worse": 0},
        "gd": {"tests": 3, "better": 1, "worse": 1},
    }
    assert found["holds"] is True


def test_that_nothing_is_shown_is_said_in_few_words(tmp_path):
    rows = [comparison("gd", "not shown"), comparison("mean", "not shown")]
    _, document = written(tmp_path, {"tests": rows})
    found = finding(document, "objectives_against_erm")
    assert found["holds"] is False
    assert found["sentence"] == (
        "On set 0, none of 2 comparisons with ERM (mean over groups and gap between groups (GD))"
        " shows a difference beyond chance over seeds and over cases, corrected for how many"
        " comparisons there are."
    )


def test_what_only_the_cases_show_is_counted(tmp_path):
    rows = [comparison("gd", "not shown") | {"p_cases_adjusted": p} for p in (0.01, 0.2, "")]
    rows.append(comparison("mean", "lower") | {"p_cases_adjusted": 0.01})
    _, document = written(tmp_path, {"tests": rows})
    found = finding(document, "objectives_against_erm")
    assert found["numbers"]["over_cases_alone"] == 1
    assert " Over cases alone, 1 of those not shown would be; so few seeds" in found["sentence"]


def test_comparisons_that_could_show_nothing_are_counted(tmp_path):
    alone = {"reason": "one seed does not say how differences vary"}
    rows = [comparison("gd", "not shown") | alone, comparison("mean", "not shown")]
    _, document = written(tmp_path, {"tests": rows})
    found = finding(document, "objectives_against_erm")
    assert found["numbers"]["silent"] == 1
    assert " 1 of the 2 comparisons could show nothing: there is one seed" in found["sentence"]


def test_the_average_loss_stands_beside_the_papers(tmp_path):
    rows = [comparison("mean", "lower", -1.0), comparison("mean", "not shown", 0.5),
            comparison("worst", "higher", 2.0)]  # fmt: skip
    _, document = written(tmp_path, {"tests": rows})
    found = finding(document, "average_loss_against_erm")
    assert found["numbers"] == {"mean": -0.25, "worst": 2}
    assert found["holds"] is False  # not of both, as in the paper
    assert "by −0.25 points and the worst group by +2.00" in found["sentence"]
    assert found["sentence"].endswith("(FairLex: −0.17 and −0.78).")


def test_what_explains_the_worst_group(tmp_path):
    rows = [
        group("Beijing", "true", fewest_train_cases="true"),
        group("Hunan", "false", most_drift="true"),
        group("Sichuan", "", most_wci=""),  # without a test case
    ]
    _, document = written(tmp_path, {"table_2": rows})
    found = finding(document, "worst_group_explained")
    assert found["numbers"] == {
        "attributes": 1, "ties": 0, "by_chance": 0.5, "fewest_train_cases": 1, "most_drift": 0,
        "most_wci": 0,
    }  # fmt: skip
    assert found["holds"] is True
    assert "1 of 1 attribute (" in found["sentence"]


def test_attributes_whose_groups_are_equally_bad_count_for_nothing(tmp_path):
    tie = [group("male", "false", most_drift="true"), group("female", "false")]
    tie = [row | {"attribute": "defendant_gender"} for row in tie]
    rows = [group("Beijing", "true", most_wci=""), group("Hunan", "false", most_wci="")]
    _, document = written(tmp_path, {"table_2": tie + rows}, {"table_2": tie})
    found = finding(document, "worst_group_explained")
    assert (found["numbers"]["attributes"], found["numbers"]["ties"]) == (1, 1)
    assert found["numbers"]["by_chance"] == 0.5
    assert "In 1 other no single group is the worst." in found["sentence"]
    assert not any(
        (row["id"], row["dataset"]) == ("worst_group_explained", "set 1")
        for row in document["findings"]
    )


def test_classifiers_that_say_the_same_of_every_case(tmp_path):
    rows = [
        gap("court_region", "") | {"objective": objective, "trained_for": attribute, "seeds": 2}
        | {"constant_seeds": constant, "always": "none"}
        for objective, attribute, constant in (
            ("erm", "none", 2), ("group_dro", "court_region", 1), ("irm", "court_region", 0),
        )
    ]  # fmt: skip
    _, document = written(tmp_path, {"table_4": rows * 2}, {"table_4": rows[2:]})
    found = finding(document, "says_always_the_same")
    assert found["numbers"] == {"trainings": 3, "constant": 2}
    assert found["sentence"] == (
        "On set 0, 2 of 3 trainings say the same of every test case: linear with erm (2 of 2 seeds)"
        " and linear with group dro for court region (1 of 2 seeds). What differs between groups"
        " there are the labels, not what was learned."
    )
    found = finding(document, "says_always_the_same", "set 1")
    assert (found["holds"], found["numbers"]["constant"]) == (False, 0)


def test_linear_against_encoders(tmp_path):
    rows = [
        gap("court_region", "", classifier=classifier, measure=measure, ours=ours)
        | {"stands_for": stands_for}
        for classifier, stands_for, scores in (
            ("words", "linear", (40, 30, 9)),
            ("encoder", "transformer", (50, 20, 5)),
            ("frozen", "none", (90, 90, 0)),
        )
        for measure, ours in zip(("mean", "worst", "gd"), scores, strict=True)
    ]
    _, document = written(tmp_path, {"table_4": rows})
    found = finding(document, "linear_worse")
    assert found["numbers"] == {
        "mean": {"compared": 1, "worse": 1},
        "worst": {"compared": 1, "worse": 0},
        "gd": {"compared": 1, "worse": 1},
    }
    assert found["holds"] is False


def test_calibration(tmp_path):
    rows = [{"classifier": "linear", "objective": "erm", "attribute": "court_region",
             "group": name, "verdict": verdict}
            for name, verdict in (("Hunan", "above noise"), ("Beijing", "too few cases"),
                                  ("all", ""))]  # fmt: skip
    _, document = written(tmp_path, {"calibration": rows})
    found = finding(document, "calibration_by_group")
    assert found["numbers"] == {"groups": 2, "above_noise": 1}
    assert found["sentence"].endswith(
        "of the same size (linear, court region: Hunan). If groups did not differ at all, chance"
        " would still bring about 0.1."
    )


def test_several_data_sets_are_said_of_each_and_of_all(tmp_path):
    one = {"table_4": [gap("court_region", "above noise")]}
    two = {"table_4": [gap("applicant_age", "not above noise")]}
    counts, document = written(tmp_path, one, two)
    assert finding(document, "gaps_above_noise", "set 1")["numbers"]["above_noise"] == 0
    found = finding(document, "gaps_above_noise", None)
    assert found["numbers"]["gaps"] == 2
    assert document["headline"] == [found["sentence"]]
    assert found["sentence"].startswith("Over 2 data sets, 1 of 2 gaps between groups under ERM is")
    assert counts == {"findings": 3, "left_out": 18}
    assert sum(document["left_out"].values()) == 18


def test_tables_that_do_not_belong_together(tmp_path):
    path = table(tmp_path / "a.csv", TABLE_4)
    given = {"table_4": [path], "tests": [path], "table_2": [path], "claims": CLAIMS}
    with pytest.raises(InputError, match="one table of each sort"):
        write_classifier_findings(**given, calibration=[], out=tmp_path / "o")
    other = table(tmp_path / "b.csv", CALIBRATION, {}, dataset="other")
    path = table(tmp_path / "a.csv", TABLE_4, {})
    with pytest.raises(InputError, match="is of mine and other, not of one"):
        write_classifier_findings(**given, calibration=[other], out=tmp_path / "o")
