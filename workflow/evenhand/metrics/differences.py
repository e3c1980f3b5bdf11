"""Tests of whether a number differs between two runs, from intervals or from items."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand.metrics.inference import interval_around, mean_p_value, total

#: Fewest clusters for a test: five that agree have a two-sided p-value of 2/32, six of 2/64.
LEAST_CLUSTERS = 6


class Estimate(NamedTuple):
    """A number with its interval.

    Attributes
    ----------
    value, low, high : float
        In the number's unit.
    count : int, optional
        The number of values behind a mean with a Student interval; else the interval is taken
        for a normal or bootstrap interval.
    """

    value: float
    low: float
    high: float
    count: int | None = None

    def from_neutral(self, neutral: float) -> "Estimate":
        """Return the distance from a neutral point, at least 0, with its interval.

        A border beyond the neutral point becomes negative.
        """
        side = -1.0 if self.value < neutral else 1.0
        borders = sorted((side * (self.low - neutral), side * (self.high - neutral)))
        return Estimate(side * (self.value - neutral), *borders, self.count)


class Difference(NamedTuple):
    """A difference, its standard error, two-sided p-value and interval; NaN where unknown."""

    difference: float
    error: float
    p_value: float
    low: float
    high: float


def _unknown(difference: float) -> Difference:
    return Difference(difference, *[float("nan")] * 4)


def difference_of_intervals(base: Estimate, head: Estimate, level: float = 0.95) -> Difference:
    """Return the difference of two independent numbers with known intervals.

    The standard error combines the halves of the intervals that face each other, and each end of
    the interval of the difference those on its side, which suits asymmetric intervals: the method
    of variance estimates recovery (Zou and Donner, Statistics in Medicine 27, 2008). Numbers with
    Student intervals have Welch's degrees of freedom.

    Parameters
    ----------
    base, head : Estimate
        All finite.
    level : float
        Coverage of the intervals, between 0 and 1.

    Returns
    -------
    Difference
        ``head - base``. All else is NaN if both halves have no width, if a number is outside its
        interval, or if a count is below 2.
    """
    from scipy import stats

    change = head.value - base.value
    for estimate in (base, head):
        if not estimate.low <= estimate.value <= estimate.high or (
            estimate.count is not None and estimate.count < 2
        ):
            return _unknown(change)
    # the errors below and above the difference
    sides = [_error(ends, level) for ends in ((base, head), (head, base))]
    error, freedom = sides[0 if change >= 0 else 1]
    if error == 0:
        return _unknown(change)
    low, high = (float(stats.t.ppf((1 + level) / 2, df=df)) * size for size, df in sides)
    p_value = float(2 * stats.t.sf(abs(change) / error, df=freedom))
    return Difference(change, error, p_value, change - low, change + high)


def _error(estimates: tuple[Estimate, Estimate], level: float) -> tuple[float, float]:
    """Return the standard error of the upper half of one and the lower of another, with df."""
    from scipy import stats

    lower, upper = estimates
    variances, freedoms = [], []
    for half, count in (
        (lower.high - lower.value, lower.count),
        (upper.value - upper.low, upper.count),
    ):
        freedom = float("inf") if count is None else count - 1
        variances.append((half / float(stats.t.ppf((1 + level) / 2, df=freedom))) ** 2)
        freedoms.append(freedom)
    error = float(np.sqrt(sum(variances)))
    below = sum((v**2 / df for v, df in zip(variances, freedoms, strict=True)), 0.0)
    return error, error**4 / below if below else float("inf")


def difference_of_items(
    numerators: np.ndarray,
    denominators: np.ndarray,
    clusters: np.ndarray,
    *,
    neutral: float | None = None,
    runs: Sequence[np.ndarray] = (),
    parts: Sequence[int] | np.ndarray = (),
    slopes: Sequence[float] | np.ndarray = (),
) -> Difference:
    """Return the difference of two means or shares over the items of both runs.

    The p-value is that of the sign-flip test of the difference, item by item, with whole clusters
    flipped (`evenhand.metrics.inference`), and the interval is of the same kind. So noise that both
    runs share cancels, and runs without common items are compared as independent ones.

    Parameters
    ----------
    numerators, denominators : array of float, shape (n, 2)
        Contributions of each item to numerator and denominator in base and in head; zero for an
        item that a run lacks.
    clusters : array, shape (n,) or (n, 2 to 4)
        As in `evenhand.metrics.inference.total`.
    neutral : float, optional
        Compare the distances from this point instead of the means.
    runs : two arrays of float, shape (trainings,)
        The number of each training in base and in head, of means over several. Their variation is
        noise too: its variance is added to that over the items, with Welch's degrees of freedom,
        and the p-value is at least that of Student's test.
    parts : array of int, shape (n,), optional
        The part of each item, of a number that compares means of parts. In a small part no item may
        have changed by chance, which is no certainty: each part varies at least as the items of all
        parts do.
    slopes : array of float, shape (n,), optional
        By how much the number rises with the mean of each item's part.

    Returns
    -------
    Difference
        ``head - base``. All else is NaN if fewer than `LEAST_CLUSTERS` clusters have an item in
        base or in head; the difference is NaN too if a run has no item.
    """
    from scipy import stats

    above, below = (np.asarray(array, dtype=np.float64) for array in (numerators, denominators))
    clusters, sizes = np.asarray(clusters), below.sum(axis=0)
    if not len(above) or (sizes <= 0).any():
        return _unknown(float("nan"))
    means = above.sum(axis=0) / sizes
    side, centre = np.ones(2), 0.0
    if neutral is not None:
        # on the side of each run's mean: a cluster beyond the neutral point counts as nearer
        from_it = means - neutral
        from_it[np.abs(from_it) <= 1e-12 * np.abs(above).max()] = 0.0
        side, centre = np.where(from_it < 0, -1.0, 1.0), neutral
        side = np.where(from_it == 0, side[::-1], side)  # one at the point has that of the other
    elif (below[:, 0] != below[:, 1]).any():
        centre = above.sum() / sizes.sum()
    distances = side * (means - (neutral or 0.0))
    change = float(distances[1] - distances[0])
    swaps, axis = (clusters, None) if clusters.ndim == 1 else (clusters[:, :2], 0)
    groups = min(len(np.unique(swaps[below[:, run] > 0], axis=axis)) for run in (0, 1))
    if groups < LEAST_CLUSTERS:
        return _unknown(change)
    if abs(change) <= 1e-12 * np.abs(means).max():
        return Difference(change, 0.0, 1.0, change, change)
    weights = side * [-1, 1] * (sizes.mean() / sizes)
    scale = float(sizes.mean())
    null = total((above - centre * below) @ weights, clusters)
    influence = (above - means * below) @ weights / scale
    rest = total(influence, clusters).sums
    error = float(np.sqrt((rest**2).sum() * len(rest) / (len(rest) - 1)))
    p_value = mean_p_value(null)
    several = [np.asarray(some) for some in runs if len(some) > 1]
    terms = [(some.var(ddof=1) / len(some), len(some) - 1) for some in several]
    terms += _of_small_parts(influence, error**2, np.asarray(parts, int), np.asarray(slopes))
    both = float(np.sqrt(error**2 + sum(variance for variance, _ in terms)))
    if not terms or not both:
        ends = interval_around(change, len(above) * influence, clusters)
        return Difference(change, error, p_value, *ends)
    below = sum(variance**2 / freedom for variance, freedom in terms)
    freedom = both**4 / below if below else np.inf
    p_value = max(p_value, 2 * float(stats.t.sf(abs(change) / both, freedom)))
    reach = both * float(stats.t.ppf(0.975, freedom))
    return Difference(change, both, p_value, change - reach, change + reach)


def _of_small_parts(
    influence: np.ndarray, variance: float, parts: np.ndarray, slopes: np.ndarray
) -> list[tuple[float, int]]:
    """Return the variance that parts lack in which items vary less than in all, with its df.

    Scaled by the variance of whole clusters over that of independent items.
    """
    independent = (influence**2).sum()
    sizes = np.bincount(parts)[parts] if len(parts) else np.empty(0)
    if not independent or not (sizes > 1).any() or not slopes.any():
        return []
    squares, weights = (influence * sizes) ** 2, slopes**2
    of_all = squares.sum() / weights.sum()
    several = np.flatnonzero(np.bincount(parts) > 1)
    counts, of_part, of_slopes = (
        np.bincount(parts, some)[several] for some in (None, squares, weights)
    )
    lacking = np.maximum(of_all * of_slopes - of_part, 0.0) / counts**2
    terms = variance / independent * lacking
    return [(float(term), int(n) - 1) for term, n in zip(terms, counts, strict=True)]
