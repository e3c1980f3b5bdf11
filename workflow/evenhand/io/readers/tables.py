"""CSV and TSV.

A `text_field` of digits is a column's number; any other is a name in the header, the first row
unless the options say that there is none. CSV has quotes (RFC 4180). TSV has none: a tab there
is always a border, a quote always text.
"""

import csv
from collections import deque
from collections.abc import Iterator

from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options
from evenhand.text.decoding import TextReader


def read_tsv(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the line, and the text of its cell."""
    delimiter = options.delimiter or "\t"
    rows = ((number, line.rstrip("\r").split(delimiter)) for number, line in numbered_lines(text))
    return _cells(rows, text, options)


def read_csv(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the row's first line, and the text of its cell."""
    return _cells(_csv_rows(text, options), text, options)


def _csv_rows(text: TextReader, options: Options) -> Iterator[tuple[int, list[str]]]:
    """Rows; after a broken one the line behind its first line begins a new row.

    So an unclosed quote costs its own line, not what follows it.
    """
    csv.field_size_limit(options.max_characters)
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=options.delimiter or ",", strict=True)
    while True:
        lines.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number = lines.go_back()
            text.quarantine.add(text.file, number, "line", "broken_csv", str(error))
            continue
        if row:
            yield lines.first, row


class _Lines:
    """The lines of a text for `csv.reader`, which can go back to the second line of a row."""

    def __init__(self, text: TextReader) -> None:
        self._lines = (
            (number, line + "\n")
            for first, piece in text
            for number, line in enumerate(piece.removesuffix("\n").split("\n"), first)
        )
        self._again: deque[tuple[int, str]] = deque()
        self._row: list[tuple[int, str]] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        self._row.append(self._again.popleft() if self._again else next(self._lines))
        return self._row[-1][1]

    @property
    def first(self) -> int:
        """The number of the row's first line."""
        return self._row[0][0]

    def begin_row(self) -> None:
        self._row = []

    def go_back(self) -> int:
        """Give all lines of the row but the first again; return the first one's number."""
        self._again.extendleft(reversed(self._row[1:]))
        return self.first


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
    """The index of the text's column, or None (told in the quarantine) if it is not there."""
    number, header = next(rows, (1, [])) if options.header else (1, [])
    if options.text_field.isdecimal():
        return int(options.text_field) - 1
    if options.text_field in header:
        return header.index(options.text_field)
    if header:
        detail = f"the columns are {', '.join(header)}"[:200]
        text.quarantine.add(text.file, number, "line", "missing_field", detail)
    return None
