"""Scores of models with random weights: the prediction interval of one more."""

import numpy as np


def prediction_interval(scores: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return the interval that holds the score of one more such model with probability `level`.

    ``mean +- t sd sqrt(1 + 1/k)``, with the quantile of Student's t of k - 1 degrees of freedom
    and the standard deviation with the divisor k - 1. Source: Hahn and Meeker, Statistical
    Intervals (1991), section 4.7, for normally distributed scores.

    Parameters
    ----------
    scores : array of float, shape (k,)
        The scores of k models with different random weights; all finite.
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    (float, float)
        In the unit of `scores`; both NaN with fewer than two scores.

    Raises
    ------
    ValueError
        A score is not finite, or `level` is out of range.
    """
    from scipy.stats import t

    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    if not 0 < level < 1:
        raise ValueError("level must be between 0 and 1")
    if len(scores) < 2:
        return float("nan"), float("nan")
    quantile = t.ppf((1 + level) / 2, df=len(scores) - 1)
    half = quantile * scores.std(ddof=1) * np.sqrt(1 + 1 / len(scores))
    return float(scores.mean() - half), float(scores.mean() + half)
