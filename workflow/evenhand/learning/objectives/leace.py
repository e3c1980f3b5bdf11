"""Closed-form erasure of the groups from the representation (LEACE, Belrose et al. 2023).

Training is ERM on batches that balance label x group. Then the groups are erased from the last
layer's input, so that no linear classifier can predict them, and the last layer is refitted. Beyond
LEACE, the representation is then reduced to the directions that a label classifier uses, because a
nonlinear classifier can still predict the groups from a wide one. These directions are reported as
the features. See `evenhand.learning.erasure`. The representation of a linear classifier is its
input.
"""

from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, erased_last_layer
from evenhand.learning.examples import Examples
from evenhand.learning.objective import Options

TITLE = "erasure (LEACE)"
SAMPLER = "cell_uniform"
USES_GROUPS = True
AIM = "erase"


def last_layer(features: Any, examples: Examples, fresh: np.ndarray, options: Options) -> LastLayer:
    """Return the last layer that is fitted after the erasure."""
    return erased_last_layer(features, examples, fresh)
