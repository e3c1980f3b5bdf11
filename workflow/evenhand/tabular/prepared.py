"""A table made ready for training: numbers, a label, a protected attribute, and how to flip it.

It lies in two files: `data.parquet`, a row a person, and `data.json`, what the columns mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.io.documents import read_description, write_json
from evenhand.io.tables import FORM, count_rows, read_columns

#: The columns of `data.parquet` that are no features.
FIXED = ("row", "label", "attribute", "official_split")

#: How the columns of another encoding, of whole numbers, begin (EIDIG's own track needs it).
INTEGER = "int:"

#: What `data.json` has.
RECORD = {
    *("name", "rows", "features", "attribute_name", "attribute_values", "attribute_columns"),
    *("attribute_codes", "scale", "test_share", "integer_features", "integer_protected", "meta"),
}

#: A column whose deviation is below this is constant.
LEAST_DEVIATION = 1e-8

#: How features can be scaled.
SCALES = ("standard", "none")


@dataclass(frozen=True)
class Prepared:
    """A table ready for training.

    Attributes
    ----------
    name : str
        What the data set is called.
    x : array of float64, shape (n, d)
        The features, not scaled.
    y : array of int8, shape (n,)
        The label, 0 or 1.
    a : array of int16, shape (n,)
        The protected attribute as a code: a position in `attribute_values`.
    official : array of str or None, shape (n,)
        Which part of an official split a row belongs to (train, test), if there is one.
    features : list of str
        The names of the features.
    attribute_name : str
        What the attribute is (sex, race, age).
    attribute_values : list of str
        The names of its values, by code; at least two.
    attribute_columns : list of int
        The features that carry the attribute.
    attribute_codes : array of float64, shape (values, len(attribute_columns))
        What these features are for each value, not scaled.
    scale : str
        ``standard``: every feature is standardised by the training rows; ``none``: as it is.
    test_share : float
        The share of the rows that is held out in a random split.
    meta : dict
        The rest of `data.json`: title, meaning of the label, exclusions, notes.
    integers : array of int32, shape (n, m), or None
        Another encoding of the same rows.
    integer_features, integer_protected : list
        Its names, and which of its columns are protected.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    features: list[str]
    attribute_name: str
    attribute_values: list[str]
    attribute_columns: list[int]
    attribute_codes: np.ndarray
    scale: str
    test_share: float
    official: np.ndarray | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    integers: np.ndarray | None = None
    integer_features: list[str] = field(default_factory=list)
    integer_protected: list[int] = field(default_factory=list)


def flip(table: Prepared, x: np.ndarray, code: int) -> np.ndarray:
    """The same people with another value of the attribute.

    Parameters
    ----------
    table : Prepared
        Where `x` comes from.
    x : array of float64, shape (n, d)
        Features, not scaled.
    code : int
        The value that all of them get.

    Returns
    -------
    array of float64, shape (n, d)
        A copy, changed in `attribute_columns` only. Where other columns depend on the
        attribute (COMPAS: the dummies of the other races), they stay as they are.
    """
    flipped = x.copy()
    flipped[:, table.attribute_columns] = table.attribute_codes[code]
    return flipped


