"""Stage: find the training cases nearest to each other, once for all trainings."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import write_table
from evenhand.legal.built import check_ids, read_cases_table, read_labels, read_splits
from evenhand.legal.declaration import read_dataset
from evenhand.legal.neighbours import NEIGHBOURS

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Cases whose cosines with all others are worked out at once.
CASES = 512

#: Decimals to which cosines are rounded; equal rounded cosines are a tie.
DECIMALS = 9


def find_neighbours(
    *,
    data: Input,
    out: Output,
    words: Input | None = None,
    embeddings: Input | None = None,
    count: int = 5,
) -> dict[str, Any]:
    """Find the nearest training cases of each training case by cosine: exactly, all with all.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    out : path
        Parquet, a row per training case with a known label: `evenhand.legal.neighbours`. The
        nearest come first; of equally near ones (to `DECIMALS`), the first in the data set.
        Cases with a cosine of 0 or below are not neighbours.
    words : path, optional
        Of `fit_tfidf`: cosines of weighted n-grams.
    embeddings : path, optional
        Of `embed_paragraphs`: cosines of the means of the paragraphs' vectors. Either this or
        `words`.
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
        There are both or neither of the two, they are about other cases, or no training case has
        a known label.
    """
    if (words is None) == (embeddings is None):
        raise InputError(
            "cases are compared by words or by embeddings", remedy="give one of them, not both"
        )
    if count < 1:
        raise InputError(f"count is {count}, and must be at least 1")
    known, _ = read_labels(data, read_dataset(data))
    rows = np.flatnonzero(known & (read_splits(data) == "train"))
    if not len(rows):
        raise InputError("has no case with a label in the split train", file=data)
    ids = read_cases_table(data, ["case_id"])["case_id"].to_pylist()
    vectors = _weights(words, ids, rows) if words else _means(embeddings, ids, rows)
    nearest: list[float] = []
    total = 0

    def table() -> Iterator[dict[str, Any]]:
        nonlocal total
        for row, (places, cosines) in zip(rows, _nearest(vectors, count), strict=True):
            nearest.append(float(cosines[0]) if len(cosines) else 0.0)
            total += len(places)
            yield {
                "case_id": ids[row],
                "neighbours": [ids[rows[place]] for place in places],
                "cosines": cosines.tolist(),
            }

    write_table(out, NEIGHBOURS, table())
    return {
        "cases": len(rows),
        "neighbours": total,
        "alone": nearest.count(0.0),
        "median": round(float(np.median(nearest)), 6),
    }


def _nearest(
    vectors: "csr_matrix | np.ndarray", count: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each row its nearest others, and their cosines, rounded."""
    number = vectors.shape[0]
    for first in range(0, number, CASES):
        block = vectors[first : first + CASES] @ vectors.T
        block = np.asarray(block.todense() if hasattr(block, "todense") else block)
        block = np.round(block, DECIMALS)
        for place, row in enumerate(block):
            row[first + place] = 0.0  # no case is its own neighbour
            order = np.argsort(-row, kind="stable")[:count]
            order = order[row[order] > 0]
            yield order, np.minimum(row[order], 1.0)


def _weights(path: Path, ids: list[str], rows: np.ndarray) -> "csr_matrix":
    """Return the cases' n-grams, in float64; rows of length 1 or 0."""
    from sklearn.preprocessing import normalize

    from evenhand.legal.features import read_features

    case_ids, matrix = read_features(path)
    check_ids(case_ids, ids, path)
    return normalize(matrix[rows].astype(np.float64))


def _means(path: Path, ids: list[str], rows: np.ndarray) -> np.ndarray:
    """Return the means of the cases' vectors, of length 1 or, without a paragraph, 0."""
    from sklearn.preprocessing import normalize

    from evenhand.legal.vectors import VectorStore

    store = VectorStore(path)
    check_ids(store.case_ids, ids, path)
    vectors = (store.case(int(row)).astype(np.float64) for row in rows)
    return normalize(np.stack([case.sum(axis=0) / max(len(case), 1) for case in vectors]))


if __name__ == "__main__":
    stage.run(find_neighbours)
