"""JSON that is parsed as it comes: one value, an array of them, or values one after the other."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import ijson

from evenhand.io.json_text import TOO_DEEP, Depth

#: Characters given to the parser at a time.
PIECE = 1 << 16


class Part(NamedTuple):
    """The values that a part of the text completes, and its problem: reason and detail."""

    values: list[Any]
    problem: tuple[str, str] | None = None


def read_parts(pieces: Iterable[tuple[int, str]], head: str, max_characters: int) -> Iterator[Part]:
    """Parse the pieces of a text that begins with `head`, a part at a time.

    Nothing follows a part with a problem. The values of a part are gone when the next one comes,
    so that memory holds no more than one of them, which has about `max_characters` at most.
    """
    values: Any = ijson.sendable_list()
    prefix = "item" if head.startswith("[") else ""
    parser = ijson.items_coro(values, prefix, use_float=True, multiple_values=True)
    depth = Depth()
    pending = 0  # characters since the last complete value
    for piece in chain((piece for _, piece in pieces), [None]):
        end = None if piece is None else depth.end_in(piece)
        text = (piece or "")[:end]
        begins = [0] if piece is None else range(0, len(text), PIECE)
        for part in (text[begin : begin + PIECE] for begin in begins):
            problem = _send(parser, part)
            pending = len(part) if values else pending + len(part)
            if not problem and pending > max_characters + PIECE:
                problem = f"longer than {max_characters} characters; the rest is not read"
                yield Part(values, ("oversized_record", problem))
                return
            yield Part(values, problem and ("broken_json", problem))
            if problem:
                return
            values.clear()
        if end is not None:
            yield Part([], ("too_deep", f"{TOO_DEEP}; the rest is not read"))
            return


def _send(parser: Any, part: str) -> str | None:
    """Give a part (an empty one ends the text) to the parser, and return its problem."""
    try:
        parser.send(part.encode())
    except StopIteration:
        pass
    except (ijson.JSONError, ValueError) as error:
        return str(error).strip().split("\n")[0]
    return None
