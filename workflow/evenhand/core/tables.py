"""Result tables: declared once, written with their description, read back with their types.

A member of a table family declares a `Table` and computes its rows. Its stage writes a folder of
CSV files with one ``datapackage.json`` beside them (Frictionless Data Package: title, columns
with type, unit and meaning, key, intervals). Readers of a table (the report, `compare`, the
exports, a notebook) use that file and need no code of the member.
"""

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from evenhand.errors import AGAIN, InputError


def write_rows(
    path: Path, header: Sequence[str], rows: Iterable[Mapping[str, Any]], form: str = ".6f"
) -> int:
    """Write a result table, and return the number of its rows.

    Truth values are ``true`` and ``false``. A cell is blank for None, for a number that is not
    finite, and where a row lacks the column. A p-value (a column ``p_...``) is never written as 0.

    Parameters
    ----------
    path : path
        The file, UTF-8.
    header : sequence of str
        The columns.
    rows : iterable of mapping
        Cells by column.
    form : str
        How a number with decimals is written.

    Raises
    ------
    ValueError
        A row has a column that the header lacks.
    """
    written = 0
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _cell(name, value, form) for name, value in row.items()})
            written += 1
    return written


def _cell(name: str, value: Any, form: str) -> Any:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return ""
        text = format(value, form)
        if name.startswith("p_") and not float(text):  # a p-value is above 0, also after underflow
            return f"{max(value, sys.float_info.min):.2g}"
        return text if float(text) else text.removeprefix("-")
    return value


PACKAGE = "datapackage.json"

Row = Mapping[str, Any]


class NotApplicable(Exception):  # noqa: N818 - no error: a reason, like StopIteration
    """The inputs do not allow this table; the message states the missing data."""


@dataclass(frozen=True)
class Column:
    """A column of a result table.

    Parameters
    ----------
    name : str
    type : {"string", "integer", "number", "boolean"}
        The type of its cells; any cell may be blank.
    description : str
        The meaning of a cell, in one line.
    unit : str
        For example ``%``, ``0 to 1`` or ``nats``.
    interval : tuple of str
        The columns with the lower and the upper end of its confidence interval; empty without.
    neutral : float or mapping, optional
        The value of a system without bias, or these values by the row's ``metric``: `compare`
        compares distances from it.
    count, clusters : str
        The columns with the number of values of which this is the mean (its interval is then
        Student's), and with the number of clusters behind it.
    items : str
        The module of `evenhand.comparison.items` that finds the items behind a number.
    """

    name: str
    type: str
    description: str = ""
    unit: str = ""
    interval: tuple[str, ...] = ()
    neutral: float | Mapping[str, float] | None = None
    count: str = ""
    clusters: str = ""
    items: str = ""


def text(name: str, description: str = "") -> Column:
    """Declare a column of text."""
    return Column(name, "string", description)


def flag(name: str, description: str = "") -> Column:
    """Declare a column of ``true`` and ``false``."""
    return Column(name, "boolean", description)


def integer(name: str, description: str = "", unit: str = "") -> Column:
    """Declare a column of integers."""
    return Column(name, "integer", description, unit)


def number(
    name: str,
    description: str = "",
    unit: str = "",
    *,
    interval: bool | tuple[str, str] = False,
    **roles: Any,
) -> Column:
    """Declare a column of numbers.

    Parameters
    ----------
    name, description, unit : str
        See `Column`.
    interval : bool or tuple of str
        True if ``{name}_low`` and ``{name}_high`` follow it, or the two names.
    **roles
        ``neutral``, ``count``, ``clusters`` and ``items`` of `Column`.
    """
    ends = (f"{name}_low", f"{name}_high") if interval is True else tuple(interval or ())
    return Column(name, "number", description, unit, ends, **roles)


def share(name: str, description: str = "", **roles: Any) -> Column:
    """Declare a column of shares, 0 to 1; parameters as for `number`."""
    return number(name, description, "0 to 1", **roles)


def percent(name: str, description: str = "", **roles: Any) -> Column:
    """Declare a column of percentages, 0 to 100; parameters as for `number`."""
    return number(name, description, "%", **roles)


def with_interval(name: str, value: Any, low: Any, high: Any) -> dict[str, Any]:
    """Return the cells of a number that a table declares with ``interval=True``."""
    return {name: value, f"{name}_low": low, f"{name}_high": high}


