"""Read CSV files strictly, with complete rows only."""

import csv
import io
from pathlib import Path

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.tabular.numbers import counted


def read_csv(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read a CSV file: UTF-8 (a byte-order mark is accepted), and a header.

    Cells are separated by comma, semicolon or tab, whichever is most frequent in the header.

    Returns
    -------
    (list of str, list of (int, list of str))
        The header, and for each row its last line number and its cells, all stripped. Empty lines
        are skipped.

    Raises
    ------
    InputError
        The file is not UTF-8, not CSV, or has no rows, or a row has more or fewer cells than the
        header.
    """
    rows = []
    text = read_text(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for row in filter(None, reader):
            if len(row) != len(header):
                raise InputError(
                    f"has {counted(len(row), 'cell')}, and the header {len(header)}",
                    file=path,
                    line=reader.line_num,
                    remedy="put a cell with the delimiter inside into quotes",
                )
            rows.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise InputError(
            f"is not a CSV file ({error})",
            file=path,
            line=reader.line_num,
            remedy='close each quoted cell, and double a quote inside one ("")',
        ) from error
    if not header:
        raise InputError("is empty", file=path)
    if not rows:
        raise InputError("has no rows below its header", file=path)
    return header, rows
