"""Write and read sheets that people fill in: workbooks and CSV files.

Programs cannot read text from a corpus or from a person as a formula: in a workbook it is in text
cells; in a CSV file, which has no types, text that looks like a formula gets an apostrophe in
front (`guarded`), and reading removes it (`unguarded`).

The bytes of a file do not depend on the time of writing.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.encodings import decode_whole
from evenhand.core.limits import SHEET_CELLS, WHOLE_BYTES
from evenhand.core.whole import read_bytes
from evenhand.errors import InputError

#: Possible starts of a formula; the wide forms count in Chinese and Japanese spreadsheet
#: programs.
_FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"

#: The apostrophe that makes a CSV cell text.
_GUARD = "'"

#: The time that every part of a workbook carries.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Marked(NamedTuple):
    """Text with a part to highlight: characters `start` to `end` (exclusive)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Column:
    """A column of a workbook's table.

    Attributes
    ----------
    name : str
        The column's name; the header's first word, by which the column is found again.
    title : str
        Text after the name in the header.
    width : float
        Width in characters of the standard font (a Chinese character takes two).
    choices : tuple of str
        The allowed values, without commas; any value if empty.
    fill_in : bool
        Whether it is for people to fill in (its cells are coloured).
    hidden : bool
        Whether it is folded away.
    """

    name: str
    title: str = ""
    width: float = 12
    choices: tuple[str, ...] = ()
    fill_in: bool = False
    hidden: bool = False


def guarded(text: str) -> str:
    """Return text for a CSV cell that no program reads as a formula; see `unguarded`."""
    return _GUARD + text if text.startswith((*_FORMULA_STARTS, _GUARD)) else text


def unguarded(text: str) -> str:
    """Undo `guarded`; text that it cannot have returned stays unchanged."""
    rest = text[1:]
    if text.startswith(_GUARD) and rest.startswith((*_FORMULA_STARTS, _GUARD)):
        return rest
    return text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file that spreadsheet programs open as UTF-8, text cells guarded.

    None becomes an empty cell. The file begins with a byte-order mark, without which Excel
    reads Chinese text wrongly.
    """
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for row in chain([header], rows):
            writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in row])


def read_csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Read a CSV file as a spreadsheet program may have saved it.

    Parameters
    ----------
    path : Path
        UTF-8 (with or without byte-order mark), or in a detectable encoding; cells separated
        by comma, semicolon or tab, whichever splits the header into `columns`.
    columns : sequence of str
        The columns that it must have, in any order; other columns are left out.

    Yields
    ------
    int, dict
        Row number as a spreadsheet program shows it (the header is row 1), and the cells by
        column, stripped and unguarded, "" where blank. Rows without any text are left out.

    Raises
    ------
    InputError
        It is in no known encoding, lacks a column or has it twice, or a row is too long.
    """
    text = decode_whole(read_bytes(path))
    if text is None:
        raise InputError("is in no encoding that is known", file=path, remedy="save it as UTF-8")
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        cells = ([unguarded(cell.strip()) for cell in row] for row in reader)
        yield from _table(path, cells, columns)
    except csv.Error as error:
        problem = f"is not a whole CSV file ({error})"
        raise InputError(problem, file=path, line=reader.line_num) from error


