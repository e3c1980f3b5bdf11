"""Tests, intervals, equivalence, power and verdicts for items in clusters.

Pairs that swap the same words and sentences about one keyword are dependent, so every
statistic here depends on the sums by cluster. Swaps that share a word (cat for dog, cat for pig)
and pairs that share a template (one sentence with other words in it) are dependent too: `sharing`
estimates by how much this widens the distribution of the mean, and tests, intervals and power
allow for it. `benchmarks/inference.py` simulates the error rates; where the clusters are too few
for an interval there is none.

Sources: Canay, Romano and Shaikh, Randomization tests under an approximate symmetry assumption,
Econometrica 85 (2017), for the sign-flip test; Hartigan, Using subsample values as typical
values, Journal of the ASA 64 (1969), for its interval; Korn and Graubard, Confidence intervals
for proportions with small expected number of positive counts estimated from survey data,
Survey Methodology 24 (1998); Donner, A review of inference procedures for the intraclass
correlation coefficient, International Statistical Review 54 (1986), for the estimate by analysis
of variance; Cameron, Gelbach and Miller, Robust inference with multiway clustering, Journal of
Business & Economic Statistics 29 (2011), and Aronow, Samii and Assenova, Cluster-robust variance
estimation for dyadic data, Political Analysis 23 (2015), for shared words; Hall, On the
removal of skewness by transformation, Journal of the Royal Statistical Society B 54 (1992).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

#: With fewer effective clusters an interval does not have its coverage.
LEAST_EFFECTIVE = 7.5

#: Up to so many clusters all patterns of signs are enumerated for an interval, and for a p-value.
ENUMERATED, COUNTED = 14, 30

#: From so many effective clusters on, sums under random signs are taken as normal.
MANY = 5000

#: Random patterns of signs where they are too many.
FLIPS = 4999

#: Multiplications that the exact distribution of whole-numbered sums may cost, where the clusters
#: are too many to count their patterns, and where they are not.
OPERATIONS = 400_000_000, 20_000_000

#: Signs held in memory at once; bounds the memory, does not change the result.
SIGNS_AT_ONCE = 4_000_000

#: The least p-value of an inverted interval.
LEAST_P = 1e-12

#: The probability that the share of ties is below its lower limit.
TIES_TAIL = 0.2

#: The power that the number of further clusters is computed for.
ENOUGH_POWER = 0.8

ABOVE, BELOW, EQUIVALENT, INCONCLUSIVE = "above", "below", "equivalent", "inconclusive"


#: An interval as a function of its coverage, between 0 and 1.
IntervalByLevel = Callable[[float], tuple[float, float]]


class Totals(NamedTuple):
    """Items summed by cluster, in the order of the sorted clusters.

    Attributes
    ----------
    sums, sizes : array of float, shape (k,)
        Numerators and denominators; for a mean the values and the number of items.
    squares : float
        The sum of the squared values of all items.
    copies : float
        By how much copies of items inflate the number of items: the number of items divided by
        the effective number of distinct ones; 1 if all are distinct.
    words : array of int, shape (k, 2), optional
        The two words of each cluster; clusters that share one are dependent. None if none do.
    templates : Templates, optional
        The same items by cluster and template. None if each template is in one cluster.
    """

    sums: np.ndarray
    sizes: np.ndarray
    squares: float
    copies: float = 1.0
    words: np.ndarray | None = None
    templates: "Templates | None" = None

    @property
    def mean(self) -> float:
        """The sum divided by the size; NaN without an item."""
        size = self.sizes.sum()
        return float(self.sums.sum() / size) if size else float("nan")

    @property
    def template_count(self) -> int | None:
        """How many templates count; None if clusters share none."""
        return None if self.templates is None else len(np.unique(self.templates.labels[0]))

    @property
    def ties(self) -> float:
        """The share of values that are one half, if all others are 0 or 1; 0 where all tie."""
        size = self.sizes.sum()
        return 4 * float(self.sums.sum() - self.squares) / size % 1 if size else 0.0

    @property
    def distinct(self) -> "Totals":
        """The totals with the same mean of as many items as are effectively distinct."""
        sums, sizes, squares = (part / self.copies for part in self[:3])
        cells = self.templates
        if cells is not None:
            cells = cells._replace(sums=cells.sums / self.copies, sizes=cells.sizes / self.copies)
        return Totals(sums, sizes, squares, words=self.words, templates=cells)


class Templates(NamedTuple):
    """Items summed by cluster and template (the sentence around the words of a swap).

    `sums`, `sizes` and `cluster`, a place in `Totals`, have the shape (m,). `labels` has the shape
    (d, m): numbers of templates, then those of the words that take turns in them, if both count.
    `counted` has the name of the first: template, sentence (a template with its words) or words.
    """

    sums: np.ndarray
    sizes: np.ndarray
    cluster: np.ndarray
    labels: np.ndarray
    counted: str = "template"

    @property
    def effective(self) -> float:
        """The effective number of templates, or that of the words in them if it is less."""
        counts = (np.bincount(label, weights=self.sizes) for label in self.labels)
        return min(effective_number(count) for count in counts)

    @property
    def unshared(self) -> float:
        """The estimated probability that a further cluster brings a new template.

        Templates that only one cluster has, as a share of all pairs of a cluster and a template in
        it (Good, The population frequencies of species, Biometrika 40, 1953). Where two labels
        count, that of the label with the smaller one.
        """
        shares = []
        for label in self.labels:
            first = np.unique(_combined(label, self.cluster), return_index=True)[1]
            shares.append((np.bincount(label[first]) == 1).sum() / len(first))
        return min(shares)


class Sharing(NamedTuple):
    """The effect of words and templates that clusters share on the distribution of the mean.

    Attributes
    ----------
    inflation : float
        Of the variance, by words: 1 if none are shared, infinite where a word or a template is in
        each item.
    effective : float
        The effective number of clusters: between that of their sizes and that of words, and at
        most that of templates.
    skewness : float
        Of the mean, by the words; 0 without shared words.
    added : float
        The variance of the total that shared templates add; 0 if there are none.
    templates : float
        The effective number of templates; infinite if none are shared.
    """

    inflation: float
    effective: float
    skewness: float = 0.0
    added: float = 0.0
    templates: float = float("inf")

    @property
    def has_few(self) -> bool:
        """Whether templates, and not clusters or words, bound the effective number."""
        return self.effective == self.templates


class Inference(NamedTuple):
    """The inference on a mean or share from a sample in clusters; NaN for unknown values.

    Attributes
    ----------
    neutral : float
        The mean under the null hypothesis.
    estimate, low, high : float
        The mean, with its interval.
    p_value : float
        Of the sign-flip test that the mean is neutral.
    clusters : int
    effective_clusters : float
        As if no clusters shared words.
    inflation : float
        Of the variance of the mean, by clusters that share words: 1 where none do, NaN where a
        word is in each item.
    correlation : float
        The correlation within clusters, clipped to [0, 1].
    equivalent : bool
        Whether the interval lies within delta of neutral.
    power : float
        Of the sign-flip test where the mean differs from neutral by delta.
    further_clusters : int or None
        The number of further clusters of such sizes for a power of 80 %; 0 where it is reached.
        Where templates are fewer than effective clusters, those of one template count as one, as
        far as further clusters have other templates; None where most would share one.
    """

    neutral: float
    estimate: float
    low: float
    high: float
    p_value: float
    clusters: int
    effective_clusters: float
    inflation: float
    correlation: float
    equivalent: bool
    power: float
    further_clusters: int | None

    def with_interval(self, name: str) -> dict[str, float]:
        """Return the mean and the ends of its interval as cells of a column of this name."""
        return {name: self.estimate, f"{name}_low": self.low, f"{name}_high": self.high}

    def cells(self, *names: str) -> dict[str, float | int | None]:
        """Return some of the values by name: cells of a table."""
        return {name: getattr(self, name) for name in names}


def swap_sides(names: Sequence[str] | np.ndarray, separator: str = "|") -> np.ndarray:
    """Split names of swaps, such as ``cat|dog``, into their words, shape (n, 2), for `total`.

    A missing word is a label that only this swap has.
    """
    parts = (str(name).partition(separator) for name in names)
    sides = [
        (left or f"\uffff{middle}{right}", right or f"\uffff{left}{middle}\uffff")
        for left, middle, right in parts
    ]
    return np.array(sides, dtype=str).reshape(-1, 2)


def swap_codes(
    names: Sequence[str] | np.ndarray,
    separator: str = "|",
    *,
    templates: Sequence[tuple[str, str]] | None = None,
) -> np.ndarray:
    """Return `swap_sides` as numbers, in the order of the sorted words.

    With `templates`, one of each swap, and the words in it, their numbers are further columns.
    """
    swaps, place = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    codes = np.unique(swap_sides(swaps, separator), return_inverse=True)[1].reshape(-1, 2)[place]
    if templates is None:
        return codes
    columns = np.asarray(templates, dtype=str).reshape(-1, 2).T
    return np.column_stack(
        [codes, *(np.unique(column, return_inverse=True)[1] for column in columns)]
    )


def total(
    values: np.ndarray,
    clusters: np.ndarray,
    denominators: np.ndarray | None = None,
    items: np.ndarray | None = None,
) -> Totals:
    """Sum items by cluster, with the same result for each order of the items.

    Parameters
    ----------
    values : array of float, shape (n,)
        All finite.
    clusters : array, shape (n,), (n, 2), (n, 3) or (n, 4)
        The cluster of each item (any sortable label), or two different labels, such as the words
        of a swap: items with the same two are a cluster, and clusters that share one dependent.
        A third label is the template, and a fourth the words that take turns in it: items that
        share one are dependent too, as `shared_labels` counts them.
    denominators : array of float, shape (n,), optional
        For ratios of sums; by default 1 for each item. Items with 0 are left out.
    items : array, shape (n,), optional
        Equal labels for copies of one item, which add no information; by default none is a copy.

    Raises
    ------
    ValueError
        The shapes differ, or a value is not finite.
    """
    values, clusters = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    sizes = np.ones(len(values)) if denominators is None else np.asarray(denominators, float)
    if values.ndim != 1 or not values.shape == clusters.shape[:1] == sizes.shape:
        raise ValueError(f"shapes {values.shape}, {sizes.shape}, {clusters.shape} of clusters")
    if not (np.isfinite(values).all() and np.isfinite(sizes).all()):
        raise ValueError("values must be finite")
    copies = 1.0
    if items is not None:
        times = np.unique(np.asarray(items)[sizes != 0], return_counts=True)[1]
        copies = float(times.sum() / effective_number(times)) if len(times) else 1.0
    values, clusters, sizes = (array[sizes != 0] for array in (values, clusters, sizes))
    is_swap, parts = clusters.ndim == 2, np.zeros((len(values), 0), dtype=int)
    if is_swap:
        names, codes = np.unique(clusters, return_inverse=True)
        codes = codes.reshape(clusters.shape)
        parts = codes[:, 2:]
        codes = np.sort(codes[:, :2], axis=1)
        clusters = codes[:, 0] * len(names) + codes[:, 1]
    labels, member_of = np.unique(clusters, return_inverse=True)
    # sorted, so that the rounding of the sums does not depend on the order of the items
    order = np.lexsort((sizes, values, member_of))

    def summed(places: np.ndarray) -> list[np.ndarray]:
        return [np.bincount(places[order], weights=array[order]) for array in (values, sizes)]

    words = templates = None
    if is_swap:
        words = np.stack(np.divmod(labels, len(names)), axis=1)
        words = words if np.bincount(words.ravel()).max(initial=0) > 1 else None
    if parts.size:
        parts = np.vstack([member_of, parts.T])
        cell_of = _combined(*parts)
        cluster, *parts = parts[:, np.unique(cell_of, return_index=True)[1]]
        cells = summed(cell_of)
        if labels_of := shared_labels(cluster, cells[1], *parts):
            labels_by = np.stack([*labels_of.values()])
            templates = Templates(*cells, cluster, labels_by, next(iter(labels_of)))
    squares = float((values[order] ** 2).sum())
    return Totals(*summed(member_of), squares, copies, words, templates)


def shared_labels(
    cluster: np.ndarray, sizes: np.ndarray, template: np.ndarray, words: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the labels of items by which their clusters are dependent, by kind: none to two.

    Words that take turns in templates count if at least `LEAST_EFFECTIVE` are effective; fewer are
    taken as given. Where fewer templates than that are effective, and most of their sentences are
    in several clusters, each sentence counts as a template, and results hold for these templates
    only.
    """

    def effective(label: np.ndarray) -> float:
        return effective_number(np.bincount(label, weights=sizes))

    def is_shared(label: np.ndarray) -> np.ndarray:
        """By label, whether it is in two clusters."""
        cells = np.unique(_combined(label, cluster), return_index=True)[1]
        return np.unique(label[cells], return_counts=True)[1] > 1

    labels = {"template": template}
    if words is not None:
        sentence = _combined(template, words)
        if effective(template) < LEAST_EFFECTIVE and is_shared(sentence).mean() > 0.5:
            labels = {"sentence": sentence}
        labels |= {"words": words} if effective(words) >= LEAST_EFFECTIVE else {}
    return {
        kind: np.unique(label, return_inverse=True)[1]
        for kind, label in labels.items()
        if is_shared(label).any()
    }


