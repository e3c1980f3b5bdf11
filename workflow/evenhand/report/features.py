"""Describe individuals in words: the networks' input columns, with one-hot columns combined.

``resources/iifr/feature_words.csv`` has the words for data sets without readable column names, by
the format of the data set. A row gives the ``words`` of the variable ``name`` where the column
``feature`` has this ``value``. A blank feature gives the words where no row applies; a row without
words makes the column a number with that name and ``unit``. Of the other columns, those named
``name=value`` that contain 0 and 1 are combined, and the rest are numbers under their own names.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.numbers import or_nan
from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.tabular.prepared import Prepared

COLUMNS = ["format", "name", "feature", "value", "words", "unit"]
OPTIONAL = ("feature", "value", "words", "unit")


class Feature(NamedTuple):
    """A feature of each person.

    Attributes
    ----------
    name : str
        Its name.
    unit : str
        The unit of a number; or blank.
    values : list of str or of float
        The values that occur: words in the order of the columns, or numbers, ascending.
    codes : array of int64, shape (people,)
        Each person's place in `values`.
    """

    name: str
    unit: str
    values: list[Any]
    codes: np.ndarray


def read_words(path: Path | None) -> list[dict[str, Any]]:
    """Return the rows of ``feature_words.csv``; none without it.

    Raises
    ------
    InputError
        It lacks a column, or a value is no number.
    """
    return read_resource(path, COLUMNS, optional=OPTIONAL, make=_numbered) if path else []


def _numbered(row: dict[str, str]) -> dict[str, Any]:
    if row["value"] and math.isnan(or_nan(row["value"])):
        raise InputError(f"the value {row['value']!r} is no number")
    return row | {"value": or_nan(row["value"])}


def features_of(
    table: Prepared, words: Sequence[dict[str, Any]] = (), format: str = ""
) -> list[Feature]:
    """Return the features that the networks use, in the order of the columns.

    Features whose columns all carry the protected attribute are left out: the group shows it.

    Parameters
    ----------
    table : Prepared
        The people.
    words : sequence of dict
        Of `read_words`.
    format : str
        The format of the data set; rows of other formats are ignored.
    """
    listed = [row for row in words if row["format"] == format]
    place = {name: i for i, name in enumerate(table.features)}
    names = {row["feature"]: row["name"] for row in listed if row["feature"] in place}
    parts: dict[str, list[int]] = {}
    for i, column in enumerate(table.features):
        prefix = column.partition("=")[0]
        parts.setdefault(names.get(column) or (prefix if _hot(table, i) else column), []).append(i)
    carriers = set(table.attribute_columns)
    made = []
    for name, columns in parts.items():
        if carriers >= set(columns):
            continue
        rows = [row for row in listed if row["name"] == name]
        if names.get(table.features[columns[0]]) == name:
            made.append(_describe(table, name, columns, rows))
        elif _hot(table, columns[0]):
            made.append(_put_together(table, name, columns))
        else:
            made.append(_number(table.x[:, columns[0]], _plain(name), ""))
    return made


def _hot(table: Prepared, column: int) -> bool:
    """Return whether a column is one-hot: named ``name=value``, with values 0 and 1."""
    return "=" in table.features[column] and bool(np.isin(table.x[:, column], (0, 1)).all())


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _number(values: np.ndarray, name: str, unit: str) -> Feature:
    known, codes = np.unique(values, return_inverse=True)
    return Feature(name, unit, known.tolist(), codes)


def _describe(
    table: Prepared, name: str, columns: list[int], rows: list[dict[str, Any]]
) -> Feature:
    """Return a feature in the words of the table; a value without words is a number."""
    if not any(row["words"] for row in rows):
        return _number(table.x[:, columns[0]], name, rows[0]["unit"])
    place = {table.features[i]: table.x[:, i] for i in columns}
    masks = [(place[r["feature"]] == r["value"], r["words"]) for r in rows if r["feature"] in place]
    other = next((r["words"] for r in rows if not r["feature"]), None)
    if other is None and len(columns) == 1:
        unnamed = np.unique(place[table.features[columns[0]]][~np.any([f for f, _ in masks], 0)])
        masks += [(table.x[:, columns[0]] == value, f"{value:g}") for value in unnamed]
    return _first(masks, name, other or "none of those named")


def _put_together(table: Prepared, name: str, columns: list[int]) -> Feature:
    masks = [(table.x[:, i] == 1, table.features[i].partition("=")[2]) for i in columns]
    only = masks[0][1]
    return _first(masks, _plain(name), f"not {only}" if len(masks) == 1 else "none of those named")


def _first(masks: list[tuple[np.ndarray, str]], name: str, other: str) -> Feature:
    """Return a feature with the words of the first condition that holds, else `other`."""
    codes = np.select([holds for holds, _ in masks], range(len(masks)), len(masks))
    values = [words for _, words in masks] + [other]
    used, codes = np.unique(codes, return_inverse=True)
    return Feature(name, "", [values[i] for i in used], codes)
