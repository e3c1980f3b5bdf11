"""Distance of two label distributions, and its noise floor.

Source of the measure: Lin, Divergence Measures Based on the Shannon Entropy (IEEE Transactions on
Information Theory 37, 1991). FairLex (Chalkidis et al. 2022) prints it under the name of KL.
"""

import numpy as np

from evenhand.metrics.individual import js_divergence


def jensen_shannon_distance(counts_a: np.ndarray, counts_b: np.ndarray) -> np.ndarray | float:
    """Return the square root of the Jensen-Shannon divergence, with the natural logarithm.

    Parameters
    ----------
    counts_a, counts_b : array of float, shape (..., k)
        Counts of k labels, of any total.

    Returns
    -------
    array of float, shape (...), or float
        0 for equal distributions, ``sqrt(ln 2)`` = 0.8326 without a common label; NaN where one
        side has no count.
    """
    a, b = (np.asarray(counts, dtype=np.float64) for counts in (counts_a, counts_b))
    distance = np.sqrt(np.minimum(js_divergence(_shares(a), _shares(b)), np.log(2)))
    return float(distance) if distance.ndim == 0 else distance


def permuted_distances(
    patterns: np.ndarray,
    times_a: np.ndarray,
    times_b: np.ndarray,
    generator: np.random.Generator,
    permutations: int,
) -> np.ndarray:
    """Return the distances of two random parts of all cases, of the sizes of the sides.

    This is the noise floor: the distance if both sides had one distribution.

    Parameters
    ----------
    patterns : array of float, shape (m, k)
        The sets of labels that occur, one per row.
    times_a, times_b : array of int, shape (m,)
        The number of cases of each side with each set.
    generator : numpy Generator
        Source of the draw.
    permutations : int
        Number of draws.

    Returns
    -------
    array of float, shape (permutations,)
        NaN where a side has no case.
    """
    together = np.asarray(times_a + times_b, dtype=np.int64)
    size = int(np.sum(times_b))
    if not size or size == together.sum():
        return np.full(permutations, np.nan)
    drawn = generator.multivariate_hypergeometric(together, size, size=permutations)
    return jensen_shannon_distance((together - drawn) @ patterns, drawn @ patterns)


def _shares(counts: np.ndarray) -> np.ndarray:
    totals = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0)
