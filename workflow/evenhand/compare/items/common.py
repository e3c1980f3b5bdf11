"""What the items behind a number are, and how those of two runs are laid side by side.

A module of this package finds them for the tables that `resources/compare.csv` names it for. It
has a class ``Store(folder, table)``, the items of one results folder behind one table, whose
``items(key)`` gives those behind the row with these keys, or None where it does not know them.
"""

from typing import NamedTuple

import numpy as np


class Items(NamedTuple):
    """The items behind one number of one run: a mean or a share.

    Attributes
    ----------
    name : array of str, shape (n,)
        Names that the same items have in other runs.
    cluster : array of str, shape (n,)
        The cluster of each.
    value : array of float, shape (n,)
        The number is the mean of these.
    """

    name: np.ndarray
    cluster: np.ndarray
    value: np.ndarray


def side_by_side(base: Items, head: Items) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each item of either run adds to the number of base and of head.

    Returns
    -------
    (array of float, array of float, array of str)
        Numerators and denominators, shape (n, 2), zero for an item that a run does not have, and
        the clusters, shape (n,). An item that is in another cluster now is two items.
    """
    labels = [
        np.array([f"{c}\0{n}" for n, c in zip(one.name, one.cluster, strict=True)], dtype=str)
        for one in (base, head)
    ]
    names, place = np.unique(np.concatenate(labels), return_inverse=True)
    places = np.split(place, [len(labels[0])])
    above, below = np.zeros((len(names), 2)), np.zeros((len(names), 2))
    for run, (one, rows) in enumerate(zip((base, head), places, strict=True)):
        np.add.at(above[:, run], rows, one.value)
        np.add.at(below[:, run], rows, 1.0)
    return above, below, np.array([name.partition("\0")[0] for name in names], dtype=str)
