"""A table for training: features, a label, an attribute that can be flipped, and its splits.

It has two files: `data.parquet`, a row per person, and `data.json`, a description of the columns.
The column ``row`` there, and in the predictions, is the row of the source file, counted from 0
below its header; the rows of a further file continue those of the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.numbers import check_group_count
from evenhand.errors import InputError
from evenhand.io.documents import read_description, write_json
from evenhand.io.tables import FORM, count_rows, read_columns
from evenhand.text.phrases import plural

#: The columns of `data.parquet` that are not features.
FIXED = ("row", "label", "attribute", "official_split")

#: Name prefix of the columns of an integer encoding (used by EIDIG's own track).
INTEGER = "int:"

#: The fields of `Prepared` that `data.json` contains.
RECORD = (
    *("name", "features", "attribute_name", "attribute_values", "attribute_columns"),
    *("attribute_codes", "scale", "test_share", "integer_features", "integer_protected", "meta"),
)

#: A column with a smaller standard deviation is constant.
LEAST_DEVIATION = 1e-8


@dataclass(frozen=True)
class Prepared:
    """A table ready for training.

    Attributes
    ----------
    name : str
        The name of the data set.
    x : array of float64, shape (n, d)
        The features, not scaled.
    y : array of int8, shape (n,)
        The label, 0 or 1.
    a : array of int16, shape (n,)
        The protected attribute as a code: a position in `attribute_values`.
    official : array of str or None, shape (n,)
        The part of the official split (train, test), if there is one.
    features : list of str
        The names of the features.
    attribute_name : str
        The name of the attribute (sex, race, age).
    attribute_values : list of str
        The names of its values, by code; at least two.
    attribute_columns : list of int
        The features that carry the attribute.
    attribute_codes : array of float64, shape (values, len(attribute_columns))
        The values of these features for each attribute value, not scaled.
    scale : str
        ``standard``: features are standardised by the training rows; ``none``: not scaled.
    test_share : float
        The share of test rows in a random split.
    meta : dict
        The rest of `data.json`: title, meaning of the label, exclusions, notes.
    integers : array of int32, shape (n, m), or None
        An integer encoding of the same rows.
    integer_features, integer_protected : list
        Its column names, and the indices of its protected columns.
    kept : array of int64, shape (n,), or None
        The rows of the source that were kept, ascending, from 0; None: all.
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
    kept: np.ndarray | None = None

    @property
    def row(self) -> np.ndarray:
        """The row of the source of each person, ascending, from 0."""
        return np.arange(len(self.y)) if self.kept is None else self.kept


def flip(table: Prepared, x: np.ndarray, code: int) -> np.ndarray:
    """Return counterfactual rows with another value of the attribute.

    Parameters
    ----------
    table : Prepared
        The table of `x`.
    x : array of float64, shape (n, d)
        Features, not scaled.
    code : int
        The attribute value of all returned rows.

    Returns
    -------
    array of float64, shape (n, d)
        A copy, changed in `attribute_columns` only. Other columns that depend on the attribute
        (COMPAS: the dummies of the other races) are not changed.
    """
    flipped = x.copy()
    flipped[:, table.attribute_columns] = table.attribute_codes[code]
    return flipped


def with_integer_groups(table: Prepared) -> tuple[Prepared, np.ndarray]:
    """Return a table with the groups of its integer encoding, the input of EIDIG's own networks.

    Parameters
    ----------
    table : Prepared
        A table with an integer encoding of its attribute.

    Returns
    -------
    (Prepared, array of int32, shape (values,))
        The table with `a` and `attribute_values` of these groups, in the order of their integers
        (unnamed groups are numbered), and otherwise unchanged; and the integer of each group.

    Raises
    ------
    InputError
        The table has no integers for its attribute, or their number differs from that of the group
        names: an empty group would shift the names of the following ones.
    """
    if table.integers is None or table.attribute_name not in table.integer_features:
        raise InputError(
            f"{table.name} has no whole numbers for {table.attribute_name}, as EIDIG needs them",
            remedy="use the track base",
        )
    integers = table.integers[:, table.integer_features.index(table.attribute_name)]
    values, codes = np.unique(integers, return_inverse=True)
    names = [str(name) for name in table.meta.get("integer_groups") or range(len(values))]
    if len(names) != len(values):
        raise InputError(
            f"the whole numbers for {table.attribute_name} make {plural(len(values), 'group')} of "
            f"{table.name}, which names {len(names)} ({', '.join(names)})",
            remedy="use the track base, or people of each group",
        )
    return replace(table, a=codes.astype(np.int16), attribute_values=names), values


