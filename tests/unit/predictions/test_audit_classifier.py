"""Audits of classifiers that were trained here: rates of each label, means over seeds."""

import json

import numpy as np
import pytest
from fairlearn.metrics import false_positive_rate, selection_rate, true_positive_rate
from scipy import stats
from sklearn.metrics import f1_score

from evenhand.comparison.items.audited_cases import Store
from evenhand.comparison.results import Results
from evenhand.core.tables import read_tables
from evenhand.io.tables import read_rows
from evenhand.legal.classifier_tables import calibration, group_scores
from evenhand.predictions.audit_classifier import audit_classifier
from evenhand.predictions.read import Predictions
from evenhand.predictions.study import PredictionStudy
from evenhand.predictions.tables import gaps, groups
from evenhand.predictions.words import findings
from unit.legal.made_cases import court, write_cases
from unit.legal.made_predictions import predictions, right, write
from unit.legal.made_study import make_study

RATES = {"selection_rate": selection_rate, "tpr": true_positive_rate, "fpr": false_positive_rate}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def audited(results):
    """Labels, predictions of three seeds, groups; the tables, the description and the cases."""
    folder = results / "legal/d"
    (trained := folder / "predictions/linear/erm/none").mkdir(parents=True)
    draw = np.random.default_rng(4)
    women = draw.integers(0, 2, 240).astype(bool)
    labels = court("ecthr").labels
    true = draw.random((240, len(labels))) < 0.4
    cases = [
        {"split": "test", "labels": [one for one, on in zip(labels, row, strict=True) if on],
         "applicant_gender": "female" if woman else "male"}
        for row, woman in zip(true, women, strict=True)
    ]  # fmt: skip
    data = write_cases(folder / "d.parquet", "ecthr", cases)

    def unfair(hot):  # of the second label to women, and wrong in a fifth of all else
        wrong = draw.random(hot.shape) < 0.2
        wrong[:, 1] |= women & (draw.random(len(hot)) < 0.6)
        return right(np.where(wrong, 1 - hot, hot))

    seeds = [predictions(data, unfair, seed=seed) for seed in (1, 2, 3)]
    files = [write(trained / f"{one.seed}.parquet", one) for one in seeds]
    made = {"meta": results / "predictions/mine/meta.json"}
    made["cases"] = made["meta"].with_name("cases.parquet")
    made["out"] = results / "tables/predictions/mine"
    made["meta"].parent.mkdir(parents=True)
    audit_classifier(data=data, predictions=files, name="mine", **made)
    said = np.stack([1 / (1 + np.exp(-one.logits.astype(float))) for one in seeds])
    meta = json.loads(made["meta"].read_text())
    return true, said, women, read_tables(made["out"]), meta, [*read_rows(made["cases"])]


def test_the_items_of_a_comparison_are_the_test_cases_of_all_seeds(audited, results):
    """Their mean, and that of the seeds, is each number that has an interval."""
    store = Store(Results(results), "tables/predictions/mine/groups.csv")
    rows = audited[3]["groups"]
    for row in rows:
        key = {name: row[name] or "" for name in groups.TABLE.key}
        for column, end in (("value", "low"), ("difference", "difference_low")):
            if row[end] is not None:
                items = store.items(key, column)
                numbers = (items.value.mean(), items.runs.mean())
                assert numbers == pytest.approx([row[column]] * 2, abs=2e-6)
                assert len(items.runs) == 3
    (results / "legal/d/predictions").rename(results / "away")
    assert Store(Results(results), "tables/predictions/mine/groups.csv").items(key, "value") is None
    (results / "away").rename(results / "legal/d/predictions")


