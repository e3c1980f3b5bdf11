"""Splits into training and test rows."""

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.prepared import Prepared


class EmptyPartError(InputError):
    """A split is unusable, since a part lacks a group or a label.

    Attributes
    ----------
    train, test : array of int
        The rows of the split.
    """

    def __init__(
        self, problem: str, *, train: np.ndarray, test: np.ndarray, remedy: str | None = None
    ) -> None:
        super().__init__(problem, remedy=remedy)
        self.train, self.test = train, test


def random_split(table: Prepared, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a random split, not stratified: (training rows, test rows), both ascending.

    The test part has ``round(test_share * n)`` rows. Each seed gives another split.

    Raises
    ------
    EmptyPartError
        A part lacks a group or a label.
    """
    order = np.random.default_rng(seed).permutation(len(table.y))
    size = round(table.test_share * len(table.y))
    return _checked(table, np.sort(order[size:]), np.sort(order[:size]), f"of seed {seed}")


def official_split(table: Prepared) -> tuple[np.ndarray, np.ndarray]:
    """Return the official split of the data set.

    Raises
    ------
    InputError
        There is no official split.
    EmptyPartError
        A part lacks a group or a label.
    """
    if table.official is None:
        raise InputError(f"{table.name} has no official split", remedy="use a random one")
    parts = (np.flatnonzero(table.official == part) for part in ("train", "test"))
    return _checked(table, *parts, "that is official")


def _checked(
    table: Prepared, train: np.ndarray, test: np.ndarray, which: str
) -> tuple[np.ndarray, np.ndarray]:
    groups = set(table.a.tolist())
    for part, rows in (("training", train), ("test", test)):
        if missing := sorted(groups - set(table.a[rows].tolist())):
            raise EmptyPartError(
                f"{table.name}: the {part} part of the split {which} has nobody with"
                f" {table.attribute_name} = {table.attribute_values[missing[0]]}",
                train=train,
                test=test,
                remedy="join small groups, or hold out another share",
            )
        if len(set(table.y[rows].tolist())) < 2:
            raise EmptyPartError(
                f"{table.name}: the {part} part of the split {which} has one label only",
                train=train,
                test=test,
                remedy="hold out another share",
            )
    return train, test
