"""Numbers in cells and in messages."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

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


def binned(cells: Sequence[str], edges: Sequence[float]) -> list[str]:
    """Return the bin of each number, ``18 to <30``; blank for what is no number."""
    edges = sorted(edges)
    names = [f"<{edges[0]:g}"] + [f"{low:g} to <{high:g}" for low, high in pairwise(edges)]
    names.append(f"≥{edges[-1]:g}")
    values = np.array([or_nan(cell) for cell in cells])
    return [
        "" if np.isnan(value) else names[place]
        for value, place in zip(values, np.digitize(values, edges), strict=True)
    ]


def read_bins(words: str) -> tuple[str, list[float]]:
    """Read ``age=30,50``: a column, and the borders between its groups."""
    name, _, borders = words.rpartition("=")
    values = [or_nan(one) for one in borders.split(",")]
    if not name or np.isnan(values).any():
        raise InputError(f"{words!r} are no bins", remedy="write age=30,50")
    return name, values
