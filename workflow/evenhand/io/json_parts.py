"""JSON that is parsed as it comes: one value, an array of them, or values one after the other."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import ijson

#: Characters given to the parser at a time.
PIECE = 1 << 16


class Part(NamedTuple):
    """What a part of the text completes, what is broken in it, and how many bytes it has."""

    values: list[Any]
    problem: str | None
    size: int


def read_parts(pieces: Iterable[tuple[int, str]], head: str) -> Iterator[Part]:
    """Parse the pieces of a text that begins with `head`, a part at a time.

    Nothing follows a part with a problem. The values of a part are gone when the next one comes,
    so that memory holds no more than one of them.
    """
    found: Any = ijson.sendable_list()
    prefix = "item" if head.startswith("[") else ""
    parser = ijson.items_coro(found, prefix, use_float=True, multiple_values=True)
    cut = (p[i : i + PIECE].encode() for _, p in pieces for i in range(0, len(p), PIECE))
    for part in chain(cut, [b""]):
        problem = None
        try:
            parser.send(part)
        except StopIteration:
            pass
        except ijson.JSONError as error:
            problem = str(error).strip().split("\n")[0]
        yield Part(found, problem, len(part))
        if problem:
            return
        found.clear()


def is_object(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
