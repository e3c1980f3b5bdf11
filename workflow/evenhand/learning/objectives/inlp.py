"""Iterative null-space projection of the groups (INLP, Ravfogel et al. 2020).

Training is ERM on batches that balance label x group. Then up to ``rounds`` linear classifiers of
the groups, each fitted to what those before it left, are projected away from what the last layer
reads. Then the representation is cut and the last layer is fitted anew, as in `leace`. It removes
more directions than `leace` does, at a cost in accuracy where the representation is wide.
"""

from functools import partial
from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, erased_last_layer, fit_inlp
from evenhand.learning.examples import Examples
from evenhand.learning.objective import Options, whole
from evenhand.learning.objectives.erm import initial_state, loss, modules

__all__ = ["initial_state", "last_layer", "loss", "modules"]

NAME = "inlp"
TITLE = "null-space projection (INLP)"
SAMPLER = "cell_uniform"
USES_GROUPS = True
AIM = "erase"
OPTIONS: dict[str, float | bool | str] = {"rounds": 8.0}


def last_layer(features: Any, examples: Examples, fresh: np.ndarray, options: Options) -> LastLayer:
    """Return the last layer that reads what the projection leaves."""
    return erased_last_layer(features, examples, partial(fit_inlp, rounds=whole(options, "rounds")))
