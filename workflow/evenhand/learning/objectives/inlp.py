"""Iterative null-space projection of the groups (INLP, Ravfogel et al. 2020).

Training is ERM on batches that balance label x group. Then up to ``rounds`` linear group
classifiers, each fitted after the previous projections, are projected out of the last layer's
input. Then all is done as in `leace`, which erases the rest: projection alone leaves the
groups' difference along a label's direction, which group classifiers hardly use. INLP removes more
directions than `leace`, and gives the same results on our planted problems.
"""

from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, erased_last_layer
from evenhand.learning.objective import whole
from evenhand.learning.problem import Problem

TITLE = "null-space projection (INLP)"
SAMPLER = "cell_uniform"
USES_GROUPS = True
AIM = "erase"
OPTIONS: dict[str, float | bool | str] = {"rounds": 8.0}


def last_layer(features: Any, problem: Problem, fresh: np.ndarray) -> LastLayer:
    """Return the last layer that is fitted after the projection."""
    rounds, keep_labels = whole(problem.options, "rounds"), problem.keeps_labels
    return erased_last_layer(features, problem.examples, fresh, rounds, keep_labels)
