"""JSON objects as sources of cases have them: one a line, one a file, or an array of them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evenhand.core.limits import CASE_CHARACTERS
from evenhand.io.decoding import Encoding, TextReader
from evenhand.io.formats import kind_of
from evenhand.io.json_parts import read_parts
from evenhand.io.json_text import is_object, load, mended, reason_of
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.legal.records import Record

T = TypeVar("T")

#: Adds a remark on an object to the quarantine: reason and detail.
Note = Callable[[str, str], None]


class Found(NamedTuple):
    """An object and its place: `position` counts lines or records, by `unit`."""

    source: str
    position: int
    unit: str
    value: dict[str, Any]

    def record(self, *, given: dict[str, str], **fields: Any) -> Record:
        """Return the case in this object; metadata that are blank are left out."""
        given = {name: value for name, value in given.items() if value}
        return Record(source=self.source, source_position=self.position, given=given, **fields)


class RejectedError(Exception):
    """An object that is no case: a reason of the quarantine, and its detail."""


def records_of(
    objects: Iterable[Found], quarantine: Quarantine, make: Callable[[Found, Note], T]
) -> Iterator[T]:
    """Yield the case that `make` reads from each object; rejected ones go to the quarantine."""
    for found in objects:
        place = found[:3]
        with quarantine.beyond_limits(*place):
            try:
                yield make(found, partial(quarantine.add, *place))
            except RejectedError as error:
                quarantine.add(*place, *error.args)


def read_objects(
    files: list[Path], quarantine: Quarantine, encoding: Encoding = "auto"
) -> Iterator[Found]:
    """Yield the JSON objects of files, compressed files and archives, in their order.

    ``.jsonl`` and ``.ndjson`` hold an object a line; ``.json`` holds one object, an array of
    objects, or objects one after the other, also one a line. Other files, invalid JSON and
    values other than objects go to the quarantine. One object is in memory at a time.
    """
    for path in files:
        for member in open_members(path, quarantine):
            if kind_of(member.file_name).format not in ("json", "jsonl"):
                detail = "a source of JSON objects is .json or .jsonl"
                quarantine.add(member.name, None, "file", "unknown_format", detail)
                continue
            yield from objects_of(member, quarantine, encoding)


def objects_of(
    member: Member, quarantine: Quarantine, encoding: Encoding = "auto"
) -> Iterator[Found]:
    """The objects of one file; see `read_objects`."""
    text = TextReader(
        member.chunks,
        file=member.name,
        quarantine=quarantine,
        encoding=encoding,
        max_characters=CASE_CHARACTERS,
    )
    pieces = mended(text, member.name, quarantine)
    lines = kind_of(member.file_name).format == "jsonl"
    begun: list[tuple[int, str]] = []
    for piece in pieces:
        begun.append(piece)
        head = piece[1].lstrip()
        if head:
            lines = lines or (head.startswith("{") and is_object(head.split("\n", 1)[0]))
            break
    else:
        if text.bytes:  # `open_members` reports files of 0 bytes
            quarantine.add(member.name, None, "file", "broken_json", "blanks only")
        return
    pieces = chain(begun, pieces)
    if lines:
        yield from _read_lines(member.name, pieces, quarantine)
    else:
        yield from _read_values(member.name, pieces, head, quarantine)


def _read_lines(
    source: str, pieces: Iterator[tuple[int, str]], quarantine: Quarantine
) -> Iterator[Found]:
    for first, piece in pieces:
        for number, line in enumerate(piece.split("\n"), start=first):
            if not line.strip():
                continue
            try:
                value = load(line)
            except ValueError as error:
                quarantine.add(source, number, "line", reason_of(error), str(error))
                continue
            if isinstance(value, dict):
                yield Found(source, number, "line", value)
            else:
                detail = f"{type(value).__name__}, not an object"
                quarantine.add(source, number, "line", "broken_json", detail)


def _read_values(
    source: str, pieces: Iterator[tuple[int, str]], head: str, quarantine: Quarantine
) -> Iterator[Found]:
    number = 0
    for values, problem in read_parts(pieces, head, CASE_CHARACTERS):
        for value in values:
            number += 1
            if isinstance(value, dict):
                yield Found(source, number, "record", value)
            else:
                detail = f"{type(value).__name__}, not an object"
                quarantine.add(source, number, "record", "broken_json", detail)
        if problem:
            quarantine.add(source, number + 1, "record", *problem)
