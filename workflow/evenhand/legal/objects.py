"""JSON objects as sources of cases have them: one a line, one a file, or an array of them."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.io.formats import kind_of
from evenhand.io.json_parts import is_object, read_parts
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.text.decoding import Encoding, TextReader

#: Characters of the longest case; the longest judgment of the Strasbourg court has 4 million.
MAX_CHARACTERS = 16_000_000


class Found(NamedTuple):
    """An object, and where it stands: `position` counts lines or records, as `unit` says."""

    source: str
    position: int
    unit: str
    value: dict[str, Any]


def read_objects(
    files: list[Path], quarantine: Quarantine, encoding: Encoding = "auto"
) -> Iterator[Found]:
    """The JSON objects of files, compressed files and archives, in their order.

    ``.jsonl`` and ``.ndjson`` hold an object a line; ``.json`` holds one object, an array of
    objects, or objects one after the other, also one a line. Other files, what is no JSON and
    what is no object go to the quarantine. One object is in memory at a time.
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
        max_characters=MAX_CHARACTERS,
    )
    pieces = iter(text)
    lines = kind_of(member.file_name).format == "jsonl"
    begun: list[tuple[int, str]] = []
    for piece in pieces:
        begun.append(piece)
        head = piece[1].lstrip()
        if head:
            lines = lines or (head.startswith("{") and is_object(head.split("\n", 1)[0]))
            break
    else:
        if text.bytes:  # what has no bytes is told by `open_members`
            quarantine.add(member.name, None, "file", "broken_json", "blanks only")
        return
    pieces = chain(begun, pieces)
    if lines:
        yield from _read_lines(member.name, pieces, quarantine)
    else:
        yield from _read_values(member.name, pieces, head, quarantine)


def _has_half_pair(line: str, value: dict[str, Any]) -> bool:
    """Whether an escape of half a surrogate pair, which JSON allows, became part of a string."""
    if "\\ud" not in line.lower():
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _read_lines(
    source: str, pieces: Iterator[tuple[int, str]], quarantine: Quarantine
) -> Iterator[Found]:
    for first, piece in pieces:
        for number, line in enumerate(piece.split("\n"), start=first):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                quarantine.add(source, number, "line", "broken_json", str(error))
                continue
            if isinstance(value, dict) and _has_half_pair(line, value):
                detail = "half of a surrogate pair (\\ud800 to \\udfff), which is no character"
                quarantine.add(source, number, "line", "broken_json", detail)
            elif isinstance(value, dict):
                yield Found(source, number, "line", value)
            else:
                detail = f"{type(value).__name__}, not an object"
                quarantine.add(source, number, "line", "broken_json", detail)


def _read_values(
    source: str, pieces: Iterator[tuple[int, str]], head: str, quarantine: Quarantine
) -> Iterator[Found]:
    number = 0
    for values, problem, _ in read_parts(pieces, head):
        for value in values:
            number += 1
            if isinstance(value, dict):
                yield Found(source, number, "record", value)
            else:
                detail = f"{type(value).__name__}, not an object"
                quarantine.add(source, number, "record", "broken_json", detail)
        if problem:
            quarantine.add(source, number + 1, "record", "broken_json", problem)
