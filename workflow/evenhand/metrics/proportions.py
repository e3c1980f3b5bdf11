"""Shares with intervals that are valid for small samples and for shares near 0 and 1."""

from collections.abc import Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """A share and its interval; NaN without a sample."""

    share: float
    low: float
    high: float


NOTHING = Share(float("nan"), float("nan"), float("nan"))


def wilson_share(hits: int, of: int, level: float = 0.95) -> Share:
    """Return a share with Wilson's interval (Journal of the ASA 22, 1927).

    Parameters
    ----------
    hits, of : int
        Successes and sample size, of independent trials.
    level : float
        Coverage, between 0 and 1.

    Raises
    ------
    ValueError
        `hits` is negative or above `of`, or `level` is out of range.
    """
    from scipy.stats import norm

    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no share")
    if not 0 < level < 1:
        raise ValueError("level must be between 0 and 1")
    if not of:
        return NOTHING
    z = float(norm.ppf((1 + level) / 2))
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * (share * (1 - share) / of + spread / (4 * of)) ** 0.5
    # rounding must not put the share outside its interval
    return Share(share, 0.0 if hits == 0 else middle - half, 1.0 if hits == of else middle + half)


def stratified_share(strata: Sequence[tuple[int, int, float]], level: float = 0.95) -> Share:
    """Return a share over sampled strata, each weighted by its size.

    The interval combines Wilson's intervals of the strata by the method of variance estimates
    recovery. Source: Zou and Donner, Construction of confidence limits about effect measures
    (Statistics in Medicine 27, 2008).

    Parameters
    ----------
    strata : sequence of (hits, of, weight)
        Successes, sample size and size of each stratum. Strata of weight 0 are ignored; one with
        a weight but no sample makes the share NaN.
    level : float
        Coverage, between 0 and 1.
    """
    total = sum(weight for _, _, weight in strata)
    if total <= 0:
        return NOTHING
    share = below = above = 0.0
    for hits, of, weight in strata:
        if weight:
            stratum, part = wilson_share(hits, of, level), weight / total
            share += part * stratum.share
            below += (part * (stratum.share - stratum.low)) ** 2
            above += (part * (stratum.high - stratum.share)) ** 2
    return Share(share, share - below**0.5, share + above**0.5)
