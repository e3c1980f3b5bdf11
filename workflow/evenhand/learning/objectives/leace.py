"""Closed-form erasure of the groups from the representation (LEACE, Belrose et al. 2023).

Training is ERM on batches that balance label x group. Then the groups are erased from what the
last layer reads, so that no linear classifier can tell them, and the last layer is fitted anew.
Beyond LEACE, the representation is then cut to the directions that a classifier of the label reads,
because a wide one still tells the groups to a classifier that is not linear; what is called its
features afterwards are these directions. See `evenhand.learning.erasure`. For a linear classifier
the representation is its input.
"""

from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, erased_last_layer, fit_leace
from evenhand.learning.examples import Examples
from evenhand.learning.objective import Options
from evenhand.learning.objectives.erm import initial_state, loss, modules

__all__ = ["initial_state", "last_layer", "loss", "modules"]

NAME = "leace"
TITLE = "erasure (LEACE)"
SAMPLER = "cell_uniform"
USES_GROUPS = True
AIM = "erase"
OPTIONS: dict[str, float | bool | str] = {}


def last_layer(features: Any, examples: Examples, fresh: np.ndarray, options: Options) -> LastLayer:
    """Return the last layer that reads what the eraser leaves."""
    return erased_last_layer(features, examples, fit_leace)
