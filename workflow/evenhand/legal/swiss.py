"""Decisions of the Swiss Federal Supreme Court: where the facts begin and end.

Its decisions in German, French and Italian have the facts under a heading (*Sachverhalt*, *Faits*,
*Fatti*), in sections A, B, C, and the reasons under another. Short decisions begin with the
documents before the court (*Nach Einsicht in ...*, *Vu ...*). Some decisions in French treat facts
and law together (*Considérant en fait et en droit*): they reveal the outcome and have no separate
facts.
"""

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.paragraphs import paragraphs_of, tidy
from evenhand.legal.rows import RejectedError

#: What a heading begins: facts; facts, as the first words of a sentence; facts and reasons
#: together; reasons.
PARTS = ("facts", "opening", "joint", "law")

#: Reasons, each a clause: "que le recours est irrecevable", "dass auf die Beschwerde ...".
_CLAUSE = re.compile(r"(?:dass|que|qu['’]|che)\b", re.IGNORECASE)

#: Between sentences: not after an initial ("A. X._") or a number.
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\s\w\.)(?<!^\w\.)(?<!\d\.)\s+(?=[\"«„“]?[A-ZÄÖÜÀÂÉÈÊÎÔÇ])")

#: Pieces not longer than this, or that begin with a digit, are no paragraphs of their own.
SHORT = 50


@dataclass(frozen=True)
class Headings:
    """The table of headings, as patterns.

    Attributes
    ----------
    line, flat : re.Pattern
        A heading that is a line of its own; one in a text without lines, with its colon.
    part : dict of str to str
        Which of `PARTS` the words begin (in small letters).
    """

    line: re.Pattern[str]
    flat: re.Pattern[str]
    part: dict[str, str]


def read_headings(path: Path) -> Headings:
    """Read the table of headings."""
    rows = read_resource(path, ["words", "part"], unique=("words",), choices={"part": PARTS})
    part = {row["words"].casefold(): row["part"] for row in rows}
    words = "|".join(map(re.escape, sorted(part, key=len, reverse=True)))
    return Headings(
        re.compile(rf"({words})\s*:?", re.IGNORECASE),
        re.compile(rf"(?:^|(?<=[.;:\"”]\s))({words})\s*:", re.IGNORECASE),
        part,
    )


def checked_language(language: str) -> str:
    """Return the language of a decision; RejectedError if it is none of the three."""
    language = language.casefold()
    if language not in ("de", "fr", "it"):
        detail = f"language {language}" if language else "no language stated"
        raise RejectedError("other_language", detail)
    return language


def find_facts(text: str, headings: Headings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paragraphs of a decision's facts, and those before them (its context).

    Parameters
    ----------
    text : str
        Facts with or without their heading, or the whole decision; in lines, or as one line,
        which is cut into sentences (see `sentences`).
    headings : Headings
        The result of `read_headings`.

    Raises
    ------
    RejectedError
        There are no facts that are separate from the reasons.
    """
    lines = paragraphs_of(text)
    flat = len(lines) == 1
    if flat:
        lines = tuple(_cut_flat(lines[0], headings))
    begin = 0
    end = len(lines)
    for number, line in enumerate(lines):
        match = headings.line.fullmatch(line)
        if match is None:
            continue
        part = headings.part[match[1].casefold()]
        if part == "joint":
            raise RejectedError("no_facts", "facts and reasons stand together")
        if part == "law":
            end = number
            break
        if part == "facts" and not begin:
            begin = number + 1
    facts = lines[begin:end]
    if not begin and facts and _CLAUSE.match(facts[0]):
        raise RejectedError("no_facts", "it begins with the reasons")
    if not facts:
        raise RejectedError("no_facts", "there is nothing under the heading of the facts")
    if flat:
        facts = tuple(chain.from_iterable(map(sentences, facts)))
    return facts, lines[: max(0, begin - 1)]


def sentences(text: str) -> list[str]:
    """Divide a text of one line into paragraphs of a sentence or a few.

    As FairLex's first loader has it (2021): a sentence of up to `SHORT` characters, or that
    begins with a digit, belongs to the one before it.
    """
    paragraphs: list[list[str]] = []
    size = 0  # of the last one
    for piece in _SENTENCE.split(text):
        if paragraphs and (len(piece) <= SHORT or size <= SHORT or piece[0].isdigit()):
            paragraphs[-1].append(piece)
            size += 1 + len(piece)
        else:
            paragraphs.append([piece])
            size = len(piece)
    return list(map(" ".join, paragraphs))


def _cut_flat(text: str, headings: Headings) -> list[str]:
    """A text of one line, with its headings as lines of their own."""
    lines, at = [], 0
    for match in headings.flat.finditer(text):
        lines += [text[at : match.start()], match.group()]
        at = match.end()
    return list(tidy([*lines, text[at:]]))
