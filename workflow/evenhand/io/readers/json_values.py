"""JSON: an array of objects, one object, or objects one after the other; also one per line."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import ijson

from evenhand.io.readers import json_lines
from evenhand.io.readers.fields import names_of, text_of
from evenhand.io.readers.options import Options
from evenhand.text.decoding import TextReader

#: Characters given to the parser at a time.
PIECE = 1 << 16

#: How many of the first lines are tried, to tell an object per line from other layouts.
LINES_TRIED = 20


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the record (of the line, if there is one object per line), and its text.

    Where an array breaks, what came before is used. Records without the field, and
    those longer than the limit, go to the quarantine.
    """
    pieces = iter(text)
    begun: list[tuple[int, str]] = []
    head = ""
    for piece in pieces:
        begun.append(piece)
        head = piece[1].lstrip()
        if head:
            break
    pieces = chain(begun, pieces)
    if head.startswith("{") and any(map(_is_object, head.split("\n")[:LINES_TRIED])):
        yield from json_lines.read_pieces(pieces, text, options)
    elif head:
        prefix = "item" if head.startswith("[") else ""
        yield from _read_values(pieces, prefix, text, options)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _read_values(
    pieces: Iterable[tuple[int, str]], prefix: str, text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    found: Any = ijson.sendable_list()
    parser = ijson.items_coro(found, prefix, use_float=True, multiple_values=True)
    number = 0
    pending = 0  # characters since the last complete value
    parts = chain(
        (p[i : i + PIECE].encode() for _, p in pieces for i in range(0, len(p), PIECE)), [b""]
    )
    for part in parts:
        problem = None
        try:
            parser.send(part)
        except StopIteration:
            pass
        except ijson.JSONError as error:
            problem = str(error).strip().split("\n")[0]
        for record in found:
            number += 1
            value = text_of(record, options.text_field)
            if value is None:
                names = names_of(record)
                text.quarantine.add(text.file, number, "record", "missing_field", names)
            else:
                yield number, value
        pending = len(part) if found else pending + len(part)
        found.clear()
        if problem:
            text.quarantine.add(text.file, number + 1, "record", "broken_json", problem)
        elif pending > 4 * options.max_characters + PIECE:
            detail = f"longer than {options.max_characters} characters; the rest is not read"
            text.quarantine.add(text.file, number + 1, "record", "oversized_record", detail)
        else:
            continue
        for _ in pieces:
            pass  # so that the file is counted whole, and its damage told
        return
