"""The test individuals behind the numbers: their counts give the same numbers as the tables."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest, norm

from evenhand.core.rows import grouped
from evenhand.errors import InputError
from evenhand.individual.people import (
    count_answers,
    name_of,
    read_answers,
    read_people,
    settings_of_tables,
)
from evenhand.individual.results import (
    SETTING,
    describe,
    largest,
    read_groups,
    read_runs,
    setting_of,
)
from evenhand.individual.tables import individuals, table_4, table_6
from evenhand.learning.train_eidig import train_eidig
from evenhand.learning.train_table import train_table
from unit.individual.made_study import study
from unit.learning.made_eidig import people
from unit.learning.made_tables import arguments
from unit.learning.made_tables import table as made_table
from unit.report import made_people

MEASURES = ("acc", "positive_rate", "ifr_b", "ifr_p", "ifr_p_all")


def of_files(files):
    """The study of trainings."""
    runs = read_runs(files["runs"])
    return study(
        [],
        read_people(files["people"], files["meta"]),
        runs=runs,
        groups=read_groups(files["groups"], runs) if "groups" in files else {},
        trainings=list(zip(files["runs"], files["predictions"], strict=True)),
    )


def counted(files):
    """The counts by setting in words, group and label."""
    return {
        (f"{row['method']}, {row['individual']}", row["group"], row["label"]): row
        for row in individuals.rows(of_files(files))
    }


def test_answers_and_people_are_counted_by_group_and_label(tmp_path):
    found = counted(made_people.two_groups(tmp_path / "one"))
    everyone = found["mlp, none", None, None]
    expected = {
        "seeds": 2, "runs": 2, "answers": 7, "people": 5, "wrong": 3, "wrong_people": 3,
        "positive": 2, "positive_people": 2, "changed": 1, "changed_people": 1, "beyond": 2,
        "beyond_people": 2, "flips": 7, "changed_flips": 1, "beyond_flips": 2,
        "acc": pytest.approx(54.166667), "positive_rate": 0.25, "ifr_b": 87.5, "ifr_p": 75,
        "ifr_p_all": 75,
    }  # fmt: skip
    assert {name: everyone[name] for name in expected} == expected
    # the mean of the seeds, as of the predictions; of all answers it is 3 of 7, 1 of 3 and 2 of 4
    rates = [found["mlp, none", group, None]["label_rate"] for group in (None, 0, 1)]
    assert rates == pytest.approx([11 / 24, 1 / 4, 2 / 3])
    women = found["mlp, none", 1, None]
    assert (women["answers"], women["people"], women["changed"]) == (4, 3, 1)
    assert women["ifr_b"] == pytest.approx((2 / 3 + 1) / 2 * 100)
    negative = found["mlp, none", 1, 0]
    assert (negative["answers"], negative["wrong"], negative["beyond"]) == (2, 1, 1)
    loss = found["mlp, iifr_cosine", None, None]
    assert (loss["changed"], loss["beyond"], loss["ifr_p"]) == (0, 0, 100)


def test_a_person_of_several_groups_counts_with_the_share_of_flips(tmp_path):
    found = counted(made_people.three_groups(tmp_path / "one"))
    everyone = found["logistic_regression, none", None, None]
    assert (everyone["changed"], everyone["changed_flips"], everyone["flips"]) == (2, 3, 12)
    assert (everyone["beyond"], everyone["beyond_flips"], everyone["ifr_b"]) == (2, 4, 75.0)
    assert everyone["ifr_p"] == pytest.approx(100 * 8 / 12)
    assert everyone["ifr_p_all"] == pytest.approx(100 * 4 / 6)


def test_a_method_that_sees_whole_numbers_is_counted_by_their_groups(tmp_path):
    found = counted(made_people.whole_numbers(tmp_path / "one"))
    assert {
        (words.removesuffix(", none"), group): (row["answers"], row["flips"])
        for (words, group, label), row in found.items()
        if group is not None and label is None
    } == {  # no test individual is of the middle group
        ("mlp", 0): (2, 2), ("mlp", 1): (2, 2),
        ("eidig_integers", 0): (2, 4), ("eidig_integers", 2): (2, 4),
    }  # fmt: skip
    everyone = found["eidig_integers, none", None, None]
    assert (everyone["changed"], everyone["changed_flips"]) == (1, 1)
    assert (everyone["beyond"], everyone["beyond_flips"]) == (2, 4)
    assert everyone["ifr_b"] == pytest.approx(100 * 7 / 8)
    assert found["mlp, none", None, None]["ifr_p"] == 100


@pytest.fixture
def files(tmp_path):
    """Collects the files of trainings on one table."""
    found = {name: [] for name in ("runs", "groups", "predictions")}

    def train(stage, made, name, **options):
        (folder := tmp_path / name).mkdir()
        given = arguments(folder, made, epochs=3)
        stage(**given, **options)
        for one, argument in zip(found, ("out", "groups", "predictions"), strict=True):
            found[one].append(given[argument])
        return found | {"people": [given["data"]], "meta": [given["meta"]]}

    return train


def check_tables(files, rows):
    """Compare the numbers of Tables 4 and 6 with what was counted; return how many there are."""
    given, found = of_files(files), counted(files)
    compared = 0
    for row in [*table_4.rows(given), *table_6.rows(given)]:
        if row["metric"] in MEASURES and row["mean"] is not None:
            individual = found[f"{row['method']}, {row['individual']}", row["group"], None]
            assert individual[row["metric"]] == pytest.approx(row["mean"], abs=1e-5)
            compared += 1
    assert compared == rows
    return found


def test_intervals_over_people_do_not_shrink_with_seeds(files):
    given = files(train_table, made_table(), "mlp", method="mlp", seeds=1, split="random")
    people = read_people(given["people"], given["meta"])["made"]
    names = {name_of(setting_of(run)) for run in read_runs(given["runs"])}
    [one] = read_answers(given["runs"][0], given["predictions"][0], people, names)
    several = {name: np.repeat(getattr(one, name), 4, axis=0) for name in ("row", "p", "flipped")}
    seeds = np.tile(np.arange(4), len(one.row))
    four = dataclasses.replace(one, seeds=[1, 2, 3, 4], seed=seeds, **several)
    once, often = (count_answers(each, np.ones(len(each.row), bool)) for each in (one, four))
    hits, of = once["positive"], once["people"]
    expected = binomtest(hits, of).proportion_ci(method="exact")
    ends = [once["positive_rate_low"], once["positive_rate_high"]]
    assert ends == pytest.approx([expected.low, expected.high], abs=0.002)
    for name in MEASURES:
        assert [often[f"{name}_{end}"] for end in ("low", "high")] == pytest.approx(
            [once[f"{name}_{end}"] for end in ("low", "high")], abs=0.02 * largest(name)
        )
    rows = {(row["group"], row["label"]): row for row in individuals.rows(of_files(given))}
    rates = [rows[group, None] for group in (0, 1)]
    lowest, highest = sorted(rates, key=lambda row: row["positive_rate"])
    gap = highest["positive_rate"] - lowest["positive_rate"]
    apart = (highest["positive_rate"] - highest["positive_rate_low"]) ** 2
    apart += (lowest["positive_rate_high"] - lowest["positive_rate"]) ** 2
    assert rows[None, None]["gap"] == pytest.approx(gap)
    assert rows[None, None]["gap_low"] == pytest.approx(gap - apart**0.5)
    assert "gap" not in rows[0, None]


def test_counts_give_the_numbers_of_the_tables(files):
    made = made_table(values=3)
    options = {"seeds": 3, "individual": ["none", "iifr_cosine"]}
    files(train_table, made, "mlp", method="mlp", **options)
    told = files(train_table, made, "lr", method="logistic_regression", **options)
    found = check_tables(told, 3 * 5 + 3 * 3 * 2)
    by_method = grouped(individuals.rows(of_files(told)), *SETTING).values()
    for some in by_method:  # the interval of a gap holds for any two of three groups
        rows = {row["group"]: row for row in some if row["label"] is None}
        rates = [rows[group] for group in (0, 1, 2)]
        low, _, high = sorted(rates, key=lambda row: row["positive_rate"])
        apart = (high["positive_rate"] - high["positive_rate_low"]) ** 2
        apart += (low["positive_rate_high"] - low["positive_rate"]) ** 2
        wider = norm.ppf(1 - 0.025 / 3) / norm.ppf(0.975)
        expected = rows[None]["gap"] - wider * apart**0.5
        assert rows[None]["gap_low"] == pytest.approx(max(expected, -1), abs=1e-6)
    people = read_people(told["people"], told["meta"])["made"]
    names = {name_of(setting_of(run)) for run in read_runs(told["runs"])}
    for runs, predictions in zip(told["runs"], told["predictions"], strict=True):
        for one in read_answers(runs, predictions, people, names):
            codes, extreme = people.a[one.row], [0, 0, 0]
            for seed in range(3):
                shares = [one.positive[(one.seed == seed) & (codes == n)].mean() for n in range(3)]
                for n, share in enumerate(shares):
                    extreme[n] += share in (min(shares), max(shares))
            name = f"{one.setting.method}, {one.setting.individual}"
            of_groups = [found[name, n, None] for n in range(3)]
            assert [row["extreme_seeds"] for row in of_groups] == extreme
    for (_, group, label), row in found.items():
        if group is label is None:  # seeds of a random split have as many test individuals
            right = 1 - row["wrong"] / row["answers"]
            assert row["acc"] == pytest.approx(100 * right, abs=1e-5)
            kept = 1 - row["beyond_flips"] / row["flips"]
            assert row["ifr_p"] == pytest.approx(100 * kept, abs=1e-5)


def test_counts_of_eidig_on_either_encoding(files):
    made = people(240)
    sizes = made.integers[:, 1]  # six, which make other groups than the two of the attribute
    made = dataclasses.replace(made, integers=np.column_stack([made.integers[:, :2], sizes // 2]))
    files(train_eidig, made, "base", track="base", seeds=2, tries=5)
    told = files(train_eidig, made, "integers", track="integers", seeds=2, tries=5)
    found = check_tables(told, 6 * 5 + 3 * 2 * 2 + 3 * 3 * 2)
    flips = {row["flips"] for (_, *where), row in found.items() if where == [None, None]}
    assert flips == {144, 288}


@pytest.mark.parametrize("kept", [0, 1])
def test_seeds_without_predictions(files, kept):
    told = files(train_table, made_table(), "mlp", method="mlp", seeds=3, predicted_seeds=kept)
    found = counted(told)
    assert {(row["seeds"], row["runs"]) for row in found.values()} == ({(1, 3)} if kept else set())


def test_settings_are_those_of_the_tables_once_each(tmp_path):
    tables = made_people.two_groups(tmp_path)["tables"]
    found = settings_of_tables([tables / f"table_{n}.csv" for n in "484"])
    assert [describe(one) for one in found] == [
        "mlp",
        "mlp, iifr_cosine, lambda 1, epsilon 0.8",
        "mlp, iifr_cosine, lambda 9, epsilon 0.8",
    ]


def test_predictions_that_do_not_belong_to_the_runs_are_refused(tmp_path):
    given = made_people.two_groups(tmp_path / "one")
    path = tmp_path / "none.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match=r"none\.parquet: is not a Parquet file"):
        counted(given | {"predictions": [path]})
    [path] = given["predictions"]
    whole = pq.read_table(path)
    before = counted(given)
    pq.write_table(whole.take(np.arange(len(whole))[::-1]), path)
    assert counted(given) == before
    pq.write_table(whole.set_column(1, "row", [np.where(whole["row"], whole["row"], 1)]), path)
    with pytest.raises(InputError, match="is not of the people of mine"):
        counted(given)
