"""Stage: which training cases are nearest to each other, once for all trainings."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Count, Input, Output
from evenhand.errors import InputError
from evenhand.io.tables import write_table
from evenhand.legal.built import BuiltCases, check_ids
from evenhand.legal.neighbours import NEIGHBOURS

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Cases whose cosines with all others are worked out at once.
CASES = 512

#: Decimals to which cosines are rounded; equal rounded cosines are a tie.
DECIMALS = 9


@stage.checked
def find_neighbours(
    *,
    data: Input,
    out: Output,
    words: Input | None = None,
    embeddings: Input | None = None,
    count: Count = 5,
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
    from sklearn.preprocessing import normalize

    if (words is None) == (embeddings is None):
        raise InputError(
            "cases are compared by words or by embeddings", remedy="give one of them, not both"
        )
    cases = BuiltCases(data)
    case_ids, rows = cases.case_ids, np.flatnonzero(cases.trained)
    if not len(rows):
        raise InputError("has no case with a label in the split train", file=data)
    vectors = _read_weights(words, case_ids) if words else _read_means(embeddings, case_ids)
    vectors = normalize(vectors[rows].astype(np.float64))
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


def _read_weights(path: Path, case_ids: list[str]) -> "csr_matrix":
    """Return the weights of the n-grams of all cases."""
    from evenhand.legal.features import read_features

    stored_ids, matrix = read_features(path)
    check_ids(stored_ids, case_ids, path)
    return matrix


def _read_means(path: Path, case_ids: list[str]) -> np.ndarray:
    """Return the mean vector of all cases; a case without a paragraph has zeros."""
    from evenhand.legal.stores import VectorStore

    store = VectorStore(path)
    check_ids(store.case_ids, case_ids, path)
    cases = (store.case(row).astype(np.float64) for row in range(len(case_ids)))
    return np.stack([case.sum(axis=0) / max(1, len(case)) for case in cases])


if __name__ == "__main__":
    stage.run(find_neighbours)
