"""Select and group rows of tables."""

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Return the rows by their value of a column, or by their values of several, in order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in columns)
        groups.setdefault(key if len(columns) > 1 else key[0], []).append(row)
    return groups


def where(rows: Iterable[Row], **cells: Any) -> list[Row]:
    """Return the rows that have these cells."""
    return [row for row in rows if all(row[name] == value for name, value in cells.items())]
