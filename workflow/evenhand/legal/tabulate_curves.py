"""Stage: the ways of all trainings on a data set as one table: loss and scores by epoch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import read_columns

TRAINED = ["classifier", "objective", "trained_for"]

HEADER = [
    *("dataset", *TRAINED, "seed", "epoch", "seeds", "steps", "learning_rate", "loss", "loss_sd"),
    *("gradient_norm", "dev_loss", "macro_f1", "macro_f1_sd", "mean_group_f1", "worst_group_f1"),
    "best",
]

#: What is read of a history (`evenhand.learning.history`).
COLUMNS = [
    *("classifier", "objective", "attribute", "seed", "epoch", "steps", "learning_rate", "losses"),
    *("gradient_norm", "dev_loss", "dev_macro_f1", "dev_mean_group_f1", "dev_worst_group_f1"),
    "best",
]

#: What stands for the seed in a row over all of them.
MEAN = "mean"


def tabulate_curves(*, histories: list[Input], out: Output, dataset: str) -> dict[str, Any]:
    """Bring the histories of a data set's trainings to one table, and average over seeds.

    Parameters
    ----------
    histories : list of path
        What the trainings left of their way; each training once.
    out : path
        CSV. For each classifier, objective and trained_for (the attribute whose groups the
        training saw, or none) a row per seed and epoch, then a row per epoch whose seed is
        ``mean``, over the seeds that reached that epoch: seeds says how many, so that a curve is
        of the same trainings as long as it stays the same. steps of the optimiser so far;
        learning_rate of the epoch's last step; loss, the mean of the objective's own loss over
        the epoch's steps; gradient_norm; dev_loss; macro_f1 of the development cases, and over
        their known groups mean_group_f1 and worst_group_f1 (all 0 to 100); loss_sd and
        macro_f1_sd over seeds; best, whether this epoch's weights were kept. A number that is not
        finite is blank, and counts for no mean.
    dataset : str
        What the data set is called in the table.

    Returns
    -------
    dict
        trainings, rows.

    Raises
    ------
    InputError
        A file is no history, or a training is there twice.
    """
    trainings: dict[tuple[str, ...], dict[int, list[dict[str, Any]]]] = {}
    for path in histories:
        before = {(setting, seed) for setting, seeds in trainings.items() for seed in seeds}
        for row in _read(path):
            setting = (row["classifier"], row["objective"], row["attribute"])
            if (setting, row["seed"]) in before:
                raise InputError(
                    f"{' '.join(setting)}, seed {row['seed']}, was in another file already",
                    file=path,
                    remedy="give the history of each training once",
                )
            trainings.setdefault(setting, {}).setdefault(row["seed"], []).append(row)
    rows = [
        {"dataset": dataset, **dict(zip(TRAINED, setting, strict=True)), **row}
        for setting, seeds in trainings.items()
        for row in _curves(seeds)
    ]
    return {
        "trainings": sum(map(len, trainings.values())),
        "rows": write_rows(out, HEADER, rows),
    }


def _read(path: Path) -> list[dict[str, Any]]:
    return read_columns(path, COLUMNS, remedy="give the history of a training").to_pylist()


def _curves(seeds: Mapping[int, Sequence[Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The rows of one setting: each seed's, then those over seeds."""
    by_epoch: dict[int, list[dict[str, Any]]] = {}
    for seed in sorted(seeds):
        for one in sorted(seeds[seed], key=lambda row: row["epoch"]):
            row = {
                **{name: one[name] for name in ("epoch", "steps", "gradient_norm", "dev_loss")},
                "seed": seed,
                "learning_rate": f"{one['learning_rate']:.6g}",
                "loss": fmean(one["losses"]) if one["losses"] else None,
                **{
                    name: None if one[f"dev_{name}"] is None else 100 * one[f"dev_{name}"]
                    for name in ("macro_f1", "mean_group_f1", "worst_group_f1")
                },
                "best": one["best"],
            }
            by_epoch.setdefault(one["epoch"], []).append(row)
            yield row
    for epoch, rows in sorted(by_epoch.items()):
        row = {"seed": MEAN, "epoch": epoch, "seeds": len(rows)}
        for name in ("loss", "macro_f1"):
            row |= {name: _mean(rows, name), f"{name}_sd": _sd(rows, name)}
        names = ("gradient_norm", "dev_loss", "mean_group_f1", "worst_group_f1")
        yield row | {name: _mean(rows, name) for name in names}


def _mean(rows: Iterable[Mapping[str, Any]], name: str) -> float | None:
    """The mean of the finite numbers of a column; None if there is none."""
    numbers = _finite(rows, name)
    return fmean(numbers) if numbers else None


def _sd(rows: Iterable[Mapping[str, Any]], name: str) -> float | None:
    numbers = _finite(rows, name)
    return stdev(numbers) if len(numbers) > 1 else None


def _finite(rows: Iterable[Mapping[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows if row[name] is not None and np.isfinite(row[name])]


if __name__ == "__main__":
    stage.run(tabulate_curves)
