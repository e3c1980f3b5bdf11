"""Read which training cases are near each other: see `find_neighbours`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import read_columns

#: One row per training case; its neighbours' ids and cosines, nearest first.
NEIGHBOURS = pa.schema(
    [
        ("case_id", pa.string()),
        ("neighbours", pa.list_(pa.string())),
        ("cosines", pa.list_(pa.float64())),
    ]
)

#: Cosines that lie nearer to each other differ by rounding alone.
TIE = 1e-6


def read_neighbours(
    path: Path, case_ids: Sequence[str], train: np.ndarray, *, epsilon: float, unit: str
) -> np.ndarray:
    """Return the near neighbours of cases.

    Parameters
    ----------
    path : path
        Of `find_neighbours`.
    case_ids : sequence of str, length n
        The cases of the training.
    train : array of int64
        The rows of the training cases among them.
    epsilon : float
        The threshold of nearness.
    unit : str
        ``cosine``: cosines above `epsilon` are near; ``quantile``: cosines that reach this
        quantile of the nearest neighbours' cosines.

    Returns
    -------
    array of int64, shape (n, k)
        Rows of near cases, nearest first; -1 where there are no more.

    Raises
    ------
    InputError
        The file is about other cases.
    """
    table = read_columns(path, NEIGHBOURS.names)
    ids, lists, cosines = (table[name].to_pylist() for name in NEIGHBOURS.names)
    if ids != [case_ids[row] for row in train]:
        raise InputError(
            "is not about the cases of the split train",
            file=path,
            remedy="find the neighbours anew in the data set as it is",
        )
    nearest = np.array([near[0] if near else 0.0 for near in cosines])
    border = np.quantile(nearest, epsilon) - TIE if unit == "quantile" else epsilon
    row_of = {case: row for row, case in enumerate(case_ids)}
    neighbours = np.full((len(case_ids), max([1, *map(len, lists)])), -1, dtype=np.int64)
    for row, others, near in zip(train, lists, cosines, strict=True):
        kept = [row_of[case] for case, cosine in zip(others, near, strict=True) if cosine > border]
        neighbours[row, : len(kept)] = kept
    return neighbours
