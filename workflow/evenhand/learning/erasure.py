"""Erase an attribute from the directions that a classifier uses, and fit a last layer anew.

`leace` is least-squares concept erasure (LEACE, Belrose et al. 2023) in closed form: of all affine
maps after which no linear classifier predicts the attribute better than a constant, the one that
changes the representation least. With S the covariance of x, C that of x with the groups and
B = S^+ C, their equation is x - C (B^T C)^+ B^T (x - mean), which needs no root of S. So a linear
classifier with the weights w becomes one with w - B (B^T C)^+ (C^T w). Rows have weights; sparse
rows stay sparse. `fit_inlp` is iterative null-space projection (Ravfogel et al. 2020).

C^T w, how far the classifier's outputs differ between groups, has to come from rows to which
neither w nor the representation was fitted. Where label and groups are correlated, a classifier
that has learned the few cases of a cell by heart shows no difference on its own rows and a large
one on others: there would be nothing to erase (docs/certified.md has the figures). B^T C has to
come from rows that B was not fitted to, which tells groups better in its own rows: too little would
be subtracted.

The result is affine. A linear layer after it is therefore a linear layer on the original
representation, and can replace the last layer of the network.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.learning.examples import Examples

#: Added to the diagonal of the covariance, as a share of its mean: B is then defined for
#: features that are constant or more than the rows. The covariance with the groups after erasure
#: is 0 whatever B is.
RIDGE = 1e-6

#: Candidate penalties on the weights of a last layer, for rows of mean square length 1; chosen on
#: the development rows.
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)

#: Penalty of the classifiers whose directions are removed or kept. Every n-th row is held out to
#: test whether a direction is useful; and a classifier is fitted without every n-th row to see its
#: outputs for these.
PENALTY, HELD_OUT = 1e-3, 4

#: Directions of a classifier shorter than this share of the longest are ignored.
SHORT = 1e-6


@dataclass(frozen=True)
class LastLayer:
    """A linear layer on the representation: logits = x weight + bias.

    Attributes
    ----------
    weight : array of float32, shape (d, classes)
    bias : array of float32, shape (classes,)
    reads : array, shape (d, r), or None
        The layer uses only the projection x reads; None: all of x.
    """

    weight: np.ndarray
    bias: np.ndarray
    reads: np.ndarray | None = None


def balanced_weights(codes: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """Return weights (n,) that sum to 1, the same sum for each code; codes below 0 have 0.

    With labels (n,), each label keeps its share of the rows: the codes are balanced within labels.
    """
    sizes = np.bincount(codes[codes >= 0])
    weights = np.where(codes >= 0, 1.0 / np.maximum(sizes, 1)[codes], 0.0)
    if labels is not None:
        weights *= np.bincount(labels)[labels] / np.bincount(labels, weights)[labels]
    return weights / weights.sum()


def contrasts(groups: np.ndarray, hot: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the groups of rows less their prediction from the labels, (n, groups), weighted.

    For features X, the product X^T contrasts is their covariance with the groups within labels.

    Parameters
    ----------
    groups, hot : arrays of 0 and 1, shapes (n, groups) and (n, classes)
        Groups and labels.
    weights : array, shape (n,), optional
        They sum to 1; by default equal. With those that balance label x group, a difference that
        not all labels have counts for each label alike, and not by the cases that the label has.
    """
    weights = np.full(len(groups), 1 / len(groups)) if weights is None else weights
    return weights[:, None] * _within_labels(groups, hot, weights)


def _within_labels(values: np.ndarray, hot: np.ndarray, weights: np.ndarray) -> np.ndarray:
    design, root = _design(hot), np.sqrt(weights)[:, None]
    return values - design @ np.linalg.lstsq(root * design, root * values)[0]


def _design(hot: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(hot)), hot])


def leace(
    weight: np.ndarray, gap: np.ndarray, reading: np.ndarray, cross: np.ndarray, noise: float = 0
) -> np.ndarray:
    """Return a classifier's weights on x that are equivalent to `weight` after LEACE.

    Parameters
    ----------
    weight : array, shape (d, k)
        The weights before.
    gap : array, shape (k, groups)
        The covariance of the classifier's outputs with the groups; weight^T C in the same rows.
    reading : array, shape (d, groups)
        B, see `group_reading`.
    cross : array, shape (groups, groups)
        B^T C, the covariance with the groups of x B.
    noise : float
        The square of twice the standard error of `cross`, if it is an estimate. What is below is
        hardly subtracted, because little that tells the groups would be subtracted many times.
    """
    values, vectors = np.linalg.eigh((cross + cross.T) / 2)
    kept = values > 1e-9 * np.abs(values).max()
    values, vectors = values[kept], vectors[:, kept]
    return weight - reading @ (vectors * values**3 / (values**4 + noise**2)) @ vectors.T @ gap.T


