"""Gradient reversal: what helps the adversary harms the features (Ganin and Lempitsky 2015)."""

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
    """`x` itself, whose gradient is turned round: of what comes after, everything before it
    learns the opposite.
    """
    return _Reversal.apply(x)
