"""Groups of a training: those of an attribute, or of a product of attributes and the label.

A product is written with plus signs, ``label+applicant_gender``. Its cells that training cases do
not fill are no groups of their own: a combination of attributes with fewer than `LEAST` training
cases counts as unknown, and a label that is as rare in a combination as the combination's most
frequent one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from evenhand.legal.built import Groups
    from evenhand.legal.declaration import Dataset

#: The attribute of an objective that uses no groups.
NO_ATTRIBUTE = "none"

#: The part of a product that is no attribute.
LABEL = "label"

#: The signs between the parts of a product, and between the names of groups.
PLUS, TIMES = "+", " x "


def attributes(name: str) -> list[str]:
    """Return the attributes of a product, or the one attribute."""
    return [part for part in name.split(PLUS) if part != LABEL]


def has_label(name: str) -> bool:
    """Return whether the label is a part of a product."""
    return LABEL in name.split(PLUS)


def title(name: str, dataset: "Dataset") -> str:
    """Return the title of an attribute, or of a product of attributes and the label."""
    return TIMES.join(
        LABEL if part == LABEL else dataset.attribute(part).title for part in name.split(PLUS)
    )


def multiply(
    parts: Sequence["Groups"],
    labels: "np.ndarray | None",
    label_names: Sequence[str],
    train: "np.ndarray",
) -> tuple["np.ndarray", tuple[str, ...], list[str]]:
    """Return the product of attributes, and of the label if there is one.

    Parameters
    ----------
    parts : sequence of Groups
        The attributes.
    labels : array of int, shape (n,), or None
        A number per label, or set of labels.
    label_names : sequence of str
        Their names.
    train : array of int
        Training rows.

    Returns
    -------
    codes : array of int64, shape (n,)
    names : tuple of str
        The unknown group last.
    remarks : list of str
        Which cells were merged.
    """
    import numpy as np

    from evenhand.metrics.group import LEAST, merge_rare

    known = np.all([part.codes < part.unknown for part in parts], axis=0)
    combined, names = np.zeros(len(known), dtype=np.int64), [""]
    for part in parts:
        combined = combined * part.unknown + np.minimum(part.codes, part.unknown - 1)
        groups = part.names[: part.unknown]
        names = [f"{a}{TIMES}{b}" if a else b for a in names for b in groups]
    remarks = []
    sizes = np.bincount(combined[train][known[train]], minlength=len(names))
    rare = np.flatnonzero((sizes > 0) & (sizes < LEAST))
    if len(rare):
        cells = ", ".join(f"{names[cell]} ({sizes[cell]})" for cell in rare)
        remarks.append(f"groups with fewer than {LEAST} training cases are unknown: {cells}")
    known &= sizes[combined] >= LEAST
    if labels is not None:
        merged = merge_rare(labels, combined, train[known[train]])
        if moved := int((merged != labels)[known].sum()):
            remarks.append(
                f"{moved} cases with a label that is rare in their group count with the group's"
                " most frequent label"
            )
        combined = combined * len(label_names) + merged
        names = [f"{b}{TIMES}{a}" for a in names for b in label_names]
    there = np.unique(combined[known])
    codes = np.where(known, np.searchsorted(there, np.where(known, combined, 0)), len(there))
    return codes, (*(names[cell] for cell in there), "unknown"), remarks
