"""Paired tests on clustered items, and the correction for multiple tests."""

import numpy as np

from evenhand.metrics.bootstrap import INDICES_AT_ONCE, sums_by_group

#: Random patterns of signs per test; the smallest p-value is one over one more.
FLIPS = 4999


def sign_flip_p_values(
    contributions: np.ndarray, clusters: np.ndarray, *, seed: int, flips: int = FLIPS
) -> np.ndarray:
    """Return two-sided p-values of sums that are zero without an effect.

    The sum over clusters is compared with the sums under random signs of the clusters: the
    permutation test of paired differences, with clusters as items. All columns share the signs.
    Source: Canay, Romano and Shaikh, Randomization tests under an approximate symmetry assumption,
    Econometrica 85 (2017), which shows when it is valid without symmetric contributions;
    Phipson and Smyth (2010) for adding 1 to the counts.

    Parameters
    ----------
    contributions : array of float, shape (n, m)
        Contributions of the items to each of m sums.
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
    # equal up to rounding counts as equal
    border = seen - 1e-9 * np.abs(sums).sum(axis=0)
    reached = np.zeros(contributions.shape[1])
    generator = np.random.default_rng(seed)
    step = max(1, INDICES_AT_ONCE // len(labels))
    for first in range(0, flips, step):
        size = (min(step, flips - first), len(labels))
        signs = 2.0 * generator.integers(2, size=size) - 1
        reached += (np.abs(signs @ sums) >= border).sum(axis=0)
    return (1 + reached) / (1 + flips)


def swapped_sums(
    one: np.ndarray, other: np.ndarray, codes: np.ndarray, groups: int, *, seed: int, swaps: int
) -> np.ndarray:
    """Return sums of `one` after swapping random items with `other`.

    If two classifiers are equivalent, their predictions are exchangeable, and any statistic of the
    sums is distributed as among the swaps, for any number of items. Source: Noreen,
    Computer-Intensive Methods for Testing Hypotheses (1989), approximate randomization; Yeh, More
    accurate tests for the statistical significance of result differences (COLING 2000), for F1.

    Parameters
    ----------
    one, other : array of float, shape (n, m)
        Contributions of the items under each classifier.
    codes : array of int, shape (n,)
        The group of each item; codes from `groups` on mean no group.
    groups : int
        Number of groups.
    seed, swaps : int
        The draw: the same for equal n and seed, independent of the groups.

    Returns
    -------
    array, shape (swaps, groups, m)
        Of the type of `one`. The sums of `other` are the total minus these.
    """
    differ = np.flatnonzero((one != other).any(axis=1))
    change, codes_of = other[differ] - one[differ], codes[differ]
    sums = np.empty((swaps, groups, one.shape[1]), dtype=one.dtype)
    sums[:] = (codes == np.arange(groups)[:, None]).astype(one.dtype) @ one
    generator = np.random.default_rng(seed)
    step = max(1, INDICES_AT_ONCE // max(1, len(one)))
    for first in range(0, swaps, step):
        drawn = generator.integers(2, size=(min(step, swaps - first), len(one)))
        drawn = drawn[:, differ].astype(one.dtype)
        for group in range(groups):
            own = codes_of == group
            sums[first : first + step, group] += drawn[:, own] @ change[own]
    return sums


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values for multiple tests by Holm (1979).

    Parameters
    ----------
    p_values : array of float, shape (m,)
        One per hypothesis of the family; NaN is no test.

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