def _combined(*codes: np.ndarray) -> np.ndarray:
    """Return the number of each combination of codes in sorted order, faster than by rows."""
    combined = np.zeros_like(codes[0])
    for code in codes:
        combined = np.unique(combined * (code.max(initial=0) + 1) + code, return_inverse=True)[1]
    return combined


def effective_number(sizes: np.ndarray) -> float:
    """Return the effective number of clusters, ``n^2 / sum of squared sizes`` (Kish 1965).

    NaN without an item.
    """
    squares = float((np.asarray(sizes, dtype=np.float64) ** 2).sum())
    return float(np.sum(sizes) ** 2 / squares) if squares else float("nan")


def sharing(totals: Totals, *, is_share: bool = False) -> Sharing:
    """Return the effect of shared words and templates on the distribution of the mean.

    The variance of the mean sums the products of the residuals of all pairs of clusters that are
    equal or share a word (Cameron, Gelbach and Miller 2011; Aronow, Samii and Assenova 2015). Each
    square is divided by the share of the items outside, because residuals from the estimated
    mean are too small. The inflation is the ratio to the variance without the pairs that only share
    a word, at least 1. Where it is 1, the effective number of clusters is that of their sizes, and
    where it is large that of words: each item belongs to the more frequent of its two words.

    The third moment sums cubes in the same way. The cubes of two words tell nothing of skewness, so
    that it is reduced where few words have most of them.

    With `is_share`, for tests and intervals of shares, which are wider for other reasons, words
    count only from a larger inflation on, and the skewness is 0.

    Templates add the products of the residuals of clusters that share no word. There are at most
    as many effective clusters as effective templates, however little they add: of a few templates
    that is known too badly.
    """
    by_words = _sharing_words(totals, is_share=is_share)
    if totals.templates is None or not np.isfinite(by_words.inflation):
        return by_words
    added, templates = _added_by_templates(totals)
    if templates <= 1:
        return Sharing(float("inf"), 1.0)
    effective = min(by_words.effective, templates)
    return Sharing(by_words.inflation, effective, by_words.skewness, added, templates)


