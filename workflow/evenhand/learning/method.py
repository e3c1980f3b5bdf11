"""Training methods: the interface of the modules of `evenhand.learning.methods`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

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
        A loss such as those of `evenhand.learning.losses.adversarial`. It gets the outputs of the
        heads; mu times its value is added to the label loss. Without heads it is a penalty on the
        network itself: it gets the label's logits (n, 2) instead, and no gradient is reversed.
    balanced_labels : bool
        Whether the label loss is weighted by 1 / P(Y).
    aim : str
        The measure that the method should improve over the MLP (``ddp``, ``deo``, ``ifr_b`` or
        ``ifr_p``); tested by `evenhand.individual.certificate`.
    fit : callable, optional
        For a method without a network: takes scaled features (n, d) and labels (n,) of the
        training rows, and returns a function from features to P(Y=1).
    """

    title: str
    sees_attribute: bool = True
    takes_individual: bool = True
    mus: tuple[float, ...] = ()
    heads: Callable[[int], tuple[int, ...]] = lambda groups: ()
    adversary_loss: "Callable[..., torch.Tensor] | None" = None
    balanced_labels: bool = False
    aim: str = ""
    fit: Callable[[np.ndarray, np.ndarray], Predict] | None = None

    @property
    def takes_mu(self) -> bool:
        """Whether the method's runs have a weight mu."""
        return self.adversary_loss is not None


#: Candidate weights of an adversary: the paper gives none, and the best one depends on the table.
MUS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)
