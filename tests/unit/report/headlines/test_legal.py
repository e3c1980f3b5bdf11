import json

import numpy as np
import pytest

from evenhand.core.rows import where
from evenhand.core.tables import write_tables
from evenhand.legal.case_tables import cross, leakage, sizes
from evenhand.legal.classifier_tables import claims, group_scores, table_4, tests
from evenhand.report.headlines import legal
from evenhand.report.study import Study
from unit.predictions.test_audit_predictions import audit as audit_table
from unit.predictions.test_audit_predictions import unlike_labels
from unit.report.checks import headline_of
from unit.report.headlines.kept import check_kept
from unit.report.made_legal import audit, rate_gap

describe = headline_of("legal")

#: The titles of a data set, and of an attribute of it.
TITLES = {"ecthr": "ECtHR", "ecthr/applicant_gender": "Applicant", "fscs/applicant_gender": "x"}


def cases(folder, number=120, dataset="ecthr", unknown=0, words=(), more=(), cells=()):
    """The tables of cases of a data set of this size."""
    path = folder / "tables/cases" / dataset
    rows = [
        {"quantity": "task", "ours": "multi_label"},
        {"quantity": "cases", "ours": number, "published": 9, "verdict": "not_run"},
        {"quantity": "cases", "item": "train", "ours": 100, "verdict": "not_run"},
        {"quantity": "group unknown", "item": "applicant_gender", "ours": unknown, "of": 120},
        *more,
    ]
    write_tables(path, [(sizes.TABLE, rows), (cross.TABLE, cells), (leakage.TABLE, words)])
    return path


def classifiers(folder, *scores, groups=()):
    """The tables of classifiers of a data set with these rows."""
    path = folder / "tables/classifiers/ecthr"
    same = {"objective": "erm", "split": "test", "convention": "all", "high": 48}
    means = [
        group | (same | {"seed": seed, "low": low})
        for group in groups
        for seed, low in (("0", 1), ("mean", 36))
    ]
    tables = [(group_scores.TABLE, means), (table_4.TABLE, scores)]
    write_tables(path, [*tables, (claims.TABLE, []), (tests.TABLE, [])])
    return path


def low(verdict, ours=40.0, attribute="applicant_gender", objective="erm", **more):
    return {
        "attribute": attribute, "classifier": "linear", "objective": objective,
        "measure": "worst", "ours": ours, "low": 35, "high": 46, "noise_border": 50,
        "noise_mean": 55, "p": 0.01, "noise_verdict": verdict, "verdict": "not_run",
        "smallest_group": 7,
    } | more  # fmt: skip


def men_and_women(p=0.001, verdict="below", classifier="linear", groups=2, **other):
    named = {"attribute": "applicant_gender", "classifier": classifier, "p_cases": p, "cases": 90}
    rows = [
        named
        | {"group": "women", "score": 42.0, "difference": -18.0, "verdict": verdict}
        | {"difference_low": -27.0, "difference_high": -9.0},
        named
        | {"group": "men", "score": 60.0, "difference": 18.0, "verdict": verdict}
        | {"difference_low": 9.0, "difference_high": 27.0},
        named | {"group": "others", "score": 50.0, "p_cases": p and 0.9, "verdict": verdict},
    ]
    rows = [row | {"sd": sum(map(ord, classifier))} for row in rows]  # of a training of its own
    return [row | other for row in rows[:groups]]


