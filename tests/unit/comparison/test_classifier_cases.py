from pathlib import Path

import numpy as np
import pytest

from evenhand.comparison.items.classifier_cases import Store
from evenhand.comparison.results import Results
from evenhand.core.tables import write_tables
from evenhand.legal.classifier_study import scores_of_groups
from evenhand.legal.classifier_tables import scores
from evenhand.metrics.classification import conventions
from evenhand.metrics.disparity import disparity
from evenhand.metrics.group import group_sums
from unit.comparison.made_folders import write_provenance
from unit.legal.made_predictions import noisy, predictions, write, write_people
from unit.legal.made_study import make_study

TABLE = "tables/classifiers/mine/scores.csv"


@pytest.fixture
def made(tmp_path):
    """A results folder with a classifier of three seeds, and its rows of scores."""
    folder = tmp_path / "legal/mine"
    trained = folder / "predictions/linear/erm/none"
    trained.mkdir(parents=True)
    data, _ = write_people(folder / "mine.parquet", men=60, women=40)
    runs = [predictions(data, noisy(seed), seed=seed) for seed in (1, 2, 3)]
    for run in runs:
        write(trained / f"{run.seed}.parquet", run)
    (apart := tmp_path / "study").mkdir()
    rows = scores.rows(make_study(apart, data, *runs))
    rows = [row | {"dataset": "mine"} for row in rows if row["attribute"] == "defendant_gender"]
    write_tables(tmp_path / Path(TABLE).parent, [(scores.TABLE, rows)])
    return Results(tmp_path), rows


def test_the_mean_of_the_items_is_the_number(made):
    results, rows = made
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
    results, rows = made
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
    for column in ("mean", "gd", "worst"):
        change = [row[column] - getattr(each, column) for each in without]
        values = store.items(key, column).value - row[column]
        assert np.corrcoef(values, change)[0, 1] > 0.999
        assert len(codes) * np.array(change) == pytest.approx(values, rel=0.1, abs=5)


def test_without_their_files_there_are_no_items(made):
    results, rows = made
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
