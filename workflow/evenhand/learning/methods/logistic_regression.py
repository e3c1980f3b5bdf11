"""Logistic regression with the attribute: scikit-learn, its default penalty, no individual loss."""

import numpy as np

from evenhand.learning.method import Method, Predict


def fit(x: np.ndarray, y: np.ndarray) -> Predict:
    """Fit features (n, d) and labels (n,)."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=2000).fit(x, y)
    return lambda x: model.predict_proba(x)[:, 1]


METHOD = Method(title="logistic regression", takes_individual=False, fit=fit)