#: The rows of `table_4` of one data set, and those of `group_scores`.
ROWS = {
    "one test decides each verdict": (
        [
            low("above"),  # FairLex's measure decides none
            *(low("above", classifier=name, from_labels=True) for name in ("alone", "fair")),
            *(low("equivalent", classifier=name) for name in ("open", "few")),
            low("inconclusive", 0.0, classifier="constant", seeds=5, constant_seeds=5),
            low("above", objective="group_dro"),
            low("above", measure="gd"),
            low(None),
        ],
        [
            *men_and_women(),
            *men_and_women(0.03, classifier="alone"),
            *men_and_women(0.4, "equivalent", "fair"),
            *men_and_women(0.4, "inconclusive", "open"),
            *men_and_women(None, None, "few"),
            *men_and_women(0.001, classifier="constant"),
        ],
    ),
    "a gap that may come from labels, and a constant one": (
        [
            low("above", from_labels=True),
            low("above", classifier="constant", seeds=2, constant_seeds=2),
        ],
        [*men_and_women(), *men_and_women(classifier="constant")],
    ),
    "low by FairLex's measure only": (
        [low("above", 49.98, p=0.001, noise_border=50.02)], men_and_women(0.4, "inconclusive"),
    ),
    "equal by FairLex's measure, and a gap": ([low("equivalent")], men_and_women()),
    "the p-value counts three groups, and not two": (
        [low("equivalent")], men_and_women(0.02, groups=3),
    ),
    "a group that is above all others": (
        [low("equivalent")], men_and_women(0.001, score=70.0, difference=20.0),
    ),
    "one small group is not tested, so no equality": (
        [low("equivalent")],
        [*men_and_women(0.4, "equivalent"), *men_and_women(None, None, groups=3)[2:]],
    ),
    # an attribute counts by the clearest of its classifiers
    "a clear one": (
        [low("inconclusive"), low("above", classifier="open")],
        [*men_and_women(), *men_and_women(0.4, "inconclusive", "open")],
    ),
    "a constant one alone": (
        [low("inconclusive", seeds=1, constant_seeds=1)], men_and_women(None, None),
    ),
    # many attributes without a verdict are counted
    **{
        f"{count} attributes": (
            [low("equivalent", attribute=f"attribute_{number}") for number in range(count)], []
        )
        for count in (3, 4)
    },
}  # fmt: skip


def test_a_classifier_without_plain_training_is_named_with_the_remedy(tmp_path):
    rows = [low(None, objective="group_dro"), low(None, objective="erm", classifier="other")]
    files = [cases(tmp_path), classifiers(tmp_path, *rows)]
    words = "<bdi>linear</bdi> is trained with group_dro alone: the tests here are of "
    words += "plain training; add erm to the objectives"
    named = f"{words}, or name group_dro under “audited”."
    assert describe(files, TITLES).sentence == named
    nothing = "No method of mitigation was compared with plain training."
    assert headline_of("mitigation")(files, TITLES).sentence == f"{nothing} {named}"
    meta = tmp_path / "predictions/mine/meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"trained": {"objective": "group_dro"}}))
    assert describe([*files, meta], TITLES).sentence == f"{words}."


#: The p-value of the gap in macro-F1 of one data set, and its gaps of rates.
AUDITED = {
    "rates differ, macro-F1 does not": (0.4, [
        rate_gap(), rate_gap("tpr", difference=0.3, p_adjusted=1e-4),  # the clearest
        rate_gap("fpr", "inconclusive"),
        rate_gap("accuracy"), rate_gap(attribute="applicant_gender × applicant_age"),
        rate_gap(label="3", verdict="inconclusive", p_adjusted=None),  # not tested
    ]),
    "a rate differs, but not after adjustment for both attributes": (
        0.2, [
            rate_gap("tpr", p_adjusted=0.03),
            rate_gap("tpr", "inconclusive", attribute="other", p_adjusted=0.5),
        ],
    ),
    "rates do not differ, macro-F1 does": (
        0.001, [rate_gap("tpr", "equivalent"), rate_gap("fpr", "inconclusive")],
    ),
    "rates and macro-F1 differ, with more gaps than are named": (
        0.001, [rate_gap(label=f"{n}", difference=n / 10) for n in range(2, 7)],
    ),
}  # fmt: skip


