"""The most of a ranking that can be accepted with at most a given share of bad items.

Learn then Test: acceptance sets are tested in a fixed order, from strict to loose, up to the first
that fails. The order depends on sizes alone, not on labels or on which items were drawn. Where the
labels suffice for strict sets, a second sequence starts at half of the ranking, since the very top
need not be the best; each then has half of the level. The probability that the accepted set has
more bad items than allowed is at most 1 - confidence. Sources: Angelopoulos, Bates, Candès, Jordan
and Lei 2021 (Learn then Test, arXiv:2110.01052; fixed-sequence testing with several starts); Bates,
Angelopoulos, Lei, Malik and Jordan 2021 (Journal of the ACM 68). The test is exact for a random
sample without replacement, and Clopper and Pearson's where the sample is a small part.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

#: Acceptance sets: the twentieths of a ranking.
STEPS = 20

#: The first set has in expectation so many times the labels that it needs without a bad one.
MARGIN = 1.25


class Guarantee(NamedTuple):
    """The result of `guarantee`.

    Attributes
    ----------
    accepted : int
        Items accepted, from the top; 0 without a guarantee.
    bound : float
        Upper confidence limit of the share of bad items among them, for this set alone; NaN
        without a guarantee.
    labels, bad : int
        Labelled items among them, or among all without a guarantee; the bad ones of these.
    needed : int
        Labels that are about needed to accept some part of the ranking if as many of them are bad
        as now; with a guarantee, those there are. 0: no number would do, since too many are bad.
    """

    accepted: int
    bound: float
    labels: int
    bad: int
    needed: int


def guarantee(
    sampled: "np.ndarray", bad: "np.ndarray", *, risk: float = 0.05, confidence: float = 0.9
) -> Guarantee:
    """Return how many items from the top can be accepted, with a guarantee.

    Parameters
    ----------
    sampled : ndarray of bool
        Which items were labelled: a random sample. Best first, in an order that does not depend
        on these labels.
    bad : ndarray of bool
        Which are bad; only those of `sampled` count.
    risk : float
        The largest share of bad items among the accepted.
    confidence : float
        Lower limit of the probability that the share is not exceeded.
    """
    import numpy as np

    size, total = len(sampled), int(np.sum(sampled))
    drawn, faults = np.cumsum(sampled), np.cumsum(sampled & bad)
    accepted = 0
    sequences = _sequences(size, total, risk, confidence)
    level = (1 - confidence) / len(sequences)
    for sequence in sequences:
        for part in sequence:
            if p_value(int(faults[part - 1]), int(drawn[part - 1]), part, risk) > level:
                break
            accepted = max(accepted, part)
    end = accepted or size
    labels, wrong = (int(drawn[end - 1]), int(faults[end - 1])) if size else (0, 0)
    bound = upper_limit(wrong, labels, accepted, confidence) if accepted else float("nan")
    if accepted or not size:
        return Guarantee(accepted, bound, labels, wrong, total)
    numbers = [
        labels_needed(part, faults[part - 1] / max(drawn[part - 1], 1), risk, confidence)
        * size
        / part
        for part in _parts(size)
    ]
    needed = int(np.ceil(min(filter(None, numbers), default=0)))
    return Guarantee(accepted, bound, labels, wrong, needed)


def p_value(bad: int, drawn: int, size: int, risk: float) -> float:
    """Return the p-value of the hypothesis that more than `risk` of `size` items are bad.

    `bad` of `drawn` items are, drawn at random without replacement.
    """
    from scipy.stats import hypergeom

    return float(hypergeom.cdf(bad, size, min(int(risk * size) + 1, size), drawn))


def upper_limit(bad: int, drawn: int, size: int, confidence: float) -> float:
    """Return the upper confidence limit of the share of bad items, of which `drawn` are known."""
    shares = range(bad, size - drawn + bad + 1)
    low, high = 0, len(shares) - 1  # the largest number that is not rejected
    while low < high:
        middle = (low + high + 1) // 2
        rejected = p_value(bad, drawn, size, (shares[middle] - 0.5) / size) <= 1 - confidence
        low, high = (low, middle - 1) if rejected else (middle, high)
    return shares[low] / size


@lru_cache(maxsize=1024)
def labels_needed(size: int, share: float, risk: float, confidence: float) -> int:
    """Return the labels with which `size` items are accepted if `share` of the labels are bad.

    0 if all labels together would not do.
    """
    import numpy as np
    from scipy.stats import hypergeom

    allowed, most, first = min(int(risk * size) + 1, size), min(size, 64), 1
    while True:
        drawn = np.arange(1, most + 1)
        faults = np.ceil(share * drawn - 1e-9)
        short = np.flatnonzero(hypergeom.cdf(faults, size, allowed, drawn) > 1 - confidence)
        first = int(short[-1]) + 2 if len(short) else 1
        if most == size or 2 * first < most:  # beyond that, more labels only help
            return first if first <= size else 0
        most = min(2 * most, size)


def _parts(size: int) -> list[int]:
    return list(dict.fromkeys(filter(None, (size * step // STEPS for step in range(1, STEPS + 1)))))


def _sequences(size: int, total: int, risk: float, confidence: float) -> list[list[int]]:
    """Return the sizes of the tested sets: of one sequence, or of two with half the level each."""
    parts, half = _parts(size), size / 2

    def testable(confidence: float) -> list[int]:
        needed = [(part, labels_needed(part, 0, risk, confidence)) for part in parts]
        return [part for part, least in needed if least and total * part / size >= MARGIN * least]

    strict = testable(confidence)
    if not strict or strict[0] >= half:
        return [strict or parts[-1:]]
    strict = testable((1 + confidence) / 2) or parts[-1:]
    return [strict, [part for part in strict if part >= half]]
