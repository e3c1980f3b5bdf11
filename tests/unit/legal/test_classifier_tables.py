"""The tables of classifiers: their contract, and the numbers of each member."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.special import logit
from scipy.stats import ttest_rel
from sklearn.metrics import f1_score

from evenhand.core.families import load_members
from evenhand.core.tables import NotApplicable, read_table
from evenhand.errors import InputError
from evenhand.learning.probes import probe
from evenhand.legal import classifier_tables
from evenhand.legal.built import BuiltCases
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
from evenhand.legal.tabulate_classifiers import tabulate_classifiers
from evenhand.legal.training import read_examples
from evenhand.metrics.disparity import permuted_sums, redrawn_sums
from expected import check_expected
from unit.legal.made_cases import court, write_cases
from unit.legal.made_predictions import noisy, people, predictions, right, write, wrong_for
from unit.legal.made_study import NO_CLAIMS, NO_SCORES, make_study, only, table, write_case_tables
from unit.made_tables import check_declaration, check_rows
from unit.report.made_classifiers import train

MEMBERS = load_members(classifier_tables)
NAMES = [member.TABLE.name for member in MEMBERS]
DRO = {"objective": "group_dro", "attribute": "defendant_gender"}
GENDER = {"attribute": "defendant_gender", "convention": "all", "seed": "mean"}
HOSTILE = '"a", <b>{{ 7 }}'


class World:
    """A small data set, predictions for it, and their tables."""

    def __init__(self, folder, cases, kind="cail"):
        self.folder = folder
        self.data = write_cases(folder / "d.parquet", kind, cases)
        self.genders = [case.get("defendant_gender") for case in cases]

    def run(self, logits_of=right, **key):
        return predictions(self.data, logits_of, **key)

    def study(self, *runs, **options):
        return make_study(self.folder, self.data, *runs, **options)

    def rows(self, member, *runs, **options):
        return table(self.folder, member, self.study(*runs, **options))

    def tests(self, *runs, **options):
        rows = self.rows(tests, *runs, **options)
        return {(row["objective"], row["attribute"], row["measure"]): row for row in rows}


@pytest.fixture
def world(tmp_path):
    return lambda cases, kind="cail": World(tmp_path, cases, kind)


@pytest.fixture
def equal(world):
    """60 men and 60 women in training and test."""
    return world(people())


def with_counterfactuals(run, changed=0, without=1):
    """Predictions with those for counterfactuals: some differ in the first label, some lack."""
    logits = run.logits.copy()
    test = np.flatnonzero(run.splits == "test")
    logits[test[:changed], 0] *= -1
    logits[test[len(test) - without :]] = np.nan
    return run._replace(counterfactual_logits=logits)


def wrong(hot):
    """Logits that predict the next label."""
    return np.roll(right(hot), 1, axis=1)


def inputs(folder, resources, shuffle=False):
    """The arguments of the stage for three classifiers with hostile names."""
    folder.mkdir()
    cases = [case | {"case_id": f"c{n}"} for n, case in enumerate(people(12, 9))]
    if shuffle:
        cases = [cases[n] for n in np.random.default_rng(1).permutation(len(cases))]
    world = World(folder, cases)
    runs = [
        with_counterfactuals(world.run(logits_of, classifier=HOSTILE, seed=seed, **key))
        for seed in (1, 2)
        for logits_of, key in ((right, {}), (wrong, DRO))
    ]
    paths = [write(folder / f"{n}.parquet", run) for n, run in enumerate(runs)]
    return {
        "data": world.data,
        "predictions": paths[::-1] if shuffle else paths,
        "histories": [train(folder / "h.parquet")],
        "cases": write_case_tables(folder / "cases", world.data),
        "scores": resources / "published_scores.csv",
        "claims": resources / "published_claims.csv",
        "dataset": "mine",
        "splits": ["test"],
        "permutations": 100,
        "swaps": 20,
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("classifiers")
    given = inputs(folder / "a", repository / "resources/legal")
    counts = tabulate_classifiers(**given, out=folder / "out")
    return given, folder / "out", counts


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
def test_rows_follow_the_declaration(written, member):
    check_declaration(member)
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
        ("tests", ("measure", "value", "erm")),
        ("calibration", ("group", "confidence", "share_right", "ece")),
    ):
        before, after = (
            [[row[column] for column in columns] for row in read_table(path / f"{name}.csv")]
            for path in (folder, tmp_path / "out")
        )
        assert before == after


def test_both_splits_by_default(written, world, tmp_path):
    small = world(people(3, 3, splits=("train", "dev", "test")))
    path = write(tmp_path / "p.parquet", small.run())
    given = {"data": small.data, "predictions": [path], "histories": [], "splits": None}
    counts = tabulate_classifiers(**written[0] | given, out=tmp_path / "out")
    rows = read_table(tmp_path / "out" / "scores.csv")
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert counts["left_out"] == {
        "counterfactual": "no training predicts a counterfactual of a test case"
    }
    assert counts["rows"]["tests"] == counts["rows"]["curves"] == 0


def test_bad_input(written, tmp_path):
    given = written[0]
    run = predictions(given["data"], right)._replace(features=None)

    def refused(match, *runs, **options):
        paths = [write(tmp_path / f"{n}.parquet", run) for n, run in enumerate(runs)]
        with pytest.raises(InputError, match=match):
            tabulate_classifiers(**given | {"predictions": paths} | options, out=tmp_path / "o")

    short = run._replace(case_ids=run.case_ids[1:], splits=run.splits[1:], logits=run.logits[1:])
    renamed = run._replace(case_ids=np.char.add(run.case_ids, "x"))
    for other in (short, renamed, run._replace(splits=run.splits[::-1])):
        refused("is not of the cases with known labels", other)
    refused("no case with a known label in dev", run, splits=["dev"])
    refused("there are no predictions")


def test_what_a_classifier_keeps_of_an_attribute_can_be_read(world):
    """Features with the gender in them, and logits without it; an objective that removes it.

    Three quarters of the men have one label, and three quarters of the women another.
    """
    some = people(75, 25) + people(25, 75)
    cases = [case | {"labels": ["0" if n < 200 else "<=12"]} for n, case in enumerate(some)]
    small = world(cases)
    male = np.array(small.genders)[:, None] == "male"
    runs = []
    for seed in (1, 2):
        noise = np.random.default_rng(seed).normal(size=(len(male), 2))
        for key, features in (({}, noise + 3 * male), (DRO | {"objective": "leace"}, noise)):
            run = small.run(noisy(seed), seed=seed, **key)
            runs.append(run._replace(features=features.astype(np.float16)))
    # another head on the features of plain training: their probe is not fitted again
    runs += [run._replace(objective="dfr", attribute="defendant_gender") for run in runs[::2]]
    with patch.object(attribute_leakage, "probe", wraps=probe) as fitted:
        rows = small.rows(attribute_leakage, *runs)
    # linear and MLP: labels, two features, logits; the features and logits by unknown regions
    assert fitted.call_count == 2 * (4 + 2)
    assert {row["attribute"] for row in rows} == {"defendant_gender"}
    for kind in ("linear", "MLP"):
        plain, erased = (
            only(rows, objective=name, read_from="features", probe=kind)
            for name in ("erm", "leace")
        )
        assert plain["score"] > 90 and plain["score_low"] > 85
        assert (plain["chance"], plain["groups"], plain["cases"], plain["seeds"]) == (50, 2, 200, 2)
        assert erased["score_low"] < 50 < erased["score_high"]
        assert erased["before"] == plain["before"] == plain["score"]
        assert erased["from_labels"] == plain["from_labels"] == 75
        logits = only(rows, objective="erm", read_from="logits", probe=kind)
        assert 55 < logits["score"] < 77  # as the labels do


def test_the_worst_cell_beside_plain_training_and_the_sampler(equal):
    product = "label+defendant_gender"
    rows = equal.rows(
        mitigation,
        equal.run(wrong_for(equal.genders, "female", 0.8)),
        *(
            equal.run(logits_of, objective=name, attribute=attribute)
            for logits_of, name, attribute in (
                (wrong_for(equal.genders, "female", 0.6), "erm_group_uniform", product),
                (wrong, "erm_group_uniform", "defendant_gender"),  # of fewer parts
                (right, "group_dro", product),
            )
        ),
        select={"linear": "worst_group_f1"},
    )
    plain, dro = (only(rows, objective=name) for name in ("erm", "group_dro"))
    sampler = only(rows, objective="erm_group_uniform", trained_for=product)
    # test has 20 cases of each label and gender; those of a gender come first in the data
    assert [row["cells"] for row in rows] == [6] * 4
    assert plain["worst_cell"].endswith(" x female")
    assert (dro["worst"], dro["accuracy"], dro["over_plain"]) == (100, 100, 100 - plain["worst"])
    assert dro["over_sampler"] == 100 - sampler["worst"] > 0
    assert dro["over_plain_low"] > 0
    assert plain["over_plain"] is None and sampler["over_sampler"] is None
    assert sampler["over_plain"] == sampler["worst"] - plain["worst"]
    assert plain["select"] == "macro_f1" and dro["select"] == "worst_group_f1"


def test_trainings_with_a_product_of_attributes_are_scored_on_it(world):
    small = world(
        [
            case | {"defendant_gender": gender, "court_region": region}
            for case in people(20, 0)
            for gender in ("male", "female")
            for region in ("Beijing", "Hunan")
        ]
    )
    product = "defendant_gender+court_region"
    rows = small.rows(scores, small.run(noisy(1), attribute=product))
    assert {row["attribute"] for row in rows} == {"defendant_gender", "court_region", product}
    row = only(rows, **GENDER | {"attribute": product})
    assert (row["groups"], row["known_cases"]) == (4, 80)


def test_groups_of_a_product_that_are_rare_in_training_are_unknown(world):
    def is_rare(case):
        return case["split"] == "train" and case["defendant_gender"] == "female"

    cases = [
        case | {"defendant_gender": gender, "court_region": region}
        for region, genders in (("Beijing", ("male", "female")), ("Hunan", ("male", "female")))
        for gender in genders
        for case in people(20, 0)
    ]
    rare = [case for case in cases if is_rare(case) and case["court_region"] == "Hunan"]
    small = world([case for case in cases if case not in rare[2:]])
    product = "defendant_gender+court_region"
    rows = small.rows(scores, small.run(noisy(1), attribute=product))
    row = only(rows, **GENDER | {"attribute": product})
    assert (row["groups"], row["known_cases"]) == (3, 60)
    examples, remarks = read_examples(BuiltCases(small.data), product)
    names = ("male x Beijing", "male x Hunan", "female x Beijing", "unknown")
    assert examples.group_names == names
    assert (examples.known_groups, remarks) == (3, [])


def test_a_gap_is_above_noise_and_of_the_classifier_not_of_labels(equal):
    study = equal.study(equal.run(wrong_for(equal.genders, "female")))
    row = only(table(equal.folder, scores, study), **GENDER)
    assert row["gd_verdict"] == row["worst_verdict"] == "above"
    assert (row["worst_group"], row["cases"], row["smallest_group"]) == ("female", 120, 60)
    names = ("gd_p", "gd_p_labels", "worst_p", "worst_p_labels")
    assert [row[name] for name in names] == [0.01] * 4
    groups = table(equal.folder, group_scores, study)
    man, woman = (only(groups, **GENDER, group=group) for group in ("male", "female"))
    # three of six classes occur
    assert (man["score"], man["perfect"], man["classes_present"]) == (50, 50, 3)
    # of 20 women with each label 12 are predicted the next one
    assert woman["score"] == pytest.approx(100 * (16 / 28 + 16 / 40 + 16 / 40) / 6)
    assert row["mean"] == pytest.approx((50 + woman["score"]) / 2)
    assert row["gd"] == pytest.approx((50 - woman["score"]) / 2)
    assert man["score"] > man["noise_high"] and woman["score"] < woman["noise_low"]
    assert only(groups, **GENDER | {"convention": "present"}, group="male")["score"] == 100


def first_label(hot):
    return 0 * hot + (np.arange(hot.shape[1]) == 0)


@pytest.mark.parametrize(("logits_of", "women"), [(noisy(4), 19), (first_label, 60)])
def test_small_groups_and_constant_classifiers_do_not_show_equal_treatment(world, logits_of, women):
    small = world(people(60, women))
    row = only(small.rows(scores, small.run(logits_of), delta=50), **GENDER)
    assert (row["gd_verdict"], row["smallest_group"]) == ("inconclusive", women)
    assert (row["constant_seeds"], row["seeds"]) == (int(logits_of is first_label), 1)
    assert {row[f"{name}_low"] is None for name in ("mean", "worst", "gd")} == {women < 20}


def test_a_training_for_an_attribute_is_scored_for_it_only(world):
    small = world(people(12, 12, court_region="Beijing"))
    dro = small.run(objective="group_dro", attribute="court_region")
    rows = small.rows(scores, small.run(), dro)
    assert {(row["objective"], row["trained_for"], row["attribute"]) for row in rows} == {
        ("erm", "none", "defendant_gender"),
        ("erm", "none", "court_region"),
        ("group_dro", "court_region", "court_region"),
    }
    regions = [row for row in rows if row["attribute"] == "court_region"]
    assert {(row["gd"], row["gd_verdict"]) for row in regions} == {(None, None)}  # one group only
    overall = {(row["overall"], row["overall_low"]) for row in rows if row["convention"] == "all"}
    assert len(overall) == 1  # whatever the attribute


def test_small_groups_and_unknown_labels(world):
    cases = [*people(25, 1), {"labels": ["0"], "split": "test"}]
    cases.append({"labels": None, "split": "test", "defendant_gender": "male"})
    small = world([case | {"court_region": "Hunan"} for case in cases])
    study = small.study(small.run())
    groups = table(small.folder, group_scores, study)
    woman = only(groups, **GENDER | {"convention": "present"}, group="female")
    assert (woman["cases"], woman["score"], woman["note"]) == (1, 100, "one case")
    assert woman["low"] is woman["high"] is None
    row = only(table(small.folder, scores, study), **GENDER)
    assert (row["cases"], row["known_cases"], row["gd_verdict"]) == (27, 26, "inconclusive")
    region = only(groups, **GENDER | {"attribute": "court_region"}, group="Sichuan")
    assert (region["cases"], region["score"], region["note"]) == (0, None, "no cases")


STATE = GENDER | {"attribute": "defendant_state"}


def european(*labels, state="Rest of Europe"):
    return [{"labels": some, "split": "test", "defendant_state": state} for some in labels]


def test_none_is_a_class_where_there_may_be_several_labels(world):
    cases = european([], *([label] for label in court("ecthr").labels))
    small = world(cases, "ecthr")
    rows = small.rows(scores, small.run())
    rows = [row for row in rows if (row["attribute"], row["seed"]) == ("defendant_state", "mean")]
    means = {row["convention"]: row["mean"] for row in rows}
    expected = {"all": 100, "present": 100, "labels_only": 100, "double_none": 100 * 11 / 12}
    assert means == pytest.approx(expected, abs=1e-5)
    # a classifier that finds a violation everywhere never predicts "none"
    small = world(cases[:3], "ecthr")
    groups = small.rows(group_scores, small.run(lambda hot: np.ones(hot.shape)))
    of_labels = 100 * 2 * (2 * 1 / (1 + 3)) / 10
    for name, share in (("labels_only", 1), ("all", 10 / 11)):
        row = only(groups, **STATE | {"convention": name}, group="Rest of Europe")
        assert row["score"] == pytest.approx(of_labels * share)


def test_constant_classifiers_are_marked(world):
    cases = [*european(*[[]] * 30), *european(*[["3"]] * 30, state="C.E. European")]
    small = world(cases, "ecthr")
    nothing = small.run(lambda hot: hot * 0 - 1.0)
    first_two = small.run(lambda hot: (np.arange(10) < 2) - 0.5 + 0 * hot, seed=2)
    rows = small.rows(scores, nothing, first_two, small.run(seed=3))
    rows = {seed: only(rows, **STATE | {"seed": seed}) for seed in ("1", "2", "3", "mean")}
    assert {seed: (row["constant_seeds"], row["always"]) for seed, row in rows.items()} == {
        "1": (1, "none"), "2": (1, "2, 3"), "3": (0, None), "mean": (2, "none; 2, 3"),
    }  # fmt: skip
    # its gap is one of labels, however far above noise
    assert rows["1"]["gd"] > rows["1"]["gd_noise_95"]
    assert (rows["1"]["gd_verdict"], rows["1"]["gd_p_labels"]) == ("above", 1)


MEAN = ("group_dro", "defendant_gender", "mean")


def test_a_better_objective_is_higher_over_seeds_and_cases(equal):
    runs = [equal.run(noisy(seed, 3), seed=seed) for seed in range(1, 6)]
    runs += [equal.run(noisy(10 + seed, 1), seed=seed, **DRO) for seed in range(1, 6)]
    row = equal.tests(*runs)[MEAN]
    assert (row["verdict"], row["seeds"]) == ("above", 5)
    assert 0 < row["low"] < row["difference"] < row["high"]
    assert row["difference"] == pytest.approx(row["value"] - row["erm"])
    assert 0 < row["seeds_low"] < row["difference"] < row["seeds_high"]
    assert row["p_cases"] == pytest.approx(1 / 500, abs=1e-6)
    assert row["p_cases_adjusted"] >= row["p_cases"]
    assert row["p_seeds_adjusted"] >= row["p_seeds"]
    # a method whose seeds are one classifier
    fixed = [*runs[:2], *(equal.run(seed=seed, **DRO) for seed in (1, 2))]
    row = equal.tests(*fixed)[MEAN]
    assert row["p_cases_adjusted"] < 0.05 < row["p_seeds_adjusted"]
    assert row["reason"].startswith("all seeds of the method are one classifier")
    # with enough swaps for the number of tests
    assert equal.tests(*runs, swaps=1)[MEAN]["p_cases_adjusted"] < 0.05


REGIONS = ("Beijing", "Liaoning", "Hunan", "Guangdong", "Sichuan", "Guangxi", "Zhejiang")
REGION = {"objective": "group_dro", "attribute": "court_region"}


@pytest.fixture
def regions(world):
    """Seven regions of 30 cases each in training and test."""
    return world([case | {"court_region": name} for name in REGIONS for case in people(15, 15)])


def test_fewer_errors_alone_do_not_make_a_smaller_disparity(regions):
    """Of many small groups the classifier with more errors has a larger disparity by chance."""
    runs = [regions.run(noisy(seed, 3), seed=seed) for seed in range(1, 6)]
    runs += [regions.run(noisy(10 + seed, 0.7), seed=seed, **REGION) for seed in range(1, 6)]
    rows = regions.tests(*runs, positive=1)
    assert rows["group_dro", "court_region", "overall"]["verdict"] == "above"
    for measure in ("gd", "selection_rate", "tpr", "fpr"):
        row = rows["group_dro", "court_region", measure]
        assert row["verdict"] in ("equivalent", "inconclusive") and row["p_cases"] > 0.05
        assert row["low"] < 0 < row["high"]
        whole = row["value"] - row["erm"]
        assert row["difference"] + row["noise"] == pytest.approx(whole, abs=1e-5)
        assert row["noise"] < whole / 2 < 0


def test_a_disparity_that_vanishes_is_significant(regions):
    def unfair(seed, place):
        def logits(hot):
            in_region = np.arange(len(hot)) // 60 == place
            return np.where(in_region[:, None], wrong(hot), noisy(seed)(hot))

        return logits

    runs = [regions.run(unfair(seed, 3), seed=seed) for seed in range(1, 6)]
    fair = [regions.run(noisy(10 + seed), seed=seed, **REGION) for seed in range(1, 6)]
    rows = regions.tests(*runs, *fair, positive=1)
    for measure in ("gd", "tpr", "fpr"):
        row = rows["group_dro", "court_region", measure]
        assert row["verdict"] == "below" and row["high"] < 0
    # the same disparity through another group is no difference
    other = [regions.run(unfair(10 + seed, 5), seed=seed, **REGION) for seed in range(1, 6)]
    rows = regions.tests(*runs, *other, positive=1)
    assert rows["group_dro", "court_region", "gd"]["verdict"] == "equivalent"


def test_labels_that_differ_do_not_explain_a_gap_of_selection_rates(world):
    """A classifier that follows labels less, which differ by gender, selects more equally."""
    cases = [
        {"labels": [label], "split": split, "defendant_gender": gender}
        for split in ("train", "test")
        for gender, more, fewer in (("male", "<=12", "0"), ("female", "0", "<=12"))
        for label in [more] * 90 + [fewer] * 30
    ]
    unequal = world(cases)
    runs = [unequal.run(noisy(seed, 0.3), seed=seed) for seed in range(1, 6)]
    runs += [unequal.run(noisy(10 + seed, 3), seed=seed, **DRO) for seed in range(1, 6)]
    rows = unequal.tests(*runs, positive=1)
    row = rows["group_dro", "defendant_gender", "selection_rate"]
    assert row["erm"] == pytest.approx(50, abs=3) and row["value"] < 35
    assert row["verdict"] == "below" and abs(row["noise"]) < 3
    assert rows["group_dro", "defendant_gender", "tpr"]["verdict"] != "below"


def test_the_noise_of_the_same_disparity_is_that_of_each_group():
    """A group of accurate classifiers that is less accurate has more noise than random groups."""
    generator = np.random.default_rng(1)
    count, rates = 150, np.array([[0.86, 0.86, 0.66, 0.86], [0.96, 0.96, 0.96, 0.76]])
    hits = np.arange(count)[:, None, None] < np.round(count * rates)
    hits = generator.permuted(hits, axis=0).astype(np.float32)
    values, codes = hits.transpose(2, 0, 1).reshape(-1, 2), np.repeat(np.arange(4), count)
    random = permuted_sums(values, codes, 4, seed=2, permutations=2000)
    redrawn = redrawn_sums(values, codes, 4, seed=2, draws=2000)
    scores = [100 / count * some.swapaxes(1, 2)[:, :, None] for some in (random, redrawn)]
    gap = tests.Gap(
        partial(np.std, axis=-1), 100 * rates[:, None], *scores, np.full(4, float(count))
    )
    # the standard deviation is linear in the scores where groups differ by far more than noise
    weights = (rates - rates.mean(axis=1, keepdims=True)) / (4 * rates.std(axis=1, keepdims=True))
    spread = 100 * (weights**2 * rates * (1 - rates) / count).sum() ** 0.5
    test = tests.test_gap(gap, 5.0)
    assert (test["high"] - test["low"]) / 2 == pytest.approx(1.96 * spread, rel=0.08)
    by_random = tests.test_gap(gap._replace(redrawn=gap.random), 5.0)
    assert by_random["high"] - by_random["low"] < 0.9 * (test["high"] - test["low"])


def test_objectives_share_the_draws_of_an_attribute(equal, monkeypatch):
    drawn = []

    def counted(*args, **options):
        drawn.append(options["seed"])
        return permuted_sums(*args, **options)

    monkeypatch.setattr(tests, "permuted_sums", counted)
    women = wrong_for(equal.genders, "female")
    runs = [equal.run(seed=seed) for seed in (1, 2, 3)]
    for objective, seeds in (("group_dro", (1, 2)), ("v_rex", (1, 2, 3)), ("leace", (4,))):
        runs += [equal.run(women, seed=s, **DRO | {"objective": objective}) for s in seeds]
    together = equal.tests(*runs, positive=1)
    assert len(drawn) == len(set(drawn))
    monkeypatch.setattr(tests, "SUMS_AT_ONCE", 1)  # each objective draws the same again
    assert equal.tests(*runs, positive=1) == together
    assert len(drawn) == 3 * len(set(drawn))


def test_gaps_of_rates_are_tested_if_a_label_is_positive(equal):
    women = wrong_for(equal.genders, "female")
    runs = [equal.run(seed=seed) for seed in (1, 2, 3)]
    runs += [equal.run(women, seed=seed, **DRO) for seed in (1, 2, 3)]
    assert len(equal.tests(*runs)) == 4
    rows = equal.tests(*runs, positive=1)
    assert len(rows) == 7
    true = np.array([*range(60)] * 2) % 3
    test = np.array(equal.genders[:120]) == "female"
    predicted = runs[3].logits[runs[3].splits == "test"].argmax(axis=1)
    for name, among in (("selection_rate", true >= 0), ("tpr", true == 1), ("fpr", true != 1)):
        row = rows["group_dro", "defendant_gender", name]
        rates = [100 * (predicted[among & (test == side)] == 1).mean() for side in (True, False)]
        assert row["value"] == pytest.approx(max(rates) - min(rates), abs=1e-5)
        assert (row["erm"], row["label"]) == (pytest.approx(0, abs=1e-5), "<=12")
    assert row["low"] < row["difference"] < row["high"] and row["p_cases"] < 0.05
    overall = rows["group_dro", "defendant_gender", "overall"]
    assert overall["label"] is None
    # without a positive case in one of two groups there is no gap
    one_sided = equal.tests(*runs, positive=5)["group_dro", "defendant_gender", "tpr"]
    assert (one_sided["verdict"], one_sided["reason"]) == (None, "one group only has cases")


def test_the_p_value_over_seeds_is_that_of_scipy(world):
    small = world(people(15, 15, splits=("test",)))
    runs = {
        name: [small.run(noisy(seed + start), seed=seed, **key) for seed in (1, 2, 3)]
        for name, start, key in (("erm", 0, {}), ("dro", 7, DRO))
    }
    true = np.array([*range(15)] * 2) % 3
    macro = {"labels": range(6), "average": "macro", "zero_division": 0}
    erm, dro = (
        [100 * f1_score(true, run.logits.argmax(axis=1), **macro) for run in some]
        for some in runs.values()
    )
    rows = small.tests(*runs["erm"], *runs["dro"])
    for row in rows.values():  # the interval agrees with the p-value over cases
        assert (row["p_cases"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
    row = rows["group_dro", "defendant_gender", "overall"]
    expected = ttest_rel(dro, erm)
    assert row["p_seeds"] == pytest.approx(expected.pvalue, abs=1e-6)
    ends = [row["seeds_low"], row["seeds_high"]]
    assert ends == pytest.approx(list(expected.confidence_interval()), abs=1e-5)


def test_few_cases_show_nothing(world):
    small = world(people(3, 1))
    runs = [small.run(wrong, seed=seed) for seed in (1, 2, 3)]
    runs += [small.run(seed=seed, **DRO) for seed in (1, 2, 3)]
    # of the 16 ways to swap four cases one is as good, and one as bad
    row = small.tests(*runs)[MEAN]
    assert row["p_cases"] == pytest.approx(2 / 16, abs=0.05)
    assert (row["p_seeds"], row["reason"]) == (None, "all seeds differ by the same")
    row = small.tests(runs[0], runs[3])[MEAN]
    assert (row["p_seeds"], row["verdict"]) == (None, "inconclusive")
    assert row["reason"] == "one seed gives no variance between runs"


def test_the_same_predictions_do_not_differ(world):
    small = world(people(12, 12))
    runs = [small.run(noisy(seed), seed=seed, **key) for seed in (1, 2) for key in ({}, DRO)]
    rows = small.tests(*runs).values()
    assert len(rows) == 4
    for row in rows:
        # each swap gives the same, so the data do show that there is no difference
        assert row["verdict"] == "equivalent"
        assert row["difference"] == row["low"] == row["high"] == 0
        assert row["p_cases"] == row["p_seeds"] == 1
    # but classifiers that learned nothing are not equivalent
    for row in small.tests(*(small.run(np.zeros_like, **key) for key in ({}, DRO))).values():
        assert row["verdict"] == "inconclusive"
        assert row["reason"] == "both predict the same for every case"
    # and a difference from one that learned nothing is none of the objective
    for learned in ({}, DRO):
        constant = DRO if learned == {} else {}
        runs = [small.run(noisy(seed), seed=seed, **learned) for seed in (1, 2, 3)]
        runs += [small.run(np.zeros_like, seed=seed, **constant) for seed in (1, 2, 3)]
        rows = small.tests(*runs).values()
        assert max(row["p_cases_adjusted"] for row in rows if row["measure"] != "gd") < 0.05
        assert {(row["verdict"], row["reason"]) for row in rows} == {
            ("inconclusive", "one of the two classifiers predicts the same for every case")
        }


def test_an_objective_is_tested_by_the_gaps_of_attributes_that_it_was_not_trained_for(world):
    """It is wrong for one region, half women; plain training is wrong for none."""
    cases = [
        case | {"court_region": region}
        for case in people(30, 30)
        for region in ("Hunan", "Beijing")
    ]
    small = world(cases)
    in_hunan = wrong_for([case["court_region"] for case in cases], "Hunan", share=1)
    runs = [small.run(seed=seed) for seed in (1, 2, 3)]
    runs += [small.run(in_hunan, seed=seed, **DRO) for seed in (1, 2, 3)]
    rows = small.tests(*runs, positive=1)
    of_region = {measure: row for (_, name, measure), row in rows.items() if name[0] == "c"}
    assert set(of_region) == set(tests.GAPS)
    assert {row["trained_for"] for row in of_region.values()} == {"defendant_gender"}
    region, gender = (
        rows["group_dro", name, "tpr"] for name in ("court_region", GENDER["attribute"])
    )
    assert region["turned"] is gender["turned"] is False  # plain training has no gap
    assert region["difference"] > 40 > 20 > abs(gender["difference"])
    assert region["p_cases"] < 0.05 < gender["p_cases"]


def test_tests_that_are_not_possible_state_the_reason(world):
    small = world([case | {"court_region": "Hunan"} for case in people(8, 8)])
    region = small.run(objective="group_dro", attribute="court_region")
    row = small.tests(small.run(), region)["group_dro", "court_region", "gd"]
    assert row["reason"] == "one group only has cases"
    assert row["p_cases"] is row["verdict"] is None
    rows = small.tests(small.run(), small.run(seed=9, **DRO))
    assert {(row["reason"], row["seeds"]) for row in rows.values()} == {
        ("they have no seed in common", 0)
    }
    rows = small.tests(small.run(seed=9, **DRO))
    assert {(row["reason"], row["seeds"]) for row in rows.values()} == {
        ("the classifier has no plain training; add erm to its objectives", 0)
    }
    small = world([*people(8, 8, ("train",)), *[{"labels": ["0"], "split": "test"}] * 8])
    rows = small.tests(small.run(noisy(1)), small.run(noisy(2), **DRO))
    no_group = "no case has a known group"
    without_group = {key[-1] for key, row in rows.items() if row["reason"] == no_group}
    assert without_group == {"mean", "gd", "worst"}  # all but overall


def test_an_objective_without_groups_is_tested_on_each_attribute_and_overall_once(world):
    small = world(
        [
            case | {"court_region": region}
            for case in people(8, 8)
            for region in ("Hunan", "Beijing")
        ]
    )
    runs = [
        small.run(noisy(seed + start, 3 - start / 10), seed=seed, objective=objective)
        for start, objective in ((0, "erm"), (10, "class_balanced"))
        for seed in (1, 2, 3)
    ]
    rows = small.tests(*runs)
    both = [
        rows["class_balanced", name, "overall"] for name in ("defendant_gender", "court_region")
    ]
    assert both[0] | {"attribute": ""} == both[1] | {"attribute": ""}
    # seven tests, not eight
    smallest, adjusted = (
        min(row[name] for row in rows.values()) for name in ("p_seeds", "p_seeds_adjusted")
    )
    assert adjusted == pytest.approx(min(1, 7 * smallest), abs=1e-5)


def gendered(split, gender, label, count=1):
    return [{"labels": [label], "split": split, "defendant_gender": gender}] * count


CAUSES = [
    *gendered("train", "male", "0", 6),
    *gendered("train", "female", "0", 2),
    *gendered("test", "male", "0", 3),
    *gendered("test", "male", "<=12"),
    *gendered("test", "female", "<=12", 3),
    {"labels": None, "split": "train", "defendant_gender": "female"},
    {"labels": ["<=36"], "split": "test"},
]


def explained(small, *logits_of):
    runs = [small.run(one, seed=seed) for seed, one in enumerate(logits_of)]
    rows = small.rows(table_2, *runs, small.run(objective="irm", attribute="defendant_gender"))
    return {(row["attribute"], row["group"]): row for row in rows}


def fails_the_second_label(hot):
    logits = right(hot)
    logits[hot[:, 1] == 1] = right(hot[:1])  # predicts the first one
    return logits


def test_possible_causes_of_a_gap(world):
    small = world(CAUSES)
    rows = explained(small, fails_the_second_label)
    man, woman = rows["defendant_gender", "male"], rows["defendant_gender", "female"]
    assert (man["train_cases"], man["test_cases"]) == (6, 4)
    assert (woman["train_cases"], woman["test_cases"]) == (2, 3)  # one has no known label
    assert {row["worst_class"] for row in rows.values()} == {"<=12"}
    assert (woman["worst_class_f1"], woman["worst_class_cases"]) == (0, 4)
    assert (man["wci"], woman["wci"]) == (0.25, 1)
    assert woman["drift"] == pytest.approx(jensenshannon([1, 0], [0, 1]), abs=1e-6)
    assert man["drift"] == pytest.approx(jensenshannon([1, 0], [3, 1]), abs=1e-6)
    assert (man["score"], woman["score"]) == (pytest.approx(100 * (6 / 7) / 6), 0)
    assert {(man[mark], woman[mark]) for mark, *_ in table_2.MARKS} == {(False, True)}
    assert woman["few"] is True
    beijing = rows["court_region", "Beijing"]
    assert beijing["score"] is beijing["wci"] is beijing["worst"] is None
    woman = explained(small, fails_the_second_label, right)["defendant_gender", "female"]
    assert (woman["seeds"], woman["score"]) == (2, pytest.approx(100 / 6 / 2))


def test_ties_have_no_mark(world):
    rows = explained(world(CAUSES), wrong)
    for name in ("male", "female"):
        row = rows["defendant_gender", name]
        assert (row["worst_class_f1"], row["as_bad"], row["most_wci"]) == (0, 2, None)
    pairs = [(split, gender) for split in ("train", "test") for gender in ("male", "female")]
    small = world([case for pair in pairs for case in gendered(*pair, "0")])
    rows = explained(small, right)
    for name in ("male", "female"):
        row = rows["defendant_gender", name]
        assert [row[mark] for mark in ("worst", "fewest_train_cases", "most_wci")] == [False] * 3
    assert small.rows(table_2, small.run(**DRO)) == []  # no ERM


def calibrated(small, *runs):
    study = small.study(*runs)
    rows, bins = (table(small.folder, member, study) for member in (calibration, calibration_bins))
    return {(row["attribute"], row["group"]): row for row in rows}, bins


def test_too_confident_for_one_group(equal):
    rows, bins = calibrated(equal, equal.run(wrong_for(equal.genders, "female")))
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
    of_women = only(bins, attribute="defendant_gender", group="female")
    assert [of_women[name] for name in ("bin", "predictions", "share_right")] == [14, 60, 0.4]
    assert of_women["from"] <= sure < of_women["to"]


def test_calibration_of_several_labels(world):
    cases = [
        {"labels": ["2", "3"], "split": "test", "applicant_gender": "male"},
        {"labels": [], "split": "test"},
    ]
    small = world(cases, "ecthr")
    rows, _ = calibrated(small, small.run(lambda hot: np.zeros(hot.shape)))
    man = rows["applicant_gender", "male"]
    names = ("cases", "predictions", "confidence", "share_right", "ece", "verdict")
    assert [man[name] for name in names] == [1, 10, 0.5, 0.2, 0.3, "inconclusive"]
    assert rows["applicant_gender", "all"]["share_right"] == 0.1
    assert rows["applicant_gender", "female"]["ece"] is None


def test_predictions_of_pairs_by_hand():
    p = np.array([[[0.6, 0.2], [0.51, 0.2]]])
    q = np.array([[[0.7, 0.2], [0.49, 0.2]]])
    found = counterfactual.compared(logit(p), logit(q), "multi_label")
    assert found["ifr_b"].tolist() == [[100, 0]]
    assert found["ifr_p"].tolist() == [[0, 100]]
    expected = [
        jensenshannon([1 - a, a], [1 - b, b]) ** 2 / 2 for a, b in ((0.6, 0.7), (0.51, 0.49))
    ]
    np.testing.assert_allclose(found["divergence"], [expected], rtol=1e-4)
    logits = np.log([[[0.6, 0.4]]])
    found = counterfactual.compared(logits, logits[..., ::-1], "multi_class")
    assert found["ifr_b"].tolist() == [[0]]
    assert found["divergence"].item() == pytest.approx(jensenshannon([0.6, 0.4], [0.4, 0.6]) ** 2)


@pytest.fixture
def judged(world):
    splits = ("train", "dev", *["test"] * 16)
    small = world([{"split": split, "labels": ["2"]} for split in splits], "ecthr")

    def made(objective="erm", seed=1, **changes):
        run = small.run(lambda hot: hot, objective=objective, seed=seed)
        return with_counterfactuals(run, **changes)

    def rows(*runs):
        found = small.rows(counterfactual, *runs)
        return {(row["objective"], row["measure"]): row for row in found}

    return made, rows


def test_counterfactuals_against_erm(judged):
    made, rows = judged
    worse = made("iifr_text")
    found = rows(made(seed=1, changed=12), made(seed=2, changed=10), worse)
    erm, fair = found["erm", "ifr_b"], found["iifr_text", "ifr_b"]
    assert (erm["cases"], erm["twins"], erm["seeds"]) == (16, 15, 2)
    assert erm["value"] == pytest.approx(100 * 4 / 15, abs=1e-5)
    assert erm["difference"] is erm["verdict"] is None
    assert (fair["value"], fair["sd"], fair["verdict"]) == (100, None, "above")
    assert erm["low"] < erm["value"] < erm["high"] < 100 and fair["low"] < fair["high"] == 100
    assert fair["difference"] == pytest.approx(100 * 11 / 15, abs=1e-5)
    assert fair["erm"] == erm["value"]
    assert found["iifr_text", "divergence"]["verdict"] == "below"
    assert found["erm", "macro_f1"]["value"] == found["iifr_text", "macro_f1"]["value"]
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


@pytest.fixture
def curved(world):
    small = world(people(1, 1))
    return lambda *histories: small.rows(curves, small.run(), histories=list(histories))


def test_each_seed_then_the_mean_of_those_that_reached_the_epoch(curved, tmp_path):
    rows = curved(train(tmp_path / "a.parquet"))
    assert [(row["seed"], row["epoch"], row["seeds"], row["macro_f1"]) for row in rows] == [
        ("0", 1, None, 20), ("0", 2, None, 40), ("1", 1, None, 30), ("mean", 1, 2, 25),
        ("mean", 2, 1, 40),
    ]  # fmt: skip
    assert [row["macro_f1_sd"] for row in rows] == [None, None, None, 7.071068, None]
    assert [row["loss"] for row in rows] == [1, 0.5, 1, 1, 0.5]
    assert {row["learning_rate"] for row in rows} == {0.5, None}
    assert [row["best"] for row in rows] == [False] * 3 + [None] * 2
    rows = curved(train(tmp_path / "b.parquet", loss=float("nan")))
    assert {row["loss"] for row in rows} == {None} and rows[-1]["macro_f1"] == 40
    dro = train(tmp_path / "dro.parquet", "group_dro", "gender")
    rows = curved(dro, tmp_path / "a.parquet")  # in the order of the files
    settings = list(dict.fromkeys((row["objective"], row["trained_for"]) for row in rows))
    assert settings == [("group_dro", "gender"), ("erm", "none")]


def test_broken_histories(curved, tmp_path):
    path = train(tmp_path / "a.parquet")
    pq.write_table(pa.table({"seed": [1]}), path)
    with pytest.raises(InputError, match=r"lacks the column \w+; give the history of a training"):
        curved(path)


#: The sizes of FairLex's own cases.
SIZES = dict.fromkeys(("train", "dev", "test"), "reproduced")
ERM = [{"seed": seed} for seed in (1, 2, 3)]
ENCODER = [{"seed": seed, "classifier": "encoder"} for seed in (1, 2, 3)]
BOTH = {"linear": "linear", "encoder": "transformer"}

#: The cells of `table_4` and of the claims that are compared.
SHOWN = (
    *("classifier", "objective", "stands_for", "measure", "quantity", "group", "other_group"),
    *("seeds", "ours", "sd", "compat", "published", "source", "verdict", "reason", "known_error"),
)


@pytest.fixture
def beside(world):
    """A study beside the paper's numbers, of trainings on people."""

    def study(*keys, verdicts=SIZES, **options):
        small = world(people(30, 30))
        size_rows = [
            {"quantity": "cases", "item": split, "ours": 7, "verdict": verdict}
            | {"published": 9 if verdict == "not_reproduced" else 7}
            for split, verdict in verdicts.items()
        ]
        options |= {"size_rows": size_rows, "permutations": 100}
        runs = [small.run(noisy(n), **key) for n, key in enumerate(keys, 1)]
        return small.study(*runs, **options)

    return study


