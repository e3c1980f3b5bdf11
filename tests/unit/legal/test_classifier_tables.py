"""The tables of classifiers: their contract, and the numbers of each member."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import ttest_rel
from sklearn.metrics import f1_score

from evenhand.core.families import load_members
from evenhand.core.tables import NotApplicable, read_table
from evenhand.errors import InputError
from evenhand.legal import classifier_tables
from evenhand.legal.classifier_tables import (
    attribute_leakage,
    calibration,
    calibration_bins,
    claims,
    counterfactual,
    curves,
    group_scores,
    mitigation,
    scores,
    table_2,
    table_4,
    tests,
)
from evenhand.legal.published import REPRODUCED
from evenhand.legal.tabulate_classifiers import tabulate_classifiers
from unit.io.damage import damage
from unit.legal.made_cases import court, write_cases
from unit.legal.made_predictions import (
    noisy,
    people,
    predictions,
    right,
    write,
    write_people,
    wrong_for,
)
from unit.legal.made_study import NO_CLAIMS, NO_SCORES, make_study, only, table, write_case_tables
from unit.made_tables import check_declaration, check_rows
from unit.report.made_classifiers import train

MEMBERS = load_members(classifier_tables)
NAMES = [member.TABLE.name for member in MEMBERS]
DRO = {"objective": "group_dro", "attribute": "defendant_gender"}
GENDER = {"attribute": "defendant_gender", "convention": "all", "seed": "mean"}
HOSTILE = '"a", <b>{{ 7 }}'


def with_twins(one, changed=0, without=1):
    """Predictions with those for counterfactuals: some differ in the first label, some lack."""
    twins = one.logits.copy()
    test = np.flatnonzero(one.splits == "test")
    twins[test[:changed], 0] *= -1
    twins[test[len(test) - without :]] = np.nan
    return one._replace(counterfactual_logits=twins)


def wrong(hot):
    """Logits that predict the next label."""
    return np.roll(right(hot), 1, axis=1)


def inputs(folder, resources, shuffle=False):
    """The arguments of the stage for three classifiers with hostile names."""
    folder.mkdir()
    cases = [one | {"case_id": f"c{n}"} for n, one in enumerate(people(12, 9))]
    if shuffle:
        cases = [cases[n] for n in np.random.default_rng(1).permutation(len(cases))]
    data = write_cases(folder / "d.parquet", "cail", cases)
    roll = lambda hot: right(hot) if hot.shape[0] % 2 else wrong(hot)  # noqa: E731
    runs = [
        with_twins(predictions(data, "cail", say, classifier=HOSTILE, seed=seed, **more))
        for seed in (1, 2)
        for say, more in ((right, {}), (roll, DRO))
    ]
    paths = [write(folder / f"{n}.parquet", one) for n, one in enumerate(runs)]
    return {
        "data": data,
        "predictions": paths[::-1] if shuffle else paths,
        "histories": [train(folder / "h.parquet")],
        "cases": write_case_tables(folder / "cases", data, "cail"),
        "scores": resources / "published_scores.csv",
        "claims": resources / "published_claims.csv",
        "dataset": "mine",
        "splits": ["test"],
        "resamples": 20,
        "permutations": 20,
        "swaps": 20,
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("classifiers")
    given = inputs(folder / "a", repository / "resources/legal")
    counts = tabulate_classifiers(**given, out=folder / "out")
    return given, folder / "out", counts


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
def test_a_table_describes_itself(member):
    check_declaration(member)


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
def test_rows_follow_the_declaration(written, member):
    _, folder, counts = written
    rows = check_rows(folder, member.TABLE)
    assert len(rows) == counts["rows"][member.TABLE.name] > 0 and "left_out" not in counts
    if member not in (curves, claims, table_4):
        assert {row["classifier"] for row in rows} == {HOSTILE}


def test_neither_the_order_of_cases_nor_that_of_files_counts_for_the_scores(
    written, tmp_path, repository
):
    _, folder, _ = written
    given = inputs(tmp_path / "a", repository / "resources/legal", shuffle=True)
    tabulate_classifiers(**given, out=tmp_path / "out")
    for name, columns in (
        ("scores", ("overall", "mean", "gd", "worst", "gd_perfect")),
        ("group_scores", ("group", "score", "perfect")),
        ("tests", ("measure", "difference", "p_seeds")),
        ("calibration", ("group", "confidence", "share_right", "ece")),
    ):
        before, after = (read_table(one / f"{name}.csv") for one in (folder, tmp_path / "out"))
        assert [[row[c] for c in columns] for row in before] == [
            [row[c] for c in columns] for row in after
        ]


def test_the_same_again_gives_the_same_bytes(written, tmp_path):
    given, folder, _ = written
    tabulate_classifiers(**given, out=tmp_path / "out")
    for file in folder.iterdir():
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes(), file.name


def test_both_splits_by_default(written, tmp_path):
    cases = people(3, 3, splits=("train", "dev", "test"))
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    path = write(tmp_path / "p.parquet", predictions(data, "cail", right))
    given = written[0] | {"data": data, "predictions": [path], "histories": [], "splits": None}
    counts = tabulate_classifiers(**given, out=tmp_path / "out")
    rows = read_table(tmp_path / "out" / "scores.csv")
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert counts["left_out"] == {
        "counterfactual": "no training predicts a counterfactual of a test case"
    }
    assert counts["rows"]["tests"] == counts["rows"]["curves"] == 0


def test_bad_input(written, tmp_path):
    given = written[0]
    run = predictions(given["data"], "cail", right)

    def refused(match, *trainings, **options):
        paths = [write(tmp_path / f"{n}.parquet", one) for n, one in enumerate(trainings)]
        with pytest.raises(InputError, match=match):
            tabulate_classifiers(**given | {"predictions": paths} | options, out=tmp_path / "o")

    refused("as does", run, run)
    refused("is of the attribute 'colour'", run._replace(attribute="colour"))
    refused("has 5 logits for 6 labels", run._replace(logits=run.logits[:, :5]))
    run = run._replace(features=None)
    short = run._replace(case_ids=run.case_ids[1:], splits=run.splits[1:], logits=run.logits[1:])
    refused("is not of the cases with known labels", short)
    refused("is not of the cases", run._replace(case_ids=np.char.add(run.case_ids, "x")))
    refused("is not of the cases", run._replace(splits=run.splits[::-1]))
    refused("there is no split 'tset'", run, splits=["tset"])
    refused("no case with a known label in dev", run, splits=["dev"])
    refused("must be at least 1", run, permutations=0)
    refused("there are no predictions")


def test_what_a_classifier_keeps_of_an_attribute_can_be_read(tmp_path):
    """Features with the gender in them, and logits without it; an objective that removes it."""
    data, genders = write_people(tmp_path / "d.parquet", men=150, women=150)
    shown = np.array(genders)[:, None] == "male"
    runs = []
    for seed in (1, 2):
        noise = np.random.default_rng(seed).normal(size=(len(genders), 2))
        for more, features in (({}, noise + 3 * shown), (DRO | {"objective": "leace"}, noise)):
            one = predictions(data, "cail", noisy(seed), seed=seed, **more)
            runs.append(one._replace(features=features.astype(np.float16)))
    rows = table(tmp_path, attribute_leakage, make_study(tmp_path, data, "cail", *runs))
    assert {row["attribute"] for row in rows} == {"defendant_gender"}
    for kind in ("linear", "MLP"):
        plain, erased = (
            only(rows, objective=name, read_from="features", probe=kind)
            for name in ("erm", "leace")
        )
        assert plain["score"] > 90 and plain["score_low"] > 85
        assert (plain["chance"], plain["groups"], plain["cases"], plain["seeds"]) == (50, 2, 300, 2)
        assert erased["score_low"] < 50 < erased["score_high"]
        assert erased["before"] == plain["before"] == plain["score"]
        logits = only(rows, objective="erm", read_from="logits", probe=kind)
        assert logits["score_low"] < 50 < logits["score_high"]


def test_the_worst_cell_beside_plain_training_and_the_sampler(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet")
    bad, less = (wrong_for(genders, "female", share) for share in (0.8, 0.6))
    product = "label+defendant_gender"
    study = make_study(
        tmp_path, data, "cail",
        predictions(data, "cail", bad),
        predictions(data, "cail", less, objective="erm_group_uniform", attribute=product),
        predictions(data, "cail", right, objective="group_dro", attribute=product),
        select={"linear": "worst_group_f1"},
    )  # fmt: skip
    rows = table(tmp_path, mitigation, study)
    plain, sampler, dro = (
        only(rows, objective=name) for name in ("erm", "erm_group_uniform", "group_dro")
    )
    # test has 20 cases of each label and gender; those of a gender come first in the data
    assert [row["cells"] for row in rows] == [6] * 3
    assert plain["worst_cell"].endswith(" x female")
    assert (dro["worst"], dro["accuracy"], dro["over_plain"]) == (100, 100, 100 - plain["worst"])
    assert dro["over_sampler"] == 100 - sampler["worst"] > 0
    assert dro["over_plain_low"] > 0
    assert plain["over_plain"] is None and sampler["over_sampler"] is None
    assert sampler["over_plain"] == sampler["worst"] - plain["worst"]
    assert plain["select"] == "macro_f1" and dro["select"] == "worst_group_f1"


def test_trainings_with_a_product_of_attributes_are_scored_on_it(tmp_path):
    cases = [
        one | {"defendant_gender": gender, "court_region": region}
        for one in people(20, 0)
        for gender in ("male", "female")
        for region in ("Beijing", "Hunan")
    ]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    product = "defendant_gender+court_region"
    run = predictions(data, "cail", noisy(1), attribute=product)
    found = table(tmp_path, scores, make_study(tmp_path, data, "cail", run))
    assert {row["attribute"] for row in found} == {"defendant_gender", "court_region", product}
    row = only(found, **GENDER | {"attribute": product})
    assert (row["groups"], row["known_cases"]) == (4, 80)


def test_a_gap_is_above_noise_and_of_the_classifier_not_of_labels(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet")
    run = predictions(data, "cail", wrong_for(genders, "female"))
    study = make_study(tmp_path, data, "cail", run)
    row = only(table(tmp_path, scores, study), **GENDER)
    assert row["gd_verdict"] == row["worst_verdict"] == "above"
    assert (row["worst_group"], row["cases"], row["smallest_group"]) == ("female", 120, 60)
    assert [row[name] for name in ("gd_p", "gd_p_labels", "worst_p")] == [0.01] * 3
    groups = table(tmp_path, group_scores, study)
    man, woman = (only(groups, **GENDER, group=group) for group in ("male", "female"))
    # three of six classes occur
    assert (man["score"], man["perfect"], man["classes_present"]) == (50, 50, 3)
    # of 20 women with each label 12 are predicted the next one
    assert woman["score"] == pytest.approx(100 * (16 / 28 + 16 / 40 + 16 / 40) / 6)
    assert row["mean"] == pytest.approx((50 + woman["score"]) / 2)
    assert row["gd"] == pytest.approx((50 - woman["score"]) / 2)
    assert man["score"] > man["noise_high"] and woman["score"] < woman["noise_low"]
    assert only(groups, **GENDER | {"convention": "present"}, group="male")["score"] == 100


def test_a_gap_of_a_small_group_is_not_excluded(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    study = make_study(tmp_path, data, "cail", predictions(data, "cail", noisy(4)), few=61)
    row = only(table(tmp_path, scores, study), **GENDER)
    assert (row["gd_verdict"], row["smallest_group"]) == ("inconclusive", 60)


def test_equal_treatment_is_not_above_noise_and_the_mean_is_that_of_the_seeds(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    runs = [predictions(data, "cail", noisy(seed), seed=seed) for seed in (4, 9)]
    study = make_study(tmp_path, data, "cail", *runs)
    rows, groups = table(tmp_path, scores, study), table(tmp_path, group_scores, study)
    mean, *each = (only(rows, **GENDER | {"seed": seed}) for seed in ("mean", "4", "9"))
    assert mean["gd_verdict"] == mean["worst_verdict"] == "equivalent"
    assert 0 < mean["gd_noise_mean"] < mean["gd_noise_95"] and mean["gd_p"] > 0.05
    for name in ("overall", "mean", "gd", "worst"):
        own = [row[name] for row in each]
        assert mean[name] == pytest.approx(np.mean(own), abs=1e-5)
        assert mean[f"{name}_sd"] == pytest.approx(np.std(own, ddof=1), abs=1e-5)
        assert mean[f"{name}_low"] <= mean[name] <= mean[f"{name}_high"]
    assert (mean["seeds"], each[0]["overall_sd"]) == (2, None)
    man, *each = (only(groups, **GENDER | {"seed": s}, group="male") for s in ("mean", "4", "9"))
    assert man["score"] == pytest.approx(np.mean([row["score"] for row in each]), abs=1e-5)


def test_a_training_for_an_attribute_is_scored_for_it_only(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12, court_region="Beijing")
    runs = [
        predictions(data, "cail", right),
        predictions(data, "cail", right, objective="group_dro", attribute="court_region"),
    ]
    rows = table(tmp_path, scores, make_study(tmp_path, data, "cail", *runs))
    assert {(row["objective"], row["trained_for"], row["attribute"]) for row in rows} == {
        ("erm", "none", "defendant_gender"),
        ("erm", "none", "court_region"),
        ("group_dro", "court_region", "court_region"),
    }
    regions = [row for row in rows if row["attribute"] == "court_region"]
    assert {(row["gd"], row["gd_verdict"]) for row in regions} == {(None, None)}  # one group only
    overall = {(row["overall"], row["overall_low"]) for row in rows if row["convention"] == "all"}
    assert len(overall) == 1  # whatever the attribute


def test_small_groups_and_unknown_labels(tmp_path):
    cases = [*people(25, 1), {"labels": ["0"], "split": "test"}]
    cases.append({"labels": None, "split": "test", "defendant_gender": "male"})
    cases = [one | {"court_region": "Hunan"} for one in cases]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    study = make_study(tmp_path, data, "cail", predictions(data, "cail", right))
    groups = table(tmp_path, group_scores, study)
    woman = only(groups, **GENDER | {"convention": "present"}, group="female")
    assert (woman["cases"], woman["score"], woman["note"]) == (1, 100, "one case")
    assert woman["low"] is woman["high"] is None
    row = only(table(tmp_path, scores, study), **GENDER)
    assert (row["cases"], row["known_cases"], row["gd_verdict"]) == (27, 26, "inconclusive")
    region = only(groups, **GENDER | {"attribute": "court_region"}, group="Sichuan")
    assert (region["cases"], region["score"], region["note"]) == (0, None, "no cases")


STATE = GENDER | {"attribute": "defendant_state"}


def test_none_is_a_class_where_there_may_be_several_labels(tmp_path):
    labels = [[], *([label] for label in court("ecthr").labels)]
    cases = [
        {"labels": some, "split": "test", "defendant_state": "Rest of Europe"} for some in labels
    ]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    study = make_study(tmp_path, data, "ecthr", predictions(data, "ecthr", right))
    rows = table(tmp_path, scores, study)
    means = {
        name: only(rows, **STATE | {"convention": name})["mean"]
        for name in ("all", "present", "labels_only", "double_none")
    }
    expected = {"all": 100, "present": 100, "labels_only": 100, "double_none": 100 * 11 / 12}
    assert means == pytest.approx(expected, abs=1e-5)
    # a classifier that finds a violation everywhere never predicts "none"
    data = write_cases(tmp_path / "e.parquet", "ecthr", cases[:3])
    always = predictions(data, "ecthr", lambda hot: np.ones(hot.shape))
    groups = table(tmp_path, group_scores, make_study(tmp_path, data, "ecthr", always))
    of_labels = 100 * 2 * (2 * 1 / (1 + 3)) / 10
    for name, share in (("labels_only", 1), ("all", 10 / 11)):
        row = only(groups, **STATE | {"convention": name}, group="Rest of Europe")
        assert row["score"] == pytest.approx(of_labels * share)


def test_constant_classifiers_are_marked(tmp_path):
    cases = [
        {"labels": labels, "split": "test", "defendant_state": state}
        for state, labels in (("Rest of Europe", []), ("C.E. European", ["3"]))
        for _ in range(30)
    ]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    nothing = predictions(data, "ecthr", lambda hot: hot * 0 - 1.0)
    third = predictions(data, "ecthr", lambda hot: (np.arange(10) < 2) - 0.5 + 0 * hot, seed=2)
    learned = predictions(data, "ecthr", right, seed=3)
    rows = table(tmp_path, scores, make_study(tmp_path, data, "ecthr", nothing, third, learned))
    found = {
        seed: (row["constant_seeds"], row["always"])
        for seed in ("1", "2", "3", "mean")
        for row in [only(rows, **STATE | {"seed": seed})]
    }
    assert found == {
        "1": (1, "none"), "2": (1, "2, 3"), "3": (0, None), "mean": (2, "none; 2, 3"),
    }  # fmt: skip
    # its gap is one of labels, however far above noise
    row = only(rows, **STATE | {"seed": "1"})
    assert row["gd"] > row["gd_noise_95"]
    assert (row["gd_verdict"], row["gd_p_labels"]) == ("above", 1)


def test_a_constant_classifier_does_not_show_equal_treatment(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    first = predictions(data, "cail", lambda hot: 0 * hot + (np.arange(hot.shape[1]) == 0))
    row = only(table(tmp_path, scores, make_study(tmp_path, data, "cail", first)), **GENDER)
    assert (row["constant_seeds"], row["seeds"]) == (1, 1)
    assert row["gd_verdict"] == row["worst_verdict"] == "inconclusive"


def compared(folder, data, *trainings, **options):
    rows = table(folder, tests, make_study(folder, data, "cail", *trainings, **options))
    return {(row["objective"], row["attribute"], row["measure"]): row for row in rows}


MEAN = ("group_dro", "defendant_gender", "mean")


def test_a_better_objective_is_higher_over_seeds_and_cases(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    runs = [predictions(data, "cail", noisy(seed, 3), seed=seed) for seed in range(1, 6)]
    runs += [predictions(data, "cail", noisy(10 + seed, 1), seed=seed, **DRO)
             for seed in range(1, 6)]  # fmt: skip
    row = compared(tmp_path, data, *runs)[MEAN]
    assert (row["verdict"], row["seeds"]) == ("above", 5)
    assert 0 < row["low"] < row["difference"] < row["high"]
    assert row["difference"] == pytest.approx(row["value"] - row["erm"])
    assert 0 < row["seeds_low"] < row["difference"] < row["seeds_high"]
    assert row["p_cases"] == pytest.approx(1 / 500, abs=1e-6)
    assert row["p_cases_adjusted"] >= row["p_cases"]
    assert row["p_seeds_adjusted"] >= row["p_seeds"]
    # with enough swaps for the number of tests
    assert compared(tmp_path, data, *runs, swaps=1)[MEAN]["p_cases_adjusted"] < 0.05


def test_the_p_value_over_seeds_is_that_of_scipy(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=15, women=15, splits=("test",))
    runs = {
        name: [predictions(data, "cail", noisy(seed + start), seed=seed, **more)
               for seed in (1, 2, 3)]
        for name, start, more in (("erm", 0, {}), ("dro", 7, DRO))
    }  # fmt: skip
    true = np.array([number % 3 for _ in range(2) for number in range(15)])
    macro = {"labels": range(6), "average": "macro", "zero_division": 0}
    each = {
        name: [100 * f1_score(true, one.logits.argmax(axis=1), **macro) for one in some]
        for name, some in runs.items()
    }
    rows = compared(tmp_path, data, *runs["erm"], *runs["dro"])
    row = rows["group_dro", "defendant_gender", "overall"]
    expected = ttest_rel(each["dro"], each["erm"])
    assert row["p_seeds"] == pytest.approx(expected.pvalue, abs=1e-6)
    ends = [row["seeds_low"], row["seeds_high"]]
    assert ends == pytest.approx(list(expected.confidence_interval()), abs=1e-5)


def test_few_cases_show_nothing(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=3, women=1)
    runs = [predictions(data, "cail", wrong, seed=seed) for seed in (1, 2, 3)]
    runs += [predictions(data, "cail", right, seed=seed, **DRO) for seed in (1, 2, 3)]
    # of the 16 ways to swap four cases one is as good, and one as bad
    row = compared(tmp_path, data, *runs)[MEAN]
    assert row["p_cases"] == pytest.approx(2 / 16, abs=0.05)
    assert (row["p_seeds"], row["reason"]) == (None, "all seeds differ by the same")
    row = compared(tmp_path, data, runs[0], runs[3])[MEAN]
    assert (row["p_seeds"], row["verdict"]) == (None, "inconclusive")
    assert row["reason"] == "one seed does not say how differences vary"


def test_equivalent_classifiers_seldom_differ_and_intervals_agree_with_p_values(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=10, women=4, splits=("test",))
    low = 0
    for start in range(0, 2000, 100):
        runs = [
            predictions(data, "cail", noisy(start + more + seed, 3), seed=seed, **named)
            for seed in (1, 2)
            for more, named in ((0, {}), (50, DRO))
        ]
        for row in compared(tmp_path, data, *runs, swaps=199).values():
            low += row["p_cases"] <= 0.05
            if abs(row["p_cases"] - 0.05) > 0.005:
                assert (row["p_cases"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
    assert low <= 12  # of 80: 4 are expected


def test_the_same_predictions_do_not_differ(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12)
    runs = [predictions(data, "cail", noisy(seed), seed=seed, **more)
            for seed in (1, 2) for more in ({}, DRO)]  # fmt: skip
    rows = compared(tmp_path, data, *runs).values()
    assert len(rows) == 4
    for row in rows:
        # each swap gives the same, so the data do show that there is no difference
        assert row["verdict"] == "equivalent"
        assert row["difference"] == row["low"] == row["high"] == 0
        assert row["p_cases"] == row["p_seeds"] == 1


def test_classifiers_that_learned_nothing_are_not_equivalent(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12)
    runs = [predictions(data, "cail", np.zeros_like, **more) for more in ({}, DRO)]
    for row in compared(tmp_path, data, *runs).values():
        found = (row["verdict"], row["reason"])
        assert found == ("inconclusive", "both predict the same for every case")


def test_tests_that_are_not_possible_state_the_reason(tmp_path):
    cases = [one | {"court_region": "Hunan"} for one in people(8, 8)]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    erm = predictions(data, "cail", right)
    region = predictions(data, "cail", right, objective="group_dro", attribute="court_region")
    row = compared(tmp_path, data, erm, region)["group_dro", "court_region", "gd"]
    assert (row["reason"], row["p_cases"], row["verdict"]) == (
        "one group only has cases",
        None,
        None,
    )
    other = predictions(data, "cail", right, seed=9, **DRO)
    rows = compared(tmp_path, data, erm, other)
    assert {(row["reason"], row["seeds"]) for row in rows.values()} == {
        ("there is no ERM of a seed in common", 0)
    }


def test_an_objective_without_groups_is_tested_on_each_attribute_and_overall_once(tmp_path):
    cases = [one | {"court_region": region} for one in people(8, 8)
             for region in ("Hunan", "Beijing")]  # fmt: skip
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    runs = [predictions(data, "cail", noisy(seed + start, 3 - start / 10), seed=seed,
                        objective=objective)
            for start, objective in ((0, "erm"), (10, "class_balanced"))
            for seed in (1, 2, 3)]  # fmt: skip
    rows = compared(tmp_path, data, *runs)
    both = [
        rows["class_balanced", name, "overall"] for name in ("defendant_gender", "court_region")
    ]
    assert both[0] | {"attribute": ""} == both[1] | {"attribute": ""}
    # seven tests, not eight
    smallest, adjusted = (
        min(row[name] for row in rows.values()) for name in ("p_seeds", "p_seeds_adjusted")
    )
    assert adjusted == pytest.approx(min(1, 7 * smallest), abs=1e-5)


CAUSES = [
    *[{"labels": ["0"], "split": "train", "defendant_gender": "male"}] * 6,
    *[{"labels": ["0"], "split": "train", "defendant_gender": "female"}] * 2,
    *[{"labels": ["0"], "split": "test", "defendant_gender": "male"}] * 3,
    *[{"labels": ["<=12"], "split": "test", "defendant_gender": "male"}] * 1,
    *[{"labels": ["<=12"], "split": "test", "defendant_gender": "female"}] * 3,
    {"labels": None, "split": "train", "defendant_gender": "female"},
    {"labels": ["<=36"], "split": "test"},
]


def explained(folder, cases, *says):
    data = write_cases(folder / "d.parquet", "cail", cases)
    runs = [predictions(data, "cail", say, seed=seed) for seed, say in enumerate(says)]
    runs.append(predictions(data, "cail", right, objective="irm", attribute="defendant_gender"))
    rows = table(folder, table_2, make_study(folder, data, "cail", *runs))
    return {(row["attribute"], row["group"]): row for row in rows}


def fails_the_second_label(hot):
    logits = right(hot)
    logits[hot[:, 1] == 1] = right(hot[:1])  # predicts the first one
    return logits


MARKS = [mark for mark, *_ in table_2.MARKS]


def test_possible_causes_of_a_gap(tmp_path):
    rows = explained(tmp_path, CAUSES, fails_the_second_label)
    man, woman = rows["defendant_gender", "male"], rows["defendant_gender", "female"]
    assert (man["train_cases"], man["test_cases"]) == (6, 4)
    assert (woman["train_cases"], woman["test_cases"]) == (2, 3)  # one has no known label
    assert {row["worst_class"] for row in rows.values()} == {"<=12"}
    assert (woman["worst_class_f1"], woman["worst_class_cases"]) == (0, 4)
    assert (man["wci"], woman["wci"]) == (0.25, 1)
    assert woman["drift"] == pytest.approx(jensenshannon([1, 0], [0, 1]), abs=1e-6)
    assert man["drift"] == pytest.approx(jensenshannon([1, 0], [3, 1]), abs=1e-6)
    assert (man["score"], woman["score"]) == (pytest.approx(100 * (6 / 7) / 6), 0)
    assert [(man[mark], woman[mark]) for mark in MARKS] == [(False, True)] * 4
    assert woman["few"] is True
    beijing = rows["court_region", "Beijing"]
    assert beijing["score"] is beijing["wci"] is beijing["worst"] is None
    both = explained(tmp_path, CAUSES, fails_the_second_label, right)
    woman = both["defendant_gender", "female"]
    assert (woman["seeds"], woman["score"]) == (2, pytest.approx(100 / 6 / 2))


def test_ties_have_no_mark(tmp_path):
    rows = explained(tmp_path, CAUSES, lambda hot: right(np.roll(hot, 1, axis=1)))
    for name in ("male", "female"):
        row = rows["defendant_gender", name]
        assert (row["worst_class_f1"], row["as_bad"], row["most_wci"]) == (0, 2, None)
    same = [
        {"labels": ["0"], "split": split, "defendant_gender": gender}
        for split in ("train", "test")
        for gender in ("male", "female")
    ]
    rows = explained(tmp_path, same, right)
    for name in ("male", "female"):
        row = rows["defendant_gender", name]
        assert [row[mark] for mark in ("worst", "fewest_train_cases", "most_wci")] == [False] * 3
    data = write_cases(tmp_path / "d.parquet", "cail", same)
    study = make_study(tmp_path, data, "cail", predictions(data, "cail", right, **DRO))
    assert table(tmp_path, table_2, study) == []  # no ERM


def calibrated(folder, data, kind, *trainings):
    study = make_study(folder, data, kind, *trainings)
    rows = table(folder, calibration, study)
    bins = table(folder, calibration_bins, study)
    return {(row["attribute"], row["group"]): row for row in rows}, bins


def test_too_confident_for_one_group(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet")
    run = predictions(data, "cail", wrong_for(genders, "female"))
    rows, bins = calibrated(tmp_path, data, "cail", run)
    man, woman = rows["defendant_gender", "male"], rows["defendant_gender", "female"]
    sure = np.exp(2) / (np.exp(2) + 5 * np.exp(-2))
    assert woman["confidence"] == man["confidence"] == pytest.approx(sure, abs=1e-6)
    assert (man["share_right"], woman["share_right"]) == (1, 0.4)
    assert woman["excess"] == woman["ece"] == pytest.approx(sure - 0.4, abs=1e-5)
    assert man["ece"] == pytest.approx(1 - sure, abs=1e-5)
    assert (man["verdict"], woman["verdict"]) == ("inconclusive", "above")
    every = rows["defendant_gender", "all"]
    assert (every["cases"], every["share_right"]) == (120, 0.7)
    assert every["verdict"] is every["p"] is None
    own = only(bins, attribute="defendant_gender", group="female")
    assert [own[name] for name in ("bin", "predictions", "share_right")] == [14, 60, 0.4]
    assert own["from"] <= sure < own["to"]


def test_calibration_of_several_labels_and_seeds(tmp_path):
    cases = [{"labels": ["2", "3"], "split": "test", "applicant_gender": "male"},
             {"labels": [], "split": "test"}]  # fmt: skip
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    half = predictions(data, "ecthr", lambda hot: np.zeros(hot.shape))
    rows, _ = calibrated(tmp_path, data, "ecthr", half)
    man = rows["applicant_gender", "male"]
    names = ("cases", "predictions", "confidence", "share_right", "ece", "verdict")
    assert [man[name] for name in names] == [1, 10, 0.5, 0.2, 0.3, "inconclusive"]
    assert rows["applicant_gender", "all"]["share_right"] == 0.1
    assert rows["applicant_gender", "female"]["ece"] is None
    data, genders = write_people(tmp_path / "p.parquet", men=10, women=10)
    say = wrong_for(genders, "male", 1.0)
    runs = [predictions(data, "cail", one, seed=seed) for seed, one in enumerate((right, say))]
    rows, bins = calibrated(tmp_path, data, "cail", *runs)
    man = rows["defendant_gender", "male"]
    sure = man["confidence"]
    assert (man["seeds"], man["share_right"], man["ece"]) == (2, 0.5, pytest.approx(0.5, abs=1e-6))
    assert man["ece_sd"] == pytest.approx(np.std([1 - sure, sure], ddof=1), abs=1e-5)
    assert [row["predictions"] for row in bins if row["group"] == "male"] == [20]


def logit(p):
    return math.log(p / (1 - p))


def js(p, q):
    """Of two Bernoulli distributions, in nats."""

    def entropy(x):
        return -x * math.log(x) - (1 - x) * math.log(1 - x)

    return entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2


def test_predictions_of_pairs_by_hand():
    one = np.array([[[logit(0.6), logit(0.2)], [logit(0.51), logit(0.2)]]], dtype=np.float32)
    twin = np.array([[[logit(0.7), logit(0.2)], [logit(0.49), logit(0.2)]]], dtype=np.float32)
    found = counterfactual.compared(one, twin, "multi_label")
    assert found["ifr_b"].tolist() == [[100, 0]]
    assert found["ifr_p"].tolist() == [[0, 100]]
    expected = [js(0.6, 0.7) / 2, js(0.51, 0.49) / 2]
    np.testing.assert_allclose(found["divergence"], [expected], rtol=1e-4)
    p, q = math.log(0.6), math.log(0.4)
    found = counterfactual.compared(np.array([[[p, q]]]), np.array([[[q, p]]]), "multi_class")
    assert found["ifr_b"].tolist() == [[0]]
    assert found["divergence"].item() == pytest.approx(js(0.6, 0.4))


@given(st.integers(0, 1000), st.sampled_from(["multi_class", "multi_label"]))
def test_equal_predictions_are_fair_and_pairs_have_no_order(seed, task):
    one, twin = np.random.default_rng(seed).normal(size=(2, 2, 5, 3))
    same = counterfactual.compared(one, one, task)
    assert (same["ifr_b"] == 100).all() and (same["ifr_p"] == 100).all()
    assert (same["divergence"] == 0).all()
    both = [counterfactual.compared(*pair, task) for pair in ((one, twin), (twin, one))]
    for name in counterfactual.MEASURES:
        np.testing.assert_allclose(both[0][name], both[1][name])


@pytest.fixture
def judged(tmp_path):
    cases = [{"split": split, "labels": ["2"]} for split in ("train", "dev", *["test"] * 16)]
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)

    def made(objective="erm", seed=1, **twins):
        one = predictions(data, "ecthr", lambda true: true, objective=objective, seed=seed)
        return with_twins(one, **twins)

    def rows(*runs):
        found = table(tmp_path, counterfactual, make_study(tmp_path, data, "ecthr", *runs))
        return {(row["objective"], row["measure"]): row for row in found}

    return made, rows


def test_counterfactuals_against_erm(judged):
    made, rows = judged
    found = rows(made(seed=1, changed=12), made(seed=2, changed=10), made("iifr_text"))
    erm, fair = found["erm", "ifr_b"], found["iifr_text", "ifr_b"]
    assert (erm["cases"], erm["twins"], erm["seeds"]) == (16, 15, 2)
    assert erm["value"] == pytest.approx(100 * 4 / 15, abs=1e-5)
    assert erm["difference"] is erm["verdict"] is None
    assert (fair["value"], fair["sd"], fair["verdict"]) == (100, None, "above")
    assert fair["difference"] == pytest.approx(100 * 11 / 15, abs=1e-5)
    assert fair["erm"] == erm["value"]
    assert found["iifr_text", "divergence"]["verdict"] == "below"
    assert found["erm", "macro_f1"]["value"] == found["iifr_text", "macro_f1"]["value"]
    worse = made("iifr_text")
    worse.logits[np.flatnonzero(worse.splits == "test")[:4]] *= -1
    found = rows(made(), worse)
    erm, fair = found["erm", "macro_f1"], found["iifr_text", "macro_f1"]
    assert erm["value"] == fair["erm"] > fair["value"]
    assert fair["difference"] == pytest.approx(fair["value"] - erm["value"], abs=2e-6)
    assert erm["erm"] is erm["difference"] is None


def test_trainings_without_counterfactuals_are_left_out(judged):
    made, rows = judged
    plain = made()._replace(counterfactual_logits=None)
    found = rows(plain, made("iifr_text"))
    assert {objective for objective, _ in found} == {"iifr_text"}
    assert found["iifr_text", "ifr_b"]["difference"] is None
    for run in (plain, made(without=16)):
        with pytest.raises(NotApplicable, match="no training predicts"):
            rows(run)


def curved(folder, *histories):
    data, _ = write_people(folder / "d.parquet", men=1, women=1)
    run = predictions(data, "cail", right)
    study = make_study(folder, data, "cail", run, histories=list(histories))
    return table(folder, curves, study)


def test_each_seed_then_the_mean_of_those_that_reached_the_epoch(tmp_path):
    rows = curved(tmp_path, train(tmp_path / "a.parquet"))
    assert [(row["seed"], row["epoch"], row["seeds"], row["macro_f1"]) for row in rows] == [
        ("0", 1, None, 20), ("0", 2, None, 40), ("1", 1, None, 30), ("mean", 1, 2, 25),
        ("mean", 2, 1, 40),
    ]  # fmt: skip
    assert [row["macro_f1_sd"] for row in rows] == [None, None, None, 7.071068, None]
    assert [row["loss"] for row in rows] == [1, 0.5, 1, 1, 0.5]
    assert {row["learning_rate"] for row in rows} == {0.5, None}
    assert [row["best"] for row in rows] == [False] * 3 + [None] * 2
    rows = curved(tmp_path, train(tmp_path / "b.parquet", loss=float("nan")))
    assert {row["loss"] for row in rows} == {None} and rows[-1]["macro_f1"] == 40


def test_settings_are_in_the_order_of_the_files(tmp_path):
    dro = train(tmp_path / "dro.parquet", "group_dro", "gender")
    rows = curved(tmp_path, dro, train(tmp_path / "erm.parquet"))
    settings = list(dict.fromkeys((row["objective"], row["trained_for"]) for row in rows))
    assert settings == [("group_dro", "gender"), ("erm", "none")]


def test_broken_histories(tmp_path):
    one = train(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="linear erm none, seed 0, was in another file already"):
        curved(tmp_path, one, one)
    with pytest.raises(InputError, match=damage(one, "epoch")):
        curved(tmp_path, one)
    one.write_text("no table")
    with pytest.raises(InputError, match=r"a\.parquet: is not a Parquet file"):
        curved(tmp_path, one)
    pq.write_table(pa.table({"seed": [1]}), one)
    with pytest.raises(InputError, match=r"lacks the column \w+; give the history of a training"):
        curved(tmp_path, one)


#: The sizes of FairLex's own cases.
OWN = {"train": REPRODUCED, "dev": REPRODUCED, "test": REPRODUCED}
ERM = [{"seed": seed} for seed in (1, 2, 3)]
ENCODER = [{"seed": seed, "classifier": "encoder"} for seed in (1, 2, 3)]


def beside(folder, *trainings, verdicts=OWN, linear=(), transformer=(), **options):
    """A study beside the paper's numbers, of trainings on people."""
    data = write_cases(folder / "d.parquet", "cail", people(30, 30))
    runs = [predictions(data, "cail", noisy(1 + n), **one) for n, one in enumerate(trainings)]
    size_rows = [
        {"quantity": "cases", "item": split, "ours": 7, "verdict": verdict}
        | {"published": 9 if verdict == "not_reproduced" else 7}
        for split, verdict in verdicts.items()
    ]
    stands = dict.fromkeys(linear, "linear") | dict.fromkeys(transformer, "transformer")
    return make_study(folder, data, "cail", *runs, size_rows=size_rows, stands_for=stands,
                      resamples=20, permutations=20, **options)  # fmt: skip


