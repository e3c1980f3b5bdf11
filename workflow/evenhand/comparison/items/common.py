"""The items behind a number, and their alignment between two runs.

A module of this package reads the items of the numbers whose declaration names it.
Its class ``Store(results, table)`` takes `evenhand.comparison.results.Results` and the path of a
table in it. Its method ``items(key, column)`` returns the items behind this number of the row with
these keys, or None where they are unknown.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pandas import factorize

from evenhand.comparison.results import Results
from evenhand.io.tables import read_columns, read_table_schema


class Items(NamedTuple):
    """The items behind one number of one run: a mean or a share.

    Attributes
    ----------
    name : array of str, shape (n,)
        Identifiers, the same in all runs.
    cluster : array of str, shape (n,), (n, 2) or (n, 3)
        The cluster of each, as in `evenhand.metrics.inference.total`.
    value : array of float, shape (n,)
        The number is the mean of these.
    runs : array of float, shape (trainings,)
        The number of each training that it is a mean over; empty without several.
    part : array of str, shape (n,)
        The part of each, of a number that compares the means of parts; empty of others.
    slope : array of float, shape (n,)
        By how much the number rises with the mean of each item's part; empty without parts.
    """

    name: np.ndarray
    cluster: np.ndarray
    value: np.ndarray
    runs: np.ndarray = np.empty(0)
    part: np.ndarray = np.empty(0, dtype=str)
    slope: np.ndarray = np.empty(0)


def audit_folder(results: Results, table: str) -> Path:
    """Return the folder of an audit's cases: of ``tables/predictions/{name}/….csv``."""
    return results.folder / "predictions" / Path(table).parent.name


def cases_of_audit(folder: Path, columns: Sequence[str]) -> pa.Table | None:
    """Return columns of an audit's cases; None where they lack a column, or there are none."""
    cases = folder / "cases.parquet"
    if not cases.is_file() or not {*columns} <= {*read_table_schema(cases).names}:
        return None
    return read_columns(cases, columns)


def difference(items: Items | None, others: Items | None, noise: float = 0.0) -> Items | None:
    """Return the items of a difference of two numbers of a run, less a noise; both have all items.

    None where either is unknown, or they are means over unlike numbers of trainings.
    """
    if items is None or others is None or len(items.runs) != len(others.runs):
        return None
    values, runs = items.value - others.value - noise, items.runs - others.runs - noise
    slopes = np.maximum(np.abs(items.slope), np.abs(others.slope))
    return items._replace(value=values, runs=runs, slope=slopes)


def side_by_side(base: Items, head: Items) -> tuple[np.ndarray, ...]:
    """Align the items of two runs.

    Returns
    -------
    (array of float, array of float, array of int, array of int, array of float)
        Contributions to numerators and denominators, shape (n, 2), zero for an item that a run
        lacks; the clusters; and the part and the slope of each item, empty without parts. An item
        that changed its cluster or its part counts as two.
    """
    columns = 1 if base.cluster.ndim == 1 else base.cluster.shape[1]
    labels = np.concatenate([each.cluster.reshape(-1, columns) for each in (base, head)])
    # in sorted order, so that the order of the items does not matter
    codes = factorize(labels.ravel(), sort=True)[0].reshape(labels.shape)
    place = factorize(np.concatenate([base.name, head.name]))[0]
    parts, slopes = (np.concatenate(each) for each in zip(base[4:], head[4:], strict=True))
    parts = factorize(parts, sort=True)[0]
    for column in [*codes.T, *([parts] if len(parts) else [])]:
        place = np.unique(place * (column.max() + 1) + column, return_inverse=True)[1]
    first = np.unique(place, return_index=True)[1]
    sums = [
        [np.bincount(rows, weights=values, minlength=len(first)) for values in (items.value, None)]
        for items, rows in zip((base, head), np.split(place, [len(base.name)]), strict=True)
    ]
    above, below = (np.stack(each, axis=1).astype(float) for each in zip(*sums, strict=True))
    clusters = codes[first].reshape(len(first), *base.cluster.shape[1:])
    if not len(parts):
        return above, below, clusters, parts, slopes
    slopes = np.bincount(place, slopes) / np.bincount(place)
    return above, below, clusters, parts[first], slopes
