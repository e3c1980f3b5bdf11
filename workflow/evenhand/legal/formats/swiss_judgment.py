"""FSCS: the records of Swiss-Judgment-Prediction (Niklaus, Chalkidis and Stürmer 2021).

A record has id, year, text (the facts), label (dismissal or approval), language, region, canton and
legal area; later editions call them otherwise and add translations by machine, which are no cases
of their own. Only the year of a decision is given: its date is the first of January.

Decisions of the Federal Supreme Court in German, French and Italian have the facts under a heading
(*Sachverhalt*, *Faits*, *Fatti*), in sections A, B, C, and the reasons under another. Short ones
begin with the documents before the court (*Nach Einsicht in ...*, *Vu ...*). Some in French treat
facts and law together (*Considérant en fait et en droit*): they reveal the outcome and have no
separate facts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.records import Record
from evenhand.legal.rows import (
    CaseFiles,
    Note,
    RejectedError,
    SourceRow,
    paragraphs_of,
    plain,
    split_of,
    tidy,
)

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


KIND = "fscs"
NEEDS = (
    "Swiss-Judgment-Prediction as jsonl, csv or parquet: id, year, text, label, language, region,"
    " canton, legal area"
)
TABLES = ("swiss_headings", "swiss_outcomes")

#: The names of a field, the usual one first.
_FIELDS = {
    "id": ("id", "decision_id", "_id"),
    "text": ("text", "facts"),
    "label": ("label", "labels"),
    "language": ("language", "lang"),
    "translated_from": ("source_language",),
    "region": ("region",),
    "canton": ("canton",),
    "legal_area": ("legal area", "legal_area", "law_area"),
    "year": ("date", "year"),
}


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the records; a file called train, validation or test gives its cases that split.

    The quarantine gets records without text (``missing_field``), translations and other languages
    (``other_language``), outcomes that are neither label (``outside_labels``), unknown or missing
    ones (``bad_label``), invalid years (``bad_date``), and facts that are not separate from the
    reasons (``no_facts``).
    """
    headings = read_headings(cases.tables["swiss_headings"])
    outcomes = read_outcomes(cases.tables["swiss_outcomes"])
    return cases.records(cases.rows(), partial(_record, headings=headings, outcomes=outcomes))


def read_outcomes(path: Path) -> dict[str, str]:
    """Return the label of each outcome; "" for one that is neither."""
    rows = read_resource(path, ["outcome", "label"], optional=("label",), unique=("outcome",))
    return {row["outcome"].casefold(): row["label"] for row in rows}


def _record(row: SourceRow, note: Note, *, headings: Headings, outcomes: dict[str, str]) -> Record:
    fields = {
        field: plain(next((row.fields[name] for name in names if name in row.fields), None))
        for field, names in _FIELDS.items()
    }
    if not fields["text"]:
        names = ", ".join(row.fields)
        raise RejectedError("missing_field", f"no text; the fields are {names}"[:200])
    origin = fields["translated_from"].casefold()
    if origin not in ("", "n/a", fields["language"].casefold()):
        raise RejectedError("other_language", f"a translation from {origin}")
    language = checked_language(fields["language"])
    label = outcomes.get(fields["label"].casefold())
    if not label:
        reason = "bad_label" if label is None else "outside_labels"
        detail = f"outcome {fields['label']}" if fields["label"] else "no outcome stated"
        raise RejectedError(reason, detail[:100])
    text, context = find_facts(fields["text"], headings)
    day, precision = parse_year(fields["year"])
    if fields["year"] and day is None:
        note("bad_date", f"year {fields['year']}"[:100])
    return row.record(
        case_id=fields["id"] or row.place_id(),
        date=day,
        language=language,
        split=split_of(row.source),
        text=text,
        context=context,
        labels=(label,),
        metadata={
            "swiss_language": language,
            "swiss_region": fields["region"],
            "swiss_canton": fields["canton"],
            "swiss_legal_area": fields["legal_area"],
            "date_precision": precision,
        },
    )


def parse_year(text: str) -> tuple[date | None, str]:
    """Return a year, or a day in ISO 8601, as a date and its precision (``year`` or ``day``)."""
    try:
        if len(text) == 4:
            return date(int(text), 1, 1), "year"
        return date.fromisoformat(text[:10]), "day"
    except ValueError:
        return None, ""