def standardise(train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return `train` and each of `others`, standardised by the mean and population sd of `train`.

    A column that is constant in the training rows becomes zero in all: it has no effect on
    training, and other values (a category of test rows only) would be divided by almost zero.
    """
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    constant = (train.max(axis=0) == train.min(axis=0)) | (deviation < LEAST_DEVIATION)
    deviation = np.where(constant, 1.0, deviation)
    return tuple(np.where(constant, 0.0, (x - mean) / deviation) for x in (train, *others))


def scaled(table: Prepared, train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return `train` and the others, scaled by the table's `scale`."""
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
        "row": pa.array(table.row, pa.int64()),
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
    record = {"name": table.name, "rows": rows}
    record |= {name: getattr(table, name) for name in RECORD}
    write_json(meta, record | {"attribute_codes": table.attribute_codes.tolist()})


def read_prepared(data: Path, meta: Path) -> Prepared:
    """Read the two files of `prepare_table`.

    Raises
    ------
    InputError
        The files are not from `prepare_table`, or do not belong together.
    """
    record = read_description(meta, {"rows", *RECORD}, "prepare_table")
    features, integers = record["features"], record["integer_features"]
    columns = [*FIXED, *features, *(INTEGER + name for name in integers)]
    count_rows(data, columns, remedy=f"give the table that {meta} was written with")
    rows = read_columns(data)

    def matrix(names: Sequence[str], dtype: type) -> np.ndarray:
        return np.column_stack([rows[name].to_numpy().astype(dtype) for name in names])

    official = rows["official_split"].to_pylist()
    described = {name: record[name] for name in RECORD}
    described["attribute_codes"] = np.array(record["attribute_codes"], dtype=np.float64)
    return Prepared(
        **described,
        x=matrix(features, np.float64),
        y=rows["label"].to_numpy(),
        a=rows["attribute"].to_numpy(),
        official=np.array(official) if any(official) else None,
        integers=matrix([INTEGER + name for name in integers], np.int32) if integers else None,
        kept=rows["row"].to_numpy(),
    )


def check(table: Prepared) -> None:
    """Reject a table that cannot be trained or evaluated on.

    Raises
    ------
    InputError
        Two features have the same name, or a feature has the name of another column or is not
        finite, the label has other values than 0 and 1, or only one of them, fewer than two
        values of the attribute occur.
    """
    name = table.meta.get("title", table.name)
    for feature in table.features:
        if feature in FIXED or feature.startswith(INTEGER) or table.features.count(feature) > 1:
            problem = f"{name}: no feature can be called {feature!r}, as a column made here is"
            raise InputError(problem, remedy="rename it, or leave it out of the features")
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
    present = [table.attribute_values[code] for code in sorted(set(table.a.tolist()))]
    check_group_count(f"{table.attribute_name} of {name}", present, len(table.a), None)


class Split(NamedTuple):
    """Training and test rows, ascending.

    Attributes
    ----------
    train, test : array of int
    problem : str or None
        Why the split is unusable: a part lacks a group or a label.
    """

    train: np.ndarray
    test: np.ndarray
    problem: str | None


def make_split(table: Prepared, seed: int, kind: str = "random", *others: Prepared) -> Split:
    """Return a split of a table.

    Parameters
    ----------
    table : Prepared
        The table.
    seed : int
        Seed of a random split.
    kind : str
        ``random``: not stratified, with ``round(test_share * n)`` test rows, and copies of a row
        in the same part (but for those at the border of the parts) where the format counted
        ``copies``; or ``official``, the same for all seeds.
    others : Prepared
        The same rows with other groups, which both parts must have too.

    Raises
    ------
    InputError
        There is no official split.
    """
    if kind == "official":
        if table.official is None:
            raise InputError(f"{table.name} has no official split", remedy="use a random one")
        train, test = (np.flatnonzero(table.official == part) for part in ("train", "test"))
        which = "that is given"
    else:
        order = np.random.default_rng(seed).permutation(len(table.y))
        if table.meta.get("copies"):
            order = _with_copies(order, np.column_stack([table.x, table.y]))
        size = round(table.test_share * len(table.y))
        train, test = np.sort(order[size:]), np.sort(order[:size])
        which = f"of seed {seed}"
    for some in (table, *others):
        for part, rows in (("training", train), ("test", test)):
            problem = f"the {part} part of the split {which} has"
            if missing := sorted({*some.a.tolist()} - {*some.a[rows].tolist()}):
                value = some.attribute_values[missing[0]]
                return Split(train, test, f"{problem} no row with {some.attribute_name} = {value}")
            if len({*some.y[rows].tolist()}) < 2:
                return Split(train, test, f"{problem} one label only")
    return Split(train, test, None)


def _with_copies(order: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the order with the copies of each row behind its first one."""
    _, first, codes = np.unique(rows[order], axis=0, return_index=True, return_inverse=True)
    return order[np.argsort(first[codes.ravel()], kind="stable")]


def make_splits(
    table: Prepared, seeds: Iterable[int], kind: str = "random", *others: Prepared
) -> dict[int, Split]:
    """Return the split of each seed; see `make_split`.

    Raises
    ------
    InputError
        None of them is usable.
    """
    splits = {seed: make_split(table, seed, kind, *others) for seed in seeds}
    problems = [split.problem for split in splits.values()]
    if all(problems):
        others_held_out = "other rows" if kind == "official" else "another share"
        problem = f"{table.meta.get('title', table.name)}: {problems[0]}"
        raise InputError(problem, remedy=f"join small groups, or hold out {others_held_out}")
    return splits
