"""Percentile bootstrap intervals for a mean of items that come in clusters.

Items of one cluster (sentences about one word pair, paragraphs of one document) are not
independent, so whole clusters are drawn. Source: Davison and Hinkley, Bootstrap Methods
and their Application (1997), sections 3.8 and 5.3.1.
"""

import numpy as np

#: Drawn indices held in memory at once; bounds the memory, does not change the result.
INDICES_AT_ONCE = 4_000_000


def interval_of_mean(
    values: np.ndarray,
    clusters: np.ndarray | None = None,
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile interval of the mean of `values`, drawing whole clusters.

    Parameters
    ----------
    values : array of float, shape (n,)
        The items; all finite.
    clusters : array, shape (n,), optional
        The cluster of each item (any sortable label); by default each item is its own.
    seed : int
        Seed of the draw.
    resamples : int
        Number of bootstrap samples.
    level : float
        Coverage of the interval, between 0 and 1.

    Returns
    -------
    (float, float)
        Lower and upper border, in the unit of `values`. Both are NaN where there are fewer
        than two clusters: one cluster says nothing about how clusters differ.

    Raises
    ------
    ValueError
        The shapes differ, a value is not finite, or `resamples` or `level` is out of range.

    Notes
    -----
    With few clusters (say under 20) percentile intervals are somewhat too narrow.
    The interval does not depend on the order of the items within a cluster, except for
    rounding; clusters are taken in the order of their sorted labels.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"values must have one dimension, not {values.ndim}")
    if not np.isfinite(values).all():
        raise ValueError("values must be finite")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples must be at least 1, and level between 0 and 1")
    if clusters is None:
        sums, sizes = values, np.ones(len(values))
    else:
        clusters = np.asarray(clusters)
        if clusters.shape != values.shape:
            raise ValueError(f"{len(values)} values but {len(clusters)} clusters")
        _, member_of = np.unique(clusters, return_inverse=True)
        sums = np.bincount(member_of, weights=values)
        sizes = np.bincount(member_of).astype(np.float64)
    count = len(sums)
    if count < 2:
        return float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, INDICES_AT_ONCE // count)
    for first in range(0, resamples, step):
        drawn = generator.integers(count, size=(min(step, resamples - first), count))
        means[first : first + step] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
