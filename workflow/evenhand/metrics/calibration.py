"""Calibration: whether predictions with a confidence of 80 % are correct in 80 % of cases.

Source: Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks (ICML 2017): the
expected calibration error over bins of equal width. It is above 0 even for a perfectly calibrated
classifier, and grows as cases become fewer.
"""

from collections.abc import Iterator

import numpy as np

#: Bins of Guo et al.
BINS = 15

#: Sums of up to a million confidences of this precision are exact.
GRID = 2.0**32


def confidences(logits: np.ndarray, true: np.ndarray, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence of each prediction, and whether it is correct.

    Parameters
    ----------
    logits : array of float, shape (..., n, k)
        Finite.
    true : array of bool, shape (n, k)
        The labels.
    task : str
        ``multi_class``: the probability of the predicted class, and whether it is correct.
        ``multi_label``: the probability of each label, and whether it applies.

    Returns
    -------
    (array of float64, array of bool)
        Of the shape (..., n, 1) or (..., n, k).
    """
    from scipy.special import expit, softmax

    logits = logits.astype(np.float64)
    if task == "multi_label":
        return expit(logits), np.broadcast_to(true, logits.shape)
    best = logits.argmax(axis=-1)[..., None]
    right = np.take_along_axis(np.broadcast_to(true, logits.shape), best, axis=-1)
    return softmax(logits, axis=-1).max(axis=-1, keepdims=True), right


def bin_values(confidence: np.ndarray, holds: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Return the contribution of each case to the sums of the bins.

    Parameters
    ----------
    confidence, holds : array, shape (n, m)
        Of `confidences`, for one run; a case has m predictions.
    bins : int
        Of equal width, from 0 to 1; a border belongs to the bin above it.

    Returns
    -------
    array of float64, shape (n, 3 * bins)
        For each bin: number of predictions, sum of confidences, number of correct predictions.
        Confidences are rounded to 1 / `GRID`, so that their sums do not depend on the order.
    """
    count = len(confidence)
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    flat = (np.arange(count)[:, None] * bins + place).ravel()
    parts = [
        np.bincount(
            flat, weights=None if weights is None else weights.ravel(), minlength=count * bins
        )
        for weights in (None, np.round(confidence * GRID) / GRID, holds.astype(np.float64))
    ]
    return np.stack(parts, axis=-1).reshape(count, bins * 3).astype(np.float64)


def filled_bins(sums: np.ndarray) -> Iterator[tuple[dict[str, float], float, float, float]]:
    """Yield each bin with a prediction, of sums of `bin_values`, shape (3 * `BINS`,).

    Each has the cells that name it, the number of predictions, their mean confidence, and the share
    of correct ones.
    """
    for place, (count, confidence, right) in enumerate(sums.reshape(-1, 3).tolist()):
        if count:
            name = {"bin": place + 1, "from": place / BINS, "to": (place + 1) / BINS}
            yield name, count, confidence / count, right / count


def calibration_error(sums: np.ndarray) -> np.ndarray:
    """Return the expected calibration error from sums of `bin_values`, shape (..., 3 * bins).

    Returns
    -------
    array of float64, shape (...)
        Between 0 and 1: the mean distance over bins between confidence and share of correct
        predictions, weighted by predictions; NaN without a prediction.
    """
    parts = sums.reshape(*sums.shape[:-1], -1, 3)
    number = parts[..., 0].sum(axis=-1)
    distance = np.abs(parts[..., 1] - parts[..., 2]).sum(axis=-1)
    return np.divide(distance, number, out=np.full_like(distance, np.nan), where=number > 0)
