"""Annotation tasks: drawing items, writing their sheets, and reading the filled ones.

A task declares its columns and the key of a row (`Task`). Its items are drawn by digests, so that
a new item replaces at most one other and their order does not matter. The handed-out items are
recorded in a separate file, `HANDED_OUT`. A copy of it in the folder of the filled sheets freezes
the draw: the sheets are written from it again, whatever has changed since.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.files import files_of
from evenhand.errors import InputError
from evenhand.io.sheets import Column, Marked, read_csv, read_workbook, write_csv, write_workbook

#: The list of the items on a sheet, beside it as it was written, and beside the filled ones.
HANDED_OUT = "handed_out.csv"

#: Items of a stratum held beyond its quota, before the largest digests are dropped.
SLACK = 10_000


@dataclass(frozen=True)
class Task:
    """The declaration of an annotation sheet.

    Attributes
    ----------
    item : str
        The noun for a row, in messages: ``sentence``.
    group, key : str
        The columns that identify a row: the name of its draw (a round, an attribute), and its
        item.
    key_form : str
        A regular expression that a key matches.
    columns : tuple of Column
        The columns of the sheet.
    fixed : tuple of str
        The columns that annotators must not change.
    handed_out : tuple of str
        The columns of handed_out.csv: `group`, `key`, rank and others that the sheet needs.
    numbers : tuple of str
        Those of `handed_out` that contain integers.
    table, notes : str
        The workbook's sheets with the table and with the instructions.
    """

    item: str
    group: str
    key: str
    columns: tuple[Column, ...]
    fixed: tuple[str, ...]
    handed_out: tuple[str, ...]
    key_form: str = ".+"
    numbers: tuple[str, ...] = ("rank",)
    table: str = "items"
    notes: str = "instructions"

    def answers(self) -> list[str]:
        """The columns to fill in."""
        return [column.name for column in self.columns if column.fill_in]


class HandedOut(NamedTuple):
    """A row of a handed_out.csv and its line."""

    row: dict[str, Any]
    file: Path
    line: int


def digest(prefix: str, key: str) -> bytes:
    """Return a pseudorandom number that depends only on prefix (a seed) and key."""
    return hashlib.blake2b(f"{prefix} {key}".encode(), digest_size=8).digest()


def draw(
    items: Iterable[tuple[Any, str]],
    quota: Callable[[Any], int],
    prefix: str,
    first: Mapping[str, float] | None = None,
) -> list[str]:
    """Choose the items with the smallest digests of each stratum.

    Parameters
    ----------
    items : iterable of (stratum, key)
        Each item once.
    quota : callable
        The number of items to draw from a stratum.
    prefix : str
        The seed; see `digest`.
    first : mapping, optional
        Numbers by key: items with smaller numbers are chosen first, whatever their digests.
    """
    smallest: dict[Any, list[tuple[float, bytes, str]]] = defaultdict(list)
    for stratum, key in items:
        number = quota(stratum)
        smallest[stratum].append((first[key] if first else 0.0, digest(prefix, key), key))
        if len(smallest[stratum]) > number + SLACK:
            smallest[stratum] = sorted(smallest[stratum])[:number]
    return [key for stratum, keys in smallest.items() for *_, key in sorted(keys)[: quota(stratum)]]


def render(template: Path, facts: dict[str, Any]) -> str:
    """Return the instructions of a task, from a Jinja template."""
    import jinja2

    text = template.read_text(encoding="utf-8")
    made = jinja2.Template(text, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return made.render(facts)


def with_headings(task: Task, headings: Iterable[str] | None) -> Task:
    """Return the task with text after the names of columns: a heading is ``answer 判断``."""
    titles = dict(heading.split(maxsplit=1) for heading in headings or ())
    columns = (replace(column, title=titles.get(column.name, "")) for column in task.columns)
    return replace(task, columns=tuple(columns))


def write_sheet(
    folder: Path, name: str, task: Task, instructions: str, rows: Sequence[dict[str, Any]]
) -> None:
    """Write ``{name}.xlsx`` and ``{name}.csv``; cells without a value are blank."""
    names = [column.name for column in task.columns]
    cells = [[row.get(name) for name in names] for row in rows]
    write_workbook(
        folder / f"{name}.xlsx",
        notes=(task.notes, instructions),
        table=task.table,
        columns=task.columns,
        rows=cells,
    )
    plain = ([cell.text if isinstance(cell, Marked) else cell for cell in row] for row in cells)
    write_csv(folder / f"{name}.csv", names, plain)


def write_handed_out(folder: Path, task: Task, rows: Iterable[dict[str, Any]]) -> None:
    """Write the list of the items on a sheet beside it."""
    cells = ([row[name] for name in task.handed_out] for row in rows)
    write_csv(folder / HANDED_OUT, task.handed_out, cells)


def returned(folder: Path, suffixes: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the list of items in a folder of filled sheets, if it is frozen, and these sheets."""
    files, frozen = files_of(folder, suffixes), str(folder / HANDED_OUT)
    return [frozen] * (frozen in files), [file for file in files if file != frozen]


