"""Pairs of cases that an objective compares.

An objective with the option ``pairs`` can request two kinds: ``counterfactual``, each case and its
text with swapped words, and ``graph``, each case and a neighbour that is known before the training.
For the first, the training also runs the model on the swapped texts; for the second, batches keep
neighbours together (`evenhand.learning.sampling`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import InputError

#: Values of the option ``pairs`` for which the training has to provide the pairs.
COUNTERFACTUAL, GRAPH = "counterfactual", "graph"

#: For messages: a pair of each kind, several of them, and their source.
_WORDS = {
    COUNTERFACTUAL: ("counterfactual", "counterfactuals", "was made of their texts"),
    GRAPH: ("near neighbour", "neighbours", "find_neighbours wrote"),
}


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The counterfactuals and neighbours of n cases.

    Attributes
    ----------
    swapped : array of bool, shape (n,), or None
        Whether a case has a counterfactual that differs from it.
    neighbours : array of int64, shape (n, k), or None
        Rows of the nearest cases, nearest first; -1 after the last.
    """

    swapped: np.ndarray | None = None
    neighbours: np.ndarray | None = None

    def used(self, options: Mapping[str, Any]) -> np.ndarray | None:
        """Return the array that these options use; None if they use none."""
        return {COUNTERFACTUAL: self.swapped, GRAPH: self.neighbours}.get(kind_of_pairs(options))

    def digest(self, options: Mapping[str, Any]) -> str | None:
        """Return the SHA-256 digest of the pairs that these options use; None if they use none."""
        if (used := self.used(options)) is None:
            return None
        return hashlib.sha256(np.ascontiguousarray(used, dtype=np.int64).data).hexdigest()


def kind_of_pairs(options: Mapping[str, Any]) -> str | None:
    """Return `COUNTERFACTUAL` or `GRAPH` if these options need such pairs, else None."""
    pairs = options.get("pairs")
    return pairs if pairs in (COUNTERFACTUAL, GRAPH) else None


def check_pairs(options: Mapping[str, Any], pairs: Pairs, train: np.ndarray) -> list[str]:
    """Reject a training without the pairs that it needs, and warn if none is in the training split.

    Parameters
    ----------
    options : mapping
        The objective's options.
    pairs : Pairs
        The available pairs.
    train : array of int64
        The training rows.

    Returns
    -------
    list of str
        A warning, if no training case has a pair.

    Raises
    ------
    InputError
        The objective needs counterfactuals or neighbours, and there are none.
    """
    kind = kind_of_pairs(options)
    if kind is None:
        return []
    used, (pair, several, source) = pairs.used(options), _WORDS[kind]
    if used is None:
        problem = f"the option pairs={kind} needs the cases' {several}"
        raise InputError(problem, remedy=f"give what {source}, or choose pairs=cosine")
    if (used[train] if kind == COUNTERFACTUAL else used[train] >= 0).any():
        return []
    return [f"no case of the split train has a {pair}: the objective has no pairs"]


def among(rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the neighbours of rows as indices into these rows: int64, (rows, k); -1: not there."""
    place = np.full(len(neighbours) + 1, -1, dtype=np.int64)  # the last one for -1
    place[rows] = np.arange(len(rows))
    return place[neighbours[rows]]


def partners(rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the position in the batch of each case's nearest neighbour.

    Parameters
    ----------
    rows : array of int64, shape (..., n)
        Batches.
    neighbours : array of int64, shape (cases, k)
        The neighbours, as in `Pairs`.

    Returns
    -------
    array of int64, shape (..., n)
        The position of the first listed neighbour in the batch; -1 if the batch holds none.
    """
    here = neighbours[rows][..., None] == rows[..., None, None, :]  # (..., n, k, n)
    nearest = here.any(axis=-1).argmax(axis=-1)
    of_nearest = np.take_along_axis(here, nearest[..., None, None], axis=-2)[..., 0, :]
    return np.where(of_nearest.any(axis=-1), of_nearest.argmax(axis=-1), -1)
