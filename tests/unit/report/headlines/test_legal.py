import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.legal.case_tables import cross, sizes
from evenhand.legal.classifier_tables import claims, table_2, table_4
from evenhand.report.headlines.legal import describe
from unit.report import checks

#: The titles of a data set, and of an attribute of it.
TITLES = {"ecthr": "ECtHR", "ecthr/applicant_gender": "Applicant", "fscs/applicant_gender": "x"}


def cases(folder, number=120, dataset="ecthr"):
    """The tables of cases of a data set of this size."""
    path = folder / "tables/cases" / dataset
    rows = [
        {"quantity": "task", "ours": "multi_label"},
        {"quantity": "cases", "ours": number, "published": 9, "verdict": "not_run"},
        {"quantity": "cases", "item": "train", "ours": 100, "verdict": "not_run"},
    ]
    write_tables(path, [(sizes.TABLE, rows), (cross.TABLE, [])])
    return path


def classifiers(folder, *gaps, groups=()):
    """The tables of classifiers of a data set with these rows."""
    path = folder / "tables/classifiers/ecthr"
    write_tables(path, [(table_2.TABLE, groups), (table_4.TABLE, gaps), (claims.TABLE, [])])
    return path


def gap(verdict, ours=3.1, p_labels=0.01, objective="erm", measure="gd", p=0.01):
    return {
        "attribute": "applicant_gender", "classifier": "linear", "objective": objective,
        "measure": measure, "ours": ours, "low": 1, "high": 4, "noise_border": 1.2,
        "p": p, "p_labels": p_labels, "noise_verdict": verdict, "verdict": "not_run",
        "smallest_group": 7,
    }  # fmt: skip


def test_data_sets_without_a_classifier_are_counted(tmp_path):
    files = [cases(tmp_path), cases(tmp_path, 30, dataset="my_own")]
    headline = describe(files, {"ecthr": "<b>"})
    assert headline.sentence == (
        "2 data sets with 150 cases: <bdi>&lt;b&gt;</bdi> 120 and <bdi>my_own</bdi> 30."
    )
    assert headline.files == ["tables/cases/ecthr/sizes.csv", "tables/cases/my_own/sizes.csv"]
    assert headline.figure is None
    assert headline.verdicts[0].counts == {"not_run": 4}
    assert "FairLex’s own cases" in headline.verdicts[0].note


def test_gaps_beside_chance(tmp_path):
    rows = [
        gap("above"),
        gap("above", p_labels=0.5),
        gap("equivalent"),
        gap("inconclusive"),
        gap("above", objective="group_dro"),
        gap("above", measure="mean"),
    ]
    headline = describe([classifiers(tmp_path, *rows), cases(tmp_path)], TITLES)
    assert headline.sentence == (
        "Of 4 gaps between groups under plain training, 2 are significant (1 of them no larger than"
        " in 95 % of random groups with the same labels); 1 is not shown (not significant, with too"
        " few cases to exclude a gap that matters); 1 shows no gap that matters."
    )
    assert headline.sentence.files == ("tables/classifiers/ecthr/table_4.csv",)
    assert headline.more[0] == (
        "The clearest gap is in <bdi>ECtHR, Applicant</bdi> (<bdi>linear</bdi>): a group disparity"
        " (standard deviation of the groups’ scores, macro-F1) of 3.1 (95 % interval 1.0"
        " to 4.0), larger than in 95 % of random groups of the same sizes (1.2)."
    )
    assert headline.strength == 3.1 / 1.2
    assert checks.rows(headline.figure, "name") == ["ECtHR, Applicant (linear)"] * 4
    assert checks.rows(headline.figure, "kind").count("more") == 2
    assert "Do not use these classifiers for decisions." in headline.doubts


def test_a_lowest_score_below_chance_is_stated_beside_gaps_that_are_not_above_it(tmp_path):
    lowest = [gap("above", measure="worst", p=0.02), gap("inconclusive", measure="worst", p=0.4)]
    where = {"attribute": "applicant_gender", "classifier": "linear"}
    groups = [where | {"group": "women", "worst": True}, where | {"group": "men", "worst": False}]
    folder = classifiers(tmp_path, gap("inconclusive", p=0.4), *lowest, groups=groups)
    headline = describe([folder], TITLES)
    assert headline.sentence == (
        "One group scores lower than random groups of the same size: <bdi>women</bdi> in"
        " <bdi>ECtHR, Applicant</bdi> (<bdi>linear</bdi>), macro-F1 3.1, lower than in 95 % of"
        " them (1.2; not significant after adjustment for 3 tests)."
    )
    assert headline.short.startswith("Not significant after adjustment for 3 tests")
    assert "<bdi>women</bdi> scores lower than random groups of the same size" in headline.short


@pytest.mark.parametrize(
    ("rows", "begins"),
    [
        ([gap("inconclusive"), gap("above")], "No: the groups’ scores differ more than"),
        ([gap("inconclusive"), gap("above", measure="worst")], "No: the groups’ scores differ"),
        ([gap("inconclusive"), gap("equivalent")], "No gap that matters in"),
        ([gap("inconclusive")], "Not shown (not significant"),
    ],
)
def test_an_attribute_counts_by_the_clearest_of_its_classifiers(tmp_path, rows, begins):
    headline = describe([classifiers(tmp_path, *rows)], TITLES)
    assert headline.short.startswith(begins) and headline.short.count("ECtHR") == 1
    if len(rows) == 1:
        assert headline.sentence.endswith("too few cases to exclude a gap that matters).")
        assert headline.next.startswith("Add test cases. In <bdi>ECtHR, Applicant</bdi>")


def test_a_classifier_that_predicts_one_thing_is_not_shown_to_be_fair(tmp_path):
    same = gap("inconclusive", 0.0) | {"seeds": 5, "constant_seeds": 5}
    headline = describe([classifiers(tmp_path, same, gap("equivalent"))], {})
    assert headline.sentence == (
        "Of 2 gaps between groups under plain training, 1 shows no gap that matters; 1 cannot be"
        " judged, as the classifier predicts the same for every case."
    )
    assert not headline.next and not any("too few cases" in one for one in headline.doubts)
    assert checks.rows(headline.figure, "text") == ["3.1"]
    assert headline.caption.endswith("Left out: 1 gap where every case is predicted alike.")


def test_what_was_left_out_is_said(tmp_path):
    path = tmp_path / "legal/ecthr/records/a.counts.json"
    path.parent.mkdir(parents=True)
    reasons = {"bad_label": 5, "no_facts": 2000, "a": 1, "b": 1, "c": 1}
    path.write_text(json.dumps({"records": 3, "left_out": reasons}), encoding="utf-8")
    (doubt,) = describe([path], {}).doubts
    assert doubt == (
        "2,008 records were left out: no facts (2,000), bad label (5), a (1) and 2 other"
        " reasons (2)."
    )
