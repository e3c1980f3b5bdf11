"""JSON: an array of objects, one object, or objects one after the other; also one per line."""

from collections.abc import Iterable, Iterator
from itertools import chain

from evenhand.io.decoding import TextReader
from evenhand.io.json_parts import read_parts
from evenhand.io.json_text import is_object, mended
from evenhand.io.readers import json_lines
from evenhand.io.readers.fields import names_of, text_of
from evenhand.io.readers.options import Options

#: The number of first lines tried, to distinguish an object per line from other layouts.
LINES_TRIED = 20


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the record (of the line, if there is one object per line), and its text.

    Values before a break of an array are used. Records without the field, and
    those longer than the limit, go to the quarantine.
    """
    pieces = mended(text, text.file, text.quarantine)
    begun: list[tuple[int, str]] = []
    head = ""
    for piece in pieces:
        begun.append(piece)
        head = piece[1].lstrip()
        if head:
            break
    pieces = chain(begun, pieces)
    if head.startswith("{") and any(map(is_object, head.split("\n")[:LINES_TRIED])):
        yield from json_lines.read_pieces(pieces, text, options)
    elif head:
        yield from _read_values(pieces, head, text, options)


def _read_values(
    pieces: Iterable[tuple[int, str]], head: str, text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    number = 0
    for values, problem in read_parts(pieces, head, options.max_characters):
        for record in values:
            number += 1
            value = text_of(record, options.text_field)
            if value is None:
                names = names_of(record)
                text.quarantine.add(text.file, number, "record", "missing_field", names)
            else:
                yield number, value
        if problem:
            text.quarantine.add(text.file, number + 1, "record", *problem)
    for _ in pieces:
        pass  # to count the whole file and report its damage
