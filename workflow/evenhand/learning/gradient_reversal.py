"""Gradient reversal: features are trained against the adversary (Ganin and Lempitsky 2015)."""

import torch


class _Reversal(torch.autograd.Function):
    generate_vmap_rule = True  # usable under torch.func.vmap and grad

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx: object, inputs: tuple, output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
        return -gradient


def reverse_gradient(x: torch.Tensor) -> torch.Tensor:
    """Return `x` with a negated gradient, so that earlier layers maximise the loss after it."""
    return _Reversal.apply(x)