def standardise(train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Subtract the training rows' mean and divide by their standard deviation (population).

    Returns `train` and each of `others`, scaled. A column that is constant in the training rows
    becomes zero in all: nothing was learned of it, and what differs elsewhere (a category that
    only a person held out has) would be divided by almost nothing.
    """
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    constant = (train.max(axis=0) == train.min(axis=0)) | (deviation < LEAST_DEVIATION)
    deviation = np.where(constant, 1.0, deviation)
    return tuple(np.where(constant, 0.0, (x - mean) / deviation) for x in (train, *others))


def scaled(table: Prepared, train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """`train` and the others as the table's `scale` wants them."""
    if table.scale == "standard":
        return standardise(train, *others)
    return (train, *others)


def write_prepared(table: Prepared, data: Path, meta: Path) -> None:
    """Write the two files, after `check`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check(table)
    rows = len(table.y)
    columns: dict[str, Any] = {
        "row": pa.array(np.arange(rows), pa.int64()),
        "label": pa.array(table.y, pa.int8()),
        "attribute": pa.array(table.a, pa.int16()),
        "official_split": pa.array(
            [None] * rows if table.official is None else list(table.official), pa.string()
        ),
    }
    columns |= {name: table.x[:, i] for i, name in enumerate(table.features)}
    if table.integers is not None:
        columns |= {
            INTEGER + name: pa.array(table.integers[:, i], pa.int32())
            for i, name in enumerate(table.integer_features)
        }
    pq.write_table(pa.table(columns), data, **FORM)
    record = {
        "name": table.name,
        "rows": rows,
        "features": table.features,
        "attribute_name": table.attribute_name,
        "attribute_values": table.attribute_values,
        "attribute_columns": table.attribute_columns,
        "attribute_codes": table.attribute_codes.tolist(),
        "scale": table.scale,
        "test_share": table.test_share,
        "integer_features": table.integer_features,
        "integer_protected": table.integer_protected,
        "meta": table.meta,
    }
    write_json(meta, record)


def read_prepared(data: Path, meta: Path) -> Prepared:
    """Read the two files of `prepare_table`.

    Raises
    ------
    InputError
        They are not what `prepare_table` writes, or do not belong together.
    """
    record = read_description(meta, RECORD, "prepare_table")
    features, integers = record["features"], record["integer_features"]
    wanted = [*FIXED, *features, *(INTEGER + name for name in integers)]
    count_rows(data, wanted, remedy=f"give the table that {meta} was written with")
    rows = read_columns(data)

    def matrix(names: Sequence[str], dtype: type) -> np.ndarray:
        return np.column_stack([rows[name].to_numpy().astype(dtype) for name in names])

    official = rows["official_split"].to_pylist()
    return Prepared(
        name=record["name"],
        x=matrix(features, np.float64),
        y=rows["label"].to_numpy(),
        a=rows["attribute"].to_numpy(),
        features=features,
        attribute_name=record["attribute_name"],
        attribute_values=record["attribute_values"],
        attribute_columns=record["attribute_columns"],
        attribute_codes=np.array(record["attribute_codes"], dtype=np.float64),
        scale=record["scale"],
        test_share=record["test_share"],
        official=np.array(official) if any(official) else None,
        meta=record["meta"],
        integers=matrix([INTEGER + name for name in integers], np.int32) if integers else None,
        integer_features=integers,
        integer_protected=record["integer_protected"],
    )


def check(table: Prepared) -> None:
    """Stop at a table that nothing can be learned or measured on.

    Raises
    ------
    InputError
        Two features have one name, or one has the name of another column, a feature is not
        finite, the label has other values than 0 and 1, or only one of them, the attribute has
        fewer than two values that occur, or the scale is unknown.
    """
    name = table.name
    if table.scale not in SCALES:
        raise InputError(f"{name}: the scale is {table.scale!r}, not one of {', '.join(SCALES)}")
    for feature in table.features:
        if feature in FIXED or feature.startswith(INTEGER) or table.features.count(feature) > 1:
            raise InputError(
                f"{name}: a feature cannot be called {feature!r}, since another column is",
                remedy="rename it, or leave it out of the features",
            )
    bad = ~np.isfinite(table.x)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{name}: {int(bad.any(axis=1).sum())} rows have features that are no numbers, the"
            f" first is {table.features[column]} in row {row + 1}",
            remedy="drop or fill them",
        )
    labels = sorted(set(table.y.tolist()))
    if labels != [0, 1]:
        raise InputError(
            f"{name}: the label has the values {', '.join(map(str, labels))}; it needs 0 and 1"
        )
    present = sorted(set(table.a.tolist()))
    if len(present) < 2:
        value = table.attribute_values[present[0]] if present else "none"
        raise InputError(
            f"{name}: the attribute {table.attribute_name} has one value only ({value}), so there"
            " are no groups to compare"
        )
