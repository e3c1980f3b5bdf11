"""Disparity of a score between groups, and its noise floor.

Source of the measures: FairLex (Chalkidis et al. 2022), section 4: the mean over groups, the group
disparity GD (the population standard deviation), and the worst group. GD is above 0 even where
a classifier treats all groups alike, and grows as groups become smaller; so compare it with random
groups of the same sizes.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evenhand.metrics.inference import IntervalByLevel

#: Drawn indices held in memory at once; bounds the memory, does not change the result.
INDICES_AT_ONCE = 4_000_000

#: Draws by which a disparity is matched, and steps of the bisection.
MATCHED, STEPS = 500, 20

#: Draws of the noise of cases, and the level of the interval that it is as wide as.
DRAWS, LEVEL = 999, 0.95

#: Cases of all groups that count with those of a group and stratum that are drawn anew.
PRIOR = 2.0

#: A number that is 0 up to rounding.
TINY = 1e-9


class Disparity(NamedTuple):
    """Mean, population standard deviation and least score over groups."""

    mean: np.ndarray
    gd: np.ndarray
    worst: np.ndarray


def disparity(scores: np.ndarray) -> Disparity:
    """Summarise the scores of groups.

    Parameters
    ----------
    scores : array of float, shape (..., groups)
        NaN for a group without a case, which is ignored. A score of 0 counts (FairLex's script
        ignores it).

    Returns
    -------
    Disparity
        Arrays of the shape (...); NaN where no group has a score.
    """
    there = np.isfinite(scores)
    number = there.sum(axis=-1)
    none = number == 0
    number = np.maximum(number, 1)
    mean = np.where(there, scores, 0.0).sum(axis=-1) / number
    squares = np.where(there, (scores - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
    worst = np.where(there, scores, np.inf).min(axis=-1, initial=np.inf)
    return Disparity(
        *(np.where(none, np.nan, statistic) for statistic in (mean, np.sqrt(squares), worst))
    )


def drawn_seed(*words: object) -> int:
    """Return a seed that depends on nothing but these words."""
    name = "/".join(map(str, words))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def permuted_sums(
    values: np.ndarray,
    codes: np.ndarray,
    groups: int,
    *,
    seed: int,
    permutations: int,
    strata: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> np.ndarray:
    """Sum `values` over random groups of the same sizes as the groups.

    Parameters
    ----------
    values : array of float, shape (n, m)
        Contributions of the cases.
    codes : array of int, shape (n,)
        The group of each case, below `groups`.
    groups : int
        Number of groups, at most 127.
    seed, permutations : int
        The draw: the same for the same `codes`, `strata` and seed.
    strata : array of int, shape (n,), optional
        Cases change groups only with cases of the same stratum. With labels as strata each random
        group has the labels of the group.
    clusters : array of int, shape (n,), optional
        Cases of a cluster depend on each other: each cluster gets the groups of a random cluster,
        in random order (repeated, or as many as it needs, if that one has another size). So whole
        clusters change groups where a cluster is in one group, and cases where clusters are mixed.

    Returns
    -------
    array, shape (permutations, groups, m)
        Of the type of `values`.
    """
    keys = [each for each in (clusters, strata) if each is not None]
    order = np.lexsort(keys) if keys else np.arange(len(codes))
    values, codes = values[order], codes[order].astype(np.int8)
    strata = np.zeros(len(codes)) if strata is None else strata[order]
    ends = _ends(strata)
    sums = np.empty((permutations, groups, values.shape[1]), dtype=values.dtype)
    done = 0
    if clusters is None:
        draws = _shuffled(codes, ends, seed, permutations)
    else:
        draws = _exchanged(codes, _ends(clusters[order], strata), ends, seed, permutations)
    for shuffled in draws:
        for group in range(groups):
            chosen = (shuffled == group).astype(values.dtype)
            sums[done : done + len(shuffled), group] = chosen @ values
        done += len(shuffled)
    return sums


def _shuffled(
    codes: np.ndarray, ends: list[int], seed: int, permutations: int
) -> Iterator[np.ndarray]:
    """Yield codes shuffled between each end and the next, in batches of permutations."""
    generator = np.random.default_rng(seed)
    step = max(1, INDICES_AT_ONCE // max(1, len(codes)))
    for first in range(0, permutations, step):
        shuffled = np.tile(codes, (min(step, permutations - first), 1))
        begin = 0
        for end in ends:
            if end - begin > 1 and (codes[begin:end] != codes[begin]).any():
                generator.permuted(shuffled[:, begin:end], axis=1, out=shuffled[:, begin:end])
            begin = end
        yield shuffled


def _ends(*keys: np.ndarray) -> list[int]:
    """Return the end of each run of equal keys."""
    changes = np.any([each[1:] != each[:-1] for each in keys], axis=0)
    return [*(np.flatnonzero(changes) + 1).tolist(), len(keys[0])]


def _exchanged(
    codes: np.ndarray, cluster_ends: list[int], ends: list[int], seed: int, permutations: int
) -> Iterator[np.ndarray]:
    """Yield codes exchanged between the clusters of each stratum, in batches of permutations."""
    generator = np.random.default_rng(seed)
    starts = np.array([0, *cluster_ends[:-1]])
    sizes = np.array(cluster_ends) - starts
    cluster = np.repeat(np.arange(len(starts)), sizes)
    within = np.arange(len(codes)) - starts[cluster]
    are_mixed = bool((codes != codes[starts[cluster]]).any())
    stratum = np.searchsorted(ends, starts, side="right")
    step = max(1, INDICES_AT_ONCE // max(1, len(codes)))
    for first in range(0, permutations, step):
        batch = []
        for _ in range(min(step, permutations - first)):
            groups = (
                codes[np.argsort(cluster + generator.random(len(codes)))] if are_mixed else codes
            )
            donor = np.lexsort((generator.random(len(starts)), stratum))[cluster]
            batch.append(groups[starts[donor] + within % sizes[donor]])
        yield np.stack(batch)


def planted(scores: np.ndarray, delta: float, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return GD and worst score of random groups with a true disparity added.

    For GD, half of the groups are shifted up and half down, with the standard deviation delta; for
    the worst group, one group is lowered by delta. The shifted groups are drawn for each set of
    random groups.

    Parameters
    ----------
    scores : array of float, shape (permutations, runs, groups)
        Of random groups; NaN for a group without a case.
    delta : float
        The disparity.
    seed : int
        Of the draw.

    Returns
    -------
    (array of float, array of float)
        Of the shape (permutations, runs).
    """
    there = np.isfinite(scores).any(axis=(0, 1))
    count = int(there.sum())
    generator = np.random.default_rng(seed)
    halves = np.where(np.arange(count) < count / 2, 1.0, -1.0)
    halves = (halves - halves.mean()) / halves.std()
    powers = []
    for shift in (halves, -1.0 * (np.arange(count) == 0)):
        shifts = generator.permuted(np.tile(shift, (len(scores), 1)), axis=1)
        moved = scores[..., there] + delta * shifts[:, None]
        powers.append(disparity(moved))
    return powers[0].gd, powers[1].worst


