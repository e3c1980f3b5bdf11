"""Stage: which training cases are nearest to each other, once for all trainings; and its reader."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.core.stage import Count, Input, Output, checked
from evenhand.errors import InputError
from evenhand.io.tables import read_columns, schema_of, write_table
from evenhand.legal.built import BuiltCases, check_ids
from evenhand.legal.features import read_features
from evenhand.legal.stores import VectorStore

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Cases whose cosines with all others are worked out at once.
CASES = 512

#: Decimals to which cosines are rounded; equal rounded cosines are a tie.
DECIMALS = 9

#: One row per training case; its neighbours' ids and cosines, nearest first.
NEIGHBOURS = schema_of(
    case_id="string", neighbours=pa.list_(pa.string()), cosines=pa.list_(pa.float64())
)

#: Cosines that lie nearer to each other differ by rounding alone.
TIE = 1e-6


@checked
def find_neighbours(
    *, data: Input, out: Output, features: Input, count: Count = 5
) -> dict[str, Any]:
    """Find the nearest training cases of each training case by cosine: exactly, all with all.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        Parquet, a row per training case with a known label: `NEIGHBOURS`. The
        nearest come first; of equally near ones (to `DECIMALS`), the first in the data set.
        Cases with a cosine of 0 or below are not neighbours.
    features : path
        Of `fit_tfidf`: cosines of weighted n-grams. Of `embed_paragraphs`: cosines of the means of
        the paragraphs' vectors.
    count : int
        Neighbours of a case, at most.

    Returns
    -------
    dict
        cases, neighbours (in all), alone (cases without one), median (of the cosines of the
        nearest).

    Raises
    ------
    InputError
        The features are about other cases, or no training case has a known label.
    """
    from sklearn.preprocessing import normalize

    cases = BuiltCases(data)
    case_ids, rows = cases.case_ids, np.flatnonzero(cases.trained)
    if not len(rows):
        raise InputError("has no case with a label in the split train", file=data)
    vectors = normalize(_read_vectors(features, case_ids)[rows].astype(np.float64))
    ids = [case_ids[row] for row in rows]
    table = [
        {
            "case_id": case_id,
            "neighbours": [ids[place] for place in places],
            "cosines": cosines.tolist(),
        }
        for case_id, (places, cosines) in zip(ids, _nearest(vectors, count), strict=True)
    ]
    write_table(out, NEIGHBOURS, table)
    nearest = [row["cosines"][0] if row["cosines"] else 0.0 for row in table]
    return {
        "cases": len(rows),
        "neighbours": sum(len(row["neighbours"]) for row in table),
        "alone": nearest.count(0.0),
        "median": round(float(np.median(nearest)), 6),
    }


def _nearest(
    vectors: "csr_matrix | np.ndarray", count: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each row the places of its nearest others, and their cosines, rounded."""
    for first in range(0, vectors.shape[0], CASES):
        block = vectors[first : first + CASES] @ vectors.T
        block = np.round(block.toarray() if hasattr(block, "toarray") else block, DECIMALS)
        for place, cosines in enumerate(block, first):
            cosines[place] = 0.0  # a case is not its own neighbour
            order = np.argsort(-cosines, kind="stable")[:count]
            order = order[cosines[order] > 0]
            yield order, np.minimum(cosines[order], 1.0)


def _read_vectors(path: Path, case_ids: list[str]) -> "csr_matrix | np.ndarray":
    """Return the n-grams' weights, or the mean vector, of all cases; zeros without a paragraph."""
    with pa.memory_map(str(path)) as stream, pa.ipc.open_file(stream) as file:
        is_words = "weights" in file.schema.names
    if is_words:
        stored_ids, vectors = read_features(path)
    else:
        store = VectorStore(path)
        stored_ids = store.case_ids
        cases = (store.case(row).astype(np.float64) for row in range(len(stored_ids)))
        vectors = np.stack([case.sum(axis=0) / max(1, len(case)) for case in cases])
    check_ids(stored_ids, case_ids, path)
    return vectors


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
        remedy = "find the neighbours anew in the data set as it is"
        raise InputError("is not about the cases of the split train", file=path, remedy=remedy)
    nearest = np.array([near[0] if near else 0.0 for near in cosines])
    border = np.quantile(nearest, epsilon) - TIE if unit == "quantile" else epsilon
    row_of = {case: row for row, case in enumerate(case_ids)}
    neighbours = np.full((len(case_ids), max([1, *map(len, lists)])), -1, dtype=np.int64)
    for row, others, near in zip(train, lists, cosines, strict=True):
        kept = [row_of[case] for case, cosine in zip(others, near, strict=True) if cosine > border]
        neighbours[row, : len(kept)] = kept
    return neighbours
