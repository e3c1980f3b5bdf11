"""The notebook of the docs runs from its first cell to its last, and lies there without outputs."""

import io

import nbformat
import pandas as pd
import pytest

from notebooks import execute
from unit.report import made_stereotypes

MODEL = "roberta-like"  # the first in order that is trusted


@pytest.fixture(scope="module")
def path(request):
    return request.config.rootpath / "docs/notebooks/look.ipynb"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results with a store of untrained models, which the page does not read."""
    folder = made_stereotypes.write_results(tmp_path_factory.mktemp("notebook") / "results")
    store = folder / "stereotypes/crows_pairs"
    scores = pd.read_parquet(store / f"scores/{MODEL}.parquet")
    nulls = [
        scores.assign(seed=seed, aul=scores["aul"].sample(frac=1, random_state=seed).to_numpy())
        for seed in range(4)
    ]
    (store / "null").mkdir()
    pd.concat(nulls).to_parquet(store / f"null/{MODEL}.parquet")
    return folder


@pytest.fixture(scope="module")
def executed(path, results):
    """The cells, and the figures that were there when the notebook showed them."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figures = []

    def draw() -> None:
        figures.extend(map(plt.figure, plt.get_fignums()))
        for figure in figures:
            figure.savefig(io.BytesIO(), format="png")
        plt.close("all")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_RESULTS", str(results))
        patch.setattr(plt, "show", draw)
        return execute(path), figures


def test_it_lies_there_as_it_was_written(path):
    """`execute` refuses outputs."""
    assert set(nbformat.read(path, as_version=4).metadata) == {"kernelspec", "language_info"}


def test_its_score_is_that_of_the_table(executed, results):
    table = pd.read_csv(results / "tables/pairs/crows_pairs/bias_scores.csv")
    row = table.query(
        "model == @MODEL and method == 'aul' and subset == 'all' and bias_type == 'all'"
    ).iloc[0]
    cells, _ = executed
    said = "".join(cell.stdout + repr(cell.value) for cell in cells)
    assert f"{MODEL} on crows_pairs" in said
    assert f"likelier in {row['score']:.1f} % of {row['scored']} pairs" in said
    assert "4 untrained models" in said


def test_nothing_is_warned_of(executed):
    assert {cell.stderr for cell in executed[0]} == {""}
