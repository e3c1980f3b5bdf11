"""The keywords of a pack: the table of counterpart words, and their search in a sentence.

A surface is the word in the text (男人, 老公). The keyword is the part of it that is masked and
exchanged for its opposite (男, 公): the surface without the beginning that both surfaces share,
cut to the length that the table gives.
"""

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource, read_strict_csv
from evenhand.errors import InputError
from evenhand.text.traditional import in_script_of

#: The values of an attribute where none are named, the first one first.
GENDERS = ("male", "female")


#: The values that categories of a row may have; a category that is not here may have any.
Features = Mapping[str, frozenset[str]]
NO_FEATURES: Features = {}


class Surface(NamedTuple):
    """One value's form of a surface pair; `offset` is where in it the keyword begins."""

    pair: str
    surface: str
    surface_opposite: str
    keyword: str
    opposite: str
    value: str
    value_opposite: str
    offset: int
    features: Features = NO_FEATURES

    def written_in(self, sentence: str, start: int) -> "Surface":
        """Return the surface found at `start`, with the words to exchange as the sentence has them.

        They are in its script, and have a capital first letter if the keyword has one there. The
        pair and the surfaces stay those of the table.
        """
        begin = start + self.offset
        keyword = sentence[begin : begin + len(self.keyword)]
        opposite = in_case_of(keyword, in_script_of(sentence, self.opposite))
        return self._replace(keyword=keyword, opposite=opposite)


def in_case_of(word: str, text: str) -> str:
    """Return a text with a capital first letter if the word has one."""
    return text[:1].upper() + text[1:] if word[:1].isupper() else text


class Keywords(NamedTuple):
    """The table, ready to be searched for.

    `surfaces` are in the table's order, the first value before the others; `alternatives` has all
    rows of a surface: one for each other value, and for each form that is written alike.
    `pattern` finds the surfaces of a text from left to right, at each place the longest
    (女儿 before 女).
    """

    surfaces: dict[str, Surface]
    alternatives: dict[str, list[Surface]]
    pattern: re.Pattern[str]

    def pair_names(self) -> list[str]:
        """The mask pairs in the table's order."""
        return list(dict.fromkeys(s.pair for some in self.alternatives.values() for s in some))

    def base(self, surface: Surface) -> Surface:
        """The first row of the same pair and values: the words as a dictionary has them."""
        sides = (surface.pair, surface.value, surface.value_opposite)
        return next(
            row
            for rows in self.alternatives.values()
            for row in rows
            if (row.pair, row.value, row.value_opposite) == sides
        )

    def shorter(self, surface: Surface, start: int, text: str, end: int) -> Surface | None:
        """The longest surface of `text` that begins at `start` and ends at `end` or before.

        `surface` is the one that was found there; None if nothing is short enough.
        """
        for length in range(min(len(surface.surface), end - start), 0, -1):
            if shorter := self.surfaces.get(text[start : start + length]):
                return shorter
        return None


def read_features(text: str) -> dict[str, frozenset[str]]:
    """Read the features of a row: ``case=nom|acc use=subject``."""
    features = {}
    for feature in text.split():
        name, sign, values = feature.partition("=")
        if not (name and sign and values):
            remedy = "write it like case=nom|acc"
            raise InputError(f"{feature!r} is no feature", remedy=remedy)
        features[name] = frozenset(values.split("|"))
    return features


def read_keywords(
    path: Path, values: tuple[str, ...] | list[str] = GENDERS, *, blanks: bool = False
) -> Keywords:
    """Read the table of counterpart words.

    Parameters
    ----------
    path : Path
        A CSV file with a column for each value: the words. Where only a part of a word is masked,
        it has that part, and surface_{value} the word. A cell may be blank where there are more
        than two values. Optional columns: pair (the name of the masked pair), features (of the
        form, joined by blanks; see `evenhand.slguset.inflection`).
    values : sequence of str
        The values of the attribute.
    blanks : bool
        Whether blanks separate words; then only whole words match, with a small or a capital
        first letter.

    Raises
    ------
    InputError
        The table is malformed, a surface does not contain its keyword where the two surfaces of
        the pair differ, or a surface is listed twice.
    """
    header, _ = read_strict_csv(path)
    columns = [f"surface_{value}" for value in values]
    present = [column for column in ["pair", *columns, "features"] if column in header]
    blank = ("pair", "features", *((*values, *columns) if len(values) > 2 else ()))
    alternatives: dict[str, list[Surface]] = {}

    def add(row: dict[str, str]) -> None:
        forms = [
            (row[value], row.get(f"surface_{value}", row[value]), value)
            for value in values
            if row[value]
        ]
        for first, second in combinations(forms, 2):
            pair = row.get("pair") or f"{first[0]}/{second[0]}"
            offset = 0
            if columns[0] in present:
                offset = _offset(first, second, pair)
            if first[1] == second[1]:
                raise InputError(f"{first[1]} has itself as its opposite")
            for form, other in ((first, second), (second, first)):
                surface = Surface(
                    pair, form[1], other[1], form[0], other[0], form[2], other[2], offset,
                    read_features(row.get("features", "")),
                )  # fmt: skip
                known = alternatives.setdefault(surface.surface, [])
                if any(_is_same(surface, row) for row in known):
                    raise InputError(f"the surface {surface.surface} stands there twice")
                known.append(surface)

    if not read_resource(path, [*values, *present], optional=blank, make=add):
        raise InputError("holds no pair", file=path)
    if blanks:
        for word, some in list(alternatives.items()):
            alternatives.setdefault(word[:1].upper() + word[1:], some)
    longest_first = "|".join(map(re.escape, sorted(alternatives, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)" if blanks else longest_first)
    return Keywords({word: some[0] for word, some in alternatives.items()}, alternatives, pattern)


def _offset(first: tuple[str, str, str], second: tuple[str, str, str], pair: str) -> int:
    """Return where two surfaces differ, which is where the masked parts must be."""
    (mask, word, _), (opposite, becomes, _) = first, second
    offset = _length_of_common_beginning(word, becomes)
    if word != becomes and (
        pair != f"{mask}/{opposite}"
        or not word.startswith(mask, offset)
        or word[:offset] + opposite + word[offset + len(mask) :] != becomes
    ):
        raise InputError(
            f"{word} does not become {becomes} when {mask} is exchanged for {opposite}, or the "
            f"pair is not {mask}/{opposite}",
            remedy="mend the row",
        )
    return offset


def _is_same(surface: Surface, other: Surface) -> bool:
    """Return whether two rows of a surface conflict, so that nothing decides between them."""
    return surface.value != other.value or (
        surface.value_opposite == other.value_opposite and surface.features == other.features
    )


def _length_of_common_beginning(text: str, other: str) -> int:
    length = 0
    while text[length : length + 1] == other[length : length + 1] != "":
        length += 1
    return length
