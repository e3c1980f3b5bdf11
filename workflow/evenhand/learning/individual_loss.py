"""Individual losses: the interface of the modules of `evenhand.learning.individual_losses`.

An individual loss has two parts: the pairs within a batch, and the distance between the outputs of
a pair. The sum (or mean) of the distances over the pairs, times lambda, is added to the label loss.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenhand.core.families import load_member

#: Cosines whose difference is smaller are ties: they differ by rounding only.
TIE = 1e-6

#: The similarity of the only row of a batch, below every cosine.
NO_NEIGHBOUR = -2.0


def nearest(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the nearest other row of the same batch by cosine.

    Parameters
    ----------
    x : tensor of float, shape (..., n, d)
        Batches. A row of zeros has the cosine 0 with every other.

    Returns
    -------
    (tensor of float, tensor of int64), both of the shape (..., n)
        The cosine, at most 1, and the number of that row, the first in case of ties. In a batch
        of one row the cosine is `NO_NEIGHBOUR`.
    """
    unit = torch.nn.functional.normalize(x, dim=-1)
    cosine = unit @ unit.transpose(-1, -2)
    cosine.diagonal(dim1=-2, dim2=-1).fill_(NO_NEIGHBOUR)
    similarity, partner = cosine.max(dim=-1)
    return similarity.clamp(max=1), partner


def near_enough(similarity: torch.Tensor, epsilons: torch.Tensor, unit: str) -> torch.Tensor:
    """Return which rows have a pair: those whose nearest neighbour is above a threshold.

    The only row of a batch has none.

    Parameters
    ----------
    similarity : tensor of float, shape (..., n)
        Cosines of the nearest neighbours, by batch.
    epsilons : tensor of float, shape (c,)
        Thresholds.
    unit : str
        ``cosine``: thresholds are cosines, which must be exceeded; ``quantile``: they are
        quantiles of the batch's similarities (0.8: the nearest fifth has a pair, including ties,
        which are frequent with few features).

    Returns
    -------
    tensor of float, shape (..., c, n)
        1 for rows with a pair, 0 for the others.
    """
    if unit == "quantile":
        thresholds = torch.quantile(similarity, epsilons, dim=-1).movedim(0, -1) - TIE
    else:
        thresholds = epsilons
    near = similarity[..., None, :] > thresholds[..., None]
    return (near & (similarity > NO_NEIGHBOUR)[..., None, :]).to(similarity.dtype)


def js_divergence(
    log_p: torch.Tensor, log_q: torch.Tensor, *, base: float = math.e
) -> torch.Tensor:
    """Jensen-Shannon divergence, with gradients to both sides.

    Parameters
    ----------
    log_p, log_q : tensor, shape (..., classes)
        Natural logarithms of distributions, all finite, as from `log_softmax`.
    base : float
        Base of the logarithm: e gives nats, 2 gives bits.

    Returns
    -------
    tensor, shape (...)
        Rounding may make it slightly negative.
    """
    log_middle = torch.logaddexp(log_p, log_q) - math.log(2)
    total = log_p.exp() * (log_p - log_middle) + log_q.exp() * (log_q - log_middle)
    return total.sum(dim=-1) / (2 * math.log(base))


def over_pairs(distances: torch.Tensor, has_pair: torch.Tensor, reduction: str) -> torch.Tensor:
    """Return the individual loss of IIFR (Journal of Software 34(9), 2023, eq. 7, algorithm 2).

    Parameters
    ----------
    distances : tensor, shape (n,)
        The distance of each output to that of the partner.
    has_pair : tensor of 0 and 1, shape (n,)
        1 for rows with a valid partner.
    reduction : str
        ``sum`` over the pairs, as in the paper, or their ``mean``. Without a pair both are 0.
    """
    total = (distances * has_pair).sum()
    return total / has_pair.sum().clamp(min=1) if reduction == "mean" else total


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
