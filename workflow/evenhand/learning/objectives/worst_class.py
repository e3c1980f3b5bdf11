"""Tilted losses: classes with a higher loss get a higher weight (Li et al. 2021).

    loss = 1 / tilt log mean_c exp(tilt L_c)

over the classes of the batch, with L_c from `evenhand.learning.objective.class_means`. With
``tilt`` 0 it is ``class_balanced``, with a large one the loss of the worst class. Not in the paper,
which finds lower scores for groups with more cases of the worst class.
"""

import math

import torch
from torch import Tensor

from evenhand.learning.objective import Batch, Options, State, at_least_one, class_means, mean_over

TITLE = "worst class"
OPTIONS: dict[str, float | bool | str] = {"tilt": 1.0}


def loss(batch: Batch, state: State, options: Options, modules: None) -> tuple[Tensor, State]:
    """Return the tilted mean over classes of their mean loss."""
    means, present = class_means(batch)
    tilt = options["tilt"]
    if tilt == 0:
        return mean_over(means, present), state
    tilted = (tilt * means).masked_fill(present == 0, -math.inf).logsumexp(dim=-1)
    return (tilted - torch.log(at_least_one(present.sum()))) / tilt, state
