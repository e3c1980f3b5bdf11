"""Percentile bootstrap intervals for means and shares of items that come in clusters.

Items of one cluster (sentences about one word pair, paragraphs of one document) are not
independent, so whole clusters are drawn. Source: Davison and Hinkley, Bootstrap Methods
and their Application (1997), sections 3.8 and 5.3.1.
"""

from collections.abc import Iterator

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
        than two clusters, from which no variance can be estimated.

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


def effective_number(clusters: np.ndarray) -> float:
    """Return the effective number of clusters, ``n^2 / sum of squared sizes`` (Kish 1965).

    Parameters
    ----------
    clusters : array, shape (n,)
        The cluster of each item.

    Returns
    -------
    float
        Between 1 and the number of clusters; NaN where there is no item.
    """
    if not len(clusters):
        return float("nan")
    sizes = np.unique(clusters, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def drawn_weights(count: int, *, seed: int, resamples: int) -> Iterator[np.ndarray]:
    """Yield how often each of `count` clusters is drawn in each bootstrap sample, in batches.

    The draws are those of `interval_of_mean` with the same seed, so that statistics of several
    methods or models are paired.

    Parameters
    ----------
    count : int
        Number of clusters, at least 1.
    seed : int
        Seed of the draw.
    resamples : int
        Number of bootstrap samples, at least 1.

    Yields
    ------
    array of float64, shape (some samples, count)
        Whole numbers; each row adds up to `count`.
    """
    if resamples < 1 or count < 1:
        raise ValueError("there must be at least one resample and one cluster")
    generator = np.random.default_rng(seed)
    step = max(1, INDICES_AT_ONCE // count)
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = generator.integers(count, size=(rows, count))
        drawn += np.arange(rows)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=rows * count)
        yield times.reshape(rows, count).astype(np.float64)


def ratio_replicates(
    numerators: np.ndarray,
    denominators: np.ndarray,
    clusters: np.ndarray,
    *,
    seed: int,
    resamples: int = 2000,
) -> np.ndarray:
    """Return bootstrap samples of one or several ratios of sums over the same items, by cluster.

    A share is such a ratio: hits over scored items. All columns see the same draws, so the
    difference of two columns is a bootstrap sample of the difference.

    Parameters
    ----------
    numerators, denominators : array of float, shape (n, m)
        Per item and ratio. Give whole numbers: their sums are exact, and so the result does not
        depend on the order in which a machine adds.
    clusters : array, shape (n,)
        The cluster of each item (any sortable label).
    seed, resamples : int
        The draw.

    Returns
    -------
    array of float, shape (resamples, m)
        NaN in samples in which the denominator is 0, and in all samples of a ratio to which fewer
        than two clusters contribute.

    Raises
    ------
    ValueError
        The shapes differ, a value is not finite, or `resamples` is out of range.
    """
    above = np.asarray(numerators, dtype=np.float64)
    below = np.asarray(denominators, dtype=np.float64)
    if above.ndim != 2 or above.shape != below.shape or len(clusters) != len(above):
        raise ValueError(f"shapes {above.shape} and {below.shape} for {len(clusters)} clusters")
    if not np.isfinite(above).all() or not np.isfinite(below).all():
        raise ValueError("values must be finite")
    if resamples < 1:
        raise ValueError("resamples must be at least 1")
    replicates = np.full((resamples, above.shape[1]), np.nan)
    labels, member_of = np.unique(clusters, return_inverse=True)
    if len(labels) < 2:
        return replicates
    above, below = sums_by_group(above, member_of), sums_by_group(below, member_of)
    enough = (below > 0).sum(axis=0) >= 2
    done = 0
    for weights in drawn_weights(len(labels), seed=seed, resamples=resamples):
        sizes = weights @ below
        part = replicates[done : done + len(weights)]
        np.divide(weights @ above, sizes, out=part, where=(sizes > 0) & enough)
        done += len(weights)
    return replicates


def percentile_interval(replicates: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, ...]:
    """Return the lower and upper quantiles that enclose the share `level` of each column.

    Parameters
    ----------
    replicates : array of float, shape (resamples, m)
        Bootstrap samples; NaN is ignored.
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    (array of float, array of float)
        Each of the shape (m,); NaN for a column without a number.
    """
    if not 0 < level < 1:
        raise ValueError("level must be between 0 and 1")
    borders = np.full((2, replicates.shape[1]), np.nan)
    for column, values in enumerate(replicates.T):
        values = values[np.isfinite(values)]
        if len(values):
            borders[:, column] = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return borders[0], borders[1]


def sums_by_group(values: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Sum the rows of `values` (n, m) by their group in `group_of` (n,): (k, m)."""
    count = int(group_of.max()) + 1 if len(group_of) else 0
    columns = [np.bincount(group_of, weights=column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0))