PUBLISHED = (
    NO_SCORES
    + "cail,transformer,defendant_gender,erm,mean,5.0,0,table_4,,\n"
    + "cail,transformer,defendant_gender,erm,worst,99,99,table_4,,\n"
    + "cail,linear,defendant_gender,erm,gd,99,99,table_4,,\n"
    + "cail,transformer,defendant_gender,v_rex,mean,60.2,0,table_4,,\n"
    + "ecthr,transformer,applicant_age,erm,mean,60.2,0,table_4,,\n"
)
QUIRK = NO_SCORES + "cail,transformer,defendant_gender,group_dro,mean,50,50,draft,true,a quirk\n"
CLAIMED = (
    NO_CLAIMS
    + "cail,defendant_gender,gap,,,0,100,my-error\n"
    + "cail,defendant_gender,score,male,,1.0,1.0,\n"
    + "cail,defendant_gender,below,male,female,-100,100,\n"
    + "cail,defendant_gender,best,male,,,,\n"
    + "cail,court_region,score,Beijing,,66.8,66.8,\n"
)
GIVEN = {"scores": PUBLISHED, "claims": CLAIMED, "stands_for": BOTH}
TRANSFORMER = {"stands_for": {"linear": "transformer"}}
ANOTHER = [key | {"classifier": "another"} for key in (ENCODER[0], DRO)]

