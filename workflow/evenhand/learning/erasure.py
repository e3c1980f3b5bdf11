"""Erase an attribute from a representation, and fit a last layer on the result.

`fit_leace` is least-squares concept erasure (LEACE, Belrose et al. 2023) in closed form: of all
affine maps after which no linear classifier predicts the attribute better than a constant, the one
that changes the representation least. With S the covariance of x, C that of x with the groups and
B = S^+ C, their equation is x - C (B^T C)^+ B^T (x - mean), which needs no root of S. Rows have
weights; sparse rows stay sparse. `fit_inlp` is iterative null-space projection (Ravfogel et al.
2020).

An eraser is affine. A linear layer after it is therefore a linear layer on the original
representation, and can replace the last layer of the network.
"""

from collections.abc import Callable
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

#: Penalty of the classifiers whose directions are removed or kept; and every n-th row is held out
#: to test whether a direction is useful.
PENALTY, HELD_OUT = 1e-3, 4

#: Number of successive label classifiers whose directions are kept.
ROUNDS = 1

#: Directions of a group classifier shorter than this share of the longest are ignored.
SHORT = 1e-6


@dataclass(frozen=True)
class Eraser:
    """The map x -> x - x right left^T, up to a constant that a layer's bias takes up.

    Attributes
    ----------
    left, right : arrays, shape (d, r)
    """

    left: np.ndarray
    right: np.ndarray

    def without(self, basis: np.ndarray) -> "Eraser":
        """Return the eraser that then also projects out an orthonormal basis (d, k)."""
        left, right = np.hstack([self.left, basis]), np.hstack([self.right, self.project(basis)])
        return Eraser(left, right)

    def project(self, weight: np.ndarray) -> np.ndarray:
        """Return the weights (d, k) on x that are equivalent to `weight` on the erased x."""
        return weight - self.right @ (self.left.T @ weight)

    def pull_back(self, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient by the weights from the gradient by the projected weights."""
        return gradient - self.left @ (self.right.T @ gradient)


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


def balanced_weights(codes: np.ndarray) -> np.ndarray:
    """Return weights (n,) that sum to 1, the same sum for each code; codes below 0 have 0."""
    sizes = np.bincount(codes[codes >= 0])
    weights = np.where(codes >= 0, 1.0 / np.maximum(sizes, 1)[codes], 0.0)
    return weights / weights.sum()


def fit_leace(features: Any, codes: np.ndarray, weights: np.ndarray) -> Eraser:
    """Return the LEACE eraser of groups.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representation.
    codes : array of int, shape (n,)
        Groups.
    weights : array, shape (n,)
        Weights that sum to 1; rows of weight 0 are ignored.
    """
    import scipy.linalg

    groups = np.eye(codes.max() + 1)[codes]  # a row of weight 0 may have any group
    cross, covariance = _moments(features, groups, weights)
    covariance[np.diag_indices_from(covariance)] += RIDGE * covariance.trace() / len(covariance)
    right = scipy.linalg.solve(covariance, cross, assume_a="pos")
    return Eraser(cross @ np.linalg.pinv(right.T @ cross, rcond=1e-9, hermitian=True), right)


def _moments(features: Any, groups: np.ndarray, weights: np.ndarray):
    """Return the weighted covariance with the groups, and the covariance."""
    centre = np.asarray(features.T @ weights, dtype=np.float64)
    centred = groups - weights @ groups
    cross = np.asarray(features.T @ (weights[:, None] * centred), dtype=np.float64)
    if hasattr(features, "multiply"):
        weighted = features.multiply(weights[:, None]).tocsr()
        square = (weighted.T @ features).toarray().astype(np.float64)
    else:
        square = features.T.astype(np.float64) @ (weights[:, None] * features)
    return cross, square - np.outer(centre, centre)


def fit_inlp(features: Any, codes: np.ndarray, weights: np.ndarray, rounds: int) -> Eraser:
    """Return the projection onto the null space of successive group classifiers.

    Each round fits a linear group classifier to the output of the previous projection. Rounds end
    when its accuracy on held-out rows is no better than chance.

    Parameters
    ----------
    features, codes, weights
        As for `fit_leace`.
    rounds : int
        The maximum number of classifiers.
    """
    order = np.flatnonzero(weights > 0)
    held_out, fitted = order[::HELD_OUT], np.delete(order, np.s_[::HELD_OUT])
    hot, nothing = np.eye(codes.max() + 1, dtype=bool)[codes], np.zeros((features.shape[1], 0))
    start = Eraser(nothing, nothing)

    def useless(layer: LastLayer) -> bool:
        """Whether the mean accuracy over groups is within 2 standard errors of chance."""
        right = (features[held_out] @ layer.weight + layer.bias).argmax(axis=1) == codes[held_out]
        groups = [codes[held_out] == group for group in np.unique(codes[held_out])]
        error = np.sqrt(sum(0.25 / members.sum() for members in groups)) / len(groups)
        return np.mean([right[members].mean() for members in groups]) < 1 / len(groups) + 2 * error

    some = (features[fitted], hot[fitted], weights[fitted], "multi_class")
    return start.without(_directions(*some, start, rounds, useless))


def _directions(
    features: Any,
    hot: np.ndarray,
    weights: np.ndarray,
    task: str,
    eraser: Eraser,
    rounds: int,
    useless: Callable[[LastLayer], bool] = lambda _: False,
) -> np.ndarray:
    """Return the directions (d, r) that successive linear classifiers use after an eraser.

    An orthonormal basis of the weights of `rounds` classifiers, each fitted with the directions
    of the previous ones removed; fewer if one is `useless`.
    """
    basis = np.zeros((features.shape[1], 0))
    for _ in range(rounds):
        layer = _fit(features, hot, weights, task, PENALTY, eraser.without(basis))
        if useless(layer):
            break
        weight = layer.weight.astype(np.float64)
        if task == "multi_class":  # a weight that all classes share changes nothing
            weight = weight - weight.mean(axis=1, keepdims=True)
        weight = weight - basis @ (basis.T @ weight)
        directions, lengths, _ = np.linalg.svd(weight, full_matrices=False)
        kept = directions[:, lengths > SHORT * max(lengths.max(), 1e-12)]
        if not kept.shape[1] or basis.shape[1] + kept.shape[1] >= len(basis):
            break
        basis = np.hstack([basis, kept])
    return basis


def erased_last_layer(
    features: Any, examples: Examples, fit: Callable[[Any, np.ndarray, np.ndarray], Eraser]
) -> LastLayer:
    """Erase the groups from a representation, and fit a last layer on the result.

    First the groups are erased. Then only the directions that `ROUNDS` successive label
    classifiers use are kept: an eraser removes only the information that linear classifiers can
    use, and a wide representation also encodes the groups nonlinearly. Everything is fitted on
    training and development rows with weights that balance label x group: where the two are
    correlated, an eraser with equal weights erases the label as well. Rows of the unknown group
    do not affect the eraser.

    Parameters
    ----------
    features : array or csr_matrix, shape (n, d)
        The representations of all cases.
    examples : Examples
        The cases.
    fit : callable
        Makes an eraser from features, groups and weights of rows.
    """
    rows = np.union1d(examples.train, examples.dev)
    cells, groups = examples.cells[rows], examples.groups[rows]
    known = np.where(groups < examples.known_groups, cells, -1)
    eraser = fit(features[rows], groups, balanced_weights(known))
    hot, weights = examples.hot[rows], balanced_weights(cells)
    directions = _directions(features[rows], hot, weights, examples.task, eraser, ROUNDS)
    reads = eraser.project(directions)
    layer = fit_last_layer(np.asarray(features @ reads), examples, rows, examples.dev)
    return LastLayer((reads @ layer.weight).astype(np.float32), layer.bias, reads)


def fit_last_layer(
    features: Any,
    examples: Examples,
    fitted: np.ndarray,
    chosen: np.ndarray,
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
    """
    task, cells = examples.task, examples.cells
    of_fitted, of_chosen = (balanced_weights(cells[rows]) for rows in (fitted, chosen))
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
    eraser: Eraser | None = None,
) -> LastLayer:
    from scipy.optimize import minimize

    (count, width), classes = features.shape, hot.shape[1]
    entries = features.data if hasattr(features, "toarray") else features
    factor = np.sqrt(count) / max(float(np.linalg.norm(entries)), 1e-12)
    values, total = features.astype(np.float64) * factor, weights.sum()

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return flat[:-classes].reshape(width, classes), flat[-classes:]

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weight, bias = split(flat)
        seen = weight if eraser is None else eraser.project(weight)
        loss, back = _loss(values @ seen + bias, hot, weights / total, task)
        gradient = values.T @ back
        gradient = gradient if eraser is None else eraser.pull_back(gradient)
        slope = np.concatenate([(gradient + penalty * weight).ravel(), back.sum(axis=0)])
        return loss + penalty / 2 * float((weight**2).sum()), slope

    start = np.zeros((width + 1) * classes)
    solution = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weight, bias = split(solution.x)
    seen = weight if eraser is None else eraser.project(weight)
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
