"""Shared parts of the formats: strict CSV, checks of cells, and columns per category."""

import re
from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from os import SEEK_END
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.numbers import MOST_DIGITS, or_nan, without_point
from evenhand.core.resources import csv_lines
from evenhand.core.whole import read_text
from evenhand.errors import InputError, nearest
from evenhand.io.csv_rows import separator_of
from evenhand.io.json_text import load
from evenhand.text.phrases import choice, plural

#: Bytes of a file in which the header ends.
HEADER = 1 << 20

#: A column of larger tables is not read before the first job.
MOST_BYTES = 1 << 28

#: Values of a label among which the nearest is sought.
MOST_NAMED = 200

#: Control characters that no text has; line ends, tabs and page breaks are none of them.
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1b\x7f]")

_LINE_END = re.compile(r"\r\n|\r|\n")

#: Separators of cells, by character.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}

#: What to do with a file of one column.
SEPARATE = "; separate cells by comma, semicolon or tab"

#: The beginning of JSON: an object, or a list of objects or lists.
_JSON = re.compile(r"\s*(\{|\[\s*[\[{])")


def only_file(files: Sequence[Path], title: str) -> Path:
    """Return the only file of a data set."""
    if len(files) != 1:
        problem = f"{title} is one file, and {len(files)} are named"
        raise InputError(problem, file=files[1], remedy="join them into one file")
    return files[0]


def check_cell(
    column: str, cell: str, known: Collection[str] | None, path: Path, line: int
) -> None:
    """Reject a cell that is not among the known ones; None: any whole number."""
    if known is not None:
        if cell not in known:
            raise InputError(f"{column} has the unknown category {cell!r}", file=path, line=line)
    elif not (cell.isdecimal() and len(cell) <= MOST_DIGITS):
        raise InputError(f"{column} is {cell!r}, which is no whole number", file=path, line=line)


def one_hot(name: str, values: np.ndarray, known: Iterable[Any]) -> dict[str, np.ndarray]:
    """Return a column of bool for each known value, by its name ``name=value``."""
    return {f"{name}={value}": values == value for value in known}


