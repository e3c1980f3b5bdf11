"""Loss and scores of all trainings by epoch."""

from collections.abc import Iterator
from statistics import fmean, stdev
from typing import Any

import numpy as np

from evenhand.core.rows import grouped
from evenhand.core.tables import Row, Table, flag, integer, number, percent, text
from evenhand.io.tables import read_columns
from evenhand.legal.classifier_study import MEAN, SETTING, SETTING_KEY, ClassifierStudy, Setting

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
    rows_by_setting: dict[Setting, list[Row]] = {}
    for path in study.histories:
        table = read_columns(path, COLUMNS, remedy="give the history of a training")
        for row in table.to_pylist():
            setting = Setting(row["classifier"], row["objective"], row["attribute"])
            rows_by_setting.setdefault(setting, []).append(_epoch(row))
    for setting, epochs in rows_by_setting.items():
        epochs.sort(key=lambda row: (row["seed"], row["epoch"]))
        means = [_mean(epoch, some) for epoch, some in sorted(grouped(epochs, "epoch").items())]
        yield from (setting._asdict() | row for row in (*epochs, *means))


def _epoch(row: Row) -> Row:
    """Return the row of an epoch of a training from that of its history."""
    percentages = ("macro_f1", "mean_group_f1", "worst_group_f1")
    scores = {name: row[f"dev_{name}"] for name in percentages}
    return {
        **{name: row[name] for name in ("seed", "epoch", "steps", "gradient_norm", "dev_loss")},
        **{name: None if score is None else 100 * score for name, score in scores.items()},
        "learning_rate": f"{row['learning_rate']:.6g}",
        "loss": fmean(row["losses"]) if row["losses"] else None,
        "best": row["best"],
    }


def _mean(epoch: int, rows: list[Row]) -> Row:
    """Return the mean over seeds of the finite numbers of an epoch."""
    mean: dict[str, Any] = {"seed": MEAN, "epoch": epoch, "seeds": len(rows)}
    for name in (
        "loss",
        "macro_f1",
        "gradient_norm",
        "dev_loss",
        "mean_group_f1",
        "worst_group_f1",
    ):
        values = [row[name] for row in rows if row[name] is not None and np.isfinite(row[name])]
        mean[name] = fmean(values) if values else None
        if name in ("loss", "macro_f1"):
            mean[f"{name}_sd"] = stdev(values) if len(values) > 1 else None
    return mean
