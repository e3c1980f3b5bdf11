"""JSON: an object per line; an array of objects, one object, or objects one after the other."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from evenhand.io.decoding import TextReader
from evenhand.io.json_parts import read_parts
from evenhand.io.json_text import is_object, load, mended, reason_of
from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options

#: The number of first lines tried, to distinguish an object per line from other layouts.
LINES_TRIED = 20


def read_json_lines(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the number of the line, and the text of the field; others go to the quarantine."""
    return _read_lines(mended(text, text.file, text.quarantine), text, options)


def read_json(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the number of the record (of the line, with an object per line), and its text.

    Values before a break of an array are used. Records without the field, and
    those longer than the limit, go to the quarantine.
    """
    pieces = mended(text, text.file, text.quarantine)
    begun: list[tuple[int, str]] = []
    head = ""
    for piece in pieces:
        begun.append(piece)
        if head := piece[1].lstrip():
            break
    pieces = chain(begun, pieces)
    if head.startswith("{") and any(map(is_object, head.split("\n")[:LINES_TRIED])):
        yield from _read_lines(pieces, text, options)
    elif head:
        yield from _read_values(pieces, head, text, options)


def _read_lines(
    pieces: Iterable[tuple[int, str]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    for number, line in numbered_lines(pieces):
        try:
            record = load(line)
        except ValueError as error:
            text.quarantine.add(text.file, number, "line", reason_of(error), str(error))
        else:
            yield from _value(record, number, "line", text, options)


def _read_values(
    pieces: Iterable[tuple[int, str]], head: str, text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    count = 0
    for values, problem in read_parts(pieces, head, options.max_characters):
        for record in values:
            count += 1
            yield from _value(record, count, "record", text, options)
        if problem:
            text.quarantine.add(text.file, count + 1, "record", *problem)
    for _ in pieces:
        pass  # to count the whole file and report its damage


def _value(
    record: Any, number: int, unit: str, text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of a record; one without the field goes to the quarantine."""
    value = _text_of(record, options.text_field)
    if value is not None:
        yield number, value
        return
    detail = f"a {type(record).__name__}, not an object"
    if isinstance(record, dict):
        detail = f"the fields are {', '.join(map(str, record))}"[:200] if record else "no fields"
    text.quarantine.add(text.file, number, unit, "missing_field", detail)


def _text_of(record: Any, field: str) -> str | None:
    """Return the strings of a field, one per line, or None if there is none.

    Parameters
    ----------
    record : object
        A JSON value.
    field : str
        A name, or a path of names joined by dots (``data.text``) unless the object has
        that very name. Lists on the way and at its end are gone through.
    """
    if isinstance(record, dict) and field in record:
        values = [record[field]]
    else:
        values = [record]
        for name in field.split("."):
            objects = (value for value in _flat(values) if isinstance(value, dict))
            values = [value[name] for value in objects if name in value]
    strings = [value for value in _flat(values) if isinstance(value, str)]
    return "\n".join(strings) if strings else None


def _flat(values: list[Any]) -> list[Any]:
    """Flatten nested lists; readers limit their depth to `DEPTH`."""
    flat: list[Any] = []
    for value in values:
        flat += _flat(value) if isinstance(value, list) else [value]
    return flat
