"""Read the sheets that people have filled in, and check them against the handed-out items."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import InputError
from evenhand.io.sheets import read_csv, read_workbook
from evenhand.sheets.tasks import Task

#: How many rows an error names.
NAMED = 10

Numbered = Iterator[tuple[int, dict[str, str]]]


class Row(NamedTuple):
    """A filled row: its number in the file (in Label Studio's export, of the task)."""

    number: int
    cells: dict[str, str]


def read_filled(
    path: Path, task: Task, *columns: str, export: Callable[[Path], Numbered] | None = None
) -> list[Row]:
    """Read a filled sheet: xlsx, csv, or an export (json).

    Parameters
    ----------
    path : Path
        The sheet.
    task : Task
        Its declaration.
    columns : str
        Columns to read in addition to the key, the fixed and the filled-in columns.
    export : callable, optional
        Function that reads the JSON export of another program.

    Raises
    ------
    InputError
        The file has another format, cannot be read, or lacks a column.
    """
    needed = [task.group, task.key, *task.fixed, *task.answers(), *columns]
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        rows = read_workbook(path, task.table, needed)
    elif suffix == ".csv":
        rows = read_csv(path, needed)
    elif suffix == ".json" and export:
        rows = export(path)
    else:
        kinds = "xlsx, csv or Label Studio's JSON export" if export else "xlsx or csv"
        raise InputError("is not a sheet", file=path, remedy=f"hand in {kinds}")
    return [Row(number, cells) for number, cells in rows]


def check_rows(
    path: Path, rows: list[Row], handed_out: Mapping[tuple[str, str], dict[str, Any]], task: Task
) -> None:
    """Raise InputError unless each row was handed out, is unchanged, and occurs once.

    Parameters
    ----------
    path : Path
        The sheet.
    rows : list of Row
        Its rows.
    handed_out : mapping
        The handed-out items, by group and key.
    task : Task
        Its declaration.
    """
    keys = [(row.cells[task.group], row.cells[task.key]) for row in rows]
    groups = ", ".join(sorted({group for group, _ in handed_out}))
    refuse(
        path,
        [row for row, key in zip(rows, keys, strict=True) if key not in handed_out],
        f"there is a {task.item} that was not handed out in the {task.group} {groups}",
        "remove rows that were added, put changed cells back, and hand in only sheets of"
        f" this {task.group}",
        task.key,
    )
    for name in task.fixed:
        refuse(
            path,
            [
                row
                for row, key in zip(rows, keys, strict=True)
                if row.cells[name] != handed_out[key][name]
            ],
            f"the cell {name} was changed",
            "put it back as it was handed out",
            name,
        )
    first = {key: place for place, key in reversed([*enumerate(keys)])}
    again = [row for place, row in enumerate(rows) if first[keys[place]] != place]
    refuse(path, again, f"a {task.item} occurs a second time", "keep one of the rows")


def chosen(
    path: Path,
    rows: list[Row],
    column: str,
    choices: Sequence[str],
    *,
    synonyms: Mapping[str, str] | None = None,
    numbers: bool = False,
) -> list[str | None]:
    """Return the answers in a column, None where blank.

    Parameters
    ----------
    path : Path
        The sheet.
    rows : list of Row
        Its rows.
    column : str
        The column.
    choices : sequence of str
        The allowed answers; full-width letters, case and surrounding blanks do not matter.
    synonyms : mapping, optional
        Choices by their synonyms.
    numbers : bool
        Whether integers are also allowed.
    """
    known = {choice.casefold(): choice for choice in choices} | dict(synonyms or {})
    words = [unicodedata.normalize("NFKC", row.cells[column]).strip().casefold() for row in rows]
    if numbers:
        known |= {word: word for word in words if word.isdecimal()}
    refuse(
        path,
        [row for row, word in zip(rows, words, strict=True) if word and word not in known],
        f"there is an unknown answer in {column}",
        f"fill in {', '.join(['a number' for _ in range(numbers)] + [*choices[:-1]])} or"
        f" {choices[-1]}",
        column,
    )
    return [known.get(word) for word in words]


def refuse(path: Path, rows: list[Row], problem: str, remedy: str, cell: str | None = None) -> None:
    """Raise an error that lists the rows, if any, and quotes the first one's cell."""
    if not rows:
        return
    if cell:
        problem += f": {rows[0].cells[cell]!r}"
    if len(rows) > 1:
        numbers = ", ".join(str(row.number) for row in rows[:NAMED])
        problem += f" ({len(rows)} rows: {numbers}{', ...' if len(rows) > NAMED else ''})"
    raise InputError(problem, file=path, line=rows[0].number, remedy=remedy)