def test_headlines_are_those_that_are_kept(tmp_path):
    found = {}
    for name, (rows, groups) in ROWS.items():
        folder = tmp_path / name
        files = [classifiers(folder, *rows, groups=groups), cases(folder)]
        found[name] = describe(files, TITLES)
    for name, (p, audited) in AUDITED.items():
        folder = tmp_path / name
        groups = men_and_women(p, "below" if p < 0.05 else "inconclusive")
        files = [classifiers(folder, low("equivalent"), groups=groups), *audit(folder, *audited)]
        # of other objectives there is no answer
        files += audit(folder, rate_gap(difference=0.7), name="dro", objective="group_dro")
        found[name] = describe(files, TITLES)
        # the front page has the gaps of rates once
        found[f"{name}, beside predictions"] = legal.describe(Study(files, TITLES, ["predictions"]))
    folder = tmp_path / "untested"
    files = [classifiers(folder, low("inconclusive"), groups=men_and_women(None, None))]
    audited = [rate_gap("accuracy", label=None), rate_gap("accuracy", attribute="other", label="")]
    found["accuracy where macro-F1 is not tested"] = describe(
        [*files, *audit(folder, *audited)], TITLES
    )
    files[1:] = audit(folder, rate_gap("accuracy", difference=0.0, label=None), name="equal")
    found["equal accuracy where macro-F1 is not tested"] = describe(files, TITLES)
    two = [cases(tmp_path), cases(tmp_path, 30, dataset="my_own")]
    found["data sets without a classifier"] = describe(two, {"ecthr": "<b>"})
    more = [classifiers(tmp_path, low("equivalent")), cases(tmp_path, dataset="cail")]
    found["one with and one without"] = describe(more, {"cail": "CAIL"})
    cell = {"split": "train", "attribute": "applicant_gender", "other_attribute": "label"}
    cell |= {"other_group": "refused", "of": 100}
    cells = [
        cell
        | {"group": group, "cases": count, "share": count / 100}
        | {"low": count / 100 - 0.05, "high": count / 100 + 0.05}
        for group, count in (("women", 88), ("men", 36))
    ]
    of_women = [classifiers(tmp_path / "cells", low("equivalent"))]
    of_women.append(cases(tmp_path / "cells", cells=cells))
    found["a label that goes with an attribute"] = describe(of_women, TITLES)
    found["and no classifier"] = describe(of_women[1:], TITLES)
    even = [row | {"cases": 50, "share": 0.5, "low": 0.4, "high": 0.6} for row in cells]
    copies = {"quantity": "near duplicates", "item": "test of train", "ours": 3, "of": 20}
    within = copies | {"item": "exact copies", "ours": 2}
    for name, more in (
        ("no label that goes with one", ()),
        ("and copies in test", [copies]),
        ("and copies within a split", [within]),
    ):
        of_both = cases(tmp_path / name, cells=even, more=more)
        found[name] = describe([classifiers(tmp_path / name, low("equivalent")), of_both], TITLES)
    cells += [
        row | {"attribute": name, "cases": count, "low": low / 100, "high": low / 100 + 0.1}
        for name in ("age", "region", "court")
        for row, count, low in zip(cells[:2], (80, 40), (75, 35), strict=True)
    ]
    balanced = [row | {"trained_for": "label+applicant_gender"} for row in men_and_women()]
    found["four attributes, and one training that balances them"] = describe(
        [
            classifiers(tmp_path / "balanced", low("equivalent"), groups=balanced),
            cases(tmp_path / "balanced", cells=cells),
        ],
        TITLES,
    )
    path = tmp_path / "legal/ecthr/records/a.counts.json"
    path.parent.mkdir(parents=True)
    reasons = {"bad_label": 5, "no_facts": 2000, "a": 1, "b": 1, "c": 1}
    path.write_text(json.dumps({"records": 3, "left_out": reasons}), encoding="utf-8")
    found["records that were left out"] = describe([path], {})
    cut = {"left_out": {"broken_json": 1}, "first_left_out": {"broken_json": "line 9 of <a>.jsonl"}}
    path.write_text(json.dumps(cut), encoding="utf-8")
    found["a record that is cut off"] = describe([path], {})
    counts = {"records": 3, "left_out": {}, "noted": {"no_group": 2, "doubtful_number": 1}}
    first = {"no_group": "age: 'x' is no number", "doubtful_number": "In age, “-9” (3) may mean."}
    path.write_text(json.dumps(counts | {"first_noted": first}), encoding="utf-8")
    other = tmp_path / "legal/scotus/records/b.counts.json"
    other.parent.mkdir(parents=True)
    dates = {"left_out": {}, "noted": {"bad_date": 1, "undecodable_bytes": 2}}
    dates["first_noted"] = {"bad_date": "7 has no date", "undecodable_bytes": "1 byte: e9"}
    other.write_text(json.dumps(dates), encoding="utf-8")
    found["cells of cases that stay"] = describe([path, other], {"scotus": "SCOTUS"})
    unknown = [cases(tmp_path, unknown=31), cases(tmp_path, dataset="mine", unknown=120)]
    counts["without_group"] = {"applicant_gender": 2}
    counts["empty_bins"] = {"age": ["≥200"]}
    counts |= {"first_noted": first, "noted": {"no_group": 2}}
    mine = tmp_path / "legal/mine/records/a.counts.json"
    mine.parent.mkdir(parents=True)
    mine.write_text(json.dumps(counts), encoding="utf-8")
    found["cases without a group"] = describe([*unknown, mine], TITLES)
    labels = [{"quantity": "labels known", "ours": 119, "of": 120}]
    found["a case without a label"] = describe([cases(tmp_path, more=labels)], TITLES)
    check_kept("legal", found)


