"""Exact decisions: ties in fp32, and the comparisons in low precision to repeat in fp32.

A model in bf16 runs several times faster, with small errors in its scores. Decisions depend only on
which of two sentences scores higher, so that only pairs whose scores differ by less than the error
are scored again in fp32. The error is measured on a sample that is scored in both formats.
"""

import numpy as np

#: The margin in standard deviations of the error.
DEVIATIONS = 4.0

#: The smallest sample for estimating the error.
LEAST_SAMPLE = 30

#: The relative error of scores in fp32: eight units of rounding. Two implementations of one method
#: were measured to differ by up to 8.5e-7.
FP32_ERROR = 1e-6


def difference(more: np.ndarray, less: np.ndarray, error: float = FP32_ERROR) -> np.ndarray:
    """Return ``more - less``, and 0 for a tie: scores that differ by no more than their error.

    Which of two such scores is larger depends on the machine and on the batch. NaN where a score is
    NaN or infinite.

    Parameters
    ----------
    more, less : arrays of float, shape (pairs,)
        The scores of both sides.
    error : float
        The error relative to the larger of the two; 0: only equal scores tie.
    """
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isfinite(more) & np.isfinite(less), more - less, np.nan)
        return np.where(np.abs(gap) <= error * np.fmax(np.abs(more), np.abs(less)), 0.0, gap)


def calibrate(low: np.ndarray, full: np.ndarray) -> float:
    """Return the difference of scores in low precision above which their order is reliable.

    Parameters
    ----------
    low, full : arrays of float, shape (pairs,)
        The score differences of a sample of pairs, in low precision and in fp32. Pairs without a
        finite difference are ignored.

    Returns
    -------
    float
        `DEVIATIONS` times the root mean square error, and at least the largest error of the sample,
        so that no decision of the sample changes. Infinity, so that every pair is repeated in fp32,
        with fewer than `LEAST_SAMPLE` pairs.
    """
    error = np.asarray(low, dtype=float) - np.asarray(full, dtype=float)
    error = np.abs(error[np.isfinite(error)])
    if len(error) < LEAST_SAMPLE:
        return float("inf")
    return float(max(DEVIATIONS * np.sqrt(np.mean(error**2)), error.max()))


def near_ties(differences: np.ndarray, margin: float) -> np.ndarray:
    """Return which pairs have an uncertain order in low precision.

    Parameters
    ----------
    differences : array of float, shape (pairs,)
        Score differences in low precision. A NaN is not a near tie, since it would be NaN in fp32,
        too (bf16 has the same range).
    margin : float
        The result of `calibrate`, plus the unit of rounding if scores are rounded before they
        are compared.

    Returns
    -------
    array of bool, shape (pairs,)
    """
    return np.abs(np.asarray(differences, dtype=float)) <= margin
