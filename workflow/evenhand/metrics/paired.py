"""Tests of two things measured on the same items, which come in clusters."""

import numpy as np

from evenhand.metrics.bootstrap import INDICES_AT_ONCE, sums_by_group

#: Random patterns of signs per test; the smallest p-value is one over one more.
FLIPS = 4999


def sign_flip_p_values(
    contributions: np.ndarray, clusters: np.ndarray, *, seed: int, flips: int = FLIPS
) -> np.ndarray:
    """Two-sided p-values of sums that would be zero if there were no effect.

    The contributions of a cluster are added, and the sum over clusters is compared with the
    sums under random signs of the clusters: the permutation test of paired differences, with
    clusters for items. All columns see the same signs. Source: Canay, Romano and Shaikh,
    Randomization tests under an approximate symmetry assumption, Econometrica 85 (2017), which
    shows when it holds without symmetric contributions; Phipson and Smyth (2010) for the one
    that is added to the counts.

    Parameters
    ----------
    contributions : array of float, shape (n, m)
        What each item adds to each of m sums.
    clusters : array, shape (n,)
        The cluster of each item (any sortable label).
    seed : int
        Seed of the signs.
    flips : int
        Number of random patterns of signs.

    Returns
    -------
    array of float, shape (m,)
        Between ``1 / (flips + 1)`` and 1; NaN where there are fewer than two clusters.

    Raises
    ------
    ValueError
        The shapes differ, or `flips` is out of range.
    """
    contributions = np.asarray(contributions, dtype=np.float64)
    if contributions.ndim != 2 or len(clusters) != len(contributions) or flips < 1:
        raise ValueError(f"shape {contributions.shape} for {len(clusters)} clusters")
    labels, member_of = np.unique(clusters, return_inverse=True)
    sums = sums_by_group(contributions, member_of)
    if len(labels) < 2:
        return np.full(contributions.shape[1], np.nan)
    seen = np.abs(sums.sum(axis=0))
    # What is as large but for rounding counts as as large.
    border = seen - 1e-9 * np.abs(sums).sum(axis=0)
    reached = np.zeros(contributions.shape[1])
    generator = np.random.default_rng(seed)
    step = max(1, INDICES_AT_ONCE // len(labels))
    for first in range(0, flips, step):
        size = (min(step, flips - first), len(labels))
        signs = 2.0 * generator.integers(2, size=size) - 1
        reached += (np.abs(signs @ sums) >= border).sum(axis=0)
    return (1 + reached) / (1 + flips)


def holm(p_values: np.ndarray) -> np.ndarray:
    """P-values adjusted for how many there are, by Holm (1979).

    Parameters
    ----------
    p_values : array of float, shape (m,)
        One per hypothesis of the family; NaN is no test, and does not count.

    Returns
    -------
    array of float, shape (m,)
        NaN where there was NaN.
    """
    adjusted = np.asarray(p_values, dtype=np.float64).copy()
    tested = np.flatnonzero(np.isfinite(adjusted))
    order = tested[np.argsort(adjusted[tested], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(adjusted[order] * factors))
    return adjusted