def test_linear_rows_are_first_and_erm_before_the_others(tmp_path):
    runs = [*ENCODER, {**DRO}, *ERM[1:], {"classifier": "encoder"} | DRO]
    runs += [one | {"classifier": "another"} for one in (ENCODER[0], DRO)]
    rows = table(tmp_path, table_4, beside(tmp_path, *runs, linear=["linear"]))
    own = [row for row in rows if row["attribute"] == "defendant_gender"]
    assert [(row["classifier"], row["objective"]) for row in own[::4]] == [
        ("linear", "erm"), ("linear", "group_dro"), ("another", "erm"), ("another", "group_dro"),
        ("encoder", "erm"), ("encoder", "group_dro"),
    ]  # fmt: skip
    assert [row["measure"] for row in own[:4]] == ["overall", "mean", "gd", "worst"]
    assert {row["verdict"] for row in rows} == {"no_published_value"}


def test_ours_is_by_our_convention_and_compat_by_that_of_the_published_code(tmp_path):
    study = beside(tmp_path, *ERM)
    of_scores, rows = table(tmp_path, scores, study), table(tmp_path, table_4, study)
    ours, present = (
        only(of_scores, **GENDER | {"convention": name}) for name in ("all", "present")
    )
    for measure in ("overall", "mean", "gd", "worst"):
        row = only(rows, attribute="defendant_gender", measure=measure)
        assert (row["ours"], row["compat"]) == (ours[measure], present[measure])
    assert row["noise_border"] == ours["worst_noise_5"]
    assert row["noise_verdict"] == ours["worst_verdict"]


