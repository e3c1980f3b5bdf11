from pathlib import Path

import numpy as np
import pytest

from evenhand.comparison.items import classifier_tests, worst_cells
from evenhand.comparison.items.classifier_cases import Store
from evenhand.comparison.results import Results
from evenhand.core.tables import write_tables
from evenhand.legal.classifier_study import scores_of_groups
from evenhand.legal.classifier_tables import mitigation, scores, tests
from evenhand.legal.classifier_tables.tests import RATES
from evenhand.metrics.classification import conventions, counts_of
from evenhand.metrics.disparity import disparity
from evenhand.metrics.group import group_sums
from unit.comparison.made_folders import write_provenance
from unit.legal.made_predictions import noisy, predictions, write, write_people
from unit.legal.made_study import make_study

TABLE = "tables/classifiers/mine/scores.csv"


@pytest.fixture
def made(tmp_path):
    """A results folder with two objectives of three seeds, and the rows of a table about them."""
    folder = tmp_path / "legal/mine"
    data, _ = write_people((folder / "mine.parquet").absolute(), men=60, women=40)
    runs = []
    for objective, noise in (("erm", 2.0), ("group_dro", 2.5)):
        trained = folder / "predictions/linear" / objective / "none"
        trained.mkdir(parents=True)
        for seed in (1, 2, 3):
            say = noisy(seed + 10 * (noise > 2), noise)
            runs.append(predictions(data, say, seed=seed, objective=objective))
            write(trained / f"{seed}.parquet", runs[-1])
    (apart := tmp_path / "study").mkdir()
    study = make_study(apart, data, *runs, positive=1)

    def rows_of(member):
        rows = [row | {"dataset": "mine"} for row in member.rows(study)]
        rows = [row for row in rows if row["attribute"] == "defendant_gender"]
        write_tables(tmp_path / Path(TABLE).parent, [(member.TABLE, rows)])
        return rows

    rows = [row for row in rows_of(scores) if row["objective"] == "erm"]
    return Results(tmp_path), rows, rows_of


def test_the_mean_of_the_items_is_the_number(made):
    results, rows, _ = made
    store = Store(results, TABLE)
    assert len(rows) == 2 * 4
    for row in rows:
        key = {name: str(row[name]) for name in scores.TABLE.key}
        for column in ("overall", "mean", "gd", "worst"):
            items = store.items(key, column)
            assert items.value.mean() == pytest.approx(row[column])
            assert len(items.runs) == (3 if row["seed"] == "mean" else 0)
            assert items.value.std() > 0


def test_a_value_is_the_number_and_the_influence_of_a_case(made):
    """To first order, what the number loses without the case, times the cases."""
    results, rows, _ = made
    store = Store(results, TABLE)
    row = next(row for row in rows if row["seed"] == 1 and row["convention"] == "all")
    key = {name: str(row[name]) for name in scores.TABLE.key}
    trained = store.read("test", "linear", "erm", "none")
    parts = {some.attribute.name: some.codes for some in trained.cases.groups}
    codes, convention = parts["defendant_gender"], conventions("multi_class")["all"]

    classes = trained.cases.classes.shape[1]

    def measured(kept):
        sums, sizes = group_sums(trained.counts[kept, :], codes[kept], 2), np.bincount(codes[kept])
        place = trained.seeds.index("1")
        return disparity(scores_of_groups(sums, sizes, classes, convention)[place])

    every = np.arange(len(codes))
    without = [measured(np.delete(every, place)) for place in every]

    def gap(rate, kept):
        true, predicted, both = (
            part[:, :, 1][:, [0 if part.shape[1] == 1 else place]].ravel()
            for part in counts_of(trained.counts[kept], classes)
        )
        above, below = {
            "selection_rate": (predicted, true * 0 + 1),
            "tpr": (both, true),
            "fpr": (predicted - both, 1 - true),
        }[rate]
        shares = np.bincount(codes[kept], above) / np.bincount(codes[kept], below)
        return 100 * np.ptp(shares)

    place, label = trained.seeds.index("1"), trained.cases.dataset.labels[1]
    for column in ("mean", "gd", "worst", *RATES):
        if column in RATES:
            row[column] = gap(column, every)
            change = [row[column] - gap(column, np.delete(every, case)) for case in every]
        else:
            change = [row[column] - getattr(each, column) for each in without]
        values = store.items(key | {"label": label}, column).value - row[column]
        assert np.corrcoef(values, change)[0, 1] > 0.999
        assert len(codes) * np.array(change) == pytest.approx(values, rel=0.1, abs=5)


@pytest.mark.parametrize(
    ("member", "store", "columns", "number"),
    [(tests, classifier_tests, ["difference"], 7),
     (mitigation, worst_cells, ["worst", "over_plain"], 2)],
)  # fmt: skip
def test_differences_from_plain_training_are_those_of_their_items(
    made, member, store, columns, number
):
    results, _, rows_of = made
    rows = rows_of(member)
    assert len(rows) == number
    found = store.Store(results, f"tables/classifiers/mine/{member.TABLE.name}.csv")
    for row in rows:
        key = {name: str(row[name]) for name in member.TABLE.key}
        for column in columns:
            items = found.items(key, column)
            if row.get(column) is None:
                assert items is None
                continue
            assert items.value.mean() == pytest.approx(row[column])
            assert items.runs.mean() == pytest.approx(row[column])
            assert len(items.runs) == 3 and items.value.std() > 0


def test_without_their_files_there_are_no_items(made):
    results, rows, _ = made
    key = {name: str(rows[0][name]) for name in scores.TABLE.key}
    assert Store(results, TABLE).items(key | {"objective": "dro"}, "gd") is None
    (results.folder / "legal/mine/mine.parquet").unlink()
    assert Store(results, TABLE).items(key, "gd") is None


def test_predictions_of_an_earlier_run_are_no_items(made):
    folder, training = made[0].folder, ("mine", "linear", "erm", "none")
    write_provenance(folder, "")
    last = made[0].training(*training)[1][-1]
    last.with_name("9.parquet").write_bytes(last.read_bytes())
    assert Results(folder).training(*training)[1][-1] == last
