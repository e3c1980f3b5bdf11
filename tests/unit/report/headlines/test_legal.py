import json

import pytest

from evenhand.core.tables import write_tables
from evenhand.legal.case_tables import cross, leakage, sizes
from evenhand.legal.classifier_tables import claims, table_2, table_4
from evenhand.report.headlines.legal import describe
from unit.report import checks

#: The titles of a data set, and of an attribute of it.
TITLES = {"ecthr": "ECtHR", "ecthr/applicant_gender": "Applicant", "fscs/applicant_gender": "x"}


def cases(folder, number=120, dataset="ecthr", unknown=30, words=()):
    """The tables of cases of a data set of this size."""
    path = folder / "tables/cases" / dataset
    rows = [
        {"quantity": "task", "ours": "multi_label"},
        {"quantity": "cases", "ours": number, "published": 9, "verdict": "not_run"},
        {"quantity": "cases", "item": "train", "ours": 100, "verdict": "not_run"},
        {"quantity": "group unknown", "item": "applicant_gender", "ours": unknown, "of": 120},
    ]
    write_tables(path, [(sizes.TABLE, rows), (cross.TABLE, []), (leakage.TABLE, words)])
    return path


def classifiers(folder, *gaps, groups=()):
    """The tables of classifiers of a data set with these rows."""
    path = folder / "tables/classifiers/ecthr"
    write_tables(path, [(table_2.TABLE, groups), (table_4.TABLE, gaps), (claims.TABLE, [])])
    return path


def low(verdict, ours=40.0, attribute="applicant_gender", objective="erm", **more):
    return {
        "attribute": attribute, "classifier": "linear", "objective": objective,
        "measure": "worst", "ours": ours, "low": 35, "high": 46, "noise_border": 50,
        "noise_mean": 55, "p": 0.01, "noise_verdict": verdict, "verdict": "not_run",
        "smallest_group": 7,
    } | more  # fmt: skip


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


def test_one_test_decides_each_verdict(tmp_path):
    rows = [
        low("above"),
        low("above", from_labels=True),
        low("equivalent"),
        low("inconclusive"),
        low("inconclusive", 0.0, seeds=5, constant_seeds=5),
        low("above", objective="group_dro"),
        low("above", measure="gd"),
        low(None),
    ]
    groups = [{"attribute": "applicant_gender", "classifier": "linear", "group": "women"}]
    groups = [groups[0] | {"worst": True}, groups[0] | {"group": "men", "worst": False}]
    headline = describe([classifiers(tmp_path, *rows, groups=groups), cases(tmp_path)], TITLES)
    assert headline.sentence == (
        "Does a group score lower than random groups of the same sizes? Tested for 5"
        " combinations of attribute and classifier under plain training. Lower (significant after"
        " adjustment for 4 tests): 1; lower, but no lower than random groups with the same labels:"
        " 1; no gap in macro-F1 that matters: 1; undecided (not significant, with too few cases to"
        " exclude a gap that matters): 1; cannot be judged, as the classifier predicts the same for"
        " every case: 1."
    )
    assert headline.sentence.files == ("tables/classifiers/ecthr/table_4.csv",)
    assert headline.more == [
        "In <bdi>ECtHR, Applicant</bdi>, the macro-F1 (mean F1 of all classes; 100 is best) of the"
        " group <bdi>women</bdi> is 40.0 (95 % interval 35.0 to 46.0) by <bdi>linear</bdi> under"
        " plain training (ERM). In random groups of the same sizes, the lowest score falls below"
        " 50.0 in only 5 % of draws; here it does, significantly."
    ]
    assert headline.line == headline.more[0] and headline.details == [headline.sentence]
    assert headline.strength == 3.0
    assert headline.short == (
        "No: <bdi>linear</bdi> has a lower macro-F1 (mean F1 of all classes) for the group"
        " <bdi>women</bdi> (<bdi>ECtHR, Applicant</bdi>) than for random groups of the same size"
        " under plain training (significant after adjustment for 4 tests)."
    )
    start = "Do not use <bdi>linear</bdi> for the group <bdi>women</bdi> (<bdi>ECtHR, Applicant"
    assert headline.next.startswith(start)
    assert checks.rows(headline.figure, "name") == ["ECtHR, Applicant: women (linear)"] * 4
    assert checks.rows(headline.figure, "kind") == ["more", *["unclear"] * 3]
    assert headline.caption.endswith(
        "Left out: 1 lowest score where every case is predicted alike."
    )
    assert headline.doubts[0].endswith(": do not use them for decisions.")


