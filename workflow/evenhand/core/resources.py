"""Read tables that people edit: CSV, with errors that name file, line and remedy."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.whole import read_text
from evenhand.errors import InputError, placed


def read_resource(
    path: Path,
    columns: list[str],
    *,
    optional: tuple[str, ...] = (),
    unique: tuple[str, ...] | None = None,
    choices: Mapping[str, Collection[str]] | None = None,
    make: Callable[[dict[str, str]], Any] = dict,
) -> list[Any]:
    """Read a table of `resources/`.

    Parameters
    ----------
    path : Path
        A UTF-8 CSV file (a byte-order mark is accepted) with a header.
    columns : list of str
        The required columns; a column `note` is allowed in addition.
    optional : tuple of str
        Those of `columns` whose cells may be blank.
    unique : tuple of str, optional
        The columns that identify a row; by default all of `columns`.
    choices : dict of str to collection of str, optional
        The values that cells of a column may have, besides a blank where it is optional.
    make : callable
        Makes something of a row; its errors name file and line.

    Returns
    -------
    list
        One dict per row, cells stripped, `columns` only, in the file's order; or what `make` makes.

    Raises
    ------
    InputError
        A column is missing, unknown or duplicated, a cell is blank or none of its choices, a row
        has too many or too few cells or is duplicated, or a quoted cell does not end.
    """
    header, lines = read_strict_csv(path)
    rows: list[Any] = []
    seen: dict[tuple[str, ...], int] = {}
    with placed(path, 1):
        _check_header(header, columns)
    for line, row in lines:
        with placed(path, line):
            cells = _cells(dict(zip(header, row, strict=True)), columns, optional, choices or {})
            key = tuple(cells[name] for name in unique or columns)
            if key in seen:
                raise InputError(f"repeats line {seen[key]}", remedy="remove one")
            seen[key] = line
            rows.append(make(cells))
    return rows


def read_strict_csv(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the header of a CSV file, and its rows, each with the number of its last line.

    Names of columns are stripped, cells are not; empty lines are left out.

    Raises
    ------
    InputError
        It is not UTF-8, a column is duplicated, a row has too many or too few cells, or a quoted
        cell does not end.
    """
    lines = csv_lines(path, read_text(path))
    header = [name.strip() for name in next(lines, (1, []))[1]]
    check_unique(header, path)

    def rows() -> Iterator[tuple[int, list[str]]]:
        for line, row in lines:
            if len(row) != len(header):
                remedy = f"the columns are {', '.join(header)}; a blank cell needs its comma"
                problem = f"does not have {len(header)} cells"
                raise InputError(problem, file=path, line=line, remedy=remedy)
            yield line, row

    return header, rows()


def csv_lines(path: Path, text: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file that are not empty, each with the number of its last line.

    Raises
    ------
    InputError
        A quoted cell does not end.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    end = 0
    try:
        for row in reader:
            end = reader.line_num
            if row:
                yield end, row
    except csv.Error as error:
        problem = f"is not a CSV file ({error}), in the row that begins here"
        remedy = 'close each quoted cell, and double a quote inside one ("")'
        if delimiter not in text.lstrip("\r\n").partition("\n")[0]:
            remedy = "separate cells by comma, semicolon or tab"
        raise InputError(problem, file=path, line=end + 1, remedy=remedy) from error


def check_unique(header: list[str], file: Path | str | None = None, line: int | None = 1) -> None:
    """Raise InputError if two columns have the same name."""
    name, count = Counter(header).most_common(1)[0] if header else ("", 0)
    if count > 1:
        remedy = "give each column a name of its own"
        raise InputError(f"has the column {name!r} twice", file=file, line=line, remedy=remedy)


def _check_header(header: list[str], columns: list[str]) -> None:
    if missing := [name for name in columns if name not in header]:
        raise InputError(f"lacks the column {missing[0]}")
    known = [*columns, "note"]
    if unknown := [name for name in header if name not in known]:
        remedy = f"the columns are {', '.join(known)}"
        raise InputError(f"has an unknown column {unknown[0]!r}", remedy=remedy)


def _cells(
    row: dict[str, str],
    columns: list[str],
    optional: tuple[str, ...],
    choices: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """Return the cells of a row, stripped; refuse blanks and unknown words."""
    cells = {name: row[name].strip() for name in columns}
    if blank := [name for name in columns if not cells[name] and name not in optional]:
        raise InputError(f"the cell of {blank[0]} is blank")
    for name, known in choices.items():
        if cells[name] and cells[name] not in known:
            remedy = f"write one of {', '.join(known)}"
            raise InputError(f"the {name} is {cells[name]!r}", remedy=remedy)
    return cells
