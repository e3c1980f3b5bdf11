"""Words that change together with a keyword: repeated pronouns, articles, adjectives.

A pack describes this in two tables. agreement.csv lists the words that agree. cues.csv lists the
cues that distinguish forms with the same spelling (her: him or his; die Ärztin: der Arzt or den
Arzt). Features are written ``case=nom|acc use=subject``; a feature that a row omits may have any
value. A phrase is changed if all readings that its words and cues allow give the same words.

agreement.csv: role, a column for each value of the attribute, features. ``*`` matches any
letters, the same ones in each column: ``sein*,ihr*``.

- ``determiner``, ``adjective``: right before the keyword, an article and the words after it;
- ``anywhere``: a pronoun that refers to the person. Its reference is unclear if a determiner of
  the same value, or a ``rival``, is between them;
- ``person``: another noun for a person. The sentence may speak of the same one, and is unclear;
  a row with features (``use=predicate``) counts only after a cue ``predicate``;
- ``relative``: a word that may begin a clause about the person, right after a comma or dash or
  after one word more, or without a comma right after the keyword. Such a phrase is unclear;
- ``demonstrative``: one after the keyword and without a noun is unclear, too (dieser).

Of a pronoun the feature ``clause`` is known: ``same`` as one of the keywords, or ``other``;
``before`` if it is before all keywords; ``quote`` if a quotation mark is between it and the keyword
before; ``polite`` if it has a capital letter inside a sentence (Sie).

cues.csv: place, words (joined by blanks, ``*`` for any letters), for (the words that the cue is
about, likewise; blank: all), features. At each place the first row that matches counts. ``^`` is
the beginning of the sentence or a clause, ``$`` a mark behind the word, ``A*`` a capital letter
first.

- ``before``: the two words before the phrase (``,_mit``), if a row has them, else the last one;
- ``after``: the word next to the phrase;
- ``bare``: the word before a noun without determiner, or two (``ich_als``). Without such a cue it
  is not changed;
- ``with``: a word anywhere in the sentence;
- ``predicate``: the word before a noun (and its adjectives) that is a predicate;
- ``clause``: a word between a pronoun and the keyword with which another clause begins;
- ``opens``: the word after a pronoun that begins the sentence, in packs with ``pronouns_open``.
  Where there are such rows, a pronoun without one may speak of a thing.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.slguset.keywords import Features, Surface, in_case_of, read_features

#: Marks of quotations.
_QUOTES = '"„“”‚‘»«›‹'

#: Marks that separate a relative clause, as a comma does.
_DASHES = "–—-("

ROLES = (
    "determiner", "adjective", "anywhere", "rival", "person", "relative", "demonstrative",
)  # fmt: skip
PLACES = ("before", "after", "bare", "with", "opens", "predicate", "clause")


class Word(NamedTuple):
    """A word of a sentence."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The position behind its last character."""
        return self.start + len(self.text)


class Span(NamedTuple):
    """A word to exchange, and its replacement."""

    start: int
    end: int
    text: str


class Agreeing(NamedTuple):
    """A row of agreement.csv: the form of each value."""

    role: str
    forms: Mapping[str, str]
    features: Features

    def has(self, word: str) -> bool:
        """Whether a word is one of the forms."""
        return any(_fits(word, form) is not None for form in self.forms.values())


class Cue(NamedTuple):
    """A row of cues.csv."""

    place: str
    words: re.Pattern[str]
    targets: re.Pattern[str]
    features: Features


class Inflection(NamedTuple):
    """The two tables; both may be empty."""

    rows: Sequence[Agreeing] = ()
    cues: Sequence[Cue] = ()

    @property
    def has_determiners(self) -> bool:
        """Whether a noun needs an article, or a cue in its place."""
        return any(row.role == "determiner" for row in self.rows)

    def forms(self, word: str, role: str, value: str, opposite: str) -> list[tuple[str, Features]]:
        """Return the forms that replace a word by the rows of a role, each with its features."""
        replacements = []
        for row in self.rows:
            if row.role == role and (rest := _fits(word, row.forms[value])) is not None:
                replacements.append(
                    (in_case_of(word, row.forms[opposite].replace("*", rest)), row.features)
                )
        return replacements

    def is_person(self, words: Sequence[Word], place: int) -> bool:
        """Whether a word is another noun for a person, of any value."""
        rows = [row for row in self.rows if row.role == "person" and row.has(words[place].text)]
        return bool(rows) and (
            not all(row.features for row in rows) or self._is_predicate(words, place)
        )

    def _is_predicate(self, words: Sequence[Word], noun: int) -> bool:
        """Whether a noun is a predicate: ein guter Beobachter, als Beobachter."""
        if words[noun + 1 :] and words[noun + 1].text[0].isupper():
            return False  # Wiener Hotel
        for word in reversed(words[:noun]):
            if word.text in _QUOTES:
                continue
            if self.cue("predicate", word.text, words[noun].text) is not None:
                return True
            if not self._has_role(word.text, "adjective"):
                return False
            if self._has_role(word.text, "determiner"):
                return False
        return False

    def _has_role(self, word: str, role: str) -> bool:
        return word[0].islower() and any(row.role == role and row.has(word) for row in self.rows)

    def may_be_thing(self, pronoun: str, after: str) -> bool:
        """Whether a pronoun that begins a sentence may speak of a thing, by the word after it."""
        listed = any(cue.place == "opens" for cue in self.cues)
        return listed and self.cue("opens", after, pronoun) is None

    def cue(self, place: str, neighbour: str, target: str) -> Features | None:
        """Return the features of the first cue at a place that matches, or None."""
        for cue in self.cues:
            if cue.place != place or not cue.targets.fullmatch(target.lower()):
                continue
            if cue.words.fullmatch(neighbour) or cue.words.fullmatch(_small(neighbour)):
                return cue.features
        return None