#: The trainings and the options of studies beside the paper.
STUDIES = {
    "linear rows are first, and ERM before the others": (
        [*ENCODER, DRO, *ERM[1:], {"classifier": "encoder"} | DRO, *ANOTHER],
        {"stands_for": {"linear": "linear"}},
    ),
    "no classifier stands for the paper's": (ERM, GIVEN | {"stands_for": {}}),
    "two that do": ([*ERM, *ENCODER], GIVEN),
    "two for the same": (
        [*ERM, *ENCODER],
        GIVEN | {"stands_for": dict.fromkeys(BOTH, "transformer")},
    ),
    "other cases": (ENCODER, GIVEN | {"verdicts": dict.fromkeys(SIZES, "not_run")}),
    "other sizes": (ENCODER, GIVEN | {"verdicts": SIZES | {"test": "not_reproduced"}}),
    "without the quirk of a number": ([DRO, DRO | {"seed": 2}], TRANSFORMER | {"scores": QUIRK}),
    "with it": (
        [DRO, DRO | {"seed": 2}],
        TRANSFORMER | {"scores": QUIRK, "compat_objectives": ("group_dro",)},
    ),
}


def test_our_numbers_beside_the_papers(beside, tmp_path):
    lines = []
    for name, (keys, options) in STUDIES.items():
        study = beside(*keys, **options)
        lines.append(f"## {name}")
        for member in (table_4, claims):
            for row in table(tmp_path, member, study):
                if row["attribute"] == "defendant_gender" or row.get("verdict") == "not_run":
                    cells = (f"{key}={row[key]}" for key in SHOWN if row.get(key) is not None)
                    lines.append(" ".join(cells))
    check_expected("tables/beside_the_paper.txt", "\n".join(lines) + "\n")


