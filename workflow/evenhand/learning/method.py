"""Training methods: the interface of the modules of `evenhand.learning.methods`, and their losses.

Each adversary's loss takes its outputs for a batch (one tensor per head), labels and groups as
one-hot matrices, and `Shares` of the training rows. All work under torch.func.vmap: groups are
weights, not indices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch


class Shares(NamedTuple):
    """Shares of the training rows.

    Attributes
    ----------
    label : tensor, shape (2,)
        P(Y=y).
    group_given_label : tensor, shape (2, groups)
        P(A=a | Y=y).
    """

    label: torch.Tensor
    group_given_label: torch.Tensor


def label_cross_entropy(log_p: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy. `log_p` and the one-hot `y` have the shape (n, 2)."""
    return -(log_p * y).sum(dim=-1).mean()


def balanced_cross_entropy(log_p: torch.Tensor, y: torch.Tensor, shares: Shares) -> torch.Tensor:
    """Return the mean cross-entropy weighted by 1 / P(Y) (CFAIR's balanced error)."""
    weights = y @ _inverse(shares.label)
    return (-(log_p * y).sum(dim=-1) * weights).sum() / weights.sum()


def attribute_cross_entropy(
    outputs: Sequence[torch.Tensor], y: torch.Tensor, a: torch.Tensor, shares: Shares
) -> torch.Tensor:
    """ALFR: mean cross-entropy of one adversary that predicts the group (n, groups)."""
    return -(outputs[0].log_softmax(dim=-1) * a).sum(dim=-1).mean()


def group_absolute_error(
    outputs: Sequence[torch.Tensor], y: torch.Tensor, a: torch.Tensor, shares: Shares
) -> torch.Tensor:
    """LAFTR for demographic parity: the mean over groups of their mean absolute error.

    The error is |a - sigmoid(h)|, h of the shape (n, 1). For more than two groups, h has the
    shape (n, groups) and the error is 1 - softmax(h)[a], which is the same with two. (This
    generalisation is ours.) Groups absent from the batch are left out of the mean.
    """
    return _mean_over_cells(_absolute_error(outputs[0], a), a)


def cell_absolute_error(
    outputs: Sequence[torch.Tensor], y: torch.Tensor, a: torch.Tensor, shares: Shares
) -> torch.Tensor:
    """LAFTR for equalised odds: the same over the cells of group and label."""
    cells = (a[:, :, None] * y[:, None, :]).flatten(start_dim=1)
    return _mean_over_cells(_absolute_error(outputs[0], a), cells)


def conditional_cross_entropy(
    outputs: Sequence[torch.Tensor], y: torch.Tensor, a: torch.Tensor, shares: Shares
) -> torch.Tensor:
    """CFAIR: one adversary per label, each on the rows of its label, with balanced groups.

    The loss of each is the mean cross-entropy (n, groups) weighted by 1 / P(A=a | Y=y); the result
    is the mean of the two. (The authors' code uses 1 / P(Y=y | A=a) by mistake; IIFR's section 2.4
    describes one adversary per group, which is wrong.) Labels absent from the batch are left out
    of the mean.
    """
    errors = torch.stack([-(h.log_softmax(dim=-1) * a).sum(dim=-1) for h in outputs])
    weights = y.T * (_inverse(shares.group_given_label) @ a.T)
    totals = weights.sum(dim=1)
    means = (errors * weights).sum(dim=1) / _not_zero(totals)
    return means.sum() / (totals > 0).sum()


def _absolute_error(h: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    if h.shape[-1] == 1:
        return (a[:, 1] - h[:, 0].sigmoid()).abs()
    return 1 - (h.softmax(dim=-1) * a).sum(dim=-1)


def _mean_over_cells(errors: torch.Tensor, cells: torch.Tensor) -> torch.Tensor:
    """The mean over the cells (n, cells; 0 or 1) of the mean of their errors (n,)."""
    sizes = cells.sum(dim=0)
    return ((errors @ cells) / _not_zero(sizes)).sum() / (sizes > 0).sum()


def _inverse(shares: torch.Tensor) -> torch.Tensor:
    """Return 1 / share; 0 for shares of 0, which have no rows to weight."""
    return torch.where(shares > 0, 1 / _not_zero(shares), 0.0)


def _not_zero(values: torch.Tensor) -> torch.Tensor:
    return torch.where(values > 0, values, 1.0)


Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Method:
    """A method of training.

    Attributes
    ----------
    title : str
        The method's name in tables.
    sees_attribute : bool
        Whether the columns that carry the attribute are part of the input.
    takes_individual : bool
        Whether an individual loss can be added.
    mus : tuple of float
        Candidate weights of the adversary's loss; empty without an adversary.
    heads : callable, optional
        Returns the adversaries' numbers of outputs from the number of groups.
    adversary_loss : callable, optional
        A loss such as those of this module. It gets the outputs of the heads; mu times its value
        is added to the label loss. Without heads it is a penalty on the network itself: it gets the
        label's logits (n, 2) instead, and no gradient is reversed.
    balanced_labels : bool
        Whether the label loss is weighted by 1 / P(Y).
    aim : str
        The measure that the method should improve over the MLP (``ddp``, ``deo``, ``ifr_b`` or
        ``ifr_p``); tested by `evenhand.certificates.problems.tables`.
    fit : callable, optional
        For a method without a network: takes scaled features (n, d) and labels (n,) of the
        training rows, and returns a function from features to P(Y=1).
    """

    title: str
    sees_attribute: bool = True
    takes_individual: bool = True
    mus: tuple[float, ...] = ()
    heads: Callable[[int], tuple[int, ...]] = lambda groups: ()
    adversary_loss: Callable[..., torch.Tensor] | None = None
    balanced_labels: bool = False
    aim: str = ""
    fit: Callable[[np.ndarray, np.ndarray], Predict] | None = None

    @property
    def takes_mu(self) -> bool:
        """Whether the method's runs have a weight mu."""
        return self.adversary_loss is not None


#: Candidate weights of an adversary: the paper gives none, and the best one depends on the table.
MUS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)
