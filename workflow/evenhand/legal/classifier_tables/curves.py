"""Loss and scores of all trainings by epoch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

from evenhand.core.tables import Row, Table, flag, integer, number, percent, text
from evenhand.errors import InputError
from evenhand.io.tables import read_columns
from evenhand.legal.classifier_study import MEAN, SETTING, SETTING_KEY, ClassifierStudy
from evenhand.legal.scored import Setting

TABLE = Table(
    "curves",
    title="Loss and scores of each training, by epoch",
    key=(*SETTING_KEY, "seed", "epoch"),
    columns=(
        *SETTING,
        text("seed", "A seed, or mean: over the seeds that reached the epoch"),
        integer("epoch"),
        integer("seeds", "Seeds that reached the epoch"),
        integer("steps", "Of the optimiser so far"),
        number("learning_rate", "Of the last step"),
        number("loss", "Mean of the objective's own loss over the steps"),
        number("loss_sd", "Standard deviation over seeds"),
        number("gradient_norm"),
        number("dev_loss"),
        percent("macro_f1", "Of the development cases"),
        percent("macro_f1_sd", "Standard deviation over seeds"),
        percent("mean_group_f1", "Mean over their known groups"),
        percent(
            "worst_group_f1",
            "Least of their known groups; where a group is removed, of label x group",
        ),
        flag("best", "Whether the weights of this epoch were kept"),
    ),
)

#: The columns of a history (`evenhand.learning.history`) that are read.
COLUMNS = [
    *("classifier", "objective", "attribute", "seed", "epoch", "steps", "learning_rate", "losses"),
    *("gradient_norm", "dev_loss", "dev_macro_f1", "dev_mean_group_f1", "dev_worst_group_f1"),
    "best",
]


def rows(study: ClassifierStudy) -> Iterator[Row]:
    """Yield a row per setting, seed and epoch; then per epoch the mean over seeds.

    A number that is not finite is blank, and counts for no mean.
    """
    trainings: dict[Setting, dict[int, list[dict[str, Any]]]] = {}
    for path in study.histories:
        before = {(setting, seed) for setting, seeds in trainings.items() for seed in seeds}
        table = read_columns(path, COLUMNS, remedy="give the history of a training")
        for row in table.to_pylist():
            setting = Setting(row["classifier"], row["objective"], row["attribute"])
            if (setting, row["seed"]) in before:
                raise InputError(
                    f"{' '.join(setting)}, seed {row['seed']}, was in another file already",
                    file=path,
                    remedy="give the history of each training once",
                )
            trainings.setdefault(setting, {}).setdefault(row["seed"], []).append(row)
    for setting, seeds in trainings.items():
        for row in _curves(seeds):
            yield {**setting._asdict(), **row}


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
