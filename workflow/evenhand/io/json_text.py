r"""JSON within limits, a value at a time.

Beyond invalid JSON, three things are refused: more than `DEPTH` nested lists and
objects, for which parsers take memory that grows with the square of the depth; integers that
Python does not read (4,300 digits); and halves of surrogate pairs (``\ud800``), which cannot
be encoded as UTF-8. `mend_pairs` replaces these where a text is kept all the same.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from evenhand.core.limits import DEPTH, LimitError
from evenhand.io.quarantine import Quarantine

TOO_DEEP = f"nested deeper than {DEPTH} levels"

#: A string; one that does not end goes to the end of the text.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_NO_STEP = re.compile(r"[^][{}]+")
_STEP = re.compile(rf"{_STRING.pattern}|[][{{}}]", re.DOTALL)

#: The beginning of a number, a word (``tru``) or an escape, or nothing.
_UNENDED = re.compile(r"[\w.-]{0,5}\s*")

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole pair
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def load(text: str) -> Any:
    """Parse a text that is one value.

    Raises
    ------
    LimitError
        It is nested deeper than `DEPTH`.
    ValueError
        It is no JSON, or has a number or an escape that is not read.
    """
    if text.count("[") + text.count("{") > DEPTH and Depth().end_in(text) is not None:
        raise LimitError("too_deep", TOO_DEEP)
    if mend_pairs(text)[1]:
        raise ValueError("half of a surrogate pair (\\ud800 to \\udfff), which is no character")
    return json.loads(text)


def reason_of(error: ValueError) -> str:
    """Return the quarantine's reason for an error of `load`."""
    return error.reason if isinstance(error, LimitError) else "broken_json"


def problem_of(error: ValueError) -> str:
    """Return the problem of a line that `load` refuses, with its place in the line."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (character {error.pos + 1} of the line)"
    return str(error)


def is_cut(text: str, error: ValueError) -> bool:
    """Whether an object that `load` refuses is whole up to its end, which is missing."""
    if not isinstance(error, json.JSONDecodeError) or not text.startswith("{"):
        return False
    is_in_string = error.msg.startswith("Unterminated string")
    return is_in_string or _UNENDED.fullmatch(text, error.pos) is not None


def is_object(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(load(line), dict)
    except ValueError:
        return False


def mend_pairs(text: str) -> tuple[str, int]:
    """JSON with U+FFFD for each escape of half a surrogate pair, and how many there are."""
    if not _HALF.search(text):
        return text, 0
    halves = 0

    def mend(match: re.Match[str]) -> str:
        nonlocal halves
        halves += match["half"] is not None
        return "\\ufffd" if match["half"] else match[0]

    return _ESCAPE.sub(mend, text), halves


def mended(
    pieces: Iterable[tuple[int, str]], file: str, quarantine: Quarantine
) -> Iterator[tuple[int, str]]:
    """The pieces of a text with `mend_pairs` applied; each line with halves gets a row."""
    for first, piece in pieces:
        text, halves = mend_pairs(piece)
        for number, line in enumerate(piece.split("\n") if halves else [], first):
            if count := mend_pairs(line)[1]:
                detail = f"{count} halves of surrogate pairs (\\ud800 to \\udfff)"
                quarantine.add(file, number, "line", "undecodable_bytes", detail)
        yield first, text


class Depth:
    """How deep the pieces of a text are nested; strings end where a piece ends."""

    def __init__(self) -> None:
        self._depth = 0

    def end_in(self, piece: str) -> int | None:
        """Where in the next piece it is deeper than `DEPTH` for the first time, if anywhere."""
        steps = _NO_STEP.sub("", _STRING.sub("", piece))
        depths = list(accumulate(map(_STEPS.__getitem__, steps), initial=self._depth))
        if max(depths) <= DEPTH:
            self._depth = depths[-1]
            return None
        for match in _STEP.finditer(piece):
            self._depth += _STEPS.get(match[0], 0)
            if self._depth > DEPTH:
                return match.start()
        raise AssertionError("two ways to count disagree")
