"""The cases of a training, and checks that they can be trained on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import InputError
from evenhand.learning.objective import REMOVES, Objective, Options, sampler_of
from evenhand.learning.sampling import GROUPLESS
from evenhand.learning.settings import Settings
from evenhand.metrics.group import merge_rare

#: From this Cramer's V on, label and groups are called strongly correlated.
STRONG = 0.5

#: With fewer development cases of a cell of label x group, an encoder's groups can stay readable
#: after erasure: on planted problems, a probe was above .55 in 7 of 50 trainings with 10 such
#: cases, in 3 with 20, and in 1 of 37 with 30.
FEW = 20


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The cases of a training.

    Attributes
    ----------
    ids : sequence of str, length n
    labels : array
        ``multi_class``: numbers, int64, shape (n,); ``multi_label``: 0 and 1, (n, classes).
    classes : int
    task : str
        One of `evenhand.learning.objective.TASKS`.
    train, dev : array of int64
        Rows to train on, and rows to choose the epoch by.
    groups : array of int64, shape (n,), or None
        Codes of one attribute.
    group_names : sequence of str
        Their names; empty without groups.
    known_groups : int
        Codes below this are known groups; only their scores count.
    """

    ids: Sequence[str]
    labels: np.ndarray
    classes: int
    task: str
    train: np.ndarray
    dev: np.ndarray
    groups: np.ndarray | None = None
    group_names: Sequence[str] = ()
    known_groups: int = 0

    @property
    def hot(self) -> np.ndarray:
        """The labels as bool, shape (n, classes)."""
        if self.task == "multi_label":
            return self.labels.astype(bool)
        return self.labels[:, None] == np.arange(self.classes)

    @property
    def codes(self) -> np.ndarray:
        """The group codes; all 0 without an attribute."""
        return np.zeros(len(self.ids), dtype=np.int64) if self.groups is None else self.groups

    @property
    def label_codes(self) -> np.ndarray:
        """The label of each case as a number; for multi-label tasks, that of its label set."""
        if self.task == "multi_class":
            return self.labels
        return np.unique(self.labels, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def cells(self) -> np.ndarray:
        """Label x group as codes from 0; rare labels of a group are merged (`merge_rare`)."""
        labels = merge_rare(self.label_codes, self.codes, self.train)
        pairs = self.codes * (labels.max() + 1) + labels
        return np.unique(pairs, return_inverse=True)[1].reshape(-1)

    def sampled(self, sampler: str) -> np.ndarray:
        """The codes of the training cases for a sampler: groups, or cells of label x group."""
        return (self.cells if sampler == "cell_uniform" else self.codes)[self.train]

    def digest(self) -> str:
        """The SHA-256 digest of the cases, without their texts."""
        digest = hashlib.sha256(json.dumps([*self.ids]).encode())
        digest.update(json.dumps([self.classes, self.task, *self.group_names]).encode())
        for part in (self.labels, self.codes, self.train, self.dev):
            digest.update(np.ascontiguousarray(part, dtype=np.int64).data)
        return digest.hexdigest()


def uses_groups(objective: Objective, options: Options, select: str) -> bool:
    """Whether a training depends on the groups: its loss, its batches, or the choice of epoch."""
    return (
        objective.USES_GROUPS
        or sampler_of(objective, options) not in GROUPLESS
        or select != "macro_f1"
    )


def check(
    examples: Examples, objective: Objective, options: Options, settings: Settings
) -> list[str]:
    """Reject cases that cannot be trained on, and return warnings about the others.

    Returns
    -------
    list of str
        Warnings: classes without a case, groups with a single case, groups correlated with the
        label.

    Raises
    ------
    InputError
        A split is empty, labels are all the same, or the objective needs groups and there are
        fewer than two.
    """
    for split in ("train", "dev"):
        if not len(getattr(examples, split)):
            raise InputError(f"there is no case with a label in the split {split}")
    remarks = []
    per_class = {split: examples.hot[getattr(examples, split)] for split in ("train", "dev")}
    if (per_class["train"] == per_class["train"][0]).all():
        raise InputError(
            "all cases of the split train have the same labels, so that there is nothing to learn"
        )
    for split, hot in per_class.items():
        absent = np.flatnonzero(~hot.any(axis=0))
        if len(absent):
            numbers = ", ".join(map(str, absent))
            remarks.append(f"no case of the split {split} has the label {numbers} (from 0)")
    if uses_groups(objective, options, settings.select):
        remarks += _check_groups(examples, objective, settings)
    if objective.AIM in REMOVES:
        remarks += _check_correlation(examples, objective)
    return remarks


def _check_correlation(examples: Examples, objective: Objective) -> list[str]:
    """Warn if the groups to be removed are strongly correlated with the label."""
    from scipy.stats.contingency import association, crosstab

    train, dev = (
        rows[examples.groups[rows] < examples.known_groups]
        for rows in (examples.train, examples.dev)
    )
    table = crosstab(examples.label_codes[train], examples.groups[train]).count
    v = float(association(table)) if min(table.shape) > 1 else 0.0
    if v < STRONG:
        return []
    cells, erases = examples.cells, objective.AIM == "erase"
    least = min(int((cells[dev] == cell).sum()) for cell in np.unique(cells[train]))
    few = (
        f"; a cell of label x group has only {least} cases in the split dev, so that the groups"
        " may stay readable: see the leakage table"
    )
    return [
        f"label and groups are strongly correlated (Cramer's V {v:.2f}): the groups are removed"
        " within labels or on balanced batches, since otherwise the label would be removed with"
        f" them{few if erases and least < FEW else ''}"
    ]


def _check_groups(examples: Examples, objective: Objective, settings: Settings) -> list[str]:
    names = examples.group_names
    sizes = {
        split: np.bincount(examples.groups[rows], minlength=len(names))
        for split, rows in (("train", examples.train), ("dev", examples.dev))
    }
    there = np.flatnonzero(sizes["train"][: examples.known_groups])
    if len(there) < 2:
        only = f"only the group {names[there[0]]!r}" if len(there) else "no known group"
        problem = f"the split train has {only} of the attribute, and {objective.NAME} needs two"
        raise InputError(problem, remedy="take another attribute")
    if settings.select != "macro_f1" and not sizes["dev"][: examples.known_groups].any():
        raise InputError(
            f"the split dev has no case of a known group, and epochs are chosen by"
            f" {settings.select}",
            remedy="choose by macro_f1",
        )
    return [
        f"the group {names[code]!r} has a single case in the split {split}"
        for split, counts in sizes.items()
        for code in np.flatnonzero(counts == 1)
    ]
