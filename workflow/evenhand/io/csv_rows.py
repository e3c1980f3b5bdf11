"""Rows of CSV files whose quotes may be broken, in linear time (RFC 4180, as Python reads it).

After a broken row the line behind its first line begins a new one, so that a quoted cell that
does not end costs its own line, not the following ones. Many cells may be open at the same lines:
the effect of a line inside a quoted cell is computed once.
"""

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from evenhand.core.limits import RECORD_LINES

#: The problem of a quoted cell without an end.
OPEN = "an open quotation mark, or a file that was cut off"

#: Effect of a line on a quoted cell that is open at its start.
_STAYS_OPEN = ""
_ENDS_ROW = "ends"


def separator_of(header: str) -> str:
    """Return the separator of a table: the most frequent of comma, semicolon and tab."""
    return max(",;\t", key=header.count)


def read_csv_rows(
    lines: Iterable[tuple[int, str]],
    delimiter: str,
    max_characters: int,
    broken: Callable[[int, str], None],
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows, each with the number of its first line; an empty line is ``[]``.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers of lines, and the lines, with or without their line feeds.
    delimiter : str
        A character.
    max_characters : int
        A row that is longer (or has more than `RECORD_LINES` lines) is broken.
    broken : callable
        Called with the number of a broken row's first line, and the problem.
    """
    csv.field_size_limit(max(max_characters, csv.field_size_limit()))
    source = iter(lines)
    waiting: deque[tuple[int, str]] = deque()  # lines that are read and belong to no row yet
    inside = 0  # how many of those behind the first leave a quoted cell open
    held = 0  # characters of the first and of those
    after: str | None = None  # effect of the line behind them, once it is known
    while True:
        if not waiting:
            if (line := next(source, None)) is None:
                return
            waiting.append(line)
            inside, held, after = 0, len(line[1]), None
        number, first = waiting[0]
        row, problem = _parse([first], delimiter)
        used = 1
        while row is None and problem is None:  # a quoted cell is open
            if after is None and inside + 1 == len(waiting):
                if (line := next(source, None)) is None:
                    problem = OPEN
                    break
                waiting.append(line)
            if held > max_characters or inside > RECORD_LINES:
                problem = f"a quoted cell longer than {max_characters} characters"
            elif (after := after or _inside(waiting[-1][1], delimiter)) == _STAYS_OPEN:
                inside, held, after = inside + 1, held + len(waiting[-1][1]), None
            elif after == _ENDS_ROW:
                used = inside + 2
                row, problem = _parse([text for _, text in waiting], delimiter)
            else:
                problem = after
        if row is None:
            broken(number, problem or OPEN)
            used = 1
        else:
            yield number, row
        if used > 1:
            waiting.clear()
        else:
            waiting.popleft()
            if inside:
                inside, held = inside - 1, held - len(first)
            elif waiting:
                held, after = len(waiting[0][1]), None


def _parse(lines: list[str], delimiter: str) -> tuple[list[str] | None, str | None]:
    """Return a row, or its problem; neither if a quoted cell is open at its end."""
    if len(lines) == 1 and '"' not in lines[0]:
        text = lines[0].removesuffix("\n").removesuffix("\r")
        if "\r" not in text:
            return text.split(delimiter) if text else [], None
    ended = False

    def counted() -> Iterator[str]:
        nonlocal ended
        yield from lines
        ended = True

    try:
        return next(csv.reader(counted(), delimiter=delimiter, strict=True)), None
    except csv.Error as error:
        return None, None if ended else str(error)


def _inside(line: str, delimiter: str) -> str:
    """Return the effect of a line on a quoted cell that is open at its start, or a problem."""
    if '"' not in line:
        return _STAYS_OPEN
    row, problem = _parse(['"' + line], delimiter)
    return problem or (_STAYS_OPEN if row is None else _ENDS_ROW)