def redrawn_sums(
    values: np.ndarray,
    codes: np.ndarray,
    groups: int,
    *,
    seed: int,
    draws: int,
    strata: np.ndarray | None = None,
) -> np.ndarray:
    """Sum `values` over cases drawn anew, with replacement, within each group.

    Each case is replaced by one of the same group and stratum; `PRIOR` further ones, so to say, are
    of all groups, so that a group whose few cases are alike varies too.

    Parameters
    ----------
    values, codes, groups, strata
        As in `permuted_sums`.
    seed, draws : int
        The draw: the same for the same `codes`, `strata` and seed.

    Returns
    -------
    array, shape (draws, groups, m)
        Of the type of `values`.
    """
    strata = np.zeros_like(codes) if strata is None else strata
    order = np.lexsort((codes, strata))
    values, codes, strata = values[order], codes[order], strata[order]
    count = len(codes)
    spans = [
        np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
        for labels in (strata * groups + codes, strata)
    ]
    (first, size), (first_of_all, size_of_all) = [
        (start[place], counts[place]) for _, start, place, counts in spans
    ]
    generator = np.random.default_rng(seed)
    sums = np.empty((draws, groups, values.shape[1]), dtype=values.dtype)
    step = max(1, INDICES_AT_ONCE // max(1, count))
    for done in range(0, draws, step):
        rows = min(step, draws - done)
        part = sums[done : done + rows]
        chosen = (generator.random((rows, count)) * size).astype(np.int64) + first
        row, place = np.nonzero(generator.random((rows, count)) < PRIOR / (size + PRIOR))
        of_all = generator.integers(size_of_all[place]) + first_of_all[place]
        change = values[of_all] - values[chosen[row, place]]
        chosen += np.arange(rows)[:, None] * count
        times = np.bincount(chosen.ravel(), minlength=rows * count)
        times = times.reshape(rows, count).astype(values.dtype)
        for group in range(groups):
            part[:, group] = times[:, codes == group] @ values[codes == group]
        np.add.at(part, (row, codes[place]), change)
    return sums


def same_disparity(
    noise: np.ndarray,
    seen: np.ndarray,
    counts: np.ndarray,
    measure: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the shifts of groups that give two classifiers the same true disparity.

    For each classifier one group is shifted, as far as makes the mean disparity of both the
    observed one: the group that is farthest from where it is without one, in units of the noise of
    like groups of its size. If all groups of a classifier are equal, it is that of the other. In
    simulations (`benchmarks/disparity.py`) shifts of all groups as they are observed made the gap
    of many groups vary too little.

    Parameters
    ----------
    noise : array of float, shape (draws, 2, runs, groups)
        Scores without a true disparity.
    seen : array of float, shape (2, runs, groups)
        The observed scores.
    counts : array of float, shape (groups,)
        The cases behind the scores.
    measure : callable
        The disparity of scores (..., groups): (...).

    Returns
    -------
    array of float, shape (2, 1, groups)
        Zeros where the groups are no farther apart than by chance.
    """
    deviations = (seen - noise.mean(axis=0)).mean(axis=1)
    deviations -= deviations.mean(axis=-1, keepdims=True)
    noise = noise[:MATCHED]
    farthest = (np.abs(deviations) * counts**0.5).argmax(axis=-1)[:, None]
    shifts = np.zeros_like(deviations)
    signs = np.sign(np.take_along_axis(deviations, farthest, axis=-1))
    np.put_along_axis(shifts, farthest, signs, axis=-1)
    differ = np.abs(deviations).max(axis=-1) > 1e-9
    shifts = np.where(differ[:, None], shifts, shifts[::-1])[:, None]
    low, high, aim = 0.0, seen.shape[-1] * float(np.ptp(seen)), measure(seen).mean()
    if measure(noise).mean() >= aim:
        return 0 * shifts
    for _ in range(STEPS):
        middle = (low + high) / 2
        is_low = measure(noise + middle * shifts).mean() < aim
        low, high = (middle, high) if is_low else (low, middle)
    return low * shifts


def widening(counts: np.ndarray) -> np.ndarray:
    """Return by how much noise that `redrawn_sums` estimates from so many cases is widened.

    As in Student's t: the variance of few cases is known badly.
    """
    from scipy import special

    counts = counts + PRIOR
    quantiles = special.stdtrit(counts - 1, 0.975) / special.ndtri(0.975)
    return (counts / (counts - 1)) ** 0.5 * quantiles


def mean_interval(
    scores: np.ndarray, intervals: Sequence[IntervalByLevel], level: float
) -> tuple[float, float]:
    """Return the interval of the mean over groups, from their scores and intervals.

    The variance is recovered from the intervals (Zou and Donner, Statistics in Medicine 27, 2008).

    Parameters
    ----------
    scores : array of float, shape (runs, groups)
        Of groups with cases.
    intervals : sequence of callables, one per group
        The interval over cases of its mean over runs, by level.
    level : float
        Coverage, between 0 and 1.
    """
    means = scores.mean(axis=0)
    low, high = (
        float(np.sqrt(((end - means) ** 2).sum())) / len(means) for end in _at(intervals, level)
    )
    return float(means.mean()) - low, float(means.mean()) + high


def worst_interval(
    scores: np.ndarray, intervals: Sequence[IntervalByLevel], level: float
) -> tuple[float, float]:
    """Return the interval of the least score; parameters are those of `mean_interval`.

    Any group may be the worst: the interval reaches from the lowest end of any group to the lowest
    upper end, which is adjusted for the number of groups.
    """
    low = _at(intervals, level)[0].min()
    high = _at(intervals, 1 - (1 - level) / len(intervals))[1].min()
    seen, least = float(scores.min(axis=1).mean()), scores.mean(axis=0).min()
    # of several runs, each with a worst group of its own, the mean is lower than any group's mean
    return seen + min(0.0, float(low - least)), seen + max(0.0, float(high - least))


def gd_interval(
    scores: np.ndarray,
    intervals: Sequence[IntervalByLevel],
    level: float,
    *,
    influences: Sequence[np.ndarray],
) -> tuple[float, float]:
    """Return the interval of GD, the mean over runs.

    GD is above 0 even where all groups are equal. The interval has each true disparity with which
    the noise of the cases often enough makes a GD as large, and one as small, as the observed one:
    where groups are as far apart as they are observed, in proportion, or where only the group with
    the most noise lies apart, which may be hidden by it.

    Parameters
    ----------
    scores, intervals, level
        As in `mean_interval`.
    influences : sequence of arrays of float, shape (cases of the group, runs)
        The influence of each case on the score of its group.
    """
    noise = _noise_of_cases(intervals, influences)
    if len(intervals) < 2 or np.isnan(noise).any():
        return float("nan"), float("nan")
    apart = scores - scores.mean(axis=1, keepdims=True)
    seen = float(disparity(scores).gd.mean())
    noise -= noise.mean(axis=-1, keepdims=True)
    noisiest = np.eye(scores.shape[1])[noise.std(axis=(0, 1)).argmax()] - 1 / scores.shape[1]
    ends = [
        _border(seen, noise, way, (1 - level) / 2, low=low)
        for low in (True, False)
        for way in (apart, noisiest[None])
        if np.abs(way).max() > TINY
    ]
    return min(seen, *ends), max(seen, *ends)


def _border(seen: float, noise: np.ndarray, apart: np.ndarray, tail: float, *, low: bool) -> float:
    """Return the GD, in proportion to groups `apart`, of which `seen` is a quantile with noise."""
    # GD is the root of a quadratic function of the distance, by draw and run
    squares, both, rest = (part.mean(axis=-1) for part in (apart**2, apart * noise, noise**2))

    def drawn(times: float) -> np.ndarray:
        square = times**2 * squares + 2 * times * both + rest
        return np.sqrt(np.maximum(0.0, square)).mean(axis=-1)

    if not low:  # less than usual without a disparity, as if all cases are right, proves no less
        seen = max(seen, float(np.median(drawn(0.0))))

    def is_inside(times: float) -> bool:
        as_far = drawn(times) >= seen - TINY if low else drawn(times) <= seen + TINY
        return bool(as_far.mean() > tail)

    if low and is_inside(0.0):
        return 0.0
    near, far = 0.0, 1.0
    while is_inside(far) is not low:
        near, far = far, 2 * far
    for _ in range(STEPS):
        middle = (near + far) / 2
        near, far = (near, middle) if is_inside(middle) is low else (middle, far)
    return far * float(np.sqrt(squares).mean())


def _at(intervals: Sequence[IntervalByLevel], level: float) -> np.ndarray:
    return np.array([interval(level) for interval in intervals]).T


def _noise_of_cases(
    intervals: Sequence[IntervalByLevel], influences: Sequence[np.ndarray]
) -> np.ndarray:
    """Draw normal noise of groups' scores: (draws, runs, groups).

    Runs share it as their influences do, and their mean varies as the interval is wide, also in a
    group in which no case has an influence.
    """
    from scipy import special

    generator, parts = np.random.default_rng(0), []
    low, high = _at(intervals, LEVEL)
    deviations = (high - low) / 2 / float(special.ndtri((1 + LEVEL) / 2))
    for deviation, of_cases in zip(deviations, influences, strict=True):
        values, vectors = np.linalg.eigh(of_cases.T @ of_cases)
        normal = generator.standard_normal((DRAWS, len(values)))
        drawn = normal @ (vectors * np.sqrt(np.maximum(0.0, values))).T
        of_mean = float(np.sqrt((of_cases.mean(axis=1) ** 2).sum()))
        alike = np.repeat(normal[:, :1], len(values), axis=1)
        parts.append(deviation * (drawn / of_mean if of_mean > TINY else alike))
    return np.stack(parts, axis=-1)


def share_as_far(noise: np.ndarray, seen: np.ndarray, *, low: bool = False) -> np.ndarray:
    """Return p-values of permutation tests.

    Parameters
    ----------
    noise : array of float, shape (permutations, ...)
        A statistic of random groups.
    seen : array of float, shape (...)
        The observed statistic.
    low : bool
        Whether low values are extreme.

    Returns
    -------
    array of float, shape (...)
        ``(1 + number as extreme) / (1 + permutations)`` (Phipson and Smyth 2010); NaN where `seen`
        is.
    """
    # equal up to rounding counts as equal
    far = noise <= seen + 1e-9 if low else noise >= seen - 1e-9
    p_values = (1 + far.sum(axis=0)) / (1 + len(noise))
    return np.where(np.isfinite(seen), p_values, np.nan)


def random_group_tests(values: np.ndarray, drawn: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the p-values of a gap, and of each group, against random groups.

    That of a group is the share of draws in which any group is as far from the mean of its size,
    in standard deviations.

    Parameters
    ----------
    values : array of float, shape (groups,)
        Of at least two groups; NaN without a value.
    drawn : array of float, shape (permutations, groups)
        Of random groups of the same sizes.

    Returns
    -------
    (float, array of float)
        NaN for a group without a value.
    """
    there = np.isfinite(values)
    drawn, spread = drawn[:, there], np.nanstd(drawn[:, there], axis=0)
    ranges = [np.nanmax(each, axis=-1) - np.nanmin(each, axis=-1) for each in (drawn, values)]
    far = np.abs(np.vstack([values[there], drawn]) - np.nanmean(drawn, axis=0))
    # a group without spread, such as the largest of identical cases, cannot differ significantly
    far = np.divide(far, spread, out=np.zeros_like(far), where=spread > 1e-12)
    p_values = np.full(len(values), np.nan)
    p_values[there] = share_as_far(np.nanmax(far[1:], axis=1)[:, None], far[0])
    return float(share_as_far(*ranges)), p_values
