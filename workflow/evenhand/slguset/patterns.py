"""Filters by a table of words: reject sentences that contain one of them as a word.

The three criteria of SlguSet share this. Each has its own table with the columns

- pattern: the word; one in small letters may have capitals in the text; a * stands for letters;
- pairs: the surface pairs (``丈夫/妻子``) for which it counts, joined by blanks; blank: all;
- gender, or another attribute: the value of the keywords for which alone it counts; blank: all;
- except: longer words in which it does not count, joined by blanks.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.verdicts import Finding, Judge
from evenhand.text.segmentation import cut


class Pattern(NamedTuple):
    """A row of a table; empty `pairs` or `value` restrict nothing."""

    text: str
    pairs: frozenset[str]
    value: str
    exceptions: tuple[str, ...]


class Patterns(NamedTuple):
    """A table; the pattern `quick` matches a text that contains any row's word."""

    rows: list[Pattern]
    quick: re.Pattern[str]


class Occurrence(NamedTuple):
    """A word of a table in a sentence; `end` is exclusive."""

    text: str
    start: int
    end: int


def pattern_filter(
    name: str, make_counts: Callable[[Mapping[str, Path]], Callable[..., bool]]
) -> Callable[[Mapping[str, Path], Mapping[str, Any]], Judge]:
    """Make the `prepare` of a filter that rejects for the words in the table ``{name}.csv``.

    Parameters
    ----------
    name : str
        The filter's name, which is the reason that it gives.
    make_counts : callable
        Gets the filter's files, and returns a function of an `Occurrence`, the sentence and the
        values of the filter's fifth and later columns: whether the occurrence counts.
    """

    def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
        attribute, values = settings.get("attribute", "gender"), settings.get("values", GENDERS)
        table = read_patterns(files[f"{name}.csv"], attribute, values)
        words, blanks = settings.get("cut") or cut, settings.get("blanks", False)
        counts = make_counts(files)

        def check(
            sentence: str, surface: str, surface_opposite: str, value: str, *span: int
        ) -> Finding | None:
            occurrences = find_patterns(
                sentence, table, surface=surface, surface_opposite=surface_opposite, value=value,
                words=words, blanks=blanks,
            )  # fmt: skip
            evidence = [
                occurrence.text for occurrence in occurrences if counts(occurrence, sentence, *span)
            ]
            return Finding(name, evidence) if evidence else None

        return partial(map, check)

    return prepare


def read_patterns(
    path: Path, attribute: str = "gender", values: Sequence[str] = GENDERS
) -> Patterns:
    """Read a table of words.

    Raises
    ------
    InputError
        The table is not well formed, a pair is not two surfaces with a stroke between them, a
        value is none of the attribute, or an exception does not hold its word.
    """
    columns = ["pattern", "pairs", attribute, "except"]

    def pattern(row: dict[str, str]) -> Pattern:
        pairs, exceptions = row["pairs"].split(), row["except"].split()
        if wrong := [pair for pair in pairs if not re.fullmatch("[^/]+/[^/]+", pair)]:
            remedy = "write surface pairs like 丈夫/妻子 with blanks between them"
            raise InputError(f"{wrong[0]!r} is no pair", remedy=remedy)
        if wrong := [
            exception for exception in exceptions if row["pattern"].strip("*") not in exception
        ]:
            raise InputError(f"the exception {wrong[0]} does not contain {row['pattern']}")
        return Pattern(row["pattern"], frozenset(pairs), row[attribute], tuple(exceptions))

    choices, optional = {attribute: values}, tuple(columns[1:])
    rows = read_resource(path, columns, optional=optional, choices=choices, make=pattern)
    if not rows:
        raise InputError("contains no word", file=path)
    return Patterns(rows, re.compile("|".join(map(_as_regex, (row.text for row in rows))), re.I))


def find_patterns(
    sentence: str,
    patterns: Patterns,
    *,
    surface: str,
    surface_opposite: str,
    value: str,
    words: Callable[[str], list[str]] = cut,
    blanks: bool = False,
) -> list[Occurrence]:
    """Return the words of a table in a sentence that count for its keyword, by position.

    A word counts if it is part of one word of the segmentation or made of whole ones: 流产
    does not count in 一流|产品.

    Parameters
    ----------
    sentence : str
        The sentence.
    patterns : Patterns
        The table.
    surface, surface_opposite, value : str
        Of the sentence's keyword: 丈夫, 妻子, male.
    words : callable
        Cuts a sentence into words.
    blanks : bool
        Whether blanks separate words; then parts of words do not count.
    """
    if not patterns.quick.search(sentence):
        return []
    pairs = {f"{surface}/{surface_opposite}", f"{surface_opposite}/{surface}"}
    occurrences = [
        occurrence
        for row in patterns.rows
        if (not row.pairs or row.pairs & pairs) and row.value in ("", value)
        for occurrence in _occurrences(sentence, row)
    ]
    if not occurrences:
        return []
    borders = {0}
    for word in words(sentence):
        borders.add(max(borders) + len(word))
    return sorted(
        (o for o in occurrences if _is_word(o, borders, blanks)), key=lambda o: (o.start, o.end)
    )


def _occurrences(sentence: str, row: Pattern) -> Iterator[Occurrence]:
    for start, end in _places(sentence, row.text):
        if not any(
            first <= start and end <= last
            for exception in row.exceptions
            for first, last in _places(sentence, exception)
        ):
            yield Occurrence(sentence[start:end] if "*" in row.text else row.text, start, end)


def _places(sentence: str, text: str) -> Iterable[tuple[int, int]]:
    flags = re.IGNORECASE if text.islower() else 0
    matches = re.finditer(f"(?=({_as_regex(text)}))", sentence, flags)
    return (match.span(1) for match in matches)


def _as_regex(text: str) -> str:
    words = re.escape(text).replace(r"\*", r"\w+")
    return rf"\b{words}" if text.startswith("*") else words


def _is_word(occurrence: Occurrence, borders: set[int], blanks: bool) -> bool:
    _, start, end = occurrence
    whole = start in borders and end in borders
    return whole or (not blanks and borders.isdisjoint(range(start + 1, end)))
