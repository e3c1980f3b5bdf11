"""The items behind a number, and their alignment between two runs.

A module of this package reads the items of the numbers whose declaration names it.
Its class ``Store(folder, table)`` takes a results folder and the path of a table in it. Its method
``items(key)`` returns the items behind the row with these keys, or None where they are unknown.
"""

from typing import NamedTuple

import numpy as np


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
    """

    name: np.ndarray
    cluster: np.ndarray
    value: np.ndarray
    runs: np.ndarray = np.empty(0)


def side_by_side(base: Items, head: Items) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Align the items of two runs.

    Returns
    -------
    (array of float, array of float, array of str)
        Contributions to numerators and denominators, shape (n, 2), zero for an item that a run
        lacks, and the clusters. An item that changed its cluster counts as two.
    """
    labels = [
        np.array(
            ["\0".join([*np.atleast_1d(c), n]) for n, c in zip(*items[:2], strict=True)], dtype=str
        )
        for items in (base, head)
    ]
    names, place = np.unique(np.concatenate(labels), return_inverse=True)
    places = np.split(place, [len(labels[0])])
    above, below = np.zeros((len(names), 2)), np.zeros((len(names), 2))
    for run, (items, rows) in enumerate(zip((base, head), places, strict=True)):
        np.add.at(above[:, run], rows, items.value)
        np.add.at(below[:, run], rows, 1.0)
    columns = 1 if base.cluster.ndim == 1 else base.cluster.shape[1]
    clusters = np.array([name.split("\0", columns)[:columns] for name in names], dtype=str)
    return above, below, clusters.reshape(len(names), *base.cluster.shape[1:])
