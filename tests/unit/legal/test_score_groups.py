import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.legal.score_groups import score_groups
from unit.legal.made_cases import read_csv, write_cases
from unit.legal.made_predictions import (
    noisy,
    people,
    predictions,
    right,
    write,
    write_people,
    wrong_for,
)


def scored(tmp_path, data, kind, *trainings, **options):
    out, groups = tmp_path / "scores.csv", tmp_path / "groups.csv"
    paths = [write(tmp_path / f"{n}.parquet", one) for n, one in enumerate(trainings)]
    settings = {"splits": ["test"], "resamples": 99, "permutations": 99} | options
    counts = score_groups(
        data=data, predictions=paths, out=out, groups_out=groups, kind=kind, dataset="mine",
        **settings,
    )  # fmt: skip
    return counts, read_csv(out), read_csv(groups)


def one(rows, **named):
    found = [row for row in rows if all(row[key] == value for key, value in named.items())]
    assert len(found) == 1, found
    return found[0]


def gender(rows, convention="all", seed="mean", **more):
    return one(rows, attribute="defendant_gender", convention=convention, seed=seed, **more)


def numbers(row, *names):
    return [float(row[name]) for name in names]


def test_a_gap_is_above_noise_and_of_the_classifier_not_of_labels(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet")
    run = predictions(data, "cail", wrong_for(genders, "female"))
    counts, rows, groups = scored(tmp_path, data, "cail", run)
    row = gender(rows)
    assert row["gd_verdict"] == row["worst_verdict"] == "above noise"
    assert (row["worst_group"], row["cases"], row["smallest_group"]) == ("female", "120", "60")
    assert numbers(row, "gd_p", "gd_p_labels", "worst_p") == pytest.approx([0.01] * 3)
    assert counts["above_noise"] == 1
    man, woman = gender(groups, group="male"), gender(groups, group="female")
    assert man["score"] == "50.000000"  # three of six classes occur
    assert man["perfect"] == "50.000000"
    assert man["classes_present"] == "3"
    # of 20 women with each label 12 are said to have the next one
    assert float(woman["score"]) == pytest.approx(100 * (16 / 28 + 16 / 40 + 16 / 40) / 6)
    assert float(row["mean"]) == pytest.approx((50 + float(woman["score"])) / 2)
    assert float(row["gd"]) == pytest.approx((50 - float(woman["score"])) / 2)
    assert float(man["score"]) > float(man["noise_high"])
    assert float(woman["score"]) < float(woman["noise_low"])
    present = gender(groups, "present", group="male")
    assert present["score"] == "100.000000"


def test_the_same_for_everybody_is_not_above_noise(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    runs = [predictions(data, "cail", noisy(seed), seed=seed) for seed in (1, 2, 3)]
    _, rows, _ = scored(tmp_path, data, "cail", *runs)
    row = gender(rows)
    assert row["gd_verdict"] == row["worst_verdict"] == "not above noise"
    assert 0 < float(row["gd_noise_mean"]) < float(row["gd_noise_95"])
    assert float(row["gd_p"]) > 0.05


def test_the_mean_is_that_of_the_seeds(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet")
    runs = [predictions(data, "cail", noisy(seed), seed=seed) for seed in (4, 9)]
    _, rows, groups = scored(tmp_path, data, "cail", *runs)
    for name in ("overall", "mean", "gd", "worst"):
        each = [float(gender(rows, seed=seed)[name]) for seed in ("4", "9")]
        mean = gender(rows)
        assert float(mean[name]) == pytest.approx(np.mean(each), abs=1e-5)
        assert float(mean[f"{name}_sd"]) == pytest.approx(np.std(each, ddof=1), abs=1e-5)
        low, value, high = numbers(mean, f"{name}_low", name, f"{name}_high")
        assert low <= value <= high
    assert (gender(rows)["seeds"], gender(rows, seed="4")["overall_sd"]) == ("2", "")
    each = [float(gender(groups, seed=seed, group="male")["score"]) for seed in ("4", "9")]
    assert float(gender(groups, group="male")["score"]) == pytest.approx(np.mean(each), abs=1e-5)


def test_neither_the_order_of_cases_nor_that_of_files_counts_for_the_scores(tmp_path):
    cases = people(30, 20)
    order = np.random.default_rng(1).permutation(len(cases))
    found = []
    for name, some in (("a", cases), ("b", [cases[place] for place in order])):
        data = write_cases(tmp_path / f"{name}.parquet", "cail", some)
        runs = [
            predictions(data, "cail", lambda hot: np.roll(hot, 1, axis=1) * hot[:, :1] + hot / 2),
            predictions(data, "cail", right, seed=2),
        ]  # fmt: skip
        (tmp_path / name).mkdir()
        runs = runs if name == "a" else runs[::-1]
        _, rows, _ = scored(tmp_path / name, data, "cail", *runs)
        found.append([numbers(row, "overall", "mean", "gd", "worst", "gd_perfect")
                      for row in rows if row["attribute"] == "defendant_gender"])  # fmt: skip
    assert found[0] == found[1]


def test_numbers_have_six_decimals(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=7, women=3)
    scored(tmp_path, data, "cail", predictions(data, "cail", noisy(1)))
    for name in ("scores.csv", "groups.csv"):
        for row in read_csv(tmp_path / name):
            for column, cell in row.items():
                decimals = cell.partition(".")[2]
                assert len(decimals) in (0, 6), (column, cell)


def test_the_same_twice_gives_the_same_bytes(tmp_path):
    data, genders = write_people(tmp_path / "d.parquet", men=20, women=20)
    run = predictions(data, "cail", wrong_for(genders, "male"))
    written = []
    for _ in range(2):
        scored(tmp_path, data, "cail", run)
        written.append([(tmp_path / n).read_bytes() for n in ("scores.csv", "groups.csv")])
    assert written[0] == written[1]


def test_a_training_for_an_attribute_is_scored_for_it_only(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=12, women=12, court_region="Beijing")
    base = predictions(data, "cail", right)
    dro = predictions(data, "cail", right, objective="group_dro", attribute="court_region")
    _, rows, _ = scored(tmp_path, data, "cail", base, dro)
    seen = {(row["objective"], row["trained_for"], row["attribute"]) for row in rows}
    assert seen == {
        ("erm", "none", "defendant_gender"),
        ("erm", "none", "court_region"),
        ("group_dro", "court_region", "court_region"),
    }
    regions = [row for row in rows if row["attribute"] == "court_region"]
    assert {row["gd_verdict"] for row in regions} == {""}  # one group only
    assert {row["gd"] for row in regions} == {""}
    overall = {(row["overall"], row["overall_low"]) for row in rows if row["convention"] == "all"}
    assert len(overall) == 1  # whatever the attribute


def test_one_case_is_scored_and_flagged_and_no_case_has_no_score(tmp_path):
    cases = [*people(25, 1), {"labels": ["0"], "split": "test"}]
    cases = [one | {"court_region": "Hunan"} for one in cases]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    _, rows, groups = scored(tmp_path, data, "cail", predictions(data, "cail", right))
    woman = gender(groups, "present", group="female")
    assert (woman["cases"], woman["score"], woman["note"]) == ("1", "100.000000", "one case")
    assert woman["low"] == woman["high"] == ""
    row = gender(rows, "present")
    assert (row["cases"], row["known_cases"], row["gd_verdict"]) == ("27", "26", "too few cases")
    region = one(groups, attribute="court_region", group="Sichuan", convention="all", seed="mean")
    assert (region["cases"], region["score"], region["note"]) == ("0", "", "no cases")


def test_none_is_a_class_where_there_may_be_several_labels(tmp_path):
    labels = load_labels("ecthr")
    cases = [{"labels": some, "split": "test", "defendant_state": "Rest of Europe"}
             for some in ([], *[[label] for label in labels])]  # fmt: skip
    data = write_cases(tmp_path / "d.parquet", "ecthr", cases)
    _, rows, _ = scored(tmp_path, data, "ecthr", predictions(data, "ecthr", right))
    seen = {row["convention"]: float(row["mean"]) for row in rows if row["seed"] == "mean"
            and row["attribute"] == "defendant_state"}  # fmt: skip
    expected = {"all": 100, "present": 100, "labels_only": 100, "double_none": 100 * 11 / 12}
    assert seen == pytest.approx(expected, abs=1e-5)
    # a classifier that finds a violation everywhere never says "none"
    data = write_cases(tmp_path / "e.parquet", "ecthr", cases[:1] + cases[1:3])
    always = predictions(data, "ecthr", lambda hot: np.ones(hot.shape))
    _, rows, groups = scored(tmp_path, data, "ecthr", always)
    of_labels = 2 * (2 * 1 / (1 + 3)) / 10
    row = one(groups, attribute="defendant_state", group="Rest of Europe", seed="mean",
              convention="labels_only")  # fmt: skip
    assert float(row["score"]) == pytest.approx(100 * of_labels)
    row = one(groups, attribute="defendant_state", group="Rest of Europe", seed="mean",
              convention="all")  # fmt: skip
    assert float(row["score"]) == pytest.approx(100 * of_labels * 10 / 11)


def test_what_says_the_same_of_every_case_is_told(tmp_path):
    data = write_cases(tmp_path / "d.parquet", "ecthr", [
        {"labels": labels, "split": "test", "defendant_state": state}
        for state, labels in (("Rest of Europe", []), ("C.E. European", ["3"])) for _ in range(30)
    ])  # fmt: skip
    nothing = predictions(data, "ecthr", lambda hot: hot * 0 - 1.0)
    third = predictions(data, "ecthr", lambda hot: (np.arange(10) < 2) - 0.5 + 0 * hot, seed=2)
    learned = predictions(data, "ecthr", right, seed=3)
    counts, rows, _ = scored(tmp_path, data, "ecthr", nothing, third, learned)
    assert counts["constant"] == 2
    own = [
        row for row in rows if (row["attribute"], row["convention"]) == ("defendant_state", "all")
    ]
    said = {row["seed"]: (row["constant_seeds"], row["always"]) for row in own}
    assert said == {
        "1": ("1", "none"), "2": ("1", "2, 3"), "3": ("0", ""), "mean": ("2", "none; 2, 3"),
    }  # fmt: skip
    # its gap is one of labels, however far above noise
    row = one(own, seed="1")
    assert float(row["gd"]) > float(row["gd_noise_95"])
    assert (row["gd_verdict"], float(row["gd_p_labels"])) == ("above noise", 1.0)


def load_labels(kind):
    from evenhand.legal.built import load_dataset

    return load_dataset(kind).labels


def test_a_gap_of_labels_is_told_from_one_of_the_classifier(tmp_path):
    """Women have the class only that nobody is found in: the gap vanishes among equal labels."""
    cases = [
        {"labels": [label], "split": "test", "defendant_gender": gender}
        for gender, label in (("male", "0"), ("female", "<=12"))
        for _ in range(40)
    ]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    say = np.eye(6)[0]
    run = predictions(data, "cail", lambda hot: np.tile(say, (len(hot), 1)))
    _, rows, _ = scored(tmp_path, data, "cail", run)
    row = gender(rows)
    assert row["gd_verdict"] == "above noise"
    assert (row["gd_p"], row["gd_p_labels"]) == ("0.010000", "1.000000")


def test_cases_without_a_known_label_do_not_count(tmp_path):
    cases = [*people(5, 5), {"labels": None, "split": "test", "defendant_gender": "male"}]
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    _, rows, _ = scored(tmp_path, data, "cail", predictions(data, "cail", right))
    assert gender(rows)["cases"] == "10"


def test_both_splits_by_default(tmp_path):
    cases = people(5, 5, splits=("train", "dev", "test"))
    data = write_cases(tmp_path / "d.parquet", "cail", cases)
    run = predictions(data, "cail", right)
    _, rows, _ = scored(tmp_path, data, "cail", run, splits=None)
    assert [row["split"] for row in rows if row["seed"] == "mean" and row["convention"] == "all"
            and row["attribute"] == "defendant_gender"] == ["dev", "test"]  # fmt: skip


def test_bad_input(tmp_path):
    data, _ = write_people(tmp_path / "d.parquet", men=4, women=4)
    run = predictions(data, "cail", right)

    def refused(match, *trainings, data=data, **options):
        with pytest.raises(InputError, match=match):
            scored(tmp_path, data, "cail", *trainings, **options)

    refused("as does", run, run)
    refused("is of the attribute 'colour'", run._replace(attribute="colour"))
    refused("has 5 logits for 6 labels", run._replace(logits=run.logits[:, :5]))
    short = run._replace(case_ids=run.case_ids[1:], splits=run.splits[1:], logits=run.logits[1:])
    refused("is not of the cases with known labels", short)
    refused("is not of the cases", run._replace(case_ids=np.char.add(run.case_ids, "x")))
    refused("is not of the cases", run._replace(splits=run.splits[::-1]))
    refused("there is no split 'tset'", run, splits=["tset"])
    refused("no case with a known label in dev", run, splits=["dev"])
    refused("nothing can be said of chance", run, permutations=0)
    with pytest.raises(InputError, match="there are no predictions"):
        score_groups(data=data, predictions=[], out=tmp_path / "o", groups_out=tmp_path / "g",
                     kind="cail", dataset="mine", splits=["test"])  # fmt: skip
