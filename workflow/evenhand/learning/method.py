"""What a method of training is: the modules of `evenhand.learning.methods` say one each."""

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
        What tables call it.
    sees_attribute : bool
        Whether the columns that carry the attribute are part of the input.
    takes_individual : bool
        Whether an individual loss can be added.
    mus : tuple of float
        Weights of the adversary's loss that are tried; empty without one.
    heads : callable, optional
        The adversaries' numbers of outputs, given the number of groups.
    adversary_loss : callable, optional
        Of `evenhand.learning.losses.adversarial`, or like these: it is given the outputs of the
        heads, and mu times it is added to the label loss. Without heads it is a penalty on the
        network itself: it is given the label's logits (n, 2) in their place, and no gradient is
        reversed.
    balanced_labels : bool
        Whether the label loss is weighed by 1 / P(Y).
    aim : str
        The measure that it promises to improve beside the MLP (``ddp``, ``deo``, ``ifr_b`` or
        ``ifr_p``); `evenhand.individual.certificate` tests it.
    fit : callable, optional
        For a method that is no network: takes scaled features (n, d) and labels (n,) of the
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
        """Whether its runs differ in mu."""
        return self.adversary_loss is not None


#: Weights of an adversary that are tried: the paper gives none, and the best one depends on the
#: table.
MUS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)