def group_reading(features: Any, groups: np.ndarray, hot: np.ndarray) -> np.ndarray:
    """Return B (d, groups): S^+ C for covariances within labels.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representation.
    groups, hot
        As for `contrasts`.
    """
    import scipy.linalg

    design, values = _design(hot), features.astype(np.float64)  # float32 gives no covariance
    square = values.T @ values
    square = square.toarray() if hasattr(square, "toarray") else square
    by_label = values.T @ design
    explained = by_label @ np.linalg.pinv(design.T @ design, hermitian=True) @ by_label.T
    covariance = (square - explained) / len(groups)
    covariance[np.diag_indices_from(covariance)] += RIDGE * covariance.trace() / len(covariance)
    return scipy.linalg.solve(covariance, values.T @ contrasts(groups, hot), assume_a="pos")


def _held_out_cross(
    features: Any,
    groups: np.ndarray,
    examples: Examples,
    rows: np.ndarray,
    fresh: np.ndarray,
    differing: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Return B^T C in the fresh rows, each read by a B of rows without it, and its noise."""
    cells, hot = examples.cells, examples.hot
    read = np.zeros((len(fresh), groups.shape[1]))
    for fold in range(HELD_OUT):
        held_out = fresh[fold::HELD_OUT]
        fitted = np.setdiff1d(rows, held_out)
        reading = group_reading(features[fitted], groups[fitted], hot[fitted])
        read[fold::HELD_OUT] = features[held_out] @ reading
    rest = _within_labels(read, hot[fresh], balanced_weights(cells[fresh]))
    variance = (rest.T**2 @ differing**2).sum()
    return read.T @ differing, 4 * variance / (groups.shape[1] - 1) ** 2


def fit_inlp(features: Any, codes: np.ndarray, weights: np.ndarray, rounds: int) -> np.ndarray:
    """Return the directions (d, r), orthonormal, that successive group classifiers use.

    Each round fits a linear group classifier to the features without the previous directions.
    Rounds end when its accuracy on held-out rows is no better than chance. These have their
    weights, too: if the groups are correlated with the label, the label's direction tells the
    groups of most rows, and would be projected out.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representation.
    codes : array of int, shape (n,)
        Groups.
    weights : array, shape (n,)
        Weights that sum to 1; rows of weight 0 are ignored.
    rounds : int
        The maximum number of classifiers.
    """
    order = np.flatnonzero(weights > 0)
    held_out, fitted = order[::HELD_OUT], np.delete(order, np.s_[::HELD_OUT])
    hot = np.eye(codes.max() + 1, dtype=bool)[codes]

    groups, shares = codes[held_out], weights[held_out]
    chance = 1 / len(np.unique(groups))
    shares = chance * shares / np.bincount(groups, shares)[groups]

    def useless(layer: LastLayer) -> bool:
        """Whether the mean accuracy over groups is within 2 standard errors of chance."""
        right = (features[held_out] @ layer.weight + layer.bias).argmax(axis=1) == groups
        return shares @ right < chance + np.sqrt(shares @ shares)

    some = (features[fitted], hot[fitted], weights[fitted], "multi_class", PENALTY)
    basis = np.zeros((features.shape[1], 0))
    for _ in range(rounds):
        layer = _fit(*some, basis)
        if useless(layer):
            break
        kept = _span(_without(basis, layer.weight.astype(np.float64)))
        if not kept.shape[1] or basis.shape[1] + kept.shape[1] >= len(basis):
            break
        basis = np.hstack([basis, kept])
    return basis


def _without(basis: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return weight - basis @ (basis.T @ weight)


def _span(weight: np.ndarray, task: str = "multi_class") -> np.ndarray:
    """Return an orthonormal basis (d, r) of the directions that classifiers of weights use."""
    if task == "multi_class":  # a weight that all classes share changes nothing
        weight = weight - weight.mean(axis=1, keepdims=True)
    directions, lengths, _ = np.linalg.svd(weight, full_matrices=False)
    return directions[:, lengths > SHORT * max(lengths.max(), 1e-12)]


def erased_last_layer(
    features: Any, examples: Examples, fresh: np.ndarray, rounds: int = 0, keep_labels: bool = True
) -> LastLayer:
    """Erase the groups from the directions of a label classifier, and fit a last layer on these.

    Only the directions that a label classifier uses are kept, without the groups: erasure removes
    only the information that linear classifiers can use, and a wide representation also encodes
    the groups nonlinearly. The directions are fitted with weights that balance label x group: where
    the two are correlated, the label would be erased as well with equal weights. Rows of the
    unknown group do not affect the erasure.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representations of all cases.
    examples : Examples
        The cases.
    fresh : array of int
        Training and development rows to which the features were not fitted. The classifier is
        fitted to the others, and its difference between groups measured in these. If there are no
        others, it is measured by classifiers that are fitted without the rows in question.
    rounds : int
        Directions of so many group classifiers are projected out first (`fit_inlp`).
    keep_labels : bool
        See `fit_last_layer`.
    """
    rows, groups = np.union1d(examples.train, examples.dev), examples.groups
    cells, hot = examples.cells, examples.hot

    def label_weight(some: np.ndarray) -> np.ndarray:
        known = np.where(groups[some] < examples.known_groups, cells[some], -1)
        read, balanced = features[some], balanced_weights(cells[some])
        basis = fit_inlp(read, groups[some], balanced_weights(known), rounds)
        layer = _fit(read, hot[some], balanced, examples.task, PENALTY, basis)
        return layer.weight.astype(np.float64)

    others = np.setdiff1d(rows, fresh)
    weight = label_weight(others if len(others) else rows)
    outputs = np.zeros(hot.shape)
    for fold in range(HELD_OUT):
        held_out = fresh[fold::HELD_OUT]
        fresh_weight = weight if len(others) else label_weight(np.setdiff1d(fresh, held_out))
        outputs[held_out] = features[held_out] @ fresh_weight
    fresh_known = fresh[groups[fresh] < examples.known_groups]
    rows = rows[np.isin(groups[rows], groups[fresh_known])]
    member = groups[:, None] == np.unique(groups[fresh_known])
    balanced = balanced_weights(cells[fresh_known])
    differing = contrasts(member[fresh_known], hot[fresh_known], balanced)
    reading = group_reading(features[rows], member[rows], hot[rows])
    cross, noise = reading.T @ (features[fresh_known].T @ differing), 0.0
    if len(others):
        cross, noise = _held_out_cross(features, member, examples, rows, fresh_known, differing)
    gap = outputs[fresh_known].T @ differing
    reads = _span(leace(weight, gap, reading, cross, noise), examples.task)
    read = np.asarray(features @ reads)
    layer = fit_last_layer(read, examples, fresh, examples.dev, keep_labels)
    return LastLayer((reads @ layer.weight).astype(np.float32), layer.bias, reads)


def fit_last_layer(
    features: Any,
    examples: Examples,
    fitted: np.ndarray,
    chosen: np.ndarray,
    keep_labels: bool = False,
) -> LastLayer:
    """Fit logistic regression on rows with weights that balance label x group.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representations of all cases.
    examples : Examples
        The cases.
    fitted, chosen : arrays of int
        Rows to fit on, and to choose the penalty on.
    keep_labels : bool
        Whether groups are balanced within labels, which keep their shares: how often each label is
        predicted hardly changes. Otherwise the cells of label x group weigh alike, which costs
        accuracy where labels are unequal, and helps the worst cell.
    """
    task, cells, labels = examples.task, examples.cells, examples.label_codes
    of_fitted, of_chosen = (
        balanced_weights(cells[rows], labels[rows] if keep_labels else None)
        for rows in (fitted, chosen)
    )
    layers = [
        _fit(features[fitted], examples.hot[fitted], of_fitted, task, penalty)
        for penalty in PENALTIES
    ]
    held_out, hot = features[chosen], examples.hot[chosen]
    losses = [
        _loss(held_out @ layer.weight + layer.bias, hot, of_chosen, task)[0] for layer in layers
    ]
    return layers[int(np.argmin(losses))]


def _fit(
    features: Any,
    hot: np.ndarray,
    weights: np.ndarray,
    task: str,
    penalty: float,
    basis: np.ndarray | None = None,
) -> LastLayer:
    """Fit logistic regression; its weights are orthogonal to a basis (d, r), if given."""
    from scipy.optimize import minimize

    (count, width), classes = features.shape, hot.shape[1]
    entries = features.data if hasattr(features, "toarray") else features
    factor = np.sqrt(count) / max(float(np.linalg.norm(entries)), 1e-12)
    values, total = features.astype(np.float64) * factor, weights.sum()

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return flat[:-classes].reshape(width, classes), flat[-classes:]

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weight, bias = split(flat)
        seen = weight if basis is None else _without(basis, weight)
        loss, back = _loss(values @ seen + bias, hot, weights / total, task)
        gradient = values.T @ back
        gradient = gradient if basis is None else _without(basis, gradient)
        slope = np.concatenate([(gradient + penalty * weight).ravel(), back.sum(axis=0)])
        return loss + penalty / 2 * float((weight**2).sum()), slope

    start = np.zeros((width + 1) * classes)
    solution = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weight, bias = split(solution.x)
    seen = weight if basis is None else _without(basis, weight)
    return LastLayer((factor * seen).astype(np.float32), bias.astype(np.float32))


def _loss(
    logits: np.ndarray, hot: np.ndarray, weights: np.ndarray, task: str
) -> tuple[float, np.ndarray]:
    """Return the weighted cross-entropy, and its gradient by the logits."""
    from scipy.special import expit, log_expit, log_softmax

    if task == "multi_class":
        log_p = log_softmax(logits, axis=1)
        each, back = -(hot * log_p).sum(axis=1), np.exp(log_p) - hot
    else:
        each = -np.where(hot, log_expit(logits), log_expit(-logits)).mean(axis=1)
        back = (expit(logits) - hot) / hot.shape[1]
    return float(weights @ each), weights[:, None] * back