def test_claims_are_of_the_scores_by_the_convention_of_the_published_code(beside, tmp_path):
    study = beside(*ENCODER, **GIVEN)
    gap, _, below, best = table(tmp_path, claims, study)[:4]
    groups = table(tmp_path, group_scores, study)
    key = {"classifier": "encoder", "attribute": "defendant_gender", "convention": "present"}
    male, female = (
        np.array([only(groups, **key, group=name, seed=seed)["score"] for seed in "123"])
        for name in ("male", "female")
    )
    assert float(gap["ours"]) == pytest.approx(np.abs(male - female).mean(), abs=1e-5)
    assert float(below["ours"]) == pytest.approx((female - male).mean(), abs=1e-5)
    assert best["ours"] == ("male" if male.sum() > female.sum() else "female")


def test_noise_that_turns_a_change_around_shows_nothing():
    """Where labels differ between groups, matched noise can be far from 0 (a user's data)."""
    draws = np.random.default_rng(0).normal(0, 0.5, (400, 2, 3, 2))
    random = draws + np.array([[[50.0, 55.0]], [[20.0, 70.0]]])
    seen = np.array([[[36.0, 57.0]] * 3, [[30.0, 80.0]] * 3])
    gap = tests.Gap(partial(np.ptp, axis=-1), seen, random, draws, np.array([120.0, 120.0]))
    result = tests.test_gap(gap, 5.0)
    assert result["value"] < result["erm"]
    assert result["turned"] is False
    assert tests.test_gap(gap._replace(seen=seen * [[[1]], [[-1]]]), 5.0)["turned"] is True
    assert result["difference"] < 0 or result["p_cases"] == 1
