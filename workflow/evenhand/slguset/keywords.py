"""The gender keywords: the table of surface pairs, and where a sentence holds one.

A surface is what stands in the text (男人, 老公); the keyword is the part of it that is
masked and exchanged for its opposite (男, 公): what is left when the beginning that both
surfaces share is taken off, cut to the length that the table gives.
"""

import re
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError

COLUMNS = ["pair", "male", "female", "surface_male", "surface_female"]


class Surface(NamedTuple):
    """One gender's form of a surface pair; `offset` is where in it the keyword begins."""

    pair: str
    surface: str
    surface_opposite: str
    keyword: str
    opposite: str
    gender: str
    offset: int


class Keywords(NamedTuple):
    """The table, ready to be searched for.

    `surfaces` are in the table's order, male before female. `pattern` finds the surfaces
    of a text from left to right, at each place the longest (女儿 before 女).
    """

    surfaces: dict[str, Surface]
    pattern: re.Pattern[str]

    def pair_names(self) -> list[str]:
        """The mask pairs in the table's order."""
        return list(dict.fromkeys(s.pair for s in self.surfaces.values()))

    def shorter(self, surface: Surface, start: int, text: str, end: int) -> Surface | None:
        """The longest surface of `text` that begins at `start` and ends at `end` or before.

        `surface` is the one that was found there; None if nothing is short enough.
        """
        for length in range(min(len(surface.surface), end - start), 0, -1):
            if found := self.surfaces.get(text[start : start + length]):
                return found
        return None


def read_keywords(path: Path) -> Keywords:
    """Read the table of surface pairs.

    Parameters
    ----------
    path : Path
        A CSV file with the columns pair (``男/女``), male and female (the masked parts) and
        surface_male and surface_female (the words in the text).

    Raises
    ------
    InputError
        The table is not well formed, a surface does not hold its keyword where the two
        surfaces of the pair differ, or a surface stands there twice.
    """
    surfaces: dict[str, Surface] = {}
    rows = read_resource(path, COLUMNS)
    if not rows:
        raise InputError("holds no pair", file=path)
    for line, row in enumerate(rows, start=2):
        pair, male, female, surface_male, surface_female = (row[name] for name in COLUMNS)
        if surface_male == surface_female:
            raise InputError(f"{surface_male} has itself as its opposite", file=path, line=line)
        offset = _length_of_common_beginning(surface_male, surface_female)
        if (
            pair != f"{male}/{female}"
            or not surface_male.startswith(male, offset)
            or surface_male[:offset] + female + surface_male[offset + len(male) :] != surface_female
        ):
            raise InputError(
                f"{surface_male} does not become {surface_female} when {male} is exchanged for "
                f"{female}, or the pair is not {male}/{female}",
                file=path,
                line=line,
                remedy="mend the row",
            )
        for gender in ("male", "female"):
            of_male = gender == "male"
            surface = Surface(
                pair=pair,
                surface=surface_male if of_male else surface_female,
                surface_opposite=surface_female if of_male else surface_male,
                keyword=male if of_male else female,
                opposite=female if of_male else male,
                gender=gender,
                offset=offset,
            )
            if surface.surface in surfaces:
                raise InputError(
                    f"the surface {surface.surface} stands there twice", file=path, line=line
                )
            surfaces[surface.surface] = surface
    longest_first = sorted(surfaces, key=len, reverse=True)
    return Keywords(surfaces, re.compile("|".join(map(re.escape, longest_first))))


def _length_of_common_beginning(one: str, other: str) -> int:
    length = 0
    while one[length : length + 1] == other[length : length + 1] != "":
        length += 1
    return length
