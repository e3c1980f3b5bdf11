"""CAIL2018: criminal cases as JSON lines, with the facts and the sentence.

A line has ``fact`` and ``meta`` with ``relevant_articles``, ``accusation``, ``criminals`` and
``term_of_imprisonment`` (``death_penalty``, ``life_imprisonment``, and ``imprisonment`` in
months). The official files are UTF-8; copies in GB18030 are about. There are no dates: one
in the facts is when something happened, not the judgment's. A line without a term (as in the
contest's own test file) becomes a case without a label.

Subsets to which people have added the defendant's gender or the province are read too:
``gender`` or ``defendant_gender``, ``province``, ``region`` or ``court_region``, beside the
facts or in ``meta``.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.encodings import ABOVE_ASCII, DAMAGE, SAMPLE, detect_encoding
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.legal.chinese import facts_of
from evenhand.legal.objects import Found, Note, RejectedError, objects_of, records_of
from evenhand.legal.records import Record, text_id
from evenhand.legal.severity import Sentence, severity

KIND = "cail"
NEEDS = "JSON lines with fact and meta.term_of_imprisonment, UTF-8 or GB18030"
TABLES: tuple[str, ...] = ()
OPTIONS = {"encoding": "auto"}

ENCODINGS = ("auto", "utf-8", "gb18030")

_GENDERS = {"男": "male", "女": "female"}


def read(
    files: list[Path], options: dict[str, Any], quarantine: Quarantine, tables: dict[str, Path]
) -> Iterator[Record]:
    """Read cases; the option ``encoding`` is ``auto``, ``utf-8`` or ``gb18030``.

    The id of a case is a digest of its facts, so that it is the same in every file. The
    quarantine gets lines without facts (``missing_field``), whose facts have bytes of another
    encoding (``damaged_case``), and whose term is negative or not a number (``bad_label``).

    Raises
    ------
    InputError
        A file is evidently not in the declared encoding.
    """
    encoding = options.get("encoding") or "auto"
    if encoding not in ENCODINGS:
        raise InputError(
            f"the encoding {encoding!r} is none that CAIL2018 comes in",
            remedy=f"it can be {', '.join(ENCODINGS)}",
        )
    for path in files:
        for member in open_members(path, quarantine):
            checked = _checked(member, encoding, path)
            yield from records_of(objects_of(checked, quarantine, encoding), quarantine, _record)


def _checked(member: Member, encoding: str, path: Path) -> Member:
    """The member again; its beginning agrees with the stated encoding."""
    head = next(member.chunks, b"")
    first = ABOVE_ASCII.search(head)
    found = detect_encoding(head[first.start() :][:SAMPLE]) if first else encoding
    if encoding not in ("auto", found):
        raise InputError(
            f"is {found.upper() if found else 'in no known encoding'}, but the stated encoding is"
            f" {encoding.upper()}",
            file=path,
            remedy=f"set its encoding to {found or 'what it is'} or auto",
        )
    return Member(member.name, member.file_name, chain([head], member.chunks))


def _record(found: Found, note: Note) -> Record:
    value = found.value
    fact = value.get("fact")
    if not isinstance(fact, str):
        raise RejectedError("missing_field", "no fact, or one that is no text")
    if count := fact.count(DAMAGE):
        raise RejectedError("damaged_case", f"{count} runs of undecodable bytes in the facts")
    meta = value.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    sentence = _sentence(meta.get("term_of_imprisonment"))
    text = facts_of(fact)
    given = _given(value | meta)
    if sentence:
        given |= {"sentence": sentence.kind, "months": f"{sentence.months:g}"}
    return found.record(
        case_id=text_id(text),
        language="zh",
        text=text,
        labels=None if sentence is None else (severity(sentence),),
        given=given,
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
    months = term.get("imprisonment")
    kind = "imprisonment"
    for name, other in (("death_penalty", "death"), ("life_imprisonment", "life")):
        if not isinstance(term.get(name, False), bool):
            raise RejectedError("bad_label", f"{name} is {term[name]!r}, not true or false")
        if kind == "imprisonment" and term.get(name):
            kind = other
    if kind != "imprisonment":
        return Sentence(kind)
    if isinstance(months, bool) or not isinstance(months, int | float) or not abs(months) < 1e6:
        detail = f"the months of imprisonment are {months!r}, which is no number"
        raise RejectedError("bad_label", detail)
    if months < 0:
        raise RejectedError(
            "bad_label", f"the months of imprisonment are {months}, which is negative"
        )
    return Sentence(kind, months)


def _given(value: dict[str, Any]) -> dict[str, str]:
    """Metadata as strings; lists are joined by semicolons."""
    given = {}
    for name, key in (
        ("accusation", "accusation"),
        ("articles", "relevant_articles"),
        ("criminals", "criminals"),
    ):
        parts = value.get(key)
        if isinstance(parts, list) and parts:
            given[name] = ";".join(map(str, parts))
    for key in ("gender", "defendant_gender"):
        if value.get(key) not in (None, ""):
            stated = str(value[key]).strip()
            given["defendant_gender"] = _GENDERS.get(stated, stated)
    for key in ("province", "region", "court_region"):
        if value.get(key) not in (None, ""):
            given["province"] = str(value[key]).strip()
    return given