def read_handed_out(paths: Iterable[Path], task: Task) -> dict[str, HandedOut]:
    """Read lists of handed-out items.

    Returns
    -------
    dict of str to HandedOut
        By key, in the order of the files.

    Raises
    ------
    InputError
        A key, or a rank of a group, occurs twice, or a number, group or key is malformed.
    """
    entries: dict[str, HandedOut] = {}
    ranks: dict[tuple[str, int], HandedOut] = {}
    for path in paths:
        for line, cells in read_csv(path, task.handed_out):
            row: dict[str, Any] = dict(cells)
            for name in task.numbers:
                if not re.fullmatch("[0-9]{1,9}", row[name]):
                    raise InputError(f"{row[name]!r} is not a {name}", file=path, line=line)
                row[name] = int(row[name])
            group, key = row[task.group], row[task.key]
            if not group or not re.fullmatch(task.key_form, key):
                problem = f"the {task.group} or the {task.key} is malformed"
                raise InputError(problem, file=path, line=line)
            entry = HandedOut(row, path, line)
            for known in (entries.get(key), ranks.get((group, row["rank"]))):
                if known:
                    problem = (
                        f"has the {task.item} {key} or its rank a second time, after "
                        f"{known.file}:{known.line}"
                    )
                    remedy = f"keep one file per {task.group}, as it was written"
                    raise InputError(problem, file=path, line=line, remedy=remedy)
            entries[key] = ranks[group, row["rank"]] = entry
    return entries


def group_of(path: Path, task: Task) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the one group of a handed_out.csv ("" without rows), and its rows by key, by rank."""
    rows = {key: entry.row for key, entry in read_handed_out([path], task).items()}
    groups = {row[task.group] for row in rows.values()}
    if len(groups) > 1:
        raise InputError(f"has {len(groups)} {task.group}s instead of one", file=path)
    ordered = sorted(rows.items(), key=lambda item: item[1]["rank"])
    return groups.pop() if groups else "", dict(ordered)


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
    added = [row for row, key in zip(rows, keys, strict=True) if key not in handed_out]
    problem = f"there is a {task.item} that was not handed out in the {task.group} {groups}"
    remedy = "remove rows that were added, put changed cells back, and hand in only sheets of"
    refuse(path, added, problem, f"{remedy} this {task.group}", task.key)
    for name in task.fixed:
        changed = [
            row
            for row, key in zip(rows, keys, strict=True)
            if row.cells[name] != handed_out[key][name]
        ]
        problem = f"the cell {name} was changed"
        refuse(path, changed, problem, "put it back as it was handed out", name)
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
    unknown = [row for row, word in zip(rows, words, strict=True) if word and word not in known]
    allowed = [*(["a number"] if numbers else []), *choices[:-1]]
    remedy = f"fill in {', '.join(allowed)} or {choices[-1]}"
    refuse(path, unknown, f"there is an unknown answer in {column}", remedy, column)
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
