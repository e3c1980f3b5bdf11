from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.individual.results import METRICS
from evenhand.learning.train_table import GROUPS, RUNS, with_reason

Made = Callable[..., dict[str, Any]]


@pytest.fixture
def run() -> Made:
    """A run: the MLP on Adult, with the same measures in every run but for what is said."""

    def make(**said: Any) -> dict[str, Any]:
        row = dict.fromkeys(RUNS.names) | {
            "run": 0,
            "dataset": "adult",
            "method": "mlp",
            "individual": "none",
            "lambda": 0.0,
            "seed": 0,
            "split": "random",
            "n_train": 70,
            "n_test": 30,
            "diverged": False,
            "js_base": "e",
        }
        row |= dict.fromkeys(METRICS, 50.0)
        row |= {"positive_rate": 0.2, "ddp": 0.1, "deo_0": 0.1, "deo_1": 0.1}
        row |= said
        if row["individual"] != "none":
            row |= {"reduction": said.get("reduction", "sum")}
            if row["epsilon"] is not None:
                row |= {"epsilon_unit": said.get("epsilon_unit", "cosine")}
        if row["diverged"]:
            row |= dict.fromkeys(METRICS)
        return row

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """Write runs, and groups for them: each run with two groups whose IFR differ by 10."""

    def make(rows: list[dict[str, Any]], name: str = "some") -> tuple[Path, Path]:
        rows = [{**row, "run": number} for number, row in enumerate(rows)]
        groups = [
            dict.fromkeys(GROUPS.names)
            | {"run": row["run"], "group": group, "n": 15}
            | {
                metric: None if row[metric] is None else row[metric] + 10 * group - 5
                for metric in ("ifr_b", "ifr_p")
            }
            for row in rows
            for group in (0, 1)
        ]
        paths = tmp_path / f"{name}.runs.parquet", tmp_path / f"{name}.groups.parquet"
        schema = with_reason([row for row in rows if row.get("reason")])
        pq.write_table(pa.Table.from_pylist(rows, schema), paths[0])
        pq.write_table(pa.Table.from_pylist(groups, GROUPS), paths[1])
        return paths

    return make