def _inflation(totals: Totals, shared: Sharing) -> float:
    """Return the inflation of the variance by words and templates.

    That of templates is relative to the variance without them, and at least to that of independent
    items: sums of clusters do not vary at all if each is in all templates, and these alone decide.
    """
    if not shared.added:
        return shared.inflation
    rest = totals.sums - totals.mean * totals.sizes
    alone = float((rest**2 / (1 - totals.sizes / totals.sizes.sum())).sum())
    independent = totals.squares - float(totals.sizes.sum()) * totals.mean**2
    return shared.inflation + shared.added / max(alone, independent)


def _sharing_words(totals: Totals, *, is_share: bool) -> Sharing:
    """Return the effect of shared words alone."""
    sizes, size = totals.sizes, totals.sizes.sum()
    effective = effective_number(sizes)
    if totals.words is None:
        return Sharing(1.0, effective)
    codes = totals.words.ravel()
    of_word = np.bincount(codes, weights=np.repeat(sizes, 2))
    if of_word.max() >= size:
        return Sharing(float("inf"), 1.0)
    by_words = float(size**2 / (sizes @ of_word[totals.words].max(axis=1)))
    rest = totals.sums - totals.mean * sizes
    alone = float((rest**2 / (1 - sizes / size)).sum())
    inflation, skewness = effective / by_words, 0.0  # of equal items: each word counts once
    if alone > 1e-20 * max(1.0, totals.squares):
        sums = np.bincount(codes, weights=np.repeat(rest, 2))
        outside = 1 - of_word / size
        both = float((sums**2 / outside).sum()) - alone
        inflation = both / alone
        if inflation > 1 and not is_share:
            cubes = float((sums**3 / outside**3).sum() - (rest**3).sum())
            words = effective_number(of_word[of_word > 0] ** 3)
            skewness = max(0.0, (words - 2) / (words - 1)) * cubes / both**1.5
    inflation = max(1.0, inflation)
    alone_part = inflation ** (-2 if is_share else -4)
    effective = 1 / (alone_part / effective + (1 - alone_part) / by_words)
    return Sharing(inflation, effective, skewness)


def _added_by_templates(totals: Totals) -> tuple[float, float]:
    """Return the variance of the total that templates add, and their effective number.

    Infinite for a template that is in each item, and 0 where no template is in two clusters.
    """
    if totals.templates is None:
        return 0.0, float("inf")
    sums, sizes, cluster, labels, _ = totals.templates
    rest, size = sums - totals.mean * sizes, sizes.sum()
    effective = totals.templates.effective
    if effective <= 1:
        return float("inf"), effective

    def squares(*parts: np.ndarray) -> float:
        groups = _combined(*parts)
        outside = 1 - np.bincount(groups, weights=sizes) / size
        return float((np.bincount(groups, weights=rest) ** 2 / outside).sum())

    def apart(*parts: np.ndarray) -> float:
        """Of items that share these parts, without those that share a word, counted already."""
        within = squares(cluster, *parts)
        if totals.words is not None:
            within = sum(squares(side, *parts) for side in totals.words[cluster].T) - within
        return squares(*parts) - within

    added = sum(apart(label) for label in labels)
    return max(0.0, added - (apart(*labels) if len(labels) > 1 else 0.0)), effective


