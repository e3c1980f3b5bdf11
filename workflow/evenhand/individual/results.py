"""Read the training runs for all tables, group them by setting, and take means over seeds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.rows import grouped_by
from evenhand.core.tables import integer, number, text
from evenhand.io.tables import count_rows, opened
from evenhand.metrics.inference import bounded, student_reach

#: The number format of the tables.
FORM = ".8g"

#: The columns that identify a setting; its runs differ in their seeds only.
SETTING_COLUMNS = (
    text("dataset"),
    text("method", "A module of evenhand.learning.methods, or a variant of EIDIG"),
    text("individual", "The individual loss, or none"),
    text("reduction", "Of the individual loss over the pairs of a batch: sum or mean"),
    number("lambda", "Weight of the individual loss"),
    number("epsilon", "Similarity from which two people are neighbours"),
    text("epsilon_unit", "cosine, or quantile of the similarities of a batch"),
    number("mu", "Weight of the adversary"),
    text("js_base", "Base of the logarithm in the Jensen-Shannon divergence: e or 2"),
    text("split", "random or official"),
)
SETTING = tuple(column.name for column in SETTING_COLUMNS)

#: Measures of a run: accuracies and IFR as percentages, the others as shares.
METRICS = (
    *("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ifr_p_all"),
    *("ddp", "deo_0", "deo_1"),
)

#: The measures in percent; the others are shares.
IN_PERCENT = ("acc", "balanced_acc", "ifr_b", "ifr_p", "ifr_p_all")

#: The measures of each group.
GROUP_METRICS = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p")

#: The columns of a mean over seeds.
SUMMARY_COLUMNS = (
    number(
        "mean",
        "Mean over seeds, with its t interval; accuracies and IFR in %, others as shares",
        interval=("low", "high"),
        count="seeds",
        neutral=dict.fromkeys(("ifr_b", "ifr_p", "ifr_p_all"), 100.0)
        | dict.fromkeys(("ddp", "deo_0", "deo_1"), 0.0),
    ),
    number("sd", "Standard deviation of single runs (ddof 1)"),
    integer("seeds", "Runs in the mean"),
)

#: Coverage of the intervals.
LEVEL = 0.95


class Setting(NamedTuple):
    """The values of `SETTING`, in its order."""

    dataset: str
    method: str
    individual: str
    reduction: str | None
    weight: float | None
    epsilon: float | None
    epsilon_unit: str | None
    mu: float | None
    js_base: str
    split: str

    @property
    def named(self) -> dict[str, Any]:
        """The values by column."""
        return dict(zip(SETTING, self, strict=True))


@dataclass(frozen=True)
class Result:
    """The runs of a setting.

    Attributes
    ----------
    setting : Setting
    runs : list of dict
        The runs that did not diverge, by seed.
    diverged : int
        The number of runs that diverged.
    first : (int, int)
        The table of its first run and the number there: the order of the grid.
    reasons : list of str
        Why runs were not possible (a split that leaves a group empty), one per run.
    """

    setting: Setting
    runs: list[dict[str, Any]]
    diverged: int
    first: tuple[int, int]
    reasons: list[str] = field(default_factory=list)

    @property
    def empty(self) -> int:
        """The number of runs that were not possible."""
        return len(self.reasons)

    def values(self, metric: str) -> list[float]:
        """Return a measure of the runs that have it, by seed."""
        return [run[metric] for run in self.runs if run[metric] is not None]


def read_runs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Read tables of runs from `evenhand.learning.train_table`.

    Each row gets ``file``, the number of its table, and ``reason``, why the run was not possible
    (None if it was).

    Raises
    ------
    InputError
        A table is not a Parquet file, or lacks a column.
    """
    needed = ["run", *SETTING, "seed", "diverged", "n_train", "n_test", *METRICS]
    rows: list[dict[str, Any]] = []
    for number_, path in enumerate(paths):
        rows += [row | {"file": number_} for row in _read(path, needed, optional=("reason",))]
    return rows


