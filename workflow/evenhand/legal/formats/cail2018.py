"""CAIL2018: criminal cases as JSON lines, with the facts and the sentence.

A line has ``fact`` and ``meta`` with ``relevant_articles``, ``accusation``, ``criminals`` and
``term_of_imprisonment`` (``death_penalty``, ``life_imprisonment``, and ``imprisonment`` in
months). The official files are UTF-8; there are copies in GB18030. There are no dates: one
in the facts is when something happened, not the judgment's. A line without a term (as in the
contest's own test file) becomes a case without a label.

Subsets to which people have added the defendant's gender or the province are read too:
``gender`` or ``defendant_gender``, ``province``, ``region`` or ``court_region``, beside the
facts or in ``meta``.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from evenhand.core.encodings import ABOVE_ASCII, DAMAGE, SAMPLE, detect_encoding
from evenhand.errors import InputError
from evenhand.io.members import Member
from evenhand.legal.chinese import Sentence, facts_of
from evenhand.legal.records import Record, text_id
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow

KIND = "cail"
NEEDS = "JSON lines with fact and meta.term_of_imprisonment, UTF-8 or GB18030"
OPTIONS = {"encoding": "auto"}

ENCODINGS = ("auto", "utf-8", "gb18030")

_GENDERS = {"男": "male", "女": "female"}

#: Fields that are lists, by the name of the metadata.
_LISTS = {"accusation": "accusation", "articles": "relevant_articles", "criminals": "criminals"}

#: Fields that people have added, by the name of the metadata; the last one counts.
_ANNOTATED = {
    "defendant_gender": ("gender", "defendant_gender"),
    "province": ("province", "region", "court_region"),
}


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read cases; the option ``encoding`` is ``auto``, ``utf-8`` or ``gb18030``.

    The id of a case is a digest of its facts, so that it is the same in every file. The
    quarantine gets lines without facts (``missing_field``), whose facts have bytes of another
    encoding (``damaged_case``), and whose term is negative or not a number (``bad_label``).

    Raises
    ------
    InputError
        A file is evidently not in the declared encoding.
    """
    for member in cases.members():
        yield from cases.records(cases.objects_of(_checked(member, cases)), _record)


def _checked(member: Member, cases: CaseFiles) -> Member:
    """Return the member after comparing its beginning with the stated encoding."""
    head = next(member.chunks, b"")
    first = ABOVE_ASCII.search(head)
    stated = cases.options.get("encoding", "auto")
    detected = detect_encoding(head[first.start() :][:SAMPLE]) if first else stated
    if stated not in ("auto", detected):
        raise InputError(
            f"is {detected.upper() if detected else 'in no known encoding'}, but the stated"
            f" encoding is {stated.upper()}",
            file=member.name,
            remedy=f"set its encoding to {detected or 'its own'} or auto",
        )
    return Member(member.name, member.file_name, chain([head], member.chunks))


def _record(row: SourceRow, note: Note) -> Record:
    fact = row.fields.get("fact")
    if not isinstance(fact, str):
        raise RejectedError("missing_field", "no fact, or one that is no text")
    if count := fact.count(DAMAGE):
        raise RejectedError("damaged_case", f"{count} runs of undecodable bytes in the facts")
    meta = row.fields.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    sentence = _sentence(meta.get("term_of_imprisonment"))
    text = facts_of(fact)
    return row.record(
        case_id=text_id(text),
        language="zh",
        text=text,
        labels=sentence and sentence.labels(),
        metadata=_metadata(row.fields | meta) | (sentence.metadata() if sentence else {}),
    )


def _sentence(term: Any) -> Sentence | None:
    """Return the sentence in ``term_of_imprisonment``; None if it is missing.

    Death takes precedence over life, life over a term: some cases also have a term of another
    count.

    Raises RejectedError if it is no term.
    """
    if term is None:
        return None
    if not isinstance(term, dict):
        raise RejectedError("bad_label", f"the term of imprisonment is {term!r}")
    kinds = [("death_penalty", "death"), ("life_imprisonment", "life")]
    for name, _ in kinds:
        if not isinstance(term.get(name, False), bool):
            raise RejectedError("bad_label", f"{name} is {term[name]!r}, not true or false")
    for name, kind in kinds:
        if term.get(name):
            return Sentence(kind)
    months = term.get("imprisonment")
    detail = f"the months of imprisonment are {months!r}, which is"
    if isinstance(months, bool) or not isinstance(months, int | float) or not abs(months) < 1e6:
        raise RejectedError("bad_label", f"{detail} no number")
    if months < 0:
        raise RejectedError("bad_label", f"{detail} negative")
    return Sentence("imprisonment", months)


def _metadata(fields: dict[str, Any]) -> dict[str, str]:
    """Return metadata as strings; lists are joined by semicolons."""
    metadata = {}
    for name, key in _LISTS.items():
        if isinstance(parts := fields.get(key), list):
            metadata[name] = ";".join(map(str, parts))
    for name, keys in _ANNOTATED.items():
        for key in keys:
            if fields.get(key) not in (None, ""):
                value = str(fields[key]).strip()
                metadata[name] = _GENDERS.get(value, value)
    return metadata