def _widening(
    totals: Totals, shared: Sharing, tail: float, times: float = 1.0
) -> tuple[float, float]:
    """Return by how much shared words widen an interval of the mean, below and above the mean.

    1 if nothing is shared; `_by_templates` is added to that. The quantiles at the probability
    `tail` of each end are those of Student's t with the effective clusters, transformed for the
    skewness (Hall 1992) on the side on which that widens the interval. With `times` as many
    clusters that share words alike, they are nearer to the normal.
    """
    from scipy import special

    inflation, effective, skewness, *_ = shared
    if effective <= 1:
        return float("inf"), float("inf")
    if inflation == 1 and totals.templates is None:
        return 1.0, 1.0
    alone, quantile = (
        -float(special.stdtrit(times * count - 1, tail))
        for count in (effective_number(totals.sizes), effective)
    )
    skew = skewness / times**0.5
    reached = quantile
    if abs(skew) > 1e-6:
        signed = -abs(skew)
        reached = 3 / signed * (float(np.cbrt(1 + signed * (quantile - signed / 6))) - 1)
    factors = inflation**0.5 * quantile / alone, inflation**0.5 * max(quantile, reached) / alone
    return factors if skew > 0 else factors[::-1]


def _by_templates(totals: Totals, shared: Sharing, tail: float) -> float:
    """Return half the interval of the mean by the variance that templates add; 0 without any."""
    from scipy import special

    if not shared.added:
        return 0.0
    quantile = -float(special.stdtrit(shared.templates - 1, tail))
    return quantile * shared.added**0.5 / float(totals.sizes.sum())


def mean_p_value(totals: Totals, neutral: float = 0.0) -> float:
    """Return the two-sided p-value of the sign-flip test that the mean is neutral.

    Where clusters share words, the total is first reduced to that which is as unlikely for
    independent clusters: it is divided by the root of the inflation, and the quantile of Student's
    t with the effective clusters of `sharing` becomes that without shared words. The variance is
    that around the neutral mean, as suits shares; `interval_p_value` agrees with an interval.
    Of fewer templates than clusters, the signs of templates are flipped too: the larger p-value
    counts, so that many clusters make no certainty of a few templates.

    Returns
    -------
    float
        NaN with fewer than two clusters, or if a word is in each item.
    """
    sums = totals.sums - neutral * totals.sizes
    shared = sharing(totals, is_share=True)
    inflation, effective = shared[:2]
    spread = float((sums**2).sum()) ** 0.5
    if not spread or (inflation == 1 and totals.templates is None):
        return sign_flip_p_value(sums)
    if effective <= 1:
        return float("nan")
    from scipy import special

    quantile = abs(float(sums.sum())) / (inflation * spread**2 + shared.added) ** 0.5
    tail = float(special.stdtr(effective - 1, -quantile))
    if tail > 1e-280:
        alone = effective_number(totals.sizes)
        quantile = min(quantile, -float(special.stdtrit(alone - 1, tail)))
    p_value = sign_flip_p_value(sums, reached=quantile * spread)
    return max(p_value, _template_p_value(totals, neutral, shared))


def _template_p_value(totals: Totals, neutral: float, shared: Sharing) -> float:
    """Return the p-value under random signs of the templates; 0 if they bound nothing."""
    if not shared.has_few:
        return 0.0
    cells = totals.templates
    sums = cells.sums - neutral * cells.sizes
    return max(sign_flip_p_value(np.bincount(label, sums)) for label in cells.labels)


def interval_p_value(totals: Totals, neutral: float = 0.0, *, level: float = 0.95) -> float:
    """Return the p-value at which `sign_flip_interval` ends at the neutral mean.

    That of the sign-flip test if no words are shared. It is at most ``1 - level`` where the
    interval of that level excludes the neutral mean.
    """
    difference = totals.mean - neutral
    least = sign_flip_p_value(totals.sums - neutral * totals.sizes)
    shared = sharing(totals)
    if shared.effective <= 1 < shared.inflation:
        return float("nan")
    if (shared.inflation == 1 and totals.templates is None) or not 0 < least < 1:
        return least

    def excluded(p_value: float) -> bool:
        widening = _widening(totals, shared, p_value / 2)[int(difference < 0)]
        rest = difference**2 - _by_templates(totals, shared, p_value / 2) ** 2
        nearer = totals.mean - float(np.copysign(max(0.0, rest) ** 0.5, difference)) / widening
        return rest > 0 and sign_flip_p_value(totals.sums - nearer * totals.sizes) <= p_value

    # the level first, so that rounding cannot part the verdict from the interval
    middle = size = round(1 - level, 12)
    low, high = least, 1.0
    while high > 1.001 * low:
        if low < middle < high:
            low, high = (low, middle) if excluded(middle) else (middle, high)
        middle = (low * high) ** 0.5
    by_templates = _template_p_value(totals, neutral, shared)
    if shared.templates >= LEAST_EFFECTIVE and high <= size:  # the interval excludes it
        by_templates = min(by_templates, size)
    return max(high, by_templates)


