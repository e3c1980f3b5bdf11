"""Group fairness of predicted labels: rates per group, and the gaps between groups.

Source: IIFR (Journal of Software 34(9), 2023), section 5. For more than two groups the paper takes
the population standard deviation, which is no difference between groups; it is kept only to
reproduce the paper.
"""

import numpy as np

#: The rates: accuracies in percent, the others as shares.
RATES = ("acc", "balanced_acc", "positive_rate", "tpr", "fpr")

#: Training cases that a cell of label x group must have to be one of its own.
LEAST = 5


def rates(
    y: np.ndarray, predicted: np.ndarray, group: np.ndarray, values: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the rates of one or more runs, over all rows and per group.

    Parameters
    ----------
    y, predicted : array of 0 and 1, shape (runs, n) or (n,)
        Labels and predicted labels.
    group : array of int, shape (runs, n) or (n,)
        Codes of the groups, below `values`.
    values : int
        Number of groups.

    Returns
    -------
    (dict, dict)
        Over all rows, arrays of the shape (runs,), and per group, (runs, values): n, and the
        `RATES`. A rate without a denominator is NaN: the true positive rate, and with it the
        balanced accuracy, of a group without the label 1. (fairlearn's rates are 0 there.)

    Raises
    ------
    ValueError
        A group is empty, or a label or a code is out of range.
    """
    arrays = [np.asarray(array) for array in (y, predicted, group)]
    arrays = np.broadcast_arrays(*(array if array.ndim == 2 else array[None] for array in arrays))
    y, predicted, group = arrays
    shape = (len(y), values, 2, 2)
    runs = np.broadcast_to(np.arange(len(y))[:, None], y.shape)
    cells = np.ravel_multi_index([runs, group, y.astype(int), predicted.astype(int)], shape)
    counts = np.bincount(cells.ravel(), minlength=int(np.prod(shape))).reshape(shape)
    sizes = counts.sum(axis=(2, 3))
    if not sizes.all():
        raise ValueError(f"the group {int(np.argwhere(sizes == 0)[0, 1])} is empty")

    overall, by_group = _rates(counts.sum(axis=1)), _rates(counts)
    return {"n": sizes.sum(axis=1), **overall}, {"n": sizes, **by_group}


def gap(of_groups: np.ndarray, *, deviation: bool = False) -> np.ndarray:
    """Return the gap of a rate between groups.

    Parameters
    ----------
    of_groups : array of float, shape (..., values)
        The rate of each group, at least two.
    deviation : bool
        Whether the gap of more than two groups is the paper's.

    Returns
    -------
    array of float, shape (...)
        Highest minus lowest rate, or the population standard deviation; NaN where a group lacks
        the rate.
    """
    if deviation and of_groups.shape[-1] > 2:
        return of_groups.std(axis=-1)
    return of_groups.max(axis=-1) - of_groups.min(axis=-1)


def gaps(by_group: dict[str, np.ndarray], *, deviation: bool = False) -> dict[str, np.ndarray]:
    """Return the gaps of the group rates of `rates`.

    ddp is the gap of the positive rate (demographic parity), deo_0 of the false positive rate and
    deo_1 of the true positive rate (equalised odds for y=0 and y=1); see `gap`.
    """
    of = {"ddp": "positive_rate", "deo_0": "fpr", "deo_1": "tpr"}
    return {name: gap(by_group[rate], deviation=deviation) for name, rate in of.items()}


def _rates(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return rates from counts by label and predicted label, shape (..., 2, 2)."""

    def share(hits: np.ndarray, of: np.ndarray) -> np.ndarray:
        return np.divide(hits, of, out=np.full(of.shape, np.nan), where=of > 0)

    of_label, total = counts.sum(axis=-1), counts.sum(axis=(-2, -1))
    tpr, fpr = (share(counts[..., y, 1], of_label[..., y]) for y in (1, 0))
    return {
        "acc": 100 * share(counts[..., 0, 0] + counts[..., 1, 1], total),
        "positive_rate": share(counts[..., 1].sum(axis=-1), total),
        "tpr": tpr,
        "fpr": fpr,
        "balanced_acc": 50 * (tpr + 1 - fpr),
    }


def group_sums(values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """Sum the rows of `values` (n, m) by group: (groups, m)."""
    return (codes == np.arange(groups)[:, None]).astype(values.dtype) @ values


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
