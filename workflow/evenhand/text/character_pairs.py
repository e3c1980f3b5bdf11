"""Find in many texts at once which sets of two adjacent characters occur in each.

A cheap test of which patterns cannot match a text.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class CharacterPairs:
    """Some sets of pairs of adjacent characters.

    Parameters
    ----------
    sets : sequence
        The sets. Each consists of pairs of strings: any character of the first before any of the
        second. A blank second string matches any character or none, and two blank ones match any
        Chinese character twice.
    """

    def __init__(self, sets: Sequence[Iterable[tuple[str, str]]]) -> None:
        self._sets = [[*pairs] for pairs in sets]
        sides = [
            sorted({ord(c) for pairs in self._sets for pair in pairs for c in pair[side]})
            for side in range(2)
        ]
        # the last code point stays 0, for all that are higher
        self._numbers = np.zeros((2, max([0, *sides[0], *sides[1]]) + 2), np.uint16)
        for numbers, codes in zip(self._numbers, sides, strict=True):
            numbers[codes] = np.arange(1, len(codes) + 1)
        self._members = np.zeros(self._numbers.max(axis=1) + 1, np.uint32)
        for n, pairs in enumerate(self._sets):
            for pair in pairs:
                first, second = (
                    [numbers[ord(character)] for character in characters]
                    for numbers, characters in zip(self._numbers, pair, strict=True)
                )
                if first:
                    members = np.ix_(first, second) if second else (first, slice(None))
                    self._members[members] |= np.uint32(1 << n)

    def search(self, texts: Sequence[str]) -> list[int]:
        """Return for each text, which contains no line end, a number with a bit for each set."""
        if not texts:
            return []
        codes = _codes("\n".join([*texts, ""]))
        numbers = self._numbers.take(codes, axis=1, mode="clip")
        members = self._members[numbers[0], np.append(numbers[1, 1:], 0)]
        for n, pairs in enumerate(self._sets):
            if ("", "") in pairs:
                twice = (codes[:-1] == codes[1:]) & (codes[1:] >= 0x4E00) & (codes[1:] <= 0x9FFF)
                members[:-1] |= twice * np.uint32(1 << n)
        lengths = np.fromiter(map(len, texts), np.intp, len(texts)) + 1
        return np.bitwise_or.reduceat(members, lengths.cumsum() - lengths).tolist()

    def places(self, text: str) -> Array:
        """Return where pairs of any set begin, except the same character twice."""
        codes = _codes(text + "\n")
        first = self._numbers[0].take(codes, mode="clip")
        places = np.flatnonzero(first > 0)
        second = self._numbers[1].take(codes[places + 1], mode="clip")
        return places[self._members[first[places], second] > 0]


def _codes(text: str) -> Array:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
