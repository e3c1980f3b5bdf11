"""Read tables that people edit: CSV, with errors that name file, line and remedy."""

import csv
import io
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from evenhand.core.whole import read_text
from evenhand.errors import InputError


def read_resource(
    path: Path,
    columns: list[str],
    *,
    optional: tuple[str, ...] = (),
    unique: tuple[str, ...] | None = None,
    choices: Mapping[str, Collection[str]] | None = None,
) -> list[dict[str, str]]:
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

    Returns
    -------
    list of dict
        One dict per row, cells stripped, `columns` only, in the file's order.

    Raises
    ------
    InputError
        A column is missing, unknown or duplicated, a cell is blank or none of its choices, a row
        has too many or too few cells or is duplicated, or a quoted cell does not end.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        return _checked(reader, path, columns, optional, unique or tuple(columns), choices or {})
    except csv.Error as error:
        raise InputError(
            f"is not a CSV file ({error})",
            file=path,
            line=reader.reader.line_num,
            remedy='close each quoted cell, and double a quote inside one ("")',
        ) from error


def first_twice(header: list[str]) -> str | None:
    """Return the first duplicated column name, or None."""
    counts = Counter(header)
    return next((name for name in header if counts[name] > 1), None)


def _checked(
    reader: csv.DictReader,
    path: Path,
    columns: list[str],
    optional: tuple[str, ...],
    unique: tuple[str, ...],
    choices: Mapping[str, Collection[str]],
) -> list[dict[str, str]]:
    header = [name.strip() for name in reader.fieldnames or []]
    reader.fieldnames = header
    if twice := first_twice(header):
        raise InputError(f"has the column {twice!r} twice", file=path, line=1)
    if missing := [name for name in columns if name not in header]:
        raise InputError(f"lacks the column {missing[0]}", file=path, line=1)
    if unknown := [name for name in header if name not in [*columns, "note"]]:
        raise InputError(
            f"has an unknown column {unknown[0]!r}",
            file=path,
            line=1,
            remedy=f"the columns are {', '.join([*columns, 'note'])}",
        )
    rows: list[dict[str, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    for row in reader:
        line = reader.line_num
        if None in row or None in row.values():
            raise InputError(
                f"does not have {len(header)} cells",
                file=path,
                line=line,
                remedy=f"the columns are {', '.join(header)}; a blank cell needs its comma",
            )
        kept = {name: row[name].strip() for name in columns}
        if blank := [name for name in columns if not kept[name] and name not in optional]:
            raise InputError(f"the cell of {blank[0]} is blank", file=path, line=line)
        for name, known in choices.items():
            if kept[name] and kept[name] not in known:
                raise InputError(
                    f"the {name} is {kept[name]!r}",
                    file=path,
                    line=line,
                    remedy=f"write one of {', '.join(known)}",
                )
        key = tuple(kept[name] for name in unique)
        if key in seen:
            raise InputError(
                f"says the same as line {seen[key]}", file=path, line=line, remedy="remove one"
            )
        seen[key] = line
        rows.append(kept)
    return rows
