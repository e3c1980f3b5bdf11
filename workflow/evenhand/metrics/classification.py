"""F1 of classes from counts, for many runs and many weightings of the same cases at once.

A count is a sum over cases, so bootstrap samples, groups and random groups all come from one
product: weights times `stacked`. There are two macro-F1s in FairLex's code (Chalkidis et al. 2022):
over all classes with 0 for a class that neither occurs nor is predicted (ECtHR), and over the
classes that occur among the cases (the other data sets). The first is low by construction for a
small group, which lacks classes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: Macro-F1 has an interval where each class has so many cases, and so many predictions are wrong:
#: with fewer its distribution is far from normal, and intervals of 95 % cover 50 to 90 %.
LEAST_OF_CLASS, LEAST_WRONG = 15, 5


def has_few(true: np.ndarray, predicted: np.ndarray, occurring: np.ndarray | None = None) -> bool:
    """Return whether macro-F1 has no interval, from classes (n, k) and their runs (runs, n, k).

    Each class that occurs or is predicted needs some cases; or each of `occurring` (k).
    """
    if occurring is None:
        occurring = true.any(axis=0) | predicted.any(axis=(0, 1))
    few = (true.sum(axis=0)[occurring] < LEAST_OF_CLASS).any()
    right = (predicted == true).all(axis=2).mean(axis=0)
    return bool(few or (1 - right).sum() < LEAST_WRONG)


def predicted_labels(logits: np.ndarray, task: str) -> np.ndarray:
    """Return the labels predicted by logits.

    Parameters
    ----------
    logits : array of float, shape (..., k)
        Finite.
    task : str
        ``multi_class``: the highest logit, the first of equal ones; ``multi_label``: each logit
        above 0, that is a probability above one half.

    Returns
    -------
    array of bool, shape (..., k)
    """
    if task == "multi_label":
        return logits > 0
    if task != "multi_class":
        raise ValueError(f"there is no task {task!r}")
    return logits.argmax(axis=-1)[..., None] == np.arange(logits.shape[-1])


def with_none_class(labels: np.ndarray) -> np.ndarray:
    """Append a class for items without a label to labels (..., k): (..., k + 1)."""
    return np.concatenate([labels, ~labels.any(axis=-1, keepdims=True)], axis=-1)


class Counts(NamedTuple):
    """Counts of true and predicted classes, and of both at once.

    Attributes
    ----------
    true : array, shape (..., 1, k)
    predicted, both : array, shape (..., runs, k)
    """

    true: np.ndarray
    predicted: np.ndarray
    both: np.ndarray


def stacked(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the contribution of each case to the counts.

    Parameters
    ----------
    true : array of bool, shape (n, k)
        The labels of the cases.
    predicted : array of bool, shape (runs, n, k)
        The predicted labels of each run.

    Returns
    -------
    array of float32, shape (n, (1 + 2 runs) k)
        Sums are exact up to 16 million cases.
    """
    runs, count, classes = predicted.shape
    parts = [true[None], predicted, predicted & true]
    joined = np.concatenate(parts).transpose(1, 0, 2)
    return joined.reshape(count, (1 + 2 * runs) * classes).astype(np.float32)


def counts_of(sums: np.ndarray, classes: int) -> Counts:
    """Return the counts in sums of `stacked`, shape (..., (1 + 2 runs) k)."""
    parts = sums.reshape(*sums.shape[:-1], sums.shape[-1] // classes, classes)
    parts = parts.astype(np.float64)
    runs = (parts.shape[-2] - 1) // 2
    return Counts(parts[..., :1, :], parts[..., 1 : 1 + runs, :], parts[..., 1 + runs :, :])


def f1_by_class(counts: Counts) -> np.ndarray:
    """Return F1 of each class, 0 where it is neither true nor predicted: (..., runs, k)."""
    below = counts.true + counts.predicted
    return np.divide(2 * counts.both, below, out=np.zeros_like(below), where=below > 0)


def over_all(counts: Counts) -> np.ndarray:
    """Return mean F1 over all classes: (..., runs)."""
    return f1_by_class(counts).mean(axis=-1)


def over_present(counts: Counts) -> np.ndarray:
    """Return mean F1 over the classes that occur; NaN where none does: (..., runs)."""
    present = counts.true > 0
    total = (f1_by_class(counts) * present).sum(axis=-1)
    number = np.broadcast_to(present.sum(axis=-1), total.shape)
    return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)


def over_occurring(counts: Counts) -> np.ndarray:
    """Return mean F1 over the classes that occur or are predicted, as scikit-learn: (..., runs)."""
    there = (counts.true + counts.predicted > 0).sum(axis=-1)
    total = f1_by_class(counts).sum(axis=-1)
    return np.divide(total, there, out=np.full_like(total, np.nan), where=there > 0)


def over_labels(counts: Counts) -> np.ndarray:
    """Return mean F1 over all classes but the last, which means no label: (..., runs)."""
    return over_all(Counts(*(part[..., :-1] for part in counts)))


def over_double_none(counts: Counts) -> np.ndarray:
    """Return mean F1 with an extra class that never occurs: FairLex's code adds "none" twice.

    The maximum is k / (k + 1).
    """
    classes = counts.true.shape[-1]
    return over_all(counts) * classes / (classes + 1)


def influence(
    values: np.ndarray, classes: int, convention: Callable[[Counts], np.ndarray]
) -> np.ndarray:
    """Return the influence of each case on macro-F1: to first order, the effect of a copy of it.

    Parameters
    ----------
    values : array, shape (n, (1 + 2 runs) k)
        Of `stacked`.
    classes : int
        k.
    convention : callable
        One of the macro-F1s.

    Returns
    -------
    array of float, shape (n, runs)
        The influences of a run sum to 0.
    """
    cases, counts = (counts_of(sums, classes) for sums in (values, values.sum(axis=0)))
    below = counts.true + counts.predicted
    # the weight of a class: macro-F1 where its F1 is 1, and that of the others 0
    of_each = (np.repeat(part[None], classes, axis=0) for part in (counts.true, counts.predicted))
    weights = convention(Counts(*of_each, np.eye(classes)[:, None] * below / 2)).T
    slopes = np.divide(weights, below, out=np.zeros_like(below), where=below > 0)
    of_class = 2 * cases.both - f1_by_class(counts) * (cases.true + cases.predicted)
    return (of_class * slopes).sum(axis=-1)


#: Macro-F1s of a task with single labels; the first is ours, `PUBLISHED` that of FairLex's code.
SINGLE: dict[str, Callable[[Counts], np.ndarray]] = {"all": over_all, "present": over_present}

#: The same where "none" is the last class of a task with several labels.
SEVERAL = {**SINGLE, "labels_only": over_labels, "double_none": over_double_none}

#: The macro-F1 of FairLex's code, by task.
PUBLISHED = {"multi_class": "present", "multi_label": "double_none"}


def conventions(task: str) -> dict[str, Callable[[Counts], np.ndarray]]:
    """Return the macro-F1s of a task."""
    return SEVERAL if task == "multi_label" else SINGLE
