"""Runs as the summaries read them: settings, and what the runs of a setting come to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.tables import count_rows, opened

#: How the summaries write numbers.
FORM = ".8g"

#: What names a setting: runs that differ in nothing else are the seeds of one setting.
SETTING = (
    "dataset",
    "method",
    "individual",
    "reduction",
    "lambda",
    "epsilon",
    "epsilon_unit",
    "mu",
    "js_base",
    "split",
)

#: Measures of a run. Accuracies and IFR are percent, the rest shares.
METRICS = (
    "acc",
    "balanced_acc",
    "positive_rate",
    "ifr_b",
    "ifr_p",
    "ifr_p_all",
    "ddp",
    "deo_0",
    "deo_1",
)

Setting = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """The runs of a setting.

    Attributes
    ----------
    setting : tuple
        The values of `SETTING`.
    runs : list of dict
        Those that did not diverge, by seed.
    diverged : int
        How many did.
    first : (int, int)
        The table and the number in it of its first run: the order of the grid.
    reasons : list of str
        Why runs could not be made (a split that leaves a group empty), one a run.
    """

    setting: Setting
    runs: list[dict[str, Any]]
    diverged: int
    first: tuple[int, int]
    reasons: list[str] = field(default_factory=list)

    @property
    def empty(self) -> int:
        """How many runs could not be made."""
        return len(self.reasons)

    @property
    def named(self) -> dict[str, Any]:
        """The setting by the names of `SETTING`."""
        return dict(zip(SETTING, self.setting, strict=True))

    def values(self, metric: str) -> list[float]:
        """A measure of the runs that have it, by seed."""
        return [run[metric] for run in self.runs if run[metric] is not None]


def read_runs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The rows of tables of runs, as `evenhand.learning.train_table` writes them.

    Each gets ``file``, the number of its table, and ``reason``, why it could not be made (None
    if it was).

    Raises
    ------
    InputError
        A table is no Parquet file, lacks a column, or holds a run that another holds as well.
    """
    needed = ["run", *SETTING, "seed", "diverged", "n_train", "n_test", *METRICS]
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], Path] = {}
    for number, path in enumerate(paths):
        for row in _read(path, needed, optional=("reason",)):
            row["file"] = number
            key = (*setting_of(row), row["seed"])
            if key in seen:
                raise InputError(
                    f"holds the seed {row['seed']} of {describe(setting_of(row))}, as does"
                    f" {seen[key]}",
                    file=path,
                    remedy="give each run once",
                )
            seen[key] = path
            rows.append(row)
    return rows


def read_groups(
    paths: Sequence[Path], runs: Sequence[Mapping[str, Any]]
) -> dict[int, list[dict[str, Any]]]:
    """The runs with the measures of one group in place of their own, by group.

    Parameters
    ----------
    paths : sequence of Path
        Tables of groups, in the order of the tables of runs.
    runs : sequence of dict
        Of `read_runs`.

    Raises
    ------
    InputError
        There are not as many tables, or one does not belong to its table of runs.
    """
    files = {run["file"] for run in runs}
    if len(paths) <= max(files, default=-1):
        raise InputError("there are not as many tables of groups as of runs")
    by_run = {(run["file"], run["run"]): run for run in runs}
    kept = ["acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p"]
    found: dict[int, list[dict[str, Any]]] = {}
    for number, path in enumerate(paths):
        for row in _read(path, ["run", "group", *kept]):
            run = by_run.get((number, row["run"]))
            if run is None:
                raise InputError(
                    f"holds the run {row['run']}, which its table of runs does not",
                    file=path,
                    remedy="give the tables of groups in the order of the tables of runs",
                )
            own = {metric: row.get(metric) for metric in METRICS}
            found.setdefault(row["group"], []).append({**run, **own})
    return dict(sorted(found.items()))


def _read(path: Path, columns: list[str], optional: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    count_rows(path, columns)
    with opened(path) as file:
        there = [name for name in optional if name in file.schema_arrow.names]
        rows = file.read(columns=columns + there).select(columns + there).to_pylist()
    return [dict.fromkeys(optional) | row for row in rows]


def setting_of(row: Mapping[str, Any]) -> Setting:
    """The values of `SETTING` of a row."""
    return tuple(row[name] for name in SETTING)


def by_setting(rows: Iterable[dict[str, Any]]) -> dict[Setting, Result]:
    """The runs of each setting, settings in a stated order (data set, split, method and so on).

    Runs that diverged, or could not be made, are left out and counted.
    """
    found: dict[Setting, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(setting_of(row), []).append(row)
    return {
        setting: Result(
            setting,
            sorted((run for run in found[setting] if not run["diverged"]), key=_seed),
            sum(run["diverged"] and not run.get("reason") for run in found[setting]),
            min((run.get("file", 0), run["run"]) for run in found[setting]),
            [run["reason"] for run in sorted(found[setting], key=_seed) if run.get("reason")],
        )
        for setting in sorted(found, key=order)
    }


def order(setting: Setting) -> tuple[Any, ...]:
    """What settings are sorted by: null before anything else, numbers by value."""
    return tuple((value is not None, value if value is not None else 0) for value in setting)


def _seed(run: Mapping[str, Any]) -> int:
    return run["seed"]


def describe(setting: Setting) -> str:
    """A setting in words: ``alfr, iifr_cosine, lambda 0.5, epsilon 0.8, mu 2``."""
    named = dict(zip(SETTING, setting, strict=True))
    said = [named["method"]]
    if named["individual"] != "none":
        said += [named["individual"], f"lambda {named['lambda']:g}"]
    if named["epsilon"] is not None:
        unit = " (quantile)" if named["epsilon_unit"] == "quantile" else ""
        said.append(f"epsilon {named['epsilon']:g}{unit}")
    if named["mu"] is not None:
        said.append(f"mu {named['mu']:g}")
    if named["reduction"] == "mean":
        said.append("mean over pairs")
    if named["js_base"] == "2":
        said.append("base 2")
    if named["split"] == "official":
        said.append("official split")
    return ", ".join(said)
