"""What an individual loss is: the modules of `evenhand.learning.individual_losses` say one each.

It has two parts: whom each person of a batch is compared with, and how unlike the outputs of the
two are. The sum (or mean) of the latter over the pairs, times lambda, is added to the label loss.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenhand.errors import InputError
from evenhand.learning.divergences import js_divergence

PACKAGE = "evenhand.learning.individual_losses"


@dataclass(frozen=True)
class Batch:
    """People of a step, of each of the seeds that are trained together.

    Attributes
    ----------
    x : tensor of float32, shape (seeds, n, d)
        Features, scaled as the network gets them.
    y, a : tensor of int64, shape (seeds, n)
        Labels, and groups as codes.
    columns : list of int
        Which of the d columns carry the attribute; empty if the method sees none.
    codes : tensor of float32, shape (seeds, values, len(columns))
        What these columns are for each value of the attribute.
    draws : sequence of numpy.random.Generator
        One a seed, for pairs that are drawn. Nothing else draws from them.
    """

    x: torch.Tensor
    y: torch.Tensor
    a: torch.Tensor
    columns: Sequence[int]
    codes: torch.Tensor
    draws: Sequence[np.random.Generator]


@dataclass(frozen=True)
class Pairs:
    """Whom each person of a batch is compared with.

    Attributes
    ----------
    partner : tensor
        Of int64, shape (seeds, n): the number of another row of the same batch. Or of float32,
        shape (seeds, n, d): the features of somebody who is not there.
    similarity : tensor of float, shape (seeds, n), optional
        How near that is. Epsilons are thresholds of it, so a loss whose `takes_epsilon` is set
        gives one. Without it everybody has a pair.
    """

    partner: torch.Tensor
    similarity: torch.Tensor | None = None


@dataclass(frozen=True)
class IndividualLoss:
    """An individual loss.

    Attributes
    ----------
    pairs : callable, optional
        From a `Batch` to its `Pairs`; no gradient goes through it. Without it there is no
        individual loss.
    takes_epsilon : bool
        Whether a threshold decides who is near enough. The grid has the epsilons then.
    distance : callable
        Of log-probabilities (..., classes), those of the partners, and ``base``, the logarithm's
        base of the configuration: how unlike they are, shape (...), 0 for equals, with gradients
        to both. It runs under torch.func.vmap, so it has no branches on values.
    """

    pairs: Callable[[Batch], Pairs] | None
    takes_epsilon: bool = False
    distance: Callable[..., torch.Tensor] = js_divergence


def individual_loss_of(name: str) -> IndividualLoss:
    """The loss of the module of that name.

    Raises
    ------
    InputError
        There is no such module.
    """
    module = f"{PACKAGE}.{name}"
    try:
        return importlib.import_module(module).LOSS
    except ModuleNotFoundError as error:
        if error.name != module:  # the module is there, and imports one that is not
            raise
        raise InputError(
            f"there is no individual loss {name}",
            remedy="use one of evenhand/learning/individual_losses, or add it there",
        ) from error
