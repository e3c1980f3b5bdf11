"""Splits into training and test rows."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.prepared import Prepared


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
                return Split(train, test, f"{problem} nobody with {some.attribute_name} = {value}")
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
        raise InputError(
            f"{table.meta.get('title', table.name)}: {problems[0]}",
            remedy=f"join small groups, or hold out {others_held_out}",
        )
    return splits
