"""The network of all methods: a trunk of ReLU layers, two logits, adversaries on the trunk."""

import itertools
from collections.abc import Sequence

import torch
from torch import nn


class Network(nn.Module):
    """A multi-layer perceptron with adversaries behind reversed gradients.

    Parameters
    ----------
    inputs : int
        Number of features.
    hidden : sequence of int
        Sizes of the trunk's layers.
    adversary : sequence of int
        Sizes of the hidden layers of each adversary.
    heads : sequence of int
        Each adversary's number of outputs; empty for no adversary.
    """

    def __init__(
        self, inputs: int, hidden: Sequence[int], adversary: Sequence[int], heads: Sequence[int]
    ) -> None:
        super().__init__()
        self.trunk = _layers([inputs, *hidden])
        features = [inputs, *hidden][-1]
        self.labels = nn.Linear(features, 2)  # before the heads, so that all methods start alike
        self.adversaries = nn.ModuleList(
            nn.Sequential(_layers([features, *adversary]), nn.Linear([features, *adversary][-1], n))
            for n in heads
        )

    def forward(self, x: torch.Tensor, rows: int | None = None) -> tuple[torch.Tensor, list]:
        """Return the logits of all rows (n, 2), and the adversaries' logits of the first `rows`.

        The gradient of what the adversaries see is negated, so that the trunk is trained against
        them (Ganin and Lempitsky 2015).
        """
        features = self.trunk(x)
        outputs = []
        if len(self.adversaries):
            seen = 2 * features[:rows].detach() - features[:rows]
            outputs = [adversary(seen) for adversary in self.adversaries]
        return self.labels(features), outputs


class _Linear(nn.Linear):
    """nn.Linear in an order that vmap turns into a single matrix product.

    Runs of one seed share x. With the weights on the left, their stack (runs, m, n) times
    x (n, rows) is a single product (runs * m, n) times (n, rows), forward and backward.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight @ x.T).T + self.bias


def _layers(sizes: Sequence[int]) -> nn.Sequential:
    pairs = itertools.pairwise(sizes)
    return nn.Sequential(*(layer for n, m in pairs for layer in (_Linear(n, m), nn.ReLU())))


def initial(seed: int, *sizes: object) -> dict[str, torch.Tensor]:
    """Return the initial parameters of a network of these sizes: torch's defaults from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return {name: value.detach() for name, value in Network(*sizes).named_parameters()}
