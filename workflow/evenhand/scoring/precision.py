"""Exact decisions from low precision: which comparisons need a second look in fp32.

A model in bf16 runs several times faster, and its scores are off by a little. What is decided
is only which of two sentences scores higher, so it is enough to score again in fp32 the pairs
whose scores lie closer together than the error. How large the error is, is measured on a
sample that is scored both ways.
"""

import numpy as np

#: The margin in standard deviations of the error.
DEVIATIONS = 4.0

#: The smallest sample that says how large the error is.
LEAST_SAMPLE = 30


def calibrate(low: np.ndarray, full: np.ndarray) -> float:
    """How far apart two scores must lie in low precision for their order to be believed.

    Parameters
    ----------
    low, full : arrays of float, shape (pairs,)
        For each pair of a sample the difference of its two scores, in low precision and in
        fp32. Pairs without a finite difference do not count.

    Returns
    -------
    float
        `DEVIATIONS` times the error's standard deviation (around zero, which an error of one
        sign makes larger), and at least the largest error of the sample, so that with it no
        decision of the sample flips. Infinity, which sends every pair to fp32, if fewer than
        `LEAST_SAMPLE` pairs count.
    """
    error = np.asarray(low, dtype=float) - np.asarray(full, dtype=float)
    error = np.abs(error[np.isfinite(error)])
    if len(error) < LEAST_SAMPLE:
        return float("inf")
    return float(max(DEVIATIONS * np.sqrt(np.mean(error**2)), error.max()))


def near_ties(differences: np.ndarray, margin: float) -> np.ndarray:
    """The pairs whose order low precision leaves open.

    Parameters
    ----------
    differences : array of float, shape (pairs,)
        Differences of the two scores in low precision. Where one is not a number, fp32 would
        not give one either (bf16 has its range), and nothing is open.
    margin : float
        What `calibrate` gave. Where scores are rounded before they are compared, add one unit
        of the rounding.

    Returns
    -------
    array of bool, shape (pairs,)
    """
    return np.abs(np.asarray(differences, dtype=float)) <= margin
