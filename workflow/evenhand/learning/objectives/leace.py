"""Closed-form erasure of the groups from the representation (LEACE, Belrose et al. 2023).

Training is ERM on batches that balance label x group. Then the last layer's input is reduced to the
directions that a label classifier uses, because a nonlinear classifier can predict the groups from
a wide one whatever linear ones can; the groups are erased from these, and the last layer is
refitted with groups balanced within labels, which keep their shares. If the epoch is chosen by the
worst group (``select``), the cells of label x group weigh alike, as in the batches. How far groups
differ is measured in cases that neither the representation nor the label classifier was fitted to.
These directions are reported as the features. See `evenhand.learning.erasure`. The representation
of a linear classifier is its input.
"""

from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, erased_last_layer
from evenhand.learning.problem import Problem

TITLE = "erasure (LEACE)"
SAMPLER = "cell_uniform"
USES_GROUPS = True
AIM = "erase"


def last_layer(features: Any, problem: Problem, fresh: np.ndarray) -> LastLayer:
    """Return the last layer that is fitted after the erasure."""
    return erased_last_layer(features, problem.examples, fresh, keep_labels=problem.keeps_labels)
