"""Deep feature reweighting: the last layer is refitted on group-balanced rows.

Kirichenko et al. (2023): after ERM, the last layer is refitted by logistic regression on rows to
which the representation was not fitted, with equal weights of all cells of label x group. These are
the development rows and, for a linear classifier, whose representation is fixed, the training rows.
Half of them fit the layer, the others choose its penalty. The paper draws balanced subsets and
averages their layers; here all rows are used, with weights.

It cannot help if the representation itself mixes label and attribute. An encoder trained with a
spurious attribute may encode nothing else, such as the tiny hierarchical one of
`benchmarks/certify_mitigation.py`, whose worst group does not improve.
"""

from typing import Any

import numpy as np

from evenhand.learning.erasure import LastLayer, fit_last_layer
from evenhand.learning.problem import Problem

TITLE = "deep feature reweighting"
USES_GROUPS = True
AIM = "worst_group"
AIM_FOR = ("linear", "frozen")


def last_layer(features: Any, problem: Problem, fresh: np.ndarray) -> LastLayer:
    """Return a last layer fitted on the fresh rows."""
    return fit_last_layer(features, problem.examples, fresh[::2], fresh[1::2])