@dataclass(frozen=True)
class Table:
    """The declaration of a result table.

    Parameters
    ----------
    name : str
        The stem of its file.
    title : str
        Its content, in a few words: shown by the report, the exports and the cards.
    key : tuple of str
        The columns that together identify a row; empty for a list.
    columns : tuple of Column
        Without the ends of intervals, which follow their number.
    source : str
        The reproduced original: paper, section, table or equation.
    form : str
        The format of numbers with decimals.
    main : mapping, optional
        By key column, the values of the rows whose columns with a neutral value answer the table's
        question; empty for all rows. `compare` adjusts their tests apart from those of all other
        numbers.
    """

    name: str
    title: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    source: str = ""
    form: str = ".6f"
    main: Mapping[str, tuple[str, ...]] | None = None

    @property
    def header(self) -> list[str]:
        """The names of all columns, in the order of the file."""
        return list(self.types)

    @property
    def types(self) -> dict[str, str]:
        """The type of each column of `header`."""
        return {
            name: column.type for column in self.columns for name in (column.name, *column.interval)
        }

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of `header`; blank without one."""
        return {
            name: column.unit for column in self.columns for name in (column.name, *column.interval)
        }

    def numbers(self) -> Iterator[Column]:
        """The columns that have an interval."""
        return (column for column in self.columns if column.interval)


def write_tables(
    folder: Path,
    tables: Iterable[tuple[Table, Iterable[Row]]],
    left_out: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """Write tables and their description into a folder, and return the rows of each.

    Parameters
    ----------
    folder : Path
        Created if missing. Tables that an earlier description names are removed.
    tables : iterable of (Table, rows)
        Cells by column; see `evenhand.core.tables.write_rows`.
    left_out : mapping
        The tables that do not apply, with the reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    earlier = read_package(folder) if (folder / PACKAGE).is_file() else {}
    counts, resources = {}, []
    for table, rows in tables:
        path = folder / f"{table.name}.csv"
        counts[table.name] = write_rows(path, table.header, rows, table.form)
        resources.append(_resource(table))
    for name in earlier.keys() - counts.keys():
        (folder / f"{name}.csv").unlink(missing_ok=True)
    package = {"profile": "tabular-data-package", "resources": resources}
    package |= {"left_out": dict(left_out)} if left_out else {}
    (folder / PACKAGE).write_text(
        json.dumps(package, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    return counts


def _resource(table: Table) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    for column in table.columns:
        fields.append({k: v for k, v in asdict(column).items() if v not in ("", None, ())})
        for end, word in zip(column.interval, ("Lower", "Upper"), strict=False):
            description = f"{word} end of the confidence interval of {column.name}"
            fields.append({"name": end, "type": "number", "description": description})
    return {
        "name": table.name,
        "path": f"{table.name}.csv",
        "title": table.title,
        "sources": [{"title": table.source}] if table.source else [],
        "schema": {"fields": fields, "primaryKey": list(table.key)},
        **({} if table.main is None else {"main": table.main}),
    }


def tabulate(
    folder: Path, members: Iterable[ModuleType], study: Any, cells: Row | None = None
) -> dict[str, Any]:
    """Write the tables of a family, and return their numbers of rows and those left out.

    Parameters
    ----------
    folder : Path
        The output folder.
    members : iterable of module
        Each declares ``TABLE`` and has ``rows(study)``, which yields the rows, or raises
        `NotApplicable` with the reason why there is no such table.
    study : object
        The inputs that all members of the family share.
    cells : mapping, optional
        Cells with the same value in all rows, such as the name of a data set.
    """
    tables, left_out = [], {}
    for member in members:
        try:
            rows = [{**(cells or {}), **row} for row in member.rows(study)]
            tables.append((member.TABLE, rows))
        except NotApplicable as reason:
            left_out[member.TABLE.name] = str(reason)
    counts = write_tables(folder, tables, left_out)
    return {"rows": counts} | ({"left_out": left_out} if left_out else {})


def read_package(folder: Path) -> dict[str, Table]:
    """Read the declarations of the tables of a folder, by name.

    Raises
    ------
    InputError
        The folder's description is broken.
    """
    path = folder / PACKAGE
    try:
        resources = json.loads(path.read_text(encoding="utf-8"))["resources"]
        return {resource["name"]: _table(resource) for resource in resources}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is not a description of tables", file=path) from error


def _table(resource: dict[str, Any]) -> Table:
    columns = [
        Column(**field | {"interval": tuple(field.get("interval", ()))})
        for field in resource["schema"]["fields"]
    ]
    ends = {name for column in columns for name in column.interval}
    main = resource.get("main")
    return Table(
        resource["name"],
        resource["title"],
        tuple(resource["schema"]["primaryKey"]),
        tuple(column for column in columns if column.name not in ends),
        next((source["title"] for source in resource["sources"]), ""),
        main=main and {column: tuple(values) for column, values in main.items()},
    )


def declaration(path: Path) -> Table | None:
    """Return the declaration of a table; None for a CSV file without one beside it."""
    if not (path.parent / PACKAGE).is_file():
        return None
    return read_package(path.parent).get(path.stem)


_CONVERTERS = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
}


def read_table(path: Path) -> list[dict[str, Any]]:
    """Read a result table: a row is a dict, a blank cell None, other cells of the declared types.

    Raises
    ------
    InputError
        There is no declaration beside it, or the file is missing or does not follow it.
    """
    table = declaration(path)
    if table is None:
        raise InputError(f"is not declared in {PACKAGE} beside it", file=path)
    convert = {name: _CONVERTERS[kind] for name, kind in table.types.items()}
    if not path.is_file():
        problem = f"is missing, but {PACKAGE} declares it"
        remedy = "copy it again, or run the workflow or the audit again"
        raise InputError(problem, file=path, remedy=remedy)
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != table.header:
            raise InputError(f"has other columns than {PACKAGE} declares", file=path, line=1)
        rows = []
        for row in reader:
            for name, cell in row.items():
                try:
                    row[name] = convert[name](cell) if cell else None
                except (ValueError, KeyError) as error:
                    problem = f"{cell!r} in column {name} is no {table.types.get(name, 'cell')}"
                    raise InputError(
                        problem, file=path, line=reader.line_num, remedy=AGAIN
                    ) from error
            rows.append(row)
    return rows


def read_tables(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Read all tables of a folder, by name."""
    return {name: read_table(folder / f"{name}.csv") for name in read_package(folder)}
