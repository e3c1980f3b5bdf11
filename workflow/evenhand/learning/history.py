"""The epochs of a training: history, best epoch, early stopping."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from evenhand.io.tables import schema_of, write_table
from evenhand.learning.loop import Stateful

#: One row per training and epoch, in order. Scores are of the development split.
HISTORY = schema_of(
    classifier="string",
    objective="string",
    attribute="string",
    seed="int32",
    epoch="int32",  # from 1
    steps="int32",  # optimiser steps so far
    learning_rate="float64",  # of the epoch's last step
    losses=pa.list_(pa.float32()),  # the objective's loss of each step of the epoch
    gradient_norm="float64",  # mean over the epoch's steps, before clipping
    dev_loss="float64",  # mean loss of a case, without weights or penalties
    dev_macro_f1="float64",  # over all cases and classes; 0 for a class that is absent
    dev_mean_group_f1="float64",  # over known groups; null without groups
    dev_worst_group_f1="float64",
    dev_group_f1=pa.list_(pa.float64()),  # by code; null for a group without cases
    state=pa.map_(pa.string(), pa.list_(pa.float64())),  # the state of the objective
    best="bool",  # whether this epoch's weights are the ones that were kept
)

#: The development scores that can select the epoch.
Selection = Literal["macro_f1", "mean_group_f1", "worst_group_f1"]


@dataclass(frozen=True)
class Trained:
    """The result of a training; the model has the weights of the best epoch.

    Attributes
    ----------
    history : list of dict
        A row per epoch: the columns of `HISTORY` except the first four.
    epoch : int
        The best epoch, from 1.
    score : float
        Its development score.
    steps : int
        The total number of optimiser steps.
    """

    history: list[dict[str, Any]]
    epoch: int
    score: float
    steps: int


class Fitted(NamedTuple):
    """A trained classifier, and its outputs for all n cases.

    Attributes
    ----------
    seed : int
    trained : Trained
    logits : array, shape (n, classes)
    counterfactual_logits : array, shape (n, classes), or None
        NaN for cases without a counterfactual; None without counterfactuals.
    features : array or csr_matrix, shape (n, d)
        The input of the last layer; without the attribute, if the objective erases it.
    model : module or LastLayer
        The network, or the weights of a linear classifier.
    """

    seed: int
    trained: Trained
    logits: np.ndarray
    counterfactual_logits: np.ndarray | None
    features: Any
    model: Any


class Epochs(Stateful):
    """The epochs of a training, its best weights, and early stopping.

    Epochs are compared by their development score, and among equal scores by the loss. On a
    small split scores are often equal: a multi-label classifier predicts no label in the first
    epochs, while its loss falls.

    Parameters
    ----------
    most, patience : int
        The maximum number of epochs; training stops after `patience` epochs without a better one.
    select : str
        The development score, a `Selection`.
    """

    STATE = ("history", "best", "rank", "weights")

    def __init__(self, most: int, patience: int, select: Selection) -> None:
        self.most, self.patience, self.select = most, patience, select
        self.history: list[dict[str, Any]] = []
        self.best, self.rank = 0, (-math.inf, -math.inf)
        self.weights: Any = None

    @property
    def done(self) -> bool:
        """Whether all epochs are over, or `patience` of them without a better one."""
        epochs = len(self.history)
        return epochs == self.most or (epochs > 0 and epochs - self.best >= self.patience)

    def add(
        self, row: Mapping[str, Any], state: Mapping[str, Any], weights: Callable[[], Any]
    ) -> None:
        """Add an epoch: its columns of `HISTORY`, the objective's state, the model's weights."""
        states = {
            name: value.detach().double().reshape(-1).tolist()
            for name, value in sorted(state.items())
        }
        epoch = len(self.history) + 1
        self.history.append({"epoch": epoch, **row, "state": states, "best": False})
        rank = row[f"dev_{self.select}"], -row["dev_loss"]
        if rank > self.rank:
            self.best, self.rank, self.weights = epoch, rank, weights()

    def result(self) -> Trained:
        """Return the result, with the best epoch marked in the history."""
        for row in self.history:
            row["best"] = row["epoch"] == self.best
        return Trained(self.history, self.best, self.rank[0], self.history[-1]["steps"])


def write_history(
    path: Path, trainings: Iterable[tuple[Mapping[str, Any], Iterable[Mapping[str, Any]]]]
) -> int:
    """Write trainings, each given as its first four columns and the other columns per epoch."""
    return write_table(
        path, HISTORY, ({**named, **epoch} for named, epochs in trainings for epoch in epochs)
    )
