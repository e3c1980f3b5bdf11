"""Numbers in cells and in messages."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isnan

from evenhand.errors import InputError

#: Digits of the longest whole number: all columns that hold such numbers count something.
MOST_DIGITS = 15


def number(text: str) -> float:
    """A number as people write it.

    Python also reads ``1_0`` as 10; in a table that is a code or an error.

    Raises
    ------
    ValueError
        It is none.
    """
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def whole(text: str) -> int:
    """A whole number, likewise."""
    if "_" in text or len(text) > MOST_DIGITS:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def counted(count: int, noun: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def or_nan(cell: str) -> float:
    """Return a cell as a number; NaN for other text."""
    try:
        return number(cell)
    except ValueError:
        return float("nan")


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins between these borders, the lowest first."""
    edges = sorted(edges)
    inner = [f"{low:g} to <{high:g}" for low, high in pairwise(edges)]
    return [f"<{edges[0]:g}", *inner, f"≥{edges[-1]:g}"]


def binned(cells: Sequence[str], edges: Sequence[float]) -> list[str]:
    """Return the bin of each number, ``18 to <30``; blank for what is no number."""
    names, edges = bin_names(edges), sorted(edges)
    values = map(or_nan, cells)
    return ["" if isnan(value) else names[bisect_right(edges, value)] for value in values]


def low_end(name: str) -> float:
    """Return where a bin begins, or the number itself; infinity for other names."""
    if name.startswith("<") and not isnan(or_nan(name[1:])):
        return -inf
    value = or_nan(name.removeprefix("≥").partition(" to <")[0])
    return inf if isnan(value) else value


def read_bins(words: str) -> tuple[str, list[float]]:
    """Read ``age=30,50``: a column, and the borders between its groups."""
    name, _, borders = words.rpartition("=")
    values = [or_nan(one) for one in borders.split(",")]
    if not name or any(map(isnan, values)):
        raise InputError(f"{words!r} are no bins", remedy="write age=30,50")
    return name, values