def read_inflection(files: Sequence[Path], values: Sequence[str]) -> Inflection:
    """Read agreement.csv and cues.csv, those of them that are among the files.

    Raises
    ------
    InputError
        A table is not well formed, or a role or place is unknown.
    """
    by_name = {path.name: path for path in files}
    rows, cues = [], []

    def agreeing(row: dict[str, str]) -> Agreeing:
        forms = {value: row[value] for value in values}
        return Agreeing(row["role"], forms, read_features(row["features"]))

    if path := by_name.get("agreement.csv"):
        columns, choices = ["role", *values, "features"], {"role": ROLES}
        rows = read_resource(path, columns, optional=("features",), choices=choices, make=agreeing)
    if path := by_name.get("cues.csv"):
        columns, choices = ["place", "words", "for", "features"], {"place": PLACES}
        cues = read_resource(path, columns, optional=("for",), choices=choices, make=_cue)
    return Inflection(rows, cues)


def _cue(row: dict[str, str]) -> Cue:
    words = _any_of(row["words"]).replace("A[^_]*", "[^\\W\\da-zß-ÿ][^_]*")
    targets = _any_of(row["for"].lower() or "*")
    features = read_features(row["features"])
    return Cue(row["place"], re.compile(words), re.compile(targets), features)


def _any_of(patterns: str) -> str:
    return "|".join(re.escape(pattern).replace(r"\*", "[^_]*") for pattern in patterns.split())


def exchange(
    words: Sequence[Word],
    hits: Sequence[tuple[int, Sequence[Surface]]],
    inflection: Inflection,
    pronouns: str | None = None,
) -> list[Span] | None:
    """Return the words to exchange for a person's keywords and the words that agree with them.

    Parameters
    ----------
    words : sequence of Word
        The words and marks of a sentence, without blanks.
    hits : sequence of (int, surfaces)
        The places of the keywords among the words with their rows, all of one value.
    inflection : Inflection
        The tables.
    pronouns : str, optional
        The pair of the keywords that have no article.

    Returns
    -------
    list of Span or None
        In the order of the sentence; None if the form of a word is ambiguous.
    """
    sides = (hits[0][1][0].value, hits[0][1][0].value_opposite)
    spans: dict[int, str] = {}
    places = [place for place, _ in hits]
    for place, rows in hits:
        first, options, known = place, [], []
        if inflection.has_determiners and rows[0].pair != pronouns:
            phrase = _phrase(words, place, inflection, sides)
            if phrase is None:
                return None
            first, options, known = phrase
        nouns = [(in_case_of(words[place].text, row.opposite), row.features) for row in rows]
        known += _around(words, first, place, inflection)
        clause = _clause(words, place, places[: places.index(place)], inflection)
        texts = _unique([*options, nouns], known, clause)
        if texts is None:
            return None
        spans |= dict(zip(range(first, place + 1), texts, strict=True))
    last = max(place for place, rows in hits if rows[0].pair == hits[0][1][0].pair)
    if _has_relative(words, last, inflection, sides):
        return None
    for place, word in enumerate(words):
        forms = inflection.forms(word.text, "anywhere", *sides)
        if forms and place not in spans:
            known = _around(words, place, place, inflection)
            texts = _unique([forms], known, _clause(words, place, places, inflection))
            if texts is None or _has_rival(words, place, spans, inflection, sides):
                return None
            spans[place] = texts[0]
    return [Span(words[i].start, words[i].end, spans[i]) for i in sorted(spans)]


