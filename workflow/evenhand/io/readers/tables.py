"""CSV and TSV.

A `text_field` of digits is a column's number; any other is a name in the header, the first row
unless the options say that there is none. Cells of CSV are separated by comma, semicolon or tab,
whichever is most frequent in the header, and have quotes (RFC 4180). TSV has none: a tab there
is always a border, a quote always text.
"""

from collections.abc import Iterator
from itertools import chain

from evenhand.errors import InputError
from evenhand.io.csv_rows import read_csv_rows, separator_of
from evenhand.io.decoding import TextReader
from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options


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

    separator = options.delimiter or ","
    if options.header and not options.delimiter and (first := next(lines, None)):
        separator, lines = separator_of(first[1]), chain([first], lines)
    rows = read_csv_rows(lines, separator, options.max_characters, broken)
    return ((number, row) for number, row in rows if row)


def _cells(
    rows: Iterator[tuple[int, list[str]]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    column, width = _column(rows, text, options)
    if column is None:
        for _ in rows:
            pass
        return
    for number, row in rows:
        if width and any(map(str.strip, row[width:])):
            detail = f"{len(row)} cells, and the header {width}"
            text.quarantine.add(text.file, number, "line", "broken_csv", detail)
        elif column < len(row):
            if not row[column].strip():
                text.quarantine.add(text.file, number, "line", "no_text", "the cell is blank")
            yield number, row[column]
        else:
            detail = f"{len(row)} cells, none of number {column + 1}"
            text.quarantine.add(text.file, number, "line", "missing_field", detail)


def _column(
    rows: Iterator[tuple[int, list[str]]], text: TextReader, options: Options
) -> tuple[int | None, int]:
    """Return the index of the text's column, and the number of columns, 0 without a header.

    A missing one goes to the quarantine.

    Raises InputError if the header names it twice.
    """
    number, header = next(rows, (1, [])) if options.header else (1, [])
    if options.text_field.isdecimal():
        return int(options.text_field) - 1, len(header)
    if header.count(options.text_field) > 1:
        problem = f"has the column {options.text_field!r} twice"
        remedy = "rename one, or give the number of the right one as `text_field`"
        raise InputError(problem, file=text.file, line=number, remedy=remedy)
    if options.text_field in header:
        return header.index(options.text_field), len(header)
    if header:
        detail = f"the columns are {', '.join(header)}"[:200]
        text.quarantine.add(text.file, number, "line", "missing_field", detail)
    return None, 0