PUBLISHED = (
    NO_SCORES
    + "cail,transformer,defendant_gender,erm,mean,5.0,0,table_4,,\n"
    + "cail,transformer,defendant_gender,erm,worst,99,99,table_4,,\n"
    + "cail,linear,defendant_gender,erm,gd,99,99,table_4,,\n"
    + "cail,transformer,defendant_gender,v_rex,mean,60.2,0,table_4,,\n"
    + "ecthr,transformer,applicant_age,erm,mean,60.2,0,table_4,,\n"
)


def verdicts_of(rows):
    return {row["published"]: (row["verdict"], row["reason"]) for row in rows if row["published"]}


def test_published_numbers_beside_the_classifiers_that_stand_for_them(tmp_path):
    rows = table(tmp_path, table_4, beside(tmp_path, *ERM, scores=PUBLISHED))
    assert [row["published"] for row in rows[-4:]] == [5, 99, 99, 60.2]
    assert {row["reason"] for row in rows[-4:]} == {"no run stands for the paper's"}
    both = {"linear": ["linear"], "transformer": ["encoder"]}
    rows = table(tmp_path, table_4, beside(tmp_path, *ERM, *ENCODER, scores=PUBLISHED, **both))
    of = {(row["stands_for"], row["measure"]): row for row in rows if row["published"]}
    assert {key: row["classifier"] for key, row in of.items()} == {
        ("linear", "gd"): "linear",
        ("transformer", "worst"): "encoder",
        ("transformer", "mean"): None,  # v_rex, the last one
    }
    assert {value: verdict for value, (verdict, _) in verdicts_of(rows).items()} == {
        5: "not_reproduced", 99: "reproduced", 60.2: "not_run",
    }  # fmt: skip
    two = {"transformer": ["encoder", "linear"]}
    rows = table(tmp_path, table_4, beside(tmp_path, *ERM, *ENCODER, scores=PUBLISHED, **two))
    assert [row["classifier"] for row in rows if row["published"] == 5] == ["encoder", "linear"]


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        (dict.fromkeys(OWN, "not_run"), "the cases are not FairLex's own"),
        (OWN | {"test": "not_reproduced"}, "test has 7 cases, and FairLex's 9"),
        (OWN | {"train": "not_reproduced"}, "train has 7 cases, and FairLex's 9"),
    ],
)
def test_other_cases_and_samples_are_not_comparable(tmp_path, verdicts, reason):
    gap = NO_CLAIMS + "cail,defendant_gender,gap,,,0,100,\n"
    given = {"scores": PUBLISHED, "claims": gap, "verdicts": verdicts, "transformer": ["encoder"]}
    study = beside(tmp_path, *ENCODER, **given)
    assert verdicts_of(table(tmp_path, table_4, study))[5] == ("not_comparable", reason)
    [row] = table(tmp_path, claims, study)
    assert (row["verdict"], row["reason"]) == ("not_comparable", reason)


