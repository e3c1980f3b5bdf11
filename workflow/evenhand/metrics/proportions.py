"""Shares with intervals that are valid for small samples and for shares near 0 and 1."""

from collections.abc import Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """A share and its interval; NaN without a sample."""

    share: float
    low: float
    high: float


NOTHING = Share(float("nan"), float("nan"), float("nan"))


def wilson_share(hits: int, of: int) -> Share:
    """Return a share with Wilson's 95 % interval (Journal of the ASA 22, 1927).

    Parameters
    ----------
    hits, of : int
        Successes and sample size, of independent trials.

    Raises
    ------
    ValueError
        `hits` is negative or above `of`.
    """
    from scipy.stats import binomtest

    if not 0 <= hits <= of:  # scipy 1.18 lets it pass
        raise ValueError(f"{hits} of {of} is no share")
    if not of:
        return NOTHING
    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return Share(hits / of, float(interval.low), float(interval.high))


def stratified_share(strata: Sequence[tuple[int, int, float]]) -> Share:
    """Return a share over sampled strata, each weighted by its size.

    The 95 % interval combines Wilson's intervals of the strata by the method of variance estimates
    recovery. Source: Zou and Donner, Construction of confidence limits about effect measures
    (Statistics in Medicine 27, 2008).

    Parameters
    ----------
    strata : sequence of (hits, of, weight)
        Successes, sample size and size of each stratum. Strata of weight 0 are ignored; one with
        a weight but no sample makes the share NaN.
    """
    total = sum(weight for _, _, weight in strata)
    if total <= 0:
        return NOTHING
    share = below = above = 0.0
    for hits, of, weight in strata:
        if weight:
            stratum, part = wilson_share(hits, of), weight / total
            share += part * stratum.share
            below += (part * (stratum.share - stratum.low)) ** 2
            above += (part * (stratum.high - stratum.share)) ** 2
    return Share(share, share - below**0.5, share + above**0.5)