def read_cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read a Parquet file, or a CSV file: UTF-8 (a byte-order mark is accepted), and a header.

    Cells are separated by comma, semicolon or tab, whichever is most frequent in the header. A
    missing value of Parquet is blank.

    Returns
    -------
    (list of str, list of (int, list of str))
        The header, and for each row its last line number and its cells, all stripped. Empty lines
        are skipped.

    Raises
    ------
    InputError
        The file is not UTF-8, not CSV, or has no rows, a row has more or fewer cells than the
        header, or there is a control character, or a row repeats the header.
    """
    header, rows = (_of_parquet if path.suffix == ".parquet" else _of_csv)(path)
    for line, cells in [(1, header), *rows]:
        if unseen := _CONTROL.search("".join(cells)):
            name = next(name for name, cell in zip(header, cells, strict=True) if unseen[0] in cell)
            where = f"the name of the column {name}" if line == 1 else f"the column {name}"
            problem = f"has the control character U+{ord(unseen[0]):04X} in {where}"
            raise InputError(problem, file=path, line=line, remedy="remove it")
    if repeats := next((line for line, cells in rows if cells == header), None):
        raise InputError("repeats the header", file=path, line=repeats, remedy="remove this line")
    return header, rows


def read_header(path: Path) -> list[str]:
    """Return the header of a Parquet or CSV file, of which only the beginning is read."""
    if path.suffix == ".parquet":
        from evenhand.io.tables import opened

        with opened(path) as file:
            return file.schema_arrow.names
    line = read_text(path, HEADER).lstrip("\r\n").partition("\n")[0]
    header = next(csv_lines(path, line, separator_of(line)), (1, []))[1]
    return [name.strip() for name in header]


def is_open(path: Path) -> bool:
    """Whether the last line of a CSV file has no end, as where the file is cut off."""
    if path.suffix not in (".csv", ".tsv", ".txt", ""):  # others are refused if they are cut off
        return False
    with path.open("rb") as stream:
        stream.seek(-min(2, stream.seek(0, SEEK_END)), SEEK_END)
        return not (stream.read().rstrip(b"\0") or b"\n").endswith((b"\n", b"\r"))  # of UTF-16 too


def check_positive(paths: Sequence[Path], label: str, positive: Sequence[str]) -> None:
    """Raise InputError if a large table's label lacks one of these values; read no other column.

    Of more than `MOST_BYTES`, or where pandas cannot read the column, nothing is checked.
    """
    import pandas as pd

    from evenhand.io.tables import read_columns

    if sum(path.stat().st_size for path in paths) > MOST_BYTES:
        return
    cells: set[str] = set()
    for path in paths:
        if path.suffix == ".parquet":
            column = read_columns(path, [label])[label].unique().to_pylist()
        else:
            header = read_text(path, HEADER).lstrip("\r\n").partition("\n")[0]
            form = {"sep": separator_of(header), "dtype": str, "keep_default_na": False}
            place = read_header(path).index(label)
            try:
                column = pd.read_csv(path, usecols=[place], **form).iloc[:, 0].unique()
            except ValueError:  # the job has the line
                return
        cells |= {without_point(str(as_text(cell)).strip()) for cell in column}
    numbers = set(map(or_nan, cells))
    for value in positive:
        if without_point(value) not in cells and or_nan(value) not in numbers:
            problem = f"`positive` is {value}, which is no value of {label}"
            remedy = choice(value, sorted(cells)[:MOST_NAMED])
            raise InputError(problem, file=paths[0], remedy=remedy)


def _csv_of_json(text: str) -> str:
    """Return how to write a CSV of JSON: of lines, of a list of rows, or of columns."""
    command = "write a CSV, as by {}.to_csv(name, index=False)"
    read = "pandas.read_json(file)"
    document, first_line = map(_parsed, (text, text.lstrip().partition("\n")[0]))
    if document is None and first_line is not None:
        return command.format(f"{read[:-1]}, lines=True)")
    fields = document if isinstance(document, dict) else {}
    nested = [name for name, rows in fields.items() if _are_rows(rows)]
    if len(nested) == 1:
        return command.format(f"pandas.DataFrame({read[:-1]}, typ='series')[{nested[0]!r}])")
    columns = fields and all(isinstance(cells, dict | list) for cells in fields.values())
    if _are_rows(document) or columns:
        return command.format(read)
    return "write a CSV with a row for each case"


def _parsed(text: str) -> Any:
    """Return the value of JSON; None if it is invalid."""
    try:
        return load(text)
    except ValueError:
        return None


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _of_csv(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the cells of a CSV file, with the line at which each row ends."""
    rows = []
    text = read_text(path)
    if _JSON.match(text):
        remedy = "audit logs of lm-evaluation-harness by eh.audit_logs, or by evenhand predictions"
        remedy += " with their names as the harness writes them (samples_*.jsonl)"
        remedy = remedy if '"doc_id"' in text else _csv_of_json(text)
        raise InputError("is JSON, no CSV or Parquet file", file=path, remedy=remedy)
    separator = separator_of(text.lstrip("\r\n").partition("\n")[0])
    lines = csv_lines(path, text, separator)
    header = [name.strip() for name in next(lines, (1, []))[1]]
    if header and header[0].startswith("sep="):
        problem = f"begins with {header[0]}{separator}, which only Excel reads"
        raise InputError(problem, file=path, line=1, remedy="remove this line")
    for number, (line, row) in enumerate(lines, 1):
        if len(row) != len(header):
            name, is_short = SEPARATORS[separator], len(row) < len(header)
            remedy = f"put a cell with a {name} inside into quotes"
            if is_short:
                remedy = f"separate all its cells by a {name}, as in the header, blank ones too"
            if number == 1:
                remedy += ", and remove lines above the header"
                if len(row) == len(header) + 1:
                    remedy += "; if rows begin with their names, as R writes them, leave these out"
                    remedy += " (row.names = FALSE)"
            if is_short and line > text.count("\n"):  # without the end of a line
                remedy = "copy or write the file again if it was cut off"
            place = f"line {line}"
            if further := len(_LINE_END.findall("".join(row))):  # within a quoted cell
                place = f"lines {line - further} to {line}"
                remedy = f"close the quotation mark that opens a cell in line {line - further}, or"
                remedy += ' double it ("") if it belongs to the text'
            problem = f"row {number} below the header, in {place}, has"
            problem += f" {plural(len(row), 'cell')}, and the header {len(header)}"
            raise InputError(problem, file=path, line=line, remedy=remedy)
        rows.append((line, [cell.strip() for cell in row]))
    if not header:
        raise InputError("is empty", file=path)
    if not rows:
        raise InputError("has no rows below its header", file=path)
    return header, rows


def _of_parquet(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the cells of a Parquet file; rows have the numbers of a CSV's lines."""
    from evenhand.io.tables import read_columns

    table = read_columns(path)
    columns = [
        ["" if value is None or value != value else str(as_text(value)).strip() for value in cells]
        for cells in table.to_pydict().values()
    ]
    if not table.num_rows:
        raise InputError("has no rows", file=path)
    return table.column_names, [(n, [*row]) for n, row in enumerate(zip(*columns, strict=True), 2)]


def as_text(value: Any) -> Any:
    """Return bytes as text in UTF-8, text without half characters, and other values unchanged."""
    value = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else value
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def check_columns(
    header: Collection[str], path: Path, **options: str | Sequence[str] | None
) -> None:
    """Raise InputError if a table lacks a column that one of these options names."""
    for option, names in options.items():
        for name in [names] if isinstance(names, str) else names or ():
            if name not in header:
                near = nearest(name, header)
                parts = [part for part in map(str.strip, name.split(",")) if part]
                remedy = f"its columns are {', '.join(column or repr(column) for column in header)}"
                remedy += f"; the closest is {near}" if near else ""
                remedy += SEPARATE * (len([*header]) == 1)
                if any(isfinite(or_nan(column)) for column in header):
                    remedy = f"its first line has {', '.join(header)}; write a line of names above"
                if "," in name and parts and {*parts} <= {*header}:
                    remedy = f"name {' and '.join(parts)} without a comma"
                problem = f"has no column {name!r}, which `{option}` names"
                raise InputError(problem, file=path, remedy=remedy)
