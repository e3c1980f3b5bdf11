"""Training hyperparameters by data set: `resources/iifr/training.csv`."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.core.numbers import number, whole
from evenhand.core.resources import read_resource
from evenhand.errors import InputError

#: The row for data sets without a row.
DEFAULT = "default"


@dataclass(frozen=True)
class Hyperparameters:
    """Settings of the network and of Adadelta (rho 0.9, eps 1e-6, no weight decay).

    Attributes
    ----------
    hidden, adversary : tuple of int
        Sizes of the trunk's layers, and of the hidden layers of each adversary.
    learning_rate : float
    batch : int
        Rows per step; the last batch of an epoch may be smaller.
    epochs : int
    """

    hidden: tuple[int, ...]
    adversary: tuple[int, ...]
    learning_rate: float
    batch: int
    epochs: int


def read_hyperparameters(path: Path, dataset: str) -> Hyperparameters:
    """Return the settings of `dataset`, or the default ones.

    Raises
    ------
    InputError
        There are neither, or a cell is not a number above 0.
    """
    columns = ["dataset", "hidden", "adversary", "learning_rate", "batch", "epochs"]
    rows = {row["dataset"]: row for row in read_resource(path, columns, unique=("dataset",))}
    row = rows.get(dataset) or rows.get(DEFAULT)
    if row is None:
        raise InputError(f"has no row for {dataset}, and none called {DEFAULT}", file=path)
    try:
        result = Hyperparameters(
            hidden=tuple(map(whole, row["hidden"].split(";"))),
            adversary=tuple(map(whole, row["adversary"].split(";"))),
            learning_rate=number(row["learning_rate"]),
            batch=whole(row["batch"]),
            epochs=whole(row["epochs"]),
        )
    except ValueError as error:
        problem = f"the row {row['dataset']} has a cell that is no number"
        raise InputError(problem, file=path, remedy="write layers as 30;20") from error
    sizes = (*result.hidden, *result.adversary, result.batch, result.epochs)
    if min(sizes) < 1 or not 0 < result.learning_rate < float("inf"):
        raise InputError(f"the row {row['dataset']} has a number that is not above 0", file=path)
    return result
