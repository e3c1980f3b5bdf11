"""Select and group rows of tables."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

Row = dict[str, Any]


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Return the rows by their value of a column, or by their values of several, in order."""
    return grouped_by(rows, itemgetter(*columns))


def grouped_by(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Return the items by what `key` returns for them, in order."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def where(rows: Iterable[Row], **cells: Any) -> list[Row]:
    """Return the rows that have these cells."""
    return [row for row in rows if all(row[name] == value for name, value in cells.items())]