def test_a_score_that_is_low_before_adjustment_only_is_no_verdict(tmp_path):
    headline = describe([classifiers(tmp_path, low("above", p=0.03), low("equivalent", p=0.5))], {})
    words = "(significant after adjustment for 2 tests): none; lower before adjustment only: 1"
    assert words in headline.sentence
    assert headline.more[0].endswith(
        "the lowest score falls below 50.0 in only 5 % of draws; not significant after adjustment."
    )
    assert headline.short.startswith("Not significant after adjustment for 2 tests, though")
    assert headline.strength == 0 and headline.next == "" and headline.line == headline.sentence
    assert checks.rows(headline.figure, "kind") == ["unclear"] * 2


def test_the_clearest_low_score_comes_first(tmp_path):
    rows = [low("above", score, p=0.001) for score in (40.0, 30.0)]
    headline = describe([classifiers(tmp_path, *rows)], TITLES)
    assert ["is 30.0" in headline.more[0], "is 40.0" in headline.more[1]] == [True, True]
    assert checks.rows(headline.figure, "value") == [30.0, 40.0]
    assert headline.strength == 5.0


@pytest.mark.parametrize(
    ("rows", "begins"),
    [
        (
            [low("inconclusive"), low("above", p=0.001)],
            "No: <bdi>linear</bdi> has a lower",
        ),
        (
            [low("inconclusive", p=0.5), low("above", p=0.03)],
            "Not significant after adjustment for 2",
        ),
        ([low("inconclusive"), low("above", from_labels=True)], "Lower, but no lower than"),
        ([low("inconclusive"), low("equivalent")], "No gap in macro-F1 that matters: "),
        ([low("inconclusive"), low("inconclusive", seeds=1, constant_seeds=1)], "Undecided (too"),
        ([low("inconclusive", seeds=1, constant_seeds=1)], "Cannot be judged (the same"),
    ],
)
def test_an_attribute_counts_by_the_clearest_of_its_classifiers(tmp_path, rows, begins):
    headline = describe([classifiers(tmp_path, *rows)], TITLES)
    assert headline.short.startswith(begins) and headline.short.count("ECtHR") == 1
    if begins.startswith("Undecided"):
        assert headline.next.startswith("Add test cases. In <bdi>ECtHR, Applicant</bdi>")
    elif begins.startswith("Cannot"):
        assert not headline.next and headline.figure is None


def test_many_attributes_without_a_verdict_are_counted(tmp_path):
    names = [f"attribute_{number}" for number in range(4)]
    rows = [low("equivalent", attribute=name) for name in names]
    named = describe([classifiers(tmp_path / "3", *rows[:3])], TITLES).short
    assert "attribute 0" in named and "attribute 2</bdi>." in named
    assert describe([classifiers(tmp_path / "4", *rows)], TITLES).short == (
        "No gap in macro-F1 that matters: 4 attributes in <bdi>ECtHR</bdi>."
    )


def test_the_sets_that_no_classifier_was_trained_on_are_named(tmp_path):
    files = [classifiers(tmp_path, low("equivalent")), cases(tmp_path, dataset="cail")]
    assert describe(files, {"cail": "CAIL"}).short.endswith(
        "No classifier was trained on <bdi>CAIL</bdi>."
    )


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


def test_many_cases_without_a_group_are_said(tmp_path):
    assert describe([cases(tmp_path)], TITLES).left_out == []
    files = [cases(tmp_path, unknown=31), cases(tmp_path, dataset="mine", unknown=120)]
    assert describe(files, TITLES).left_out == [
        "Many cases have no known group, and count in no score of groups: <bdi>Applicant</bdi> in"
        " <bdi>ECtHR</bdi> (31 of 120) and <bdi>applicant_gender</bdi> in <bdi>mine</bdi> (120 of"
        " 120)."
    ]


@pytest.mark.parametrize(
    ("counts", "noted"),
    [((45, 48, 5, 52), True), ((44, 47, 6, 53), False), ((45, 51, 5, 49), False)],
)
def test_words_that_give_the_label_away_are_said(tmp_path, counts, noted):
    names = ("label_with", "of_with", "label_without", "of_without")
    row = {"pattern": r"\bin\ time\b", "label": "in time"} | dict(zip(names, counts, strict=True))
    found = describe([cases(tmp_path, words=[row, row | {"label": None}])], TITLES).left_out
    assert [
        words.replace("<bdi>", "").replace("</bdi>", "").replace("\xa0", " ") for words in found
    ] == [
        "In ECtHR, texts contain the word of their label, so that a classifier can read it off: in"
        " time (“in time” in 90 % of its texts and 6 % of the others). Leave these words, or the"
        " column that has them, out of the texts."
    ] * noted