def sign_flip_p_value(
    sums: np.ndarray, *, reached: float | None = None, seed: int = 0, flips: int = FLIPS
) -> float:
    """Return the two-sided p-value of sums by cluster, symmetric around 0 under the null.

    The absolute total is compared with those under other signs of the clusters. The p-value is
    exact where the sums are multiples of one half or the clusters are few, up to 30; else the signs
    are drawn, and 1 is added to both counts (Phipson and Smyth 2010), but the p-value is at most
    Hoeffding's bound.

    Parameters
    ----------
    sums : array of float, shape (k,)
        By cluster, minus the expectation under the null hypothesis.
    reached : float, optional
        The absolute total; by default that of the sums.
    seed, flips : int
        The draw of signs, if there is one.

    Returns
    -------
    float
        NaN with fewer than two clusters.
    """
    sums = np.asarray(sums, dtype=np.float64)
    if flips < 1 or sums.ndim != 1:
        raise ValueError(f"{flips} flips of sums of shape {sums.shape}")
    if len(sums) < 2:
        return float("nan")
    seen = abs(float(sums.sum())) if reached is None else reached
    sums = sums[sums != 0]
    # equal up to rounding counts as equal
    border = seen - 1e-9 * float(np.abs(sums).sum())
    halves = np.abs(2 * sums)
    if (halves == halves.round()).all() and halves.sum() < 2**53:
        halves = halves.astype(np.int64)
        unit = max(1, int(np.gcd.reduce(halves)))
        if (halves.sum() // unit) ** 2 <= OPERATIONS[len(sums) <= COUNTED]:
            return _exact_p_value(halves // unit, 2 * seen / unit)
    if effective_number(np.abs(sums)) >= MANY:
        from scipy.special import ndtr

        return float(2 * ndtr(-seen / float((sums**2).sum()) ** 0.5))
    if len(sums) <= COUNTED:
        return _counted_p_value(sums, border)
    reaching = tried = 0
    for signs in _signs(len(sums), seed, flips):
        reaching += int((np.abs(signs @ sums) >= border).sum())
        tried += len(signs)
    # Hoeffding's bound, so that a clear difference among many tests is not hidden by the draw
    bound = 2 * float(np.exp(-(seen**2) / (2 * (sums**2).sum())))
    return min((1 + reaching) / (1 + tried), bound)


def _exact_p_value(steps: np.ndarray, reached: float) -> float:
    """Return the probability that steps with random signs end at least as far as `reached`.

    Interpolated where this is no whole number.
    """
    chances = np.ones(1)
    for step, times in zip(*np.unique(steps, return_counts=True), strict=True):
        ups = np.zeros(2 * step * times + 1)
        ups[:: 2 * step] = _heads(times)
        chances = np.convolve(chances, ups)
    ends = np.arange(len(chances)) - len(chances) // 2
    reached = round(reached, 6)
    part = reached % 1
    below, above = (
        float(chances[np.abs(ends) >= end].sum()) for end in (reached - part, np.ceil(reached))
    )
    return min(1.0, (1 - part) * below + part * above)


@lru_cache(maxsize=4096)
def _heads(throws: int) -> np.ndarray:
    """Return the chance of each number of heads."""
    from scipy.stats import binom

    return binom.pmf(np.arange(throws + 1), throws, 0.5)


def _counted_p_value(sums: np.ndarray, border: float) -> float:
    """Return the share of all patterns of signs whose absolute total reaches a border."""
    if border <= 0:
        return 1.0
    halves = []
    for part in (sums[::2], sums[1::2]):
        totals = np.zeros(1)
        for step in part:
            totals = np.concatenate([totals + step, totals - step])
        halves.append(np.sort(totals))
    # both ends of the distribution are alike
    reached = len(halves[1]) - np.searchsorted(halves[1], border - halves[0])
    return float(min(1.0, 2 * reached.sum() / (len(halves[0]) * len(halves[1]))))


def _signs(clusters: int, seed: int, flips: int) -> Iterator[np.ndarray]:
    """Yield patterns of signs in batches: all with the first sign fixed, or random ones."""
    if clusters <= ENUMERATED:
        patterns = np.arange(2 ** max(0, clusters - 1))[:, None] >> np.arange(clusters)
        yield 1.0 - 2 * (patterns & 1)[:, ::-1]
        return
    generator = np.random.default_rng(seed)
    width = -(-clusters // 8)  # bytes of a pattern
    step = max(1, SIGNS_AT_ONCE // clusters)
    for first in range(0, flips, step):
        rows = min(step, flips - first)
        drawn = np.frombuffer(generator.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        yield 2.0 * np.unpackbits(drawn, axis=1, count=clusters) - 1


def sign_flip_interval(
    totals: Totals, *, seed: int = 0, flips: int = FLIPS, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of all means that the sign-flip test does not reject.

    A pattern of signs divides the clusters in two parts, and does not reject a mean between the
    means of the parts. So the borders are quantiles of these means, without a search. Shared words
    and templates move them away from the mean (`sharing`).

    Returns
    -------
    (float, float)
        NaN below `LEAST_EFFECTIVE` effective clusters or templates.
    """
    shared = sharing(totals)
    below, above = _widening(totals, shared, (1 - level) / 2)
    least = min(effective_number(totals.sizes), shared.templates)
    if not (least >= LEAST_EFFECTIVE and np.isfinite(above)):
        return float("nan"), float("nan")
    by_templates = _by_templates(totals, shared, (1 - level) / 2)
    if effective_number(totals.sizes) >= MANY:
        from scipy.special import ndtri

        rest = totals.sums - totals.mean * totals.sizes
        half = ndtri((1 + level) / 2) * float((rest**2).sum()) ** 0.5 / totals.sizes.sum()
        halves = (math.hypot(widening * half, by_templates) for widening in (below, above))
        return totals.mean - next(halves), totals.mean + next(halves)
    total_sum, size = totals.sums.sum(), totals.sizes.sum()
    lows, highs = [], []
    for signs in _signs(len(totals.sums), seed, flips):
        part, weight = signs @ totals.sums, signs @ totals.sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.stack(
                [(total_sum - part) / (size - weight), (total_sum + part) / (size + weight)]
            )
        # all clusters on one side: no mean is rejected
        means[:, np.abs(weight) >= size] = [[-np.inf], [np.inf]]
        lows.append(means.min(axis=0))
        highs.append(means.max(axis=0))
    low, high = np.sort(np.concatenate(lows)), np.sort(np.concatenate(highs))
    rejected = int((1 - level) * len(low) + 1e-9)
    # rounding must not put the mean outside its interval
    low, high = min(float(low[rejected]), totals.mean), max(float(high[-1 - rejected]), totals.mean)
    if totals.words is not None or by_templates:
        low = totals.mean - math.hypot(below * (totals.mean - low), by_templates)
        high = totals.mean + math.hypot(above * (high - totals.mean), by_templates)
    return low, high


def interval_around(
    estimate: float, influence: np.ndarray, clusters: np.ndarray
) -> tuple[float, float]:
    """Return the interval of an estimate that is a mean to first order.

    Parameters
    ----------
    estimate : float
        A smooth function of means, such as a difference of ratios.
    influence : array of float, shape (n,)
        The influence of each item on n times the estimate. The influences sum to zero.
    clusters : array, shape (n,) or (n, 2 to 4)
        As in `total`.

    Returns
    -------
    (float, float)
        As of `sign_flip_interval`.
    """
    low, high = sign_flip_interval(total(influence, clusters))
    return estimate + low, estimate + high


def bounded(interval: tuple[float, float], least: float, most: float) -> tuple[float, float]:
    """Return an interval without its parts outside the scale of the metric; NaN stays."""
    low, high = (float(end) for end in interval)
    return max(low, least), min(high, most)


def korn_graubard(totals: Totals, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Korn and Graubard for a share of items in clusters.

    Clopper and Pearson's interval with the effective sample size, from the jackknife variance
    over clusters and Student's t with one degree of freedom less than effective clusters; where
    clusters share words, both are those of `sharing`. Unlike in the paper, the design effect is
    the mean of the jackknife's and of that implied by the estimated correlation within clusters:
    where a few large clusters agree by chance, the coverage of the jackknife alone is too low.

    Parameters
    ----------
    totals : Totals
        Of values between 0 and 1.
    level : float
        Nominal coverage, between 0 and 1.

    Returns
    -------
    (float, float)
        NaN below `LEAST_EFFECTIVE` effective clusters or templates.
    """
    return share_interval(totals)(level)


def share_interval(
    totals: Totals, *, pseudo_values: bool = False, may_tie: bool = False
) -> IntervalByLevel:
    """Return `korn_graubard` as a function of the level: the rest is computed once.

    The variance of pseudo-values, and that of ties, replaces that of hits. Few clusters may have
    most of it, as near the borders; so the number of effective clusters is at most that at which
    normal sums have such fourth powers.

    Parameters
    ----------
    totals : Totals
        Of values between 0 and 1, or of pseudo-values.
    pseudo_values : bool
        Whether the values are these: the estimate plus n times the influence of each of n
        items on it. Their mean is a smooth function of means, between 0 and 1, such as macro-F1.
    may_tie : bool
        Whether the values are 0, 1 and one half, for a tie. Ties vary less than hits, but near the
        border a sample may have no miss, only ties; so a lower limit of their share counts.
    """
    from scipy import special

    ties = totals.ties if may_tie else 0.0
    totals = totals.distinct
    inflation, by_words, _, added, templates = sharing(totals, is_share=True)
    effective, size = effective_number(totals.sizes), totals.sizes.sum()
    if not (min(effective, templates) >= LEAST_EFFECTIVE and np.isfinite(inflation)):
        return lambda _level: (float("nan"), float("nan"))
    share, k = totals.mean, len(totals.sums)
    without = (totals.sums.sum() - totals.sums) / (size - totals.sizes)
    variance = (k - 1) / k * float(((without - share) ** 2).sum())
    correlation = within_cluster_correlation(totals)
    # where all items agree the correlation is unknown: each effective cluster counts once
    known = np.isfinite(correlation) or len(totals.sums) == size
    correlation = max(0.0, np.nan_to_num(correlation)) if known else 1.0
    design = 1 + (size / effective - 1) * correlation
    of_hits = share * (1 - share)
    of_item = totals.squares / size - share**2 if pseudo_values else of_hits - ties / 4
    if of_item > 1e-12:
        design = (max(1.0, variance / (of_item / size)) + design) / 2
        if ties:
            items = size / (design * inflation)
            least = special.betaincinv(ties * items, (1 - ties) * items + 1, TIES_TAIL)
            of_item = of_hits - float(least) / 4
        design *= of_item / of_hits
        squares = (totals.sums - share * totals.sizes) ** 2
        if squares.sum() > 1e-20:
            spread_over = min(by_words, 3 * float(squares.sum() ** 2 / (squares**2).sum()))
            part = 1.0
            if not (pseudo_values or ties):  # the variance of single items is known, and hardly
                # matters where clusters are much more alike; one miss alone counts in full
                part = (1 - k / size) * min(1.0, 2 * squares.sum() / (size * of_hits))
            by_words *= (spread_over / by_words) ** part
    design *= inflation
    if of_item > 1e-12:
        design += added / (size * of_hits)
    else:  # of equal items each template counts once
        design = max(design, size / templates)

    def at(level: float) -> tuple[float, float]:
        if not 0 < level < 1:
            raise ValueError("level must be between 0 and 1")
        tail = (1 - level) / 2
        quantiles = [float(special.stdtrit(count - 1, tail)) for count in (size, by_words)]
        items = size / design * (quantiles[0] / quantiles[1]) ** 2
        hits = share * items
        low = float(special.betaincinv(hits, items - hits + 1, tail)) if hits > 0 else 0.0
        high = 1.0
        if hits < items:
            high = float(special.betaincinv(hits + 1, items - hits, 1 - tail))
        return min(low, share), max(high, share)

    return at


def recovered_interval(
    interval: tuple[float, float],
    other: tuple[float, float],
    first: float,
    second: float,
    correlation: float = 0.0,
) -> tuple[float, float]:
    """Return the interval of ``first - second``, two numbers with known intervals.

    The method of variance estimates recovery (Zou and Donner, Statistics in Medicine 27, 2008):
    it has a width where all items of one agree. The numbers are independent, or have a correlation.
    """

    def reach(half: float, other_half: float) -> float:
        square = half**2 + other_half**2 - 2 * correlation * half * other_half
        return float(np.sqrt(np.maximum(0.0, square)))  # NaN stays

    low = reach(first - interval[0], other[1] - second)
    high = reach(interval[1] - first, second - other[0])
    return first - second - low, first - second + high


def correlation_of_means(values: Sequence[np.ndarray], clusters: Sequence[np.ndarray]) -> float:
    """Return the correlation of two means of different items of the same clusters, estimated.

    0 if no cluster has items of both, as then they are independent.

    Parameters
    ----------
    values, clusters : two arrays each
        The values of the items of each mean, and their clusters.
    """
    places = np.unique(np.concatenate(clusters), return_inverse=True)[1]
    sums = [
        np.bincount(place, part - part.mean(), minlength=places.max() + 1)
        for place, part in zip(np.split(places, [len(values[0])]), values, strict=True)
    ]
    spread = float((sums[0] @ sums[0]) * (sums[1] @ sums[1])) ** 0.5
    return float(np.clip(sums[0] @ sums[1] / spread, -1, 1)) if spread > 1e-12 else 0.0


def difference_interval(
    totals: Sequence[Totals],
    first: float,
    second: float,
    *,
    pseudo_values: bool = False,
    correlation: float = 0.0,
) -> IntervalByLevel:
    """Return the interval of ``first - second``, shares of two samples, by level.

    See `share_interval` and `recovered_interval`.
    """
    each = [share_interval(part, pseudo_values=pseudo_values) for part in totals]
    return lambda level: recovered_interval(
        *(of_part(level) for of_part in each), first, second, correlation
    )


def student_quantile(degrees: int, level: float = 0.95) -> float:
    """Return the half-width of Student's t interval in standard errors."""
    from scipy import special

    return float(special.stdtrit(degrees, (1 + level) / 2))


def student_reach(values: np.ndarray, level: float = 0.95) -> float:
    """Return the half-width of Student's t interval of a mean, as over runs; two values or more."""
    sd = float(np.std(values, ddof=1))
    return student_quantile(len(values) - 1, level) * sd / math.sqrt(len(values))


def with_runs(interval: IntervalByLevel, values: np.ndarray) -> IntervalByLevel:
    """Return an interval of a mean over runs that allows for their variation too, by level.

    The half-widths over cases and over runs (`student_reach`) are added as their squares, as in
    `recovered_interval`.

    Parameters
    ----------
    interval : callable
        The interval over cases of the mean of the runs, by level.
    values : array, shape (runs,)
        The number of each run; with one run the interval stays.
    """
    if len(values) < 2:
        return interval
    mean = float(np.mean(values))

    def wider(level: float) -> tuple[float, float]:
        reach = student_reach(values, level)
        low, high = interval(level)
        return mean - math.hypot(mean - low, reach), mean + math.hypot(high - mean, reach)

    return wider


def p_value_with_runs(p_value: float, interval: IntervalByLevel, level: float = 0.95) -> float:
    """Return a p-value over cases, unless the interval of `with_runs` has 0: then that of it.

    So a difference is significant only if it holds over cases, after any adjustment, and the
    interval excludes 0; tests over few runs would be lost in the adjustment for many tests.
    """
    p_of_both = inverted_p_value(interval)
    return p_value if p_of_both < 1 - level else max(p_value, p_of_both)


def inverted_p_value(interval: IntervalByLevel) -> float:
    """Return the p-value of 0: one minus the level of the smallest interval that has it."""
    from scipy.optimize import brentq

    def beyond(logarithm: float) -> float:
        """By how much the interval excludes 0."""
        low, high = interval(-math.expm1(logarithm))
        return max(low, -high)

    least, most = math.log(LEAST_P), math.log1p(-1e-9)
    if beyond(most) <= 0:
        return 1.0
    return LEAST_P if beyond(least) >= 0 else math.exp(brentq(beyond, least, most, xtol=1e-9))


def within_cluster_correlation(totals: Totals) -> float:
    """Return the correlation of items of one cluster, estimated by analysis of variance.

    NaN where no cluster has two items, or all items are equal. It can be negative.
    """
    sizes, k = totals.sizes, len(totals.sizes)
    size = sizes.sum()
    if k < 2 or size <= k:
        return float("nan")
    between = float((sizes * (totals.sums / sizes - totals.mean) ** 2).sum() / (k - 1))
    within = float((totals.squares - (totals.sums**2 / sizes).sum()) / (size - k))
    usual = float((size - (sizes**2).sum() / size) / (k - 1))
    spread = between + (usual - 1) * within
    return (between - within) / spread if spread > 1e-12 else float("nan")


def power(
    sizes: np.ndarray,
    *,
    delta: float,
    correlation: float,
    variance: float | None = None,
    level: float = 0.95,
    times: float = 1.0,
) -> float:
    """Return the power of the sign-flip test at a true difference of delta, approximately.

    The sum of the largest cluster has its distribution (a beta-binomial for hits), because it can
    be a large part of the total; the sum of the others is normal. With few clusters of few hits
    the test is discrete, and the power somewhat lower.

    Parameters
    ----------
    sizes : array of float, shape (k,)
        Items by cluster.
    delta : float
        The true difference from neutral.
    correlation : float
        Of the items of one cluster, between 0 and 1.
    variance : float, optional
        The variance of the items; by default of hits, whose neutral share is one half.
    level : float
        One minus the size of the test.
    times : float
        The factor by which the number of clusters is multiplied.
    """
    from scipy import special

    item = 0.25 - delta**2 if variance is None else variance
    if not len(sizes) or not np.isfinite([item, correlation]).all() or item <= 0:
        return float("nan")
    if 2 ** (1 - times * len(sizes)) > 1 - level:
        return 0.0
    sizes = np.asarray(sizes, dtype=np.float64)
    largest = float(sizes.max())
    rest = times * sizes.sum() - largest
    squares = times * (sizes**2).sum() - largest**2
    spread = item * ((1 - correlation) * rest + correlation * squares)
    if variance is None:
        largest = float(np.floor(largest + 1e-9))  # copies of items leave no whole number
        hits, share = np.arange(largest + 1), 0.5 + delta
        shape = 1 / min(max(correlation, 1e-6), 1 - 1e-6) - 1
        above, below = share * shape, (1 - share) * shape
        chances = np.exp(
            -np.log(largest + 1)
            - special.betaln(largest - hits + 1, hits + 1)
            + special.betaln(hits + above, largest - hits + below)
            - special.betaln(above, below)
        )
        sums = hits - largest / 2
    else:
        chances = np.full(41, 1 / 41)
        wide = item * largest * (1 + (largest - 1) * correlation)
        sums = delta * largest + wide**0.5 * special.ndtri((np.arange(41) + 0.5) / 41)
    # the test compares with other signs of the same sums: plus or minus the largest, and a normal
    # variable whose variance holds the difference too
    flipped = (spread + delta**2 * squares) ** 0.5
    steps = np.linspace(0, np.abs(sums).max() / flipped, 33)
    border = special.chndtrix(level, 1, steps**2) ** 0.5
    border = flipped * np.interp(np.abs(sums) / flipped, steps, border)
    mean, border = (sums + delta * rest) / spread**0.5, border / spread**0.5
    return float(chances @ (special.ndtr(mean - border) + special.ndtr(-mean - border)))


def student_power(
    error: float, count: int, *, delta: float, level: float = 0.95, times: float = 1.0
) -> float:
    """Return the power of Student's t test at a true difference of delta.

    Parameters
    ----------
    error : float
        The standard error of the mean difference of `count` independent values.
    count : int
        At least two.
    delta, level, times : float
        As in `power`.
    """
    from scipy import special

    if count < 2 or not error > 0:
        return float("nan")
    freedom, shift = times * count - 1, abs(delta) / error * times**0.5
    border = float(special.stdtrit(freedom, (1 + level) / 2))
    if shift > border + 8:
        return 1.0
    below, above = special.nctdtr(freedom, shift, [-border, border])
    return float(np.nan_to_num(below) + 1 - above)  # far from the shift SciPy gives no number


def further(power_at: Callable[[float], float], count: int, *, most: float = 1e4) -> int | None:
    """Return the number of further clusters, of such sizes, for `ENOUGH_POWER`.

    Parameters
    ----------
    power_at : callable
        The power as a function of the factor on the number of clusters.
    count : int
        The number of clusters.
    most : float
        The largest factor; None is returned where more clusters are needed.
    """
    low = high = 1.0
    if not np.isfinite(power_at(1.0)):
        return None
    while power_at(high) < ENOUGH_POWER:
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > max(0.005 * high, 0.5 / count):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= ENOUGH_POWER else (middle, high)
    return int(np.ceil((high - 1) * count))


def infer(
    totals: Totals, *, neutral: float, delta: float, is_share: bool = False, level: float = 0.95
) -> Inference:
    """Return test, interval, equivalence and power of the mean of items in clusters.

    Parameters
    ----------
    totals : Totals
        The items.
    neutral : float
        The mean under the null hypothesis.
    delta : float
        The smallest difference that matters, in the unit of the items.
    is_share : bool
        Whether the values are 0, 1 and one half, for a tie: then the interval is that of
        `share_interval`, else that of the sign-flip test.
    level : float
        Coverage of the interval; one minus the size of the tests.
    """
    if not 0.5 < level < 1:
        raise ValueError(f"level must be above 0.5 and below 1, not {level}")
    effective = effective_number(totals.sizes)
    if is_share:
        low, high = share_interval(totals, may_tie=True)(level)
        p_value = mean_p_value(totals, neutral)
    else:
        low, high = sign_flip_interval(totals, level=level)
        p_value = interval_p_value(totals, neutral, level=level)
    shared = sharing(totals)
    inflation = _inflation(totals, shared)
    all_items, totals = totals, totals.distinct
    size, mean = totals.sizes.sum(), totals.mean
    correlation = within_cluster_correlation(totals)
    correlation = min(1.0, max(0.0, correlation)) if np.isfinite(correlation) else correlation
    variance = None
    if not is_share or all_items.ties:
        variance = (totals.squares - size * mean**2) / (size - 1) if size > 1 else float("nan")
    known = correlation if np.isfinite(correlation) or len(totals.sizes) < size else 0.0

    widened = sharing(all_items, is_share=is_share)

    def power_at(times: float, least: float = 0.0) -> float:
        widening = sum(_widening(all_items, widened, (1 - level) / 2, times)) / 2
        if not np.isfinite(widening):
            return float("nan")
        if 2 ** (1 - shared.templates) > 1 - level:  # no p-value is so small
            return 0.0
        widening = math.hypot(widening, max(inflation - shared.inflation, least) ** 0.5)
        design = {"correlation": known, "variance": variance, "level": level, "times": times}
        return power(totals.sizes, delta=delta / widening, **design)

    reached, needed = power_at(1.0), None
    if reached >= ENOUGH_POWER:
        needed = 0
    elif not shared.has_few:
        needed = further(power_at, len(totals.sizes))
    elif totals.templates.unshared > 0.5:
        # a few templates tell little of how much they add: at most as if each were one item
        least = effective / shared.templates - 1
        needed = further(lambda times: power_at(times, least), len(totals.sizes))
    return Inference(
        neutral,
        mean,
        low,
        high,
        p_value,
        len(totals.sizes),
        effective,
        inflation if np.isfinite(inflation) else float("nan"),
        correlation,
        bool(neutral - delta < low and high < neutral + delta),
        reached,
        needed,
    )


def verdict(inference: Inference, *, level: float = 0.95, p_value: float | None = None) -> str:
    """Return one of three conclusions: a significant difference, equivalence, or neither.

    Parameters
    ----------
    inference : Inference
        Of a mean.
    level : float
        One minus the size of the test.
    p_value : float, optional
        The adjusted p-value, where several means are tested.

    Returns
    -------
    str
        `ABOVE` or `BELOW`, if the difference is significant; `EQUIVALENT`, if it is not and
        the interval lies within delta; else `INCONCLUSIVE`.
    """
    p_value = inference.p_value if p_value is None else p_value
    difference = inference.estimate - inference.neutral
    return conclude(difference, p_value, inference.equivalent, level=level)


def conclude(
    difference: float, p_value: float | None, equivalent: bool, *, level: float = 0.95
) -> str:
    """Return the verdict that follows from a p-value and from equivalence; see `verdict`."""
    if p_value is not None and p_value <= 1 - level + 1e-12:
        return ABOVE if difference > 0 else BELOW
    return EQUIVALENT if equivalent else INCONCLUSIVE