def read_groups(
    paths: Sequence[Path], runs: Sequence[Mapping[str, Any]]
) -> dict[int, list[dict[str, Any]]]:
    """Read the runs by group, with the measures of the group instead of the overall ones.

    Parameters
    ----------
    paths : sequence of Path
        Tables of groups, in the order of the tables of runs.
    runs : sequence of dict
        The result of `read_runs`.
    """
    by_run = {(run["file"], run["run"]): run for run in runs}
    by_group: dict[int, list[dict[str, Any]]] = {}
    for number_, path in enumerate(paths):
        for row in _read(path, ["run", "group", *GROUP_METRICS]):
            run, measures = by_run[number_, row["run"]], dict.fromkeys(METRICS)
            measures |= {metric: row[metric] for metric in GROUP_METRICS}
            by_group.setdefault(row["group"], []).append({**run, **measures})
    return dict(sorted(by_group.items()))


def _read(path: Path, columns: list[str], optional: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    count_rows(path, columns)
    with opened(path) as file:
        there = [name for name in optional if name in file.schema_arrow.names]
        rows = file.read(columns=columns + there).select(columns + there).to_pylist()
    return [dict.fromkeys(optional) | row for row in rows]


def setting_of(row: Mapping[str, Any]) -> Setting:
    """Return the values of `SETTING` of a row."""
    return Setting(*(row[name] for name in SETTING))


def by_setting(rows: Iterable[dict[str, Any]]) -> dict[Setting, Result]:
    """Group runs by setting, in the order of `order`.

    Runs that diverged or were not possible are left out and counted.
    """
    runs_by_setting = grouped_by(rows, setting_of)
    results = {}
    for setting in sorted(runs_by_setting, key=order):
        runs = sorted(runs_by_setting[setting], key=lambda run: run["seed"])
        results[setting] = Result(
            setting,
            [run for run in runs if not run["diverged"]],
            sum(run["diverged"] and not run.get("reason") for run in runs),
            min((run.get("file", 0), run["run"]) for run in runs),
            [run["reason"] for run in runs if run.get("reason")],
        )
    return results


def on_usual_split(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows on random splits, and of a data set that has none those on its own split."""
    random = {row["dataset"] for row in rows if row["split"] == "random"}
    return [row for row in rows if row["split"] == "random" or row["dataset"] not in random]


def order(setting: Setting) -> tuple[Any, ...]:
    """Return the sort key of a setting: None first, numbers by value."""
    return tuple((value is not None, value if value is not None else 0) for value in setting)


def describe(setting: Setting) -> str:
    """Return a setting in words: ``alfr, iifr_cosine, lambda 0.5, epsilon 0.8, mu 2``."""
    words = [setting.method]
    if setting.individual != "none":
        words += [setting.individual, f"lambda {setting.weight:g}"]
    if setting.epsilon is not None:
        unit = " (quantile)" if setting.epsilon_unit == "quantile" else ""
        words.append(f"epsilon {setting.epsilon:g}{unit}")
    if setting.mu is not None:
        words.append(f"mu {setting.mu:g}")
    if setting.reduction == "mean":
        words.append("mean over pairs")
    if setting.js_base == "2":
        words.append("base 2")
    if setting.split == "official":
        words.append("official split")
    return ", ".join(words)


def cell_key(row: Mapping[str, Any], table: str) -> tuple[Any, ...]:
    """Return the key of a cell across all tables: Table 8's threshold 1 is the plain MLP."""
    how = row["individual"], row["lambda"], row["epsilon"]
    if table == "table_8" and row["epsilon"] == 1:
        how = "none", 0.0, None
    return row["dataset"], row["method"], *how, row["mu"], row["group"], row["split"], row["metric"]


def largest(metric: str) -> float:
    """Return the upper end of the scale of a measure, which begins at 0."""
    return 100.0 if metric in IN_PERCENT else 1.0


def summarise(values: Sequence[float], most: float) -> dict[str, Any]:
    """Return mean, sd of single runs, t interval of the mean, and the number of values (seeds).

    The interval has no part outside the scale of the values, 0 to `most`. Without values the mean
    is None; with one value the sd and the interval are None.
    """
    summary: dict[str, Any] = dict.fromkeys(("mean", "sd", "low", "high")) | {"seeds": len(values)}
    if not values:
        return summary
    mean = float(np.mean(values))
    if len(values) == 1:
        return summary | {"mean": mean}
    sd = float(np.std(values, ddof=1))
    reach = student_reach(np.array(values), LEVEL)
    low, high = bounded((mean - reach, mean + reach), 0.0, most)
    return summary | {"mean": mean, "sd": sd, "low": low, "high": high}
