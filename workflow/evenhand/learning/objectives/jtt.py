"""Just Train Twice: the errors of a first training get a higher weight (Liu et al. 2021).

A first ERM of ``first_epochs`` epochs finds the training cases that it misclassifies; a second ERM
uses each of them ``upweight`` times per epoch. No groups are needed: if the label depends on a
spurious attribute, the first errors are the cases that contradict it. In a multi-label task, a case
with any wrong label is an error. After a long first training there are no errors left.
"""

from dataclasses import replace

import numpy as np

from evenhand.learning.examples import Examples
from evenhand.learning.objective import Options, whole
from evenhand.metrics.classification import predicted_labels

TITLE = "Just Train Twice"
AIM = "worst_group"
OPTIONS: dict[str, float | bool | str] = {"first_epochs": 1.0, "upweight": 5.0}


def again(examples: Examples, logits: np.ndarray, options: Options) -> Examples:
    """Return the cases of the second training, from the logits of the first."""
    rows = examples.train
    predicted = predicted_labels(logits[rows], examples.task)
    wrong = rows[(predicted != examples.hot[rows]).any(axis=1)]
    copies = np.repeat(wrong, whole(options, "upweight") - 1)
    return replace(examples, train=np.concatenate([rows, copies]))
