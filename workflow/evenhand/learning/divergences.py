"""Differentiable divergences of distributions, and their sum or mean over pairs."""

import math

import torch


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
