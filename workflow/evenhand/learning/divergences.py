"""Differentiable divergences of distributions."""

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