def read_workbook(
    path: Path, sheet: str, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Read the table on one sheet of a workbook (xlsx); see `read_csv` for the rows.

    Raises
    ------
    InputError
        It is no workbook, lacks a sheet with this first word or a column, or has a column twice.
    """
    yield from _table(path, _workbook_rows(path, sheet), columns)


def _workbook_rows(path: Path, name: str) -> list[list[str]]:
    """Return the cells of a sheet by row. For a broken file openpyxl raises any exception."""
    import openpyxl

    content = io.BytesIO(read_bytes(path))
    try:
        with zipfile.ZipFile(content) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > WHOLE_BYTES:
            raise InputError(f"is longer than {WHOLE_BYTES >> 20} MB, unpacked", file=path)
        book = openpyxl.load_workbook(content)
        sheet = next((part for part in book if part.title.split()[:1] == [name]), None)
        if sheet is None:
            problem = f"has no sheet {name!r}"
            raise InputError(problem, file=path, remedy="give the sheet its name back")
        if sheet.max_row * sheet.max_column > SHEET_CELLS:
            problem = f"its sheet {name!r} has {sheet.max_row} rows and {sheet.max_column} columns"
            remedy = "delete the rows and columns that are blank, and save it again"
            raise InputError(problem, file=path, remedy=remedy)
        rows = sheet.iter_rows(values_only=True)
        return [["" if cell is None else str(cell).strip() for cell in row] for row in rows]
    except InputError:
        raise
    except Exception as error:
        problem = "is no xlsx workbook, or a broken or encrypted one"
        remedy = "save it again as xlsx, without a password"
        raise InputError(problem, file=path, remedy=remedy) from error


def _table(
    path: Path, rows: Iterable[list[str]], columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Find the columns by the first words of the header, and yield the rows below it."""
    numbered = enumerate(rows, start=1)
    header = next(numbered, (1, []))[1]
    names = [title.split()[0] if title else "" for title in header]
    places = {}
    for name in columns:
        if names.count(name) != 1:
            problem = f"has {'no' if name not in names else 'more than one'} column {name}"
            raise InputError(problem, file=path, line=1, remedy="give the first row its cells back")
        places[name] = names.index(name)
    for number, row in numbered:
        if not any(row):
            continue
        if any(row[len(header) :]):
            problem = "has more cells than the first row"
            raise InputError(problem, file=path, line=number, remedy="mend the row")
        row += [""] * (len(header) - len(row))
        yield number, {name: row[place] for name, place in places.items()}


def write_workbook(
    path: Path,
    *,
    notes: tuple[str, str],
    table: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | int | Marked | None]],
) -> None:
    """Write a workbook (xlsx) with a sheet of notes and a sheet with one table.

    Parameters
    ----------
    path : Path
        The workbook.
    notes : (str, str)
        Name of the first sheet and its text: a cell per line; lines that begin with ``# ``
        are headings.
    table : str
        Name of the second sheet. Its first row is the header and stays in sight.
    columns : sequence of Column
        The columns of the table.
    rows : iterable of sequence
        Cells in the order of `columns`: text, numbers, `Marked` text, None for blank.
    """
    import openpyxl

    book = openpyxl.Workbook()
    _fill_notes(book.active, *notes)
    sheet = book.create_sheet(table)
    _fill_table(sheet, columns, list(rows))
    book.active = 1
    for worksheet in book.worksheets:
        worksheet.sheet_view.tabSelected = worksheet is sheet
    buffer = io.BytesIO()
    book.save(buffer)
    path.write_bytes(_without_times(buffer))


def _fill_notes(sheet: Any, name: str, text: str) -> None:
    from openpyxl.styles import Alignment, Font

    sheet.title = name
    sheet.column_dimensions["A"].width = 110
    sheet.sheet_view.showGridLines = False
    for number, line in enumerate(text.strip().split("\n"), start=1):
        cell = sheet.cell(number, 1)
        _set_text(cell, line.removeprefix("# "))
        cell.font = Font(bold=line.startswith("# "), size=13 if line.startswith("# ") else 11)
        cell.alignment = Alignment(wrap_text=True, vertical="top")


def _fill_table(
    sheet: Any, columns: Sequence[Column], rows: list[Sequence[str | int | Marked | None]]
) -> None:
    """Write header and rows, with widths, drop-down answers and a filter."""
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    heading, wrapped = PatternFill("solid", "FFD9E2EC"), Alignment(wrap_text=True, vertical="top")
    to_fill = PatternFill("solid", "FFFFF8DC")
    for place, column in enumerate(columns, start=1):
        letter = get_column_letter(place)
        sheet.column_dimensions[letter].width = column.width
        sheet.column_dimensions[letter].hidden = column.hidden
        if column.choices:
            rule = DataValidation(
                type="list",
                formula1=f'"{",".join(column.choices)}"',
                allow_blank=True,
                showErrorMessage=True,
                errorTitle=column.name,
                error=" / ".join(column.choices),
            )
            rule.add(f"{letter}2:{letter}{max(len(rows), 1) + 1}")
            sheet.add_data_validation(rule)
        cell = sheet.cell(1, place)
        _set_text(cell, f"{column.name} {column.title}".strip())
        cell.font, cell.fill, cell.alignment = Font(bold=True), heading, wrapped
        for number, row in enumerate(rows, start=2):
            cell = sheet.cell(number, place)
            cell.alignment = wrapped
            if column.fill_in:
                cell.fill, cell.number_format = to_fill, "@"  # typed values stay text
            _set_value(cell, row[place - 1])
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(rows) + 1}"


def _set_value(cell: Any, value: str | int | Marked | None) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    if isinstance(value, Marked):
        text, start, end = value
        plain, highlight = InlineFont(sz=12), InlineFont(b=True, color="FFC00000", sz=12)
        parts = ((plain, text[:start]), (highlight, text[start:end]), (plain, text[end:]))
        cell.value = CellRichText(*[TextBlock(font, part) for font, part in parts if part])
        cell.quotePrefix = True
    elif isinstance(value, str):
        _set_text(cell, value)
    else:
        cell.value = value


def _set_text(cell: Any, text: str) -> None:
    """Set a cell's value as text, even if it looks like a number or a formula."""
    cell.value = text
    cell.data_type = "s"
    cell.quotePrefix = True  # a program that edits the cell keeps it text


def _without_times(book: io.BytesIO) -> bytes:
    """Return the workbook with a fixed time in all places that its format requires."""
    result = io.BytesIO()
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                time = rb"(?<=>)\d{4}-\d\d-\d\dT[\d:]+Z(?=<)"
                content = re.sub(time, b"1980-01-01T00:00:00Z", content)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            new.writestr(entry, content)
    return result.getvalue()