def test_each_attribute_with_a_significant_gap_is_in_the_next_step(tmp_path):
    scores = [low("equivalent", classifier=name) for name in ("linear", "words")]
    groups = [*men_and_women(), *men_and_women(classifier="words")]
    files = [classifiers(tmp_path, *scores, groups=groups)]
    rates = [rate_gap(attribute=name) for name in ("court", "applicant_gender")]
    files += audit(tmp_path, *rates)
    titles = TITLES | {"ecthr/court": "Court"}

    def next_step(systems=("predictions",)):
        return legal.describe(Study(files, titles, systems)).next.striptags()

    of_words = ", nor the classifier words where those of ECtHR, Applicant must have equal macro-F1"
    assert next_step() == (
        "Do not use the classifier linear under plain training where the groups of ECtHR, Applicant"
        f" must have equal rates or macro-F1{of_words}, nor the classifier linear where those of"
        " ECtHR, Court must have equal rates; mitigate and test again."
    )
    same = ("age", "applicant_gender", "court")
    of_words = [rate_gap(attribute=name, difference=0.7) for name in same]
    files += audit(tmp_path, *of_words, name="w", classifier="words")
    assert next_step().startswith(
        "Do not use the classifiers linear and words under plain training where the groups of"
        " ECtHR, Applicant must have equal rates or macro-F1, or those of ECtHR, Court equal rates,"
        " nor the classifier words where those of ECtHR, age must have equal rates; mitigate"
    )
    files += audit(tmp_path, rate_gap(attribute="job"), name="v", classifier="words")
    assert "; 1 further combination of attribute and classifier has such gaps; m" in next_step()


@pytest.mark.parametrize(("verdict", "named"), [("below", True), ("inconclusive", False)])
def test_a_gap_in_macro_f1_holds_over_cases_and_over_seeds(verdict, named):
    row = judged(men_and_women(verdict=verdict))[0]
    assert row["judged"] == ("unfair" if named else "varies")
    assert ("adjusted p = 0.001 over cases, but too few seeds" in legal.conclude([row])[1]) != named


@pytest.mark.parametrize(
    ("women", "words"),
    [
        ((20.5, 25.1), "too few seeds (2) to show it: −29.5 and −24.9; train five"),
        ((45, 51), "repeated runs (seeds) disagree (−5.0 to +1.0): train more"),
        ((41, 44, 20, 41, 40), "the 5 seeds vary too much to show it: −30.0 to −6.0; train more"),
    ],
)
def test_runs_disagree_only_where_their_differences_have_both_signs(women, words):
    row = of_seeds(women, men_and_women(0.001, "inconclusive", groups=2))
    assert row["judged"] == "varies"
    sentences = (
        legal.conclude([row])[1],
        legal._short({"table_4": {}, "sizes": {}}, [row], {}, [], None, False),
    )
    assert all(words in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("scores", "judged_as"),
    [((20, 60), "few_runs"), ((39.7, 40.3), "unknown"), ((40,), "unknown")],
)
def test_an_interval_that_comes_from_few_seeds_asks_for_seeds_and_not_for_cases(scores, judged_as):
    row = of_seeds(scores, men_and_women(0.4, "inconclusive"))
    assert row["judged"] == judged_as
    step = legal._next({}, [row], (), [], False)
    assert step.startswith("Add test cases") is (judged_as == "unknown")
    assert ("(repeated runs; 5 instead of 2) before you add" in step) is (judged_as == "few_runs")


@pytest.mark.parametrize(
    ("verdict", "judged_as"), [("below", "alone"), ("inconclusive", "unknown")]
)
def test_a_gap_that_is_significant_alone_is_so_over_seeds_too(verdict, judged_as):
    """It is not after adjustment for the other classifier."""
    rows = judged(men_and_women(0.03, verdict=verdict), men_and_women(0.9, classifier="other"))
    assert rows[0]["judged"] == judged_as


def test_a_gap_names_an_attribute_with_a_larger_one_that_its_group_goes_with(tmp_path):
    """And not the reverse: of the two the larger gap comes first."""
    small = {"attribute": "hobby", "difference": -9.0}
    groups = [*men_and_women(), *men_and_women(**small)]
    scores = [low("above", attribute=name) for name in ("applicant_gender", "hobby")]

    def shares(women, men):
        cell = {"split": "all", "attribute": "applicant_gender", "other_attribute": "hobby"}
        cell |= {"other_group": "women", "of": 500}
        return [
            cell
            | {"group": group, "cases": 5 * share, "share": share / 100}
            | {"low": share / 100 - 0.04, "high": share / 100 + 0.04}
            for group, share in (("women", women), ("men", men))
        ]

    for place, (women, men, is_named) in enumerate([(71, 42, True), (50, 49, False)]):
        folder = tmp_path / str(place)
        tables = [
            classifiers(folder, *scores, groups=groups),
            cases(folder, cells=shares(women, men)),
        ]
        headline = describe(tables, TITLES)
        words = " It may come from <bdi>Applicant</bdi>: 71.0"
        of_gaps = [words for words in headline.more if " by the classifier " in words]
        assert ["hobby" in each for each in of_gaps if words in each] == [True] * is_named
        assert headline.short.count(words) == is_named


