"""JSON: an object per line; an array of objects, one object, or objects one after the other."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from evenhand.io.decoding import TextReader
from evenhand.io.json_parts import read_parts
from evenhand.io.json_text import is_object, load, mended, problem_of, reason_of
from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options

#: The number of first lines tried, to distinguish an object per line from other layouts.
LINES_TRIED = 20


def read_json_lines(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the number of the line, and the text of the field; others go to the quarantine."""
    return _texts(json_values(text, options.max_characters, by_line=True), text, options)


def read_json(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the number of the record (of the line, with an object per line), and its text.

    Values before a break of an array are used. Records without the field, and
    those longer than the limit, go to the quarantine.
    """
    return _texts(json_values(text, options.max_characters), text, options)


def json_values(
    text: TextReader, max_characters: int, *, by_line: bool = False, strict: bool = False
) -> Iterator[tuple[int, str, Any]]:
    """Yield position, unit (``line`` or ``record``) and value of each JSON value of a text.

    Broken ones go to the quarantine. One value is in memory at a time.

    Parameters
    ----------
    text : TextReader
        A value per line; or one value, an array of values, or values one after the other.
    max_characters : int
        The longest value that is read.
    by_line : bool
        Whether each line is a value; otherwise an object among the first lines shows it.
    strict : bool
        The first line alone shows it, and a file of blanks is broken.
    """
    pieces = mended(text, text.file, text.quarantine)
    begun: list[tuple[int, str]] = []
    head = ""
    for piece in pieces:
        begun.append(piece)
        if head := piece[1].lstrip():
            break
    if strict and not head and text.bytes:  # files of 0 bytes are reported when they are opened
        text.quarantine.add(text.file, None, "file", "broken_json", "blanks only")
    pieces = chain(begun, pieces)
    first_lines = head.split("\n")[: 1 if strict else LINES_TRIED]
    by_line |= head.startswith("{") and any(map(is_object, first_lines))
    if by_line:
        yield from _by_line(pieces, text)
    elif head:
        count = 0
        for values, problem in read_parts(pieces, head, max_characters):
            for value in values:
                count += 1
                yield count, "record", value
            if problem:
                text.quarantine.add(text.file, count + 1, "record", *problem)
        for _ in pieces:
            pass  # to count the whole file and report its damage


def _by_line(pieces: Iterable[tuple[int, str]], text: TextReader) -> Iterator[tuple[int, str, Any]]:
    for number, line in numbered_lines(pieces):
        try:
            value = load(line)
        except ValueError as error:
            text.quarantine.add(text.file, number, "line", reason_of(error), problem_of(error))
        else:
            yield number, "line", value


def _texts(
    values: Iterable[tuple[int, str, Any]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    for number, unit, record in values:
        yield from _value(record, number, unit, text, options)


def _value(
    record: Any, number: int, unit: str, text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of a record; one without the field goes to the quarantine."""
    values = _values_of(record, options.text_field)
    if strings := [value for value in _flat(values) if isinstance(value, str)]:
        yield number, "\n".join(strings)
        return
    reason, detail = "missing_field", f"a {type(record).__name__}, not an object"
    if values:
        reason, detail = _problem_of(values[0])
    elif isinstance(record, dict):
        detail = f"the fields are {', '.join(map(str, record))}"[:200] if record else "no fields"
    text.quarantine.add(text.file, number, unit, reason, detail)


def _problem_of(value: Any) -> tuple[str, str]:
    """Return why a value without a string is no text: the reason and the detail."""
    if isinstance(value, list | dict):
        kind = "an object" if isinstance(value, dict) else "a list without strings"
        return "no_text", f"the text is {kind}"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "text_is_number" if is_number else "no_text", f"the text is {json.dumps(value)}"


def _values_of(record: Any, field: str) -> list[Any]:
    """Return the values of a field; none if the record does not have it.

    Parameters
    ----------
    record : object
        A JSON value.
    field : str
        A name, or a path of names joined by dots (``data.text``) unless the object has
        that very name. Lists on the way and at its end are gone through.
    """
    if isinstance(record, dict) and field in record:
        return [record[field]]
    values = [record]
    for name in field.split("."):
        objects = (value for value in _flat(values) if isinstance(value, dict))
        values = [value[name] for value in objects if name in value]
    return values


def _flat(values: list[Any]) -> list[Any]:
    """Flatten nested lists; readers limit their depth to `DEPTH`."""
    flat: list[Any] = []
    for value in values:
        flat += _flat(value) if isinstance(value, list) else [value]
    return flat