def test_the_rates_of_each_label_are_those_of_fairlearn(audited):
    true, p, women, tables, meta, _ = audited
    said = p > 0.5
    assert meta["several"] and meta["runs"] == 3 and meta["positive"] is None
    rows = {(row["group"], row["metric"], row["label"]): row for row in tables["groups"]}
    assert len(rows) == 3 * (3 * 10 + 3)
    for place, label in enumerate(court("ecthr").labels[:3]):
        for metric, rate in RATES.items():
            for group, some in (("female", women), ("male", ~women), ("all", women | True)):
                each = [rate(true[some, place], one[some, place]) for one in said]
                assert rows[group, metric, label]["value"] == pytest.approx(np.mean(each), abs=1e-6)
    exact = (said == true)[:, women].all(axis=2).mean()
    assert rows["female", "accuracy", None]["value"] == pytest.approx(exact, abs=1e-6)
    each = [f1_score(true[women], one[women], average="macro") for one in said]
    assert rows["female", "macro_f1", None]["value"] == pytest.approx(np.mean(each), abs=1e-6)
    errors = []
    for one in p[:, women]:
        place, distance = (one * 15).astype(int), one - true[women]
        errors.append(sum(abs(distance[place == i].sum()) for i in range(15)) / distance.size)
    assert rows["female", "ece", None]["value"] == pytest.approx(np.mean(errors), abs=1e-6)
    assert rows["female", "ece", None]["difference"] is None  # it is no mean over cases


def test_both_tables_of_a_classifier_have_one_macro_f1_and_one_calibration_error(tmp_path):
    draw = np.random.default_rng(7)
    labels = court("cail").labels
    cases = [
        {"split": "test", "labels": [labels[i % len(labels)]], "defendant_gender": gender}
        for i, gender in enumerate(draw.choice(["male", "female"], 480))
    ]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)

    def blurred(hot):
        return right(hot) + draw.normal(scale=3, size=hot.shape)

    seeds = [predictions(data, blurred, seed=seed) for seed in (1, 2, 3)]
    files = [write(tmp_path / f"{one.seed}.parquet", one) for one in seeds]
    made = {key: tmp_path / key for key in ("out", "cases", "meta")}
    audit_classifier(data=data, predictions=files, name="mine", **made)
    (tmp_path / "study").mkdir()
    study = make_study(tmp_path / "study", data, *seeds)
    rows = [
        row
        for row in group_scores.rows(study)
        if row["convention"] == "all" and row["seed"] == "mean" and row["cases"]
    ]
    shares = ("score", "low", "high", "difference", "difference_low", "difference_high")
    f1 = {(row["group"], end): row[end] / 100 for row in rows for end in shares}
    f1 |= {(row["group"], "p_value"): row["p_others"] for row in rows}
    assert {row["verdict"] for row in rows} == {"inconclusive"}
    errors = {row["group"]: row["ece"] for row in calibration.rows(study) if row["cases"]}
    values, ends = {"macro_f1": {}, "ece": {}}, {}
    for row in read_tables(made["out"])["groups"]:
        if row["group"] != "all" and row["metric"] in values:
            values[row["metric"]][row["group"]] = row["value"]
            if row["metric"] == "macro_f1":
                names = [*shares[1:], "p_value"]
                ends |= {(row["group"], end): row[end] for end in names}
    ends |= {(group, "score"): value for group, value in values["macro_f1"].items()}
    assert ends == pytest.approx(f1, abs=1e-6) and len(f1) == 14
    del errors["all"]
    assert values["ece"] == pytest.approx(errors, abs=1e-6)


def test_only_the_planted_gap_is_found(audited):
    *_, tables, _, _ = audited
    above = {(row["metric"], row["label"]) for row in tables["gaps"] if row["verdict"] == "above"}
    assert {("tpr", "3"), ("fpr", "3"), ("equalised_odds", "3")} <= above
    assert {label for _, label in above} <= {"3", None}
    for label in court("ecthr").labels:
        gap = {row["metric"]: row["gap"] for row in tables["gaps"] if row["label"] == label}
        assert gap["equalised_odds"] == max(gap["tpr"], gap["fpr"])
    assert any(one.startswith("The label 3 is recognised ") for one in findings(tables, 5))


