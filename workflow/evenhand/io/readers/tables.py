"""CSV and TSV.

A `text_field` of digits is a column's number; any other is a name in the header, the first row
unless the options say that there is none. CSV has quotes (RFC 4180). TSV has none: a tab there
is always a border, a quote always text.

Quotes of CSV may be broken; rows are read in linear time. After a broken row the line behind its
first line begins a new one, so that a quoted cell that does not end costs its own line, not the
following ones.
"""

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from evenhand.core.limits import RECORD_LINES
from evenhand.errors import InputError
from evenhand.io.decoding import TextReader
from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options

#: Effect of a line on a quoted cell that is open at its start.
_STAYS_OPEN = ""
_ENDS_ROW = "ends"


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
                    problem = "unexpected end of data"
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
            broken(number, problem or "unexpected end of data")
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


def read_tsv(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the line, and the text of its cell."""
    delimiter = options.delimiter or "\t"
    rows = ((number, line.rstrip("\r").split(delimiter)) for number, line in numbered_lines(text))
    return _cells(rows, text, options)


def read_csv(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the row's first line, and the text of its cell."""
    return _cells(_csv_rows(text, options), text, options)


def _csv_rows(text: TextReader, options: Options) -> Iterator[tuple[int, list[str]]]:
    lines = (
        (number, line + "\n")
        for first, piece in text
        for number, line in enumerate(piece.removesuffix("\n").split("\n"), first)
    )

    def broken(number: int, problem: str) -> None:
        text.quarantine.add(text.file, number, "line", "broken_csv", problem)

    rows = read_csv_rows(lines, options.delimiter or ",", options.max_characters, broken)
    return ((number, row) for number, row in rows if row)


def _cells(
    rows: Iterator[tuple[int, list[str]]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    column = _column(rows, text, options)
    if column is None:
        for _ in rows:
            pass
        return
    for number, row in rows:
        if column < len(row):
            yield number, row[column]
        else:
            detail = f"{len(row)} cells, none of number {column + 1}"
            text.quarantine.add(text.file, number, "line", "missing_field", detail)


def _column(
    rows: Iterator[tuple[int, list[str]]], text: TextReader, options: Options
) -> int | None:
    """Return the index of the text's column; a missing one goes to the quarantine.

    Raises InputError if the header names it twice.
    """
    number, header = next(rows, (1, [])) if options.header else (1, [])
    if options.text_field.isdecimal():
        return int(options.text_field) - 1
    if header.count(options.text_field) > 1:
        raise InputError(
            f"has the column {options.text_field!r} twice",
            file=text.file,
            line=number,
            remedy="rename one, or give the number of the right one as `text_field`",
        )
    if options.text_field in header:
        return header.index(options.text_field)
    if header:
        detail = f"the columns are {', '.join(header)}"[:200]
        text.quarantine.add(text.file, number, "line", "missing_field", detail)
    return None
