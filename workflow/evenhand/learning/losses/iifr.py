"""The individual loss of IIFR (Journal of Software 34(9), 2023): equation 7, algorithm 2."""

import math
from collections.abc import Callable

import torch

from evenhand.learning.divergences import js_divergence


def individual_loss(
    log_p: torch.Tensor,
    log_partner: torch.Tensor,
    has_pair: torch.Tensor,
    *,
    reduction: str = "sum",
    base: float = math.e,
    distance: Callable[..., torch.Tensor] = js_divergence,
) -> torch.Tensor:
    """Return the divergence of the outputs of pairs, with gradients to both sides.

    Parameters
    ----------
    log_p, log_partner : tensor, shape (n, classes)
        Log-probabilities of the batch and of each person's partner.
    has_pair : tensor of 0 and 1, shape (n,)
        1 for rows with a valid partner (see `evenhand.learning.individual_loss`).
    reduction : str
        ``sum`` over the pairs, as in the paper, or their ``mean``. Without a pair both are 0.
    base : float
        The base of the divergence's logarithm.
    distance : callable
        The distance between the outputs of a pair; in the paper, Jensen-Shannon divergence.

    Returns
    -------
    tensor, a scalar
    """
    total = (distance(log_p, log_partner, base=base) * has_pair).sum()
    if reduction == "mean":
        return total / has_pair.sum().clamp(min=1)
    return total
