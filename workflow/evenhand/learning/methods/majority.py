"""Constant prediction: the share of the label 1 among the training rows."""

import numpy as np

from evenhand.learning.method import Method, Predict


def fit(x: np.ndarray, y: np.ndarray) -> Predict:
    """Take the mean of the labels (n,)."""
    share = float(np.mean(y))
    return lambda x: np.full(len(x), share)


METHOD = Method(title="majority class", takes_individual=False, fit=fit)
