"""Individual losses: the interface of the modules of `evenhand.learning.individual_losses`.

An individual loss has two parts: the pairs within a batch, and the distance between the outputs of
a pair. The sum (or mean) of the distances over the pairs, times lambda, is added to the label loss.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenhand.core.families import load_member
from evenhand.learning.iifr import js_divergence

PACKAGE = "evenhand.learning.individual_losses"


@dataclass(frozen=True)
class Batch:
    """The rows of a step, for each of the seeds that are trained together.

    Attributes
    ----------
    x : tensor of float32, shape (seeds, n, d)
        Features, scaled as for the network.
    y, a : tensor of int64, shape (seeds, n)
        Labels, and groups as codes.
    columns : list of int
        The columns that carry the attribute; empty if the method does not use them.
    codes : tensor of float32, shape (seeds, values, len(columns))
        The content of these columns for each value of the attribute.
    draws : sequence of numpy.random.Generator
        One generator per seed, used only for random pairs.
    """

    x: torch.Tensor
    y: torch.Tensor
    a: torch.Tensor
    columns: Sequence[int]
    codes: torch.Tensor
    draws: Sequence[np.random.Generator]


@dataclass(frozen=True)
class Pairs:
    """The partner of each row of a batch.

    Attributes
    ----------
    partner : tensor
        Of int64, shape (seeds, n): the number of another row of the same batch. Or of float32,
        shape (seeds, n, d): the features of a person outside the batch.
    similarity : tensor of float, shape (seeds, n), optional
        The similarity of the partner. Epsilons are thresholds of it, so that losses with
        `takes_epsilon` must return it. Without it every row has a pair.
    """

    partner: torch.Tensor
    similarity: torch.Tensor | None = None


@dataclass(frozen=True)
class IndividualLoss:
    """An individual loss.

    Attributes
    ----------
    pairs : callable, optional
        Maps a `Batch` to its `Pairs`, without gradients. None: no individual loss.
    takes_epsilon : bool
        Whether pairs need a similarity above a threshold epsilon. Then the grid has epsilons.
    distance : callable
        Distance, shape (...), between log-probabilities (..., classes) and those of the partners,
        with gradients to both; 0 if they are equal. ``base`` is the configured base of the
        logarithm. It runs under torch.func.vmap, so that it must not branch on values.
    """

    pairs: Callable[[Batch], Pairs] | None
    takes_epsilon: bool = False
    distance: Callable[..., torch.Tensor] = js_divergence


def individual_loss_of(name: str) -> IndividualLoss:
    """Return the loss of the module of that name.

    Raises
    ------
    InputError
        There is no such module.
    """
    return load_member(PACKAGE, name, "individual loss").LOSS
