"""The notebook of the docs runs from its first cell to its last, and lies there without outputs."""

import json
import re

import nbformat
import pandas as pd
import pytest

from unit.report import made_stereotypes

MODEL = "roberta-like"  # the first in order that is trusted


@pytest.fixture(scope="module")
def notebook(request):
    path = request.config.rootpath / "docs/notebooks/look.ipynb"
    return nbformat.read(path, as_version=4)


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
def executed(notebook, results, tmp_path_factory):
    from nbclient import NotebookClient

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_RESULTS", str(results))
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        client = NotebookClient(nbformat.from_dict(notebook), timeout=120, kernel_name="python3")
        return client.execute()


def printed(notebook) -> str:
    return "".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )


def test_it_is_stripped(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


def test_it_names_no_place_of_one_machine(notebook):
    assert not re.search(r"/(?:home|root|work|tmp|Users)/", json.dumps(notebook))


def test_its_score_is_that_of_the_table(executed, results):
    table = pd.read_csv(results / "tables/pairs/crows_pairs/bias_scores.csv")
    row = table.query(
        "model == @MODEL and method == 'aul' and subset == 'all' and bias_type == 'all'"
    ).iloc[0]
    said = printed(executed)
    assert f"{MODEL} on crows_pairs" in said
    assert f"likelier in {row['score']:.1f} % of {row['scored']} pairs" in said
    assert "4 untrained models" in said


def test_it_draws_one_figure(executed):
    images = [
        output
        for cell in executed.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(images) == 1


def test_nothing_is_warned_of(executed):
    streams = [o.name for c in executed.cells for o in c.get("outputs", []) if "name" in o]
    assert set(streams) == {"stdout"}
