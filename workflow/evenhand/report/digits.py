"""Whole numbers as text that a page holds and its script reads: a few characters a number."""

import numpy as np

#: Characters that a script element and a JSON text hold as they are.
DIGITS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "\"&<>\\'")


def to_digits(numbers: np.ndarray, width: int = 2) -> str:
    """Whole numbers as `width` characters of `DIGITS` each, the highest digit first.

    Parameters
    ----------
    numbers : array of int, any shape
        From 0, and below ``len(DIGITS) ** width``.
    width : int
        How many characters a number takes.
    """
    signs = np.frombuffer(DIGITS.encode(), dtype=np.uint8)
    rest, digits = np.asarray(numbers), []
    for _ in range(width):
        rest, digit = np.divmod(rest, len(DIGITS))
        digits.append(digit)
    return signs[np.stack(digits[::-1], axis=-1)].tobytes().decode()


def from_digits(text: str, width: int = 2) -> np.ndarray:
    """The numbers of `to_digits`, int64, of shape (n,)."""
    place = np.zeros(128, dtype=np.int64)
    place[np.frombuffer(DIGITS.encode(), dtype=np.uint8)] = np.arange(len(DIGITS))
    digits = place[np.frombuffer(text.encode(), dtype=np.uint8)].reshape(-1, width)
    return digits @ len(DIGITS) ** np.arange(width)[::-1]


def width_of(most: int) -> int:
    """How many characters a number up to `most` takes."""
    width = 1
    while most >= len(DIGITS) ** width:
        width += 1
    return width
