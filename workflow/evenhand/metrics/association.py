"""The association of a binary feature of cases with their labels."""

import numpy as np


def mutual_information(with_it: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the mutual information of a feature and a label in bits, from counts.

    Parameters
    ----------
    with_it : array of int, shape (r, k)
        Cases of each label that have the feature; r tables at once.
    totals : array of int, shape (k,)
        Cases of each label.

    Returns
    -------
    array of float, shape (r,)
    """
    from scipy.special import rel_entr

    count = totals.sum()
    joint = np.stack([with_it, totals - with_it], axis=1) / count
    alone = joint.sum(axis=2, keepdims=True) * (totals / count)
    return np.maximum(rel_entr(joint, alone).sum(axis=(1, 2)), 0) / np.log(2)


def risk_ratio(a: int, n: int, b: int, m: int) -> tuple[float, float, float]:
    """Return ``(a / n) / (b / m)`` with its 95 % interval; NaN where n or m is 0.

    The interval is normal on the scale of logarithms. Source: Katz and others, Obtaining
    confidence intervals for the risk ratio in cohort studies (Biometrics 34, 1978). If a cell is
    empty, 0.5 is added to all four.
    """
    if not n or not m:
        return float("nan"), float("nan"), float("nan")
    if not (a and b and n - a and m - b):
        a, b, n, m = a + 0.5, b + 0.5, n + 1, m + 1
    ratio = (a / n) / (b / m)
    half = 1.959963984540054 * (1 / a - 1 / n + 1 / b - 1 / m) ** 0.5
    return ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half))
