"""Section: results beside the truth that was planted in the data.

The truth is a CSV file of the configuration. A row gives the planted fact (`planted`) and its
`kind` (``bias``, ``no bias`` or ``mitigation``); a number with an interval that must show it (in
`table`, the row with the cells `where`, written ``column=value`` and separated by blanks, and the
`column`); the sentence on this number (`found`, with ``{}`` in its place); and the `expected`
position of the interval: ``above`` or ``below`` the value `than`, or ``equal``, which means that it
contains it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.core.tables import read_package, read_table
from evenhand.errors import InputError
from evenhand.report.headline import say

COLUMNS = ["kind", "planted", "expected", "than", "found", "table", "where", "column"]

#: The permitted cells of the columns with a choice.
CHOICES = {"kind": ("bias", "no bias", "mitigation"), "expected": ("above", "below", "equal")}


def describe_planted(truth: Path, files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of the section, first the first one of each kind with a number.

    Parameters
    ----------
    truth : Path
        The file with the planted facts.
    files : iterable of Path
        Results, among them the folders of the tables.

    Returns
    -------
    list of dict
        kind, planted, table, value, low, high, found and verdict (sentences), and holds: whether
        the interval is as expected, None where there is no such number. ``main`` marks the first
        of a kind.

    Raises
    ------
    InputError
        The file is not well formed, or names a table, row or column that does not exist.
    """
    folders = {"/".join(path.parts[-n:]): path for path in map(Path, files) for n in (2, 3)}
    described: list[dict[str, Any]] = []

    def describe(row: dict[str, str]) -> None:
        try:
            than = float(row["than"])
        except ValueError:
            raise InputError(f"{row['than']!r} is no number to compare with") from None
        place, _, name = row["table"].rpartition("/")
        entry = {name: row[name] for name in ("kind", "planted", "table", "found")}
        entry |= dict.fromkeys(("value", "low", "high", "holds"))
        if place in folders:
            number = _number(folders[place], name.removesuffix(".csv"), row)
            entry |= dict(zip(("value", "low", "high"), number, strict=True))
            entry["holds"] = _holds(row["expected"], than, *number[1:])
        entry["verdict"] = say("planted_verdict", entry=entry)
        entry["found"] = say("planted_found", entry=entry, row=row)
        known = {earlier["kind"] for earlier in described if earlier["holds"] is not None}
        described.append(entry | {"main": entry["holds"] is not None and row["kind"] not in known})

    read_resource(truth, COLUMNS, unique=("planted", "found"), choices=CHOICES, make=describe)
    return sorted(described, key=lambda entry: not entry["main"])


def _number(folder: Path, table: str, row: dict[str, str]) -> tuple[float | None, ...]:
    """Return a number of a table and the ends of its interval."""
    declared = read_package(folder).get(table)
    numbers = declared.numbers() if declared else []
    column = next((column for column in numbers if column.name == row["column"]), None)
    if column is None:
        raise InputError(f"{row['table']} has no column {row['column']} with an interval")
    cells = dict(cell.split("=", 1) for cell in row["where"].split())
    fitting = [
        candidate
        for candidate in read_table(folder / f"{table}.csv")
        if all(str(candidate.get(name)) == value for name, value in cells.items())
    ]
    if len(fitting) != 1:
        problem = f"{len(fitting)} rows of {row['table']} have {row['where']}"
        raise InputError(problem, remedy="name one row")
    return tuple(fitting[0][name] for name in (column.name, *column.interval))


def _holds(expected: str, than: float, low: float | None, high: float | None) -> bool | None:
    if low is None or high is None:
        return None
    return {"above": low > than, "below": high < than, "equal": low <= than <= high}[expected]
