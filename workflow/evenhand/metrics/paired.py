"""The randomisation test of paired predictions, and the correction for multiple tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Drawn swaps held in memory at once; bounds the memory, does not change the result.
SWAPS_AT_ONCE = 4_000_000


def swapped_sums(
    scores: np.ndarray, other: np.ndarray, codes: np.ndarray, groups: int, *, seed: int, swaps: int
) -> np.ndarray:
    """Return sums of `scores` after swapping random items with `other`.

    If two classifiers are equivalent, their predictions are exchangeable, and any statistic of the
    sums is distributed as among the swaps, for any number of items. Source: Noreen,
    Computer-Intensive Methods for Testing Hypotheses (1989), approximate randomization; Yeh, More
    accurate tests for the statistical significance of result differences (COLING 2000), for F1.

    Parameters
    ----------
    scores, other : array of float, shape (n, m)
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
        Of the type of `scores`. The sums of `other` are the total minus these.
    """
    differ = np.flatnonzero((scores != other).any(axis=1))
    change, codes_of = other[differ] - scores[differ], codes[differ]
    sums = np.empty((swaps, groups, scores.shape[1]), dtype=scores.dtype)
    sums[:] = (codes == np.arange(groups)[:, None]).astype(scores.dtype) @ scores
    generator = np.random.default_rng(seed)
    step = max(1, SWAPS_AT_ONCE // max(1, len(scores)))
    for first in range(0, swaps, step):
        drawn = generator.integers(2, size=(min(step, swaps - first), len(scores)))
        drawn = drawn[:, differ].astype(scores.dtype)
        for group in range(groups):
            in_group = codes_of == group
            sums[first : first + step, group] += drawn[:, in_group] @ change[in_group]
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


def adjust(rows: Sequence[dict[str, Any]], p_value: str, adjusted: str) -> None:
    """Add the column `adjusted` to rows of tests: `holm` of `p_value`, None where it is missing."""
    p_values = [row.get(p_value) for row in rows]
    p_values = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    for row, p in zip(rows, holm(p_values).tolist(), strict=True):
        row[adjusted] = None if np.isnan(p) else p
