"""Group fairness of labels: rates per group, and how far they lie apart.

The rates are gathered by fairlearn's MetricFrame. Its own rates are not used, because they give 0
where a group has nobody to take a rate of. Source of the measures: IIFR (Journal of Software
34(9), 2023), section 5: |difference| for two groups, the population standard deviation for more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

#: What `rates` gives: accuracies in percent, the rest as shares.
RATES = ("acc", "balanced_acc", "positive_rate", "tpr", "fpr")


def rates(
    y: np.ndarray, predicted: np.ndarray, group: np.ndarray, values: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Rates of one or more runs, over all rows and per group.

    Parameters
    ----------
    y, predicted : array of 0 and 1, shape (runs, n) or (n,)
        Labels and predicted labels.
    group : array of int, shape (runs, n) or (n,)
        Codes of the groups, below `values`.
    values : int
        How many groups there are.

    Returns
    -------
    (dict, dict)
        Over all rows, arrays of the shape (runs,), and per group, (runs, values): n, and the
        `RATES`. NaN is a rate over nobody: the true positive rate, and with it the
        balanced accuracy, of a group without the label 1.

    Raises
    ------
    ValueError
        A group is empty, or something else than 0 and 1 is a label.
    """
    from fairlearn.metrics import MetricFrame

    arrays = [np.asarray(array) for array in (y, predicted, group)]
    arrays = np.broadcast_arrays(*(array if array.ndim == 2 else array[None] for array in arrays))
    y, predicted, group = arrays
    for labels in (y, predicted):
        if not np.isin(labels, (0, 1)).all():
            raise ValueError("a label is neither 0 nor 1")
    if group.size and not 0 <= group.min() <= group.max() < values:
        raise ValueError(f"a group's code is not below {values}")
    shape = (len(y), values, 2, 2)
    counts = _count(shape, np.arange(len(y))[:, None], group, y, predicted)
    sizes = counts.sum(axis=(2, 3))
    if not sizes.all():
        raise ValueError(f"the group {int(np.argwhere(sizes == 0)[0, 1])} is empty")

    # a row per cell of run, group, label and prediction, weighed by its count: the same rates
    # at a hundredth of the time
    runs, groups, labels, predictions = (axis.ravel() for axis in np.indices(shape))
    metrics = {"acc": _accuracy, "positive_rate": _share, "tpr": _given(1), "fpr": _given(0)}
    frame = MetricFrame(
        metrics=metrics,
        y_true=labels,
        y_pred=predictions,
        sensitive_features={"group": groups},
        control_features={"run": runs},
        sample_params={name: {"sample_weight": counts.ravel()} for name in metrics},
    )
    overall = {name: frame.overall[name].to_numpy(dtype=np.float64) for name in metrics}
    by_group = {
        name: frame.by_group[name].to_numpy(dtype=np.float64).reshape(len(y), values)
        for name in metrics
    }
    for part in (overall, by_group):
        part["balanced_acc"] = 50 * (part["tpr"] + 1 - part["fpr"])
        part["acc"] = 100 * part["acc"]
    return {"n": sizes.sum(axis=1), **overall}, {"n": sizes, **by_group}


def gap(of_groups: np.ndarray) -> np.ndarray:
    """How far a rate lies apart between the groups.

    Parameters
    ----------
    of_groups : array of float, shape (..., values)
        The rate of each group, at least two.

    Returns
    -------
    array of float, shape (...)
        The absolute difference of two groups, the population standard deviation of more; NaN
        where a group has no such rate.
    """
    if of_groups.shape[-1] == 2:
        return np.abs(of_groups[..., 0] - of_groups[..., 1])
    return of_groups.std(axis=-1)


def gaps(by_group: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The gaps of the rates that `rates` gives per group.

    ddp of the positive rate (demographic parity), deo_0 of the false positive rate and deo_1 of
    the true positive rate (equalised odds for y=0 and y=1).
    """
    return {
        "ddp": gap(by_group["positive_rate"]),
        "deo_0": gap(by_group["fpr"]),
        "deo_1": gap(by_group["tpr"]),
    }


def _count(shape: tuple[int, ...], *codes: np.ndarray) -> np.ndarray:
    codes = tuple(np.asarray(code, dtype=np.int64) for code in codes)
    flat = np.ravel_multi_index(np.broadcast_arrays(*codes), shape)
    return np.bincount(flat.ravel(), minlength=int(np.prod(shape))).reshape(shape)


def _share(y: Any, predicted: Any, *, sample_weight: Any) -> float:
    return float(np.average(predicted, weights=sample_weight))


def _accuracy(y: Any, predicted: Any, *, sample_weight: Any) -> float:
    return float(np.average(np.equal(y, predicted), weights=sample_weight))


def _given(label: int) -> Callable[..., float]:
    """The share of predicted ones among those with a label; NaN where there is nobody."""

    def rate(y: Any, predicted: Any, *, sample_weight: Any) -> float:
        weights = np.asarray(sample_weight) * np.equal(y, label)
        return float(np.average(predicted, weights=weights)) if weights.any() else np.nan

    return rate