def of_seeds(women, groups):
    """The row of `judge` of these groups, with these scores of women in each seed; others: 50."""
    blank = dict.fromkeys(group_scores.TABLE.header)
    means = [blank | row | legal.MEANS | {"objective": "erm"} for row in groups]
    runs = [
        row | {"seed": str(seed), "score": score if row["group"] == "women" else 50}
        for seed, score in enumerate(women)
        for row in means
    ]
    more = {"seeds": len(women), "constant_seeds": 0}
    rows = [dict.fromkeys(table_4.TABLE.header) | low("equivalent", **more)]
    return legal.judge({"ecthr": rows}, {"ecthr": [*means, *runs]}, TITLES, {})[0]


def judged(*of_classifiers):
    blank = dict.fromkeys(group_scores.TABLE.header) | {"objective": "erm", "seed": "mean"}
    blank |= {"split": "test", "convention": "all"}
    rows = [blank | group for groups in of_classifiers for group in groups]
    lowest = [
        low("above", classifier=groups[0]["classifier"], seeds=2) for groups in of_classifiers
    ]
    more = dict.fromkeys(table_4.TABLE.header) | {"constant_seeds": 0}
    tables = {"ecthr": [more | row for row in lowest]}
    return legal.judge(tables, {"ecthr": rows}, TITLES, {})


def test_one_training_of_several_classifiers_counts_once():
    """They differ in the groups that their other objectives see."""
    for_label = [row | {"classifier": "for label"} for row in men_and_women()]
    rows = judged(men_and_women(), for_label, men_and_women(classifier="other"))
    assert [row["classifier"] for row in rows] == ["linear", "other"] and rows[0]["tests"] == 2
    assert (
        "of <bdi>for label</bdi> is that of another classifier, and counts"
        in legal.conclude(rows)[0]
    )


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


def test_test_texts_that_are_copies_of_training_texts_are_the_first_caveat(tmp_path):
    size = {"quantity": "near duplicates", "item": "test of train", "ours": "80", "of": 100}
    tables = [cases(tmp_path, more=[size]), classifiers(tmp_path, low("equivalent"))]
    headline = describe(tables, TITLES)
    words = "In ECtHR, 80 of 100 test texts are near duplicates of training texts, which the "
    assert headline.left_out[0].striptags().startswith(words)
    first, unadjusted = (words.striptags() for words in headline.doubts)
    assert first.startswith(words) and first.endswith("do not use them for decisions.")
    assert unadjusted.startswith("The verdict on gaps")


def test_labels_and_groups_in_two_spellings_are_named(tmp_path):
    cell = {"split": "all", "attribute": "region", "other_attribute": "label"}
    cells = [
        cell | {"group": group, "other_group": label}
        for group in ("north", "North", "south")
        for label in ("approved", "Approved", "refused")
    ]
    noted = describe([cases(tmp_path, cells=cells)], TITLES).left_out
    labels, groups = (words.striptags() for words in noted)
    assert labels.startswith("ECtHR: The labels 'approved', 'Approved' differ only in capital")
    assert groups.startswith("ECtHR: The groups 'north', 'North' of region differ only in")
    assert describe([cases(tmp_path, cells=cells[2:3])], TITLES).left_out == []


def test_a_gap_that_unlike_labels_explain_follows_gaps_of_errors(tmp_path):
    table = unlike_labels(lambda label, region: np.where(region == "n", 0.95, 0.8))
    audit_table(tmp_path, table, groups=["sex", "region"])
    trained = {"dataset": "d", "classifier": "linear", "objective": "erm"}
    meta = tmp_path / "predictions/p/meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"trained": trained}), encoding="utf-8")
    tables = tmp_path / "tables/predictions/p"
    tables.parent.mkdir(parents=True)
    (tmp_path / "out").rename(tables)
    rates = where(legal.rate_gaps(Study([meta, tables])), verdict="above")
    names = [(row["attribute"], row["metric"], row["is_explained"]) for row in rates]
    assert names[-1] == ("sex", "selection_rate", True) and len(names) == 3
    assert not any(is_explained for *_, is_explained in names[:-1])
