"""ROC curves: how well a score separates items with a label from the others.

The area under the curve (AUC) is the Mann-Whitney statistic: the probability that an item with
the label scores above one without, where a tie counts one half. Items are clustered, so
intervals resample whole clusters, and p-values use the clusters' sums of the structural
components. Source: Obuchowski, Nonparametric analysis of clustered ROC curve data, Biometrics
53 (1997); DeLong et al., Biometrics 44 (1988).
"""

import numpy as np

from evenhand.metrics.bootstrap import drawn_weights, sums_by_group


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the area under the ROC curve; a tie counts one half.

    Parameters
    ----------
    scores : array of float, shape (n,)
        All finite; more speaks for the label.
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


def auc_replicates(
    scores: np.ndarray,
    labels: np.ndarray,
    clusters: np.ndarray,
    *,
    seed: int,
    resamples: int = 2000,
) -> np.ndarray:
    """Return bootstrap samples of the AUC of one or several scores, by cluster.

    All scores share the draws, so the difference of two columns is a bootstrap sample of the
    difference.

    Parameters
    ----------
    scores : array of float, shape (n, m)
        All finite; more speaks for the label.
    labels : array of bool, shape (n,)
        Whether the item has the label.
    clusters : array, shape (n,)
        The cluster of each item (any sortable label).
    seed, resamples : int
        The draw.

    Returns
    -------
    array of float, shape (resamples, m)
        NaN in samples with a single label, and in all samples with fewer than two clusters.
    """
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    if scores.ndim != 2 or len(clusters) != len(scores):
        raise ValueError(f"scores of shape {scores.shape} for {len(clusters)} clusters")
    replicates = np.full((resamples, scores.shape[1]), np.nan)
    names, member_of = np.unique(clusters, return_inverse=True)
    if len(names) < 2 or labels.all() or not labels.any():
        return replicates
    kinds = np.stack([labels, ~labels], axis=1)
    kinds = sums_by_group(kinds, member_of)
    against = [_wins_between(column, labels, member_of, len(names)) for column in scores.T]
    done = 0
    for weights in drawn_weights(len(names), seed=seed, resamples=resamples):
        possible = (weights @ kinds).prod(axis=1)
        # sums of whole numbers, exact in single precision up to 2^24
        exact = np.float32 if 2 * possible.max() < 2**24 else np.float64
        weights = weights.astype(exact)
        part = replicates[done : done + len(weights)]
        for column, doubled in enumerate(against):
            reached = np.einsum("rc,rc->r", weights @ doubled.astype(exact), weights)
            np.divide(reached, 2 * possible, out=part[:, column], where=possible > 0)
        done += len(weights)
    return replicates


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


def roc_points(
    scores: np.ndarray, labels: np.ndarray, most: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ROC curve, from (0, 0) to (1, 1), by scikit-learn, thinned for drawing.

    Parameters
    ----------
    scores, labels : array, shape (n,)
        As in `auc`.
    most : int
        Maximum number of points, at least 2; the ends are kept.

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
    kept = np.unique(np.linspace(0, len(false_rate) - 1, most).round().astype(int))
    if len(false_rate) <= most:
        kept = np.arange(len(false_rate))
    return false_rate[kept], true_rate[kept]


def _wins_between(
    scores: np.ndarray, labels: np.ndarray, member_of: np.ndarray, count: int
) -> np.ndarray:
    """Return twice the wins of each cluster's labelled items over each cluster's others.

    Shape (count, count). Doubled, because a tie counts one half and whole numbers sum exactly.
    """
    others = np.flatnonzero(~labels)
    others = others[np.argsort(scores[others], kind="stable")]
    # Row j: contributions of the items above the sorted others up to j, 1 for above and 1 for
    # at least equal.
    size = (len(others) + 1) * count
    above = np.zeros(size)
    for side in ("left", "right"):
        place = np.searchsorted(scores[others], scores[labels], side=side)
        above += np.bincount(place * count + member_of[labels], minlength=size)
    wins = np.cumsum(above.reshape(-1, count)[::-1], axis=0)[::-1][1:]
    order = np.argsort(member_of[others], kind="stable")
    own = member_of[others][order]
    first = np.flatnonzero(np.diff(own, prepend=-1))
    between = np.zeros((count, count))
    between[own[first]] = np.add.reduceat(wins[order], first, axis=0)
    return between.T


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