def test_a_quirk_that_decides_a_number_is_needed_to_compare_it(tmp_path):
    quirk = "cail,transformer,defendant_gender,group_dro,mean,50,50,draft,true,a quirk\n"
    runs = [DRO | {"seed": seed} for seed in (1, 2)]
    options = {"scores": NO_SCORES + quirk, "transformer": ["linear"]}
    rows = table(tmp_path, table_4, beside(tmp_path, *runs, **options))
    assert verdicts_of(rows) == {50: ("not_comparable", "a quirk")}
    compat = beside(tmp_path, *runs, **options, compat_objectives=("group_dro",))
    assert verdicts_of(table(tmp_path, table_4, compat)) == {50: ("reproduced", None)}


CLAIMED = (
    NO_CLAIMS
    + "cail,defendant_gender,gap,,,0,100,my-error\n"
    + "cail,defendant_gender,score,male,,1.0,1.0,\n"
    + "cail,defendant_gender,below,male,female,-100,100,\n"
    + "cail,defendant_gender,best,male,,,,\n"
    + "cail,court_region,score,Beijing,,66.8,66.8,\n"
)


def test_claims_of_the_text(tmp_path):
    both = {"linear": ["linear"], "transformer": ["encoder"]}
    study = beside(tmp_path, *ERM, *ENCODER, claims=CLAIMED, **both)
    rows = table(tmp_path, claims, study)
    assert [row["classifier"] for row in rows] == ["linear", "encoder"] * 4 + [None]
    assert [row["known_error"] for row in rows] == ["my-error"] * 2 + [None] * 7
    gap, score, below, best = rows[1:8:2]
    assert [row["verdict"] for row in (gap, score, below)] == [
        "reproduced", "not_reproduced", "reproduced",
    ]  # fmt: skip
    groups = table(tmp_path, group_scores, study)
    each = {
        group: [row["score"] for row in groups if row["classifier"] == "encoder"
                and (row["convention"], row["group"]) == ("present", group)
                and row["seed"] != "mean"]
        for group in ("male", "female")
    }  # fmt: skip
    pairs = list(zip(each["male"], each["female"], strict=True))
    assert float(gap["ours"]) == pytest.approx(sum(abs(m - f) for m, f in pairs) / 3, abs=1e-5)
    assert float(below["ours"]) == pytest.approx(sum(f - m for m, f in pairs) / 3, abs=1e-5)
    assert best["ours"] == max(each, key=lambda group: sum(each[group]))
    assert (rows[-1]["verdict"], rows[-1]["reason"]) == ("not_run", "no run stands for the paper's")
    assert rows[0]["reason"] == "it does not stand for the paper's encoder"
    rows = table(tmp_path, claims, beside(tmp_path, *ERM, claims=CLAIMED))
    assert {row["verdict"] for row in rows} == {"not_run", "not_comparable"}
