"""What is known of people in words: the columns that networks see, with one-hot ones put together.

``resources/iifr/feature_words.csv`` has the words of the data sets whose columns do not say
themselves what they are, by the format of the data set: what a ``feature`` (a column) of a
``value`` says of ``name``, in ``words``; what it is if none of its columns says anything (a blank
feature); or that a column is a number of that name, with its ``unit`` (no words). Of the other
columns, those that are called ``name=value`` and hold 0 and 1 are put together, and the rest are
numbers under their own names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.report.read import read_csv
from evenhand.tabular.prepared import Prepared

COLUMNS = {
    "format": str,
    "name": str,
    "feature": str,
    "value": float,
    "words": str,
    "unit": str,
}


class Feature(NamedTuple):
    """Something that is known of each person.

    Attributes
    ----------
    name : str
        What it is.
    unit : str
        Of a number; or blank.
    values : list of str or of float
        Those that occur: words in the order of the columns, or numbers, ascending.
    codes : array of int64, shape (people,)
        Each person's place in `values`.
    """

    name: str
    unit: str
    values: list[Any]
    codes: np.ndarray


def read_words(path: Path | None) -> list[dict[str, Any]]:
    """The rows of ``feature_words.csv``; none without it.

    Raises
    ------
    InputError
        It lacks a column, or a value is no number.
    """
    return read_csv(path, COLUMNS) if path else []


def features_of(
    table: Prepared, words: Sequence[dict[str, Any]] = (), format: str = ""
) -> list[Feature]:
    """What networks see of the people, in the order of the columns.

    The protected attribute is left out where it has columns of its own alone: it is known as the
    group.

    Parameters
    ----------
    table : Prepared
        The people.
    words : sequence of dict
        Of `read_words`.
    format : str
        That of the data set: rows of others do not count.
    """
    own = [row for row in words if row["format"] == format]
    place = {name: i for i, name in enumerate(table.features)}
    names = {row["feature"]: row["name"] for row in own if row["feature"] in place}
    parts: dict[str, list[int]] = {}
    for i, column in enumerate(table.features):
        prefix = column.partition("=")[0]
        parts.setdefault(names.get(column) or (prefix if _hot(table, i) else column), []).append(i)
    carriers = set(table.attribute_columns)
    made = []
    for name, columns in parts.items():
        if carriers >= set(columns):
            continue
        rows = [row for row in own if row["name"] == name]
        if names.get(table.features[columns[0]]) == name:
            made.append(_told(table, name, columns, rows))
        elif _hot(table, columns[0]):
            made.append(_put_together(table, name, columns))
        else:
            made.append(_number(table.x[:, columns[0]], _plain(name), ""))
    return made


def _hot(table: Prepared, column: int) -> bool:
    """Whether a column says that something has a value."""
    return "=" in table.features[column] and bool(np.isin(table.x[:, column], (0, 1)).all())


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _number(values: np.ndarray, name: str, unit: str) -> Feature:
    known, codes = np.unique(values, return_inverse=True)
    return Feature(name, unit, known.tolist(), codes)


def _told(table: Prepared, name: str, columns: list[int], rows: list[dict[str, Any]]) -> Feature:
    """What the table of words says of some columns; a value that it does not name is a number."""
    if not any(row["words"] for row in rows):
        return _number(table.x[:, columns[0]], name, rows[0]["unit"] or "")
    place = {table.features[i]: table.x[:, i] for i in columns}
    found = [(place[r["feature"]] == r["value"], r["words"]) for r in rows if r["feature"] in place]
    other = next((r["words"] for r in rows if not r["feature"]), None)
    if other is None and len(columns) == 1:
        strange = np.unique(place[table.features[columns[0]]][~np.any([f for f, _ in found], 0)])
        found += [(table.x[:, columns[0]] == value, f"{value:g}") for value in strange]
    return _first(found, name, other or "none of those named")


def _put_together(table: Prepared, name: str, columns: list[int]) -> Feature:
    found = [(table.x[:, i] == 1, table.features[i].partition("=")[2]) for i in columns]
    only = found[0][1]
    return _first(found, _plain(name), f"not {only}" if len(found) == 1 else "none of those named")


def _first(found: list[tuple[np.ndarray, str]], name: str, other: str) -> Feature:
    """The words of the first that holds for a person; `other` where none does."""
    codes = np.select([holds for holds, _ in found], range(len(found)), len(found))
    values = [words for _, words in found] + [other]
    used, codes = np.unique(codes, return_inverse=True)
    return Feature(name, "", [values[i] for i in used], codes)
