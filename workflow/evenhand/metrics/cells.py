"""Cells of label x group: merge those with too few cases."""

import numpy as np

#: Training cases that a cell of label x group must have to be one of its own.
LEAST = 5


def merge_rare(
    labels: np.ndarray, groups: np.ndarray, train: np.ndarray, least: int = LEAST
) -> np.ndarray:
    """Return labels; rare labels of a group become the group's most frequent label.

    Cells of label x group that are empty or tiny can be neither balanced nor scored.

    Parameters
    ----------
    labels : array of int, shape (n,)
        Of all cases.
    groups : array of int, shape (n,)
        Their groups.
    train : array of int
        Training rows.
    least : int
        The minimum number of training cases of a cell.
    """
    shape = int(groups.max()) + 1, int(labels.max()) + 1
    sizes = np.zeros(shape, dtype=np.int64)
    np.add.at(sizes, (groups[train], labels[train]), 1)
    return np.where(sizes[groups, labels] >= least, labels, sizes.argmax(axis=1)[groups])
