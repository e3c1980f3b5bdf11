"""Phrases shared by several packages."""

from collections.abc import Sequence


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; above `most` words ``a, b and 8 others``."""
    if most is not None and len(words) > most:
        rest = len(words) - most
        words = [*words[:most], f"{rest} other{'' if rest == 1 else 's'}"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


#: The verdicts of `evenhand.metrics.inference` in the cells of tables.
VERDICTS = {
    "above": "significantly above",
    "below": "significantly below",
    "equivalent": "no difference beyond delta",
    "inconclusive": "cannot tell",
    "not_scored": "not scored",
}


def conclusion(
    verdict: str,
    *,
    difference: str,
    delta: str,
    above: str = "",
    below: str = "",
    power: float | None = None,
    further: int | None = None,
    clusters: str = "clusters",
) -> str:
    """Return one of the verdicts of `evenhand.metrics.inference` in words, without a full stop.

    Parameters
    ----------
    verdict : str
        above, below, equivalent or inconclusive.
    difference : str
        The effect that is absent within delta: ``preference``.
    delta : str
        The smallest difference that matters, with its unit.
    above, below : str
        The meaning of a significant difference in either direction.
    power, further : float, optional
        Power of the test at delta, and the number of further clusters for 80 %.
    clusters : str
        The noun for the clusters.
    """
    if verdict in ("above", "below"):
        return above if verdict == "above" else below
    if verdict == "equivalent":
        return f"No {difference} beyond ±{delta}"
    words = f"Cannot tell whether there is a {difference}"
    if power is None or power != power:
        return f"{words}: too few {clusters}"
    words += f": the test finds one of {delta} with a power of {100 * power:.0f} %"
    if further:
        words += f", and {further:,} more {clusters} would give 80 %"
    return words