def _phrase(
    words: Sequence[Word], noun: int, inflection: Inflection, sides: tuple[str, str]
) -> tuple[int, list[list[tuple[str, Features]]], list[Features]] | None:
    """Return where the phrase of a noun begins, the forms of the words before it, and cues."""
    options: list[list[tuple[str, Features]]] = []
    for place in range(noun - 1, -1, -1):
        word = words[place].text
        if forms := inflection.forms(word, "determiner", *sides):
            return place, [forms, *options], []
        forms = inflection.forms(word, "adjective", *sides) if word[0].islower() else []
        if not forms:
            break
        options.insert(0, forms)
    first = noun - len(options)
    before = [word.text for word in words[max(0, first - 2) : first]] or ["^"]
    for neighbour in (before[-1], "_".join(before)):
        if (cue := inflection.cue("bare", neighbour, words[noun].text)) is not None:
            return first, options, [cue]
    return None


def _around(words: Sequence[Word], first: int, last: int, inflection: Inflection) -> list[Features]:
    """Return the features of a phrase that the cues around it give."""
    target = words[last].text
    after = words[last + 1].text if last + 1 < len(words) else "$"
    after = after if after[0].isalnum() or after[0] in "'’" else "$"
    before = [word.text for word in words[max(0, first - 2) : first]] or ["^"]
    two = inflection.cue("before", "_".join(before), target) if before[1:] else None
    matches = [
        inflection.cue("before", before[-1], target) if two is None else two,
        inflection.cue("after", after, target),
        *(inflection.cue("with", word.text, target) for word in words),
    ]
    return [features for features in matches if features is not None]


def _clause(
    words: Sequence[Word], place: int, persons: Sequence[int], inflection: Inflection
) -> Features:
    """Return the feature ``clause`` of a pronoun, by the places of the words for the person."""
    if words[place].text[0].isupper() and place and words[place - 1].text[-1].isalnum():
        return {"clause": frozenset(["polite"])}
    if persons and place < min(persons):
        return {"clause": frozenset(["before"])}
    clause = "other"
    for person in persons:
        if person > place:
            continue
        between = [word.text for word in words[person + 1 : place]]
        if any(text in _QUOTES for text in between):
            return {"clause": frozenset(["quote"])}
        if not any(
            not text[0].isalnum() or inflection.cue("clause", text, words[place].text) is not None
            for text in between
        ):
            clause = "same"
    return {"clause": frozenset([clause])}


def _unique(
    options: Sequence[Sequence[tuple[str, Features]]],
    known: Sequence[Features],
    clause: Features,
) -> list[str] | None:
    """Return the forms of all words if every reading that fits gives the same ones, else None.

    None, too, if no such reading is of the clause.
    """
    readings = set()
    fits = False
    for choice in product(*options):
        reading: dict[str, frozenset[str]] = {}
        for features in (*(features for _, features in choice), *known):
            for name, values in features.items():
                reading[name] = reading.get(name, values) & values
        if all(reading.values()):
            readings.add(tuple(text for text, _ in choice))
            fits |= bool(clause["clause"] & reading.get("clause", clause["clause"]))
    return list(*readings) if len(readings) == 1 and fits else None


def _has_rival(
    words: Sequence[Word],
    place: int,
    spans: Mapping[int, str],
    inflection: Inflection,
    sides: tuple[str, str],
) -> bool:
    """Whether a pronoun may speak of another phrase, between the last exchanged word and it."""
    begin = max((other for other in spans if other < place), default=-1)
    return any(
        inflection.forms(words[other].text, role, *sides)
        for other in range(begin + 1, place)
        for role in ("determiner", "rival")
    )


def _has_relative(
    words: Sequence[Word], keyword: int, inflection: Inflection, sides: tuple[str, str]
) -> bool:
    """Whether a clause after the keyword, or a demonstrative, may speak of the person."""

    def alone(place: int, role: str) -> bool:
        """Whether a word of a role is at a place, and no noun follows."""
        word, after = words[place].text, words[place + 1].text
        return bool(inflection.forms(word, role, *sides)) and not (
            after[0].isupper() or inflection.forms(after, "adjective", *sides)
        )

    behind = range(keyword + 1, len(words) - 1)
    if any(alone(place, "demonstrative") for place in behind):
        return True
    if behind and words[keyword + 2].text[0].isalnum() and alone(keyword + 1, "relative"):
        return True
    return any(
        (words[mark].text == "," and inflection.forms(words[place].text, "relative", *sides))
        or (words[mark].text in _DASHES and place in behind and alone(place, "relative"))
        for mark in range(keyword + 1, len(words))
        for place in range(mark + 1, min(mark + 3, len(words)))
    )


def _fits(word: str, pattern: str) -> str | None:
    """Return the letters that ``*`` matches (blank without one), None if the word differs."""
    before, star, after = pattern.partition("*")
    for form in (word, _small(word)):
        if not star and form == pattern:
            return ""
        long_enough = star and len(form) >= len(before) + len(after)
        if long_enough and form.startswith(before) and form.endswith(after):
            return form[len(before) : len(form) - len(after)]
    return None


def _small(word: str) -> str:
    return word[:1].lower() + word[1:]
