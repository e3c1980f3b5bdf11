"""ROC curves: how well a score separates items with a label from the others.

The area under the curve (AUC) is the Mann-Whitney statistic: the probability that an item with
the label scores above one without, where a tie counts one half. Items are clustered, so
intervals and p-values use the clusters' sums of the structural components. Source: Obuchowski,
Nonparametric analysis of clustered ROC curve data, Biometrics 53 (1997); DeLong et al.,
Biometrics 44 (1988).
"""

import numpy as np


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the area under the ROC curve; a tie counts one half.

    Parameters
    ----------
    scores : array of float, shape (n,)
        All finite; higher means more likely to have the label.
    labels : array of bool, shape (n,)
        Whether the item has the label.

    Returns
    -------
    float
        Between 0 and 1; NaN where all labels are the same.
    """
    scores, labels = _checked(scores, labels)
    if labels.all() or not labels.any():
        return float("nan")
    return float(_wins(scores[labels], scores[~labels]).mean() / (~labels).sum())


def auc_contributions(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the contribution of each item to ``AUC - 0.5``, to first order.

    An item's structural component is the share of items of the other label in correct order with
    it. Its distance from the AUC, divided by the number of items with the same label, is the
    item's influence on the AUC. Influences sum to zero; each item gets an equal part of
    ``AUC - 0.5`` in addition.

    Parameters
    ----------
    scores, labels : array, shape (n,)
        As in `auc`.

    Returns
    -------
    array of float, shape (n,)
        The sum is ``AUC - 0.5``; all zero where all labels are the same.
    """
    scores, labels = _checked(scores, labels)
    added = np.zeros(len(scores))
    if labels.all() or not labels.any():
        return added
    area, count, others = auc(scores, labels), labels.sum(), (~labels).sum()
    added[labels] = (_wins(scores[labels], scores[~labels]) / others - area) / count
    added[~labels] = (_wins(-scores[~labels], -scores[labels]) / count - area) / others
    return added + (area - 0.5) / len(scores)


def roc_points(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ROC curve, from (0, 0) to (1, 1), by scikit-learn: 200 points at most.

    Parameters
    ----------
    scores, labels : array, shape (n,)
        As in `auc`.

    Returns
    -------
    (array of float, array of float)
        False-positive rates and true-positive rates; empty where all labels are the same.
    """
    from sklearn.metrics import roc_curve

    scores, labels = _checked(scores, labels)
    if labels.all() or not labels.any():
        return np.zeros(0), np.zeros(0)
    false_rate, true_rate, _ = roc_curve(labels, scores)
    count = len(false_rate)
    kept = np.linspace(0, count - 1, min(count, 200)).round().astype(int)
    return false_rate[kept], true_rate[kept]


def _wins(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Count the `others` below each score; a tie counts one half."""
    others = np.sort(others)
    below = np.searchsorted(others, scores, side="left")
    return (below + np.searchsorted(others, scores, side="right")) / 2


def _checked(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    if scores.ndim != 1 or scores.shape != labels.shape:
        raise ValueError(f"scores of shape {scores.shape} and labels of shape {labels.shape}")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    return scores, labels