def test_many_labels_do_not_hide_a_gap():
    """Of 60 tests none would be significant by 1,000 draws."""
    draw = np.random.default_rng(5)
    true = draw.random((150, 15)) < 0.5
    women = draw.integers(0, 2, 150).astype(bool)
    predicted = true ^ (draw.random(true.shape) < 0.1)
    predicted[women, 3] = False
    study = PredictionStudy(
        Predictions(
            id=np.arange(150).astype(str), classes=[f"l{i}" for i in range(15)], true=true,
            predicted=predicted[None], positive=None, probabilities=None, several=True,
            groups={"g": np.where(women, "w", "m")}, clusters=np.arange(150).astype(str),
            factual=np.array([], int), changed=np.array([], str), flipped=np.empty((0, 15)),
        )
    )  # fmt: skip
    above = {(one["metric"], one["label"]) for one in gaps.rows(study) if one["verdict"] == "above"}
    assert ("tpr", "l3") in above and {label for _, label in above} <= {"l3", None}


@pytest.mark.parametrize(("gaps_of_runs", "found"), [((70, 0, 5), False), ((35, 45, 40), True)])
def test_a_gap_holds_over_runs_too(gaps_of_runs, found):
    """The mean of the first is 25 points, far beyond the noise of cases."""
    yes = np.arange(2000) % 100
    women = np.arange(2000) >= 1000
    runs = [np.where(women, yes < 90, yes < 90 - gap) for gap in gaps_of_runs]
    true = np.stack([yes >= 50, yes < 50], axis=1)
    ids = np.arange(2000).astype(str)
    study = PredictionStudy(
        Predictions(
            id=ids, classes=["no", "yes"], true=true, positive=1, probabilities=None,
            predicted=np.stack([np.stack([~run, run], axis=1) for run in runs]),
            groups={"g": np.where(women, "w", "m")}, clusters=ids,
        )
    )  # fmt: skip
    verdicts = {row["metric"]: row["verdict"] for row in gaps.rows(study)}
    assert (verdicts["selection_rate"] == "above") is found
    [row] = [
        row
        for row in groups.rows(study)
        if (row["group"], row["metric"]) == ("m", "selection_rate")
    ]
    mean, error = np.mean(gaps_of_runs), stats.sem(gaps_of_runs)
    _, high = stats.t.interval(0.95, 2, mean, error)
    reach = -row["difference_low"] - mean / 100
    assert row["value"] == pytest.approx(0.9 - mean / 100)
    assert (high - mean) / 100 < reach < (high - mean) / 100 + 0.02 or reach == 1 - mean / 100
    assert (row["p_adjusted"] < 0.05) is found


def test_a_case_has_the_labels_that_most_seeds_predict(audited):
    true, p, women, _, _, cases = audited
    names = court("ecthr").labels
    shown = ["; ".join(n for n, on in zip(names, row, strict=True) if on) or "none" for row in true]
    assert [one["label"] for one in cases] == shown
    assert cases[0]["applicant_gender"] == ("female" if women[0] else "male")
    for one, both in zip(cases, ((p > 0.5).mean(axis=0) > 0.5), strict=True):
        assert one["prediction"] == (
            "; ".join(n for n, on in zip(names, both, strict=True) if on) or "none"
        )


def test_runs_that_each_predict_one_class_are_uniform():
    def study(predicted, several=False):
        true = np.tile(np.eye(2, dtype=bool)[[0, 1, 1]], (10, 1))
        ids = np.arange(len(true)).astype(str)
        return PredictionStudy(
            Predictions(
                id=ids, classes=["no", "yes"], true=true, positive=1, probabilities=None,
                predicted=np.stack([np.broadcast_to(run, true.shape) for run in predicted]),
                groups={"g": np.resize(["w", "m"], len(true))}, clusters=ids, several=several,
            )
        )  # fmt: skip

    no, yes = np.eye(2, dtype=bool)
    assert study([no, yes]).uniform == "same"
    assert study([no, np.resize([*no, *yes], (30, 2))]).uniform is None
    assert study([no]).majority == pytest.approx(2 / 3)
    assert study([no], several=True).majority is None
