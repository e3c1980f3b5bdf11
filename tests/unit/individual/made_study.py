"""Runs of individual fairness, and the study that the tables are computed from."""

from pathlib import Path
from typing import Any

from evenhand.individual.published import read_published, read_settings
from evenhand.individual.results import METRICS
from evenhand.individual.study import IndividualStudy
from evenhand.learning.train_table import RUNS
from evenhand.tabular.prepared import Prepared

REPOSITORY = Path(__file__).parents[3]
RESOURCES = REPOSITORY / "resources/iifr"

#: The facts of the paper, as the stage reads them.
FACTS = [*sorted(RESOURCES.glob("published_*.csv")), RESOURCES / "inconsistencies.csv"]


def run(**values: Any) -> dict[str, Any]:
    """A run of the MLP on Adult; each run has the same measures but for the given values."""
    row = dict.fromkeys(RUNS.names) | dict.fromkeys(METRICS, 50.0)
    row |= {"run": 0, "dataset": "adult", "method": "mlp", "individual": "none", "lambda": 0.0}
    row |= {"seed": 0, "split": "random", "n_train": 70, "n_test": 30, "js_base": "e"}
    row |= {"positive_rate": 0.2, "ddp": 0.1, "deo_0": 0.1, "deo_1": 0.1, "diverged": False}
    row |= values
    if row["individual"] != "none":
        row["reduction"] = values.get("reduction", "sum")
        if row["epsilon"] is not None:
            row["epsilon_unit"] = values.get("epsilon_unit", "cosine")
    if row["diverged"]:
        row |= dict.fromkeys(METRICS)
    return row


def of_groups(runs: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    """The runs of two groups whose IFR differ by 10."""
    return {
        group: [
            one | {name: one[name] and one[name] + 10 * group - 5 for name in ("ifr_b", "ifr_p")}
            for one in runs
        ]
        for group in (0, 1)
    }


def study(
    rows: list[dict[str, Any]], people: dict[str, Prepared] | None = None, **other: Any
) -> IndividualStudy:
    """A study of runs, with the facts of the paper."""
    runs = [{"reason": None, **row, "run": number, "file": 0} for number, row in enumerate(rows)]
    parts: dict[str, Any] = {
        "runs": runs,
        "groups": of_groups(runs),
        "trainings": [],
        "people": people or {},
        "published": read_published(FACTS),
        "settings": read_settings(RESOURCES / "settings.csv"),
        "training": RESOURCES / "training.csv",
    }
    return IndividualStudy(**parts | other)


def find(rows: Any, **values: Any) -> dict[str, Any]:
    """The one row with these values."""
    found = [row for row in rows if all(row[name] == value for name, value in values.items())]
    assert len(found) == 1, values
    return found[0]
