"""Pairs of cases that an objective compares, as a training hands them out batch by batch.

An objective with the option ``pairs`` may ask for two kinds: ``counterfactual``, each case with the
same text with swapped words, and ``graph``, each case with a neighbour that is known before the
training. For the first a training runs its model over the swapped texts too; for the second its
batches hold neighbours together (`evenhand.learning.sampling`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import InputError

#: What the option ``pairs`` can be for which a training has to give something.
COUNTERFACTUAL, GRAPH = "counterfactual", "graph"


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """What is known of the pairs of n cases.

    Attributes
    ----------
    swapped : array of bool, shape (n,), or None
        Who has a counterfactual that differs.
    neighbours : array of int64, shape (n, k), or None
        Rows of the nearest cases, nearest first; -1 where there are no more.
    """

    swapped: np.ndarray | None = None
    neighbours: np.ndarray | None = None

    def digest(self, options: Mapping[str, Any]) -> str | None:
        """Of what a training with these options depends on; None if on nothing here."""
        used = {COUNTERFACTUAL: self.swapped, GRAPH: self.neighbours}.get(asked_for(options))
        if used is None:
            return None
        return hashlib.sha256(np.ascontiguousarray(used, dtype=np.int64).data).hexdigest()


def asked_for(options: Mapping[str, Any]) -> str | None:
    """`COUNTERFACTUAL` or `GRAPH`, if an objective with these options needs such pairs."""
    pairs = options.get("pairs")
    return pairs if pairs in (COUNTERFACTUAL, GRAPH) else None


def check_pairs(options: Mapping[str, Any], pairs: Pairs, train: np.ndarray) -> list[str]:
    """Refuse a training whose pairs are not there, and say how few there are.

    Parameters
    ----------
    options : mapping
        Of the objective.
    pairs : Pairs
        What is known.
    train : array of int64
        The rows that are learned from.

    Returns
    -------
    list of str
        A remark, if no pair is learned from.

    Raises
    ------
    InputError
        The objective asks for counterfactuals or neighbours, and none were given.
    """
    asked = asked_for(options)
    if asked == COUNTERFACTUAL:
        if pairs.swapped is None:
            raise InputError(
                "the option pairs=counterfactual needs the cases' counterfactuals",
                remedy="give what was made of their texts, or choose pairs=cosine",
            )
        if not pairs.swapped[train].any():
            return ["no case of the split train has a counterfactual: the objective has no pairs"]
    if asked == GRAPH:
        if pairs.neighbours is None:
            raise InputError(
                "the option pairs=graph needs the cases' neighbours",
                remedy="give what find_neighbours wrote, or choose pairs=cosine",
            )
        if not (pairs.neighbours[train] >= 0).any():
            return ["no case of the split train has a near neighbour: the objective has no pairs"]
    return []


def among(rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """The neighbours of some rows, as places among these rows: int64, (rows, k); -1: elsewhere."""
    place = np.full(len(neighbours) + 1, -1, dtype=np.int64)  # the last one for -1
    place[rows] = np.arange(len(rows))
    return place[neighbours[rows]]


def partners(rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Where in its batch each case's nearest neighbour stands.

    Parameters
    ----------
    rows : array of int64, shape (..., n)
        Batches.
    neighbours : array of int64, shape (cases, k)
        As `Pairs` has them.

    Returns
    -------
    array of int64, shape (..., n)
        The place of the first listed neighbour that the batch holds; -1: it holds none.
    """
    here = neighbours[rows][..., None] == rows[..., None, None, :]  # (..., n, k, n)
    nearest = here.any(axis=-1).argmax(axis=-1)
    of_nearest = np.take_along_axis(here, nearest[..., None, None], axis=-2)[..., 0, :]
    return np.where(of_nearest.any(axis=-1), of_nearest.argmax(axis=-1), -1)
