"""Read existing predictions: labels, predictions or probabilities, groups.

A row that cannot be used goes to the quarantine with its reason (`REASONS`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.tabular.delimited import read_csv
from evenhand.tabular.numbers import binned, or_nan
from evenhand.text.phrases import listed

#: Why a row is left out.
REASONS = {
    "duplicate_id": "another row has this id; the first one is used",
    "no_label": "the label is missing",
    "no_prediction": "the prediction or a probability is missing",
    "not_a_probability": "a probability is no number between 0 and 1",
    "sum_not_one": "the probabilities do not sum to 1",
    "not_a_label": "the prediction is not among the labels",
    "no_factual": "a counterfactual row whose factual row is missing",
    "no_flip": "a counterfactual row with the groups of its factual row",
    "no_answer": "a sample without a log-likelihood or a value of BBQ",
}

#: Labels that mean 1, the first one that occurs.
POSITIVE = ("1", "true", "yes", "positive", "True", "Yes")

#: A sum of probabilities may differ from 1 by so much.
TOLERANCE = 1e-3

#: More distinct labels than this are taken for numbers, not classes.
MOST_LABELS = 200

#: The most groups of an attribute, and the most of an attribute of numbers without bins.
MOST_GROUPS, MOST_NUMBERS = 100, 20

#: How cells without a value are written.
MISSING = frozenset({"", "nan", "NaN", "None", "null", "NA", "N/A", "<NA>"})


@dataclass(frozen=True, eq=False)
class Predictions:
    """n predictions, and those for counterfactual rows.

    Attributes
    ----------
    id : array of str, shape (n,)
    classes : list of str
    true : array of bool, shape (n, k)
        Whether each of `classes` applies: one of them, or with `several` any number.
    predicted : array of bool, shape (runs, n, k)
        Whether it is predicted, by one run or by several.
    positive : int or None
        The class that rates are of; None: there are no rates, or with `several` those of each.
    probabilities : array of float, shape (runs, n, k), or None
        Of the classes.
    groups : dict of array of str
        The group of each case by attribute, blank where it is missing; intersections last.
    clusters : array of str, shape (n,)
        Cases that depend on each other; by default each is its own.
    factual, changed : array of int, array of str
        Of each counterfactual row: the place of its factual case, and the changed attribute.
    flipped : array of float, shape (m, k)
        Their probabilities.
    several : bool
        Whether a case may have several of the classes.
    left_out : list of dict
        The quarantine: row, id, reason, detail.
    """

    id: np.ndarray
    classes: list[str]
    true: np.ndarray
    predicted: np.ndarray
    positive: int | None
    probabilities: np.ndarray | None
    groups: dict[str, np.ndarray]
    clusters: np.ndarray
    factual: np.ndarray
    changed: np.ndarray
    flipped: np.ndarray
    several: bool = False
    left_out: list[dict[str, Any]] = field(default_factory=list)


Columns = dict[str, list[str]]


def read_table(path: Path) -> Columns:
    """Read a CSV or Parquet file as text by column; a missing value is blank."""
    if path.suffix != ".parquet":
        header, rows = read_csv(path)
        if twice := [name for name, count in Counter(header).items() if count > 1]:
            problem = f"has the column {twice[0]!r} twice"
            raise InputError(problem, file=path, line=1, remedy="rename one of them")
        found = {name: [row[i] for _, row in rows] for i, name in enumerate(header)}
    else:
        from evenhand.io.tables import read_columns

        table = read_columns(path)
        found = {name: [_text(v) for v in table[name].to_pylist()] for name in table.column_names}
    return {name: ["" if v in MISSING else v for v in cells] for name, cells in found.items()}


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_label(cell: str) -> str:
    """Return a label in one form: ``1.0`` is ``1``."""
    value = or_nan(cell)
    return str(int(value)) if value.is_integer() else cell


def take(table: Columns, path: Path, *names: str | None) -> None:
    """Raise InputError if a table lacks one of these columns."""
    if lacking := [name for name in names if name and name not in table]:
        raise InputError(
            f"has no column {listed([repr(name) for name in lacking])}",
            file=path,
            remedy=f"its columns are {', '.join(table)}",
        )


def read_predictions(
    file: Path,
    *,
    label: str,
    prediction: str | None = None,
    probabilities: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    positive: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    counterfactual_of: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    gold: Path | None = None,
    threshold: float = 0.5,
) -> Predictions:
    """Read a table of predictions; see `evenhand.predictions.audit_predictions`.

    Raises
    ------
    InputError
        A column is missing, no row can be used, an attribute has one value, or the predictions
        are none of the labels.
    """
    table = read_table(file)
    many = dict(probabilities or {})
    if (prediction is None) == (not many):
        raise InputError("name either a prediction or probabilities", file=file)
    take(table, file, prediction, id, *many.values(), *([cluster, counterfactual_of]))
    table, rows = _joined(table, file, gold, id, label, groups)
    if lacking := sorted({*(bins or {})} - {*groups}):
        raise InputError(f"{lacking[0]} has bins and is not among the groups", file=file)
    ids = table[id] if id else [str(row) for row in rows]
    count = len(ids)
    of = table[counterfactual_of] if counterfactual_of else [""] * count
    labels = [as_label(cell) for cell in table[label]]
    classes = _classes(labels, many, label, file)
    place = {name: i for i, name in enumerate(classes)}
    chosen = _positive(positive, classes, label, file)
    bad = _Bad(rows, ids)
    seen: set[str] = set()
    for i, name in enumerate(ids):
        bad.mark(i, name in seen, "duplicate_id", repr(name))
        seen.add(name)
        bad.mark(i, not labels[i] and not of[i], "no_label", "")
    p = _probabilities(table, prediction, many, classes, chosen, bad)
    if p is None:
        predicted_labels = [as_label(cell) for cell in table[prediction]]
        for i, one in enumerate(predicted_labels):
            bad.mark(i, not one, "no_prediction", "")
        known = [one for i, one in enumerate(predicted_labels) if i not in bad.why]
        if known and not {*known} & {*classes}:
            outside = (i for i, one in enumerate(predicted_labels) if not 0 <= or_nan(one) <= 1)
            first = next((i for i in outside if i not in bad.why), None)
            if first is None:
                where, is_number = f"the values {listed(sorted({*known}), 4)}", False
            else:
                where = f"{predicted_labels[first]!r} in row {rows[first]}"
                is_number = not isnan(or_nan(predicted_labels[first]))
            percent = ", as per cents divided by 100 are" if is_number else ""
            raise InputError(
                f"{prediction} has {where}, and {label} has {listed(classes, 4)}",
                file=file,
                remedy="use the same labels in both columns, or probabilities between 0 and 1"
                + percent,
            )
        for i, one in enumerate(predicted_labels):
            bad.mark(i, one not in place, "not_a_label", repr(one))
        predicted = np.array([place.get(one, 0) for one in predicted_labels])
    elif len(classes) == 2 and chosen is not None:
        predicted = np.where(p[:, chosen] >= threshold, chosen, 1 - chosen)
    else:
        predicted = p.argmax(axis=1)
    members = {
        name: np.array(binned(table[name], bins[name]) if name in (bins or {}) else table[name])
        for name in groups
    }
    by_id = {name: i for i, name in enumerate(ids) if not of[i] and i not in bad.why}
    pairs = _counterfactuals(of, by_id, members, bad)
    kept = np.array([i for i in range(count) if i not in bad.why and not of[i]], dtype=int)
    if not len(kept):
        raise InputError(
            f"has no row that can be used: {bad.first()}",
            file=file,
            remedy="see docs/predictions.md",
        )
    for name in groups:
        values = {*members[name][kept]} - {""}
        if len(values) < 2:
            nothing = "no number for its bins" if name in (bins or {}) else "no value"
            only = f"one value only ({next(iter(values))})" if values else nothing
            problem = f"the attribute {name} has {only}, so there are no groups to compare"
            if bad.why:
                problem += f"; {len(bad.why)} of {count} rows are left out: {bad.first()}"
            raise InputError(problem, file=file)
        are_numbers = name not in (bins or {}) and not any(isnan(or_nan(one)) for one in values)
        if len(values) > (MOST_NUMBERS if are_numbers else MOST_GROUPS):
            raise InputError(
                f"the attribute {name} has {len(values)} {'numbers' if are_numbers else 'groups'}",
                file=file,
                remedy="give numbers bins, write codes as words, and join small groups",
            )
    new = {int(old): i for i, old in enumerate(kept)}
    pairs = [(new[case], name, row) for case, name, row in pairs if case in new]
    clusters = np.array(table[cluster] if cluster else ids)
    return Predictions(
        id=np.array(ids)[kept],
        classes=classes,
        true=one_hot([place.get(one, 0) for one in labels], classes)[kept],
        predicted=one_hot(predicted, classes)[kept][None],
        positive=chosen,
        probabilities=None if p is None else p[kept][None],
        groups={name: cells[kept] for name, cells in members.items()},
        clusters=clusters[kept],
        factual=np.array([case for case, _, _ in pairs], dtype=int),
        changed=np.array([name for _, name, _ in pairs], dtype=str),
        flipped=np.empty((0, len(classes))) if p is None else p[[row for *_, row in pairs]],
        left_out=bad.rows_of(),
    )


def one_hot(places: Sequence[int], classes: Sequence[str]) -> np.ndarray:
    """Return whether each class is that of each case, of places in `classes`: bool, (n, k)."""
    return np.asarray(places)[:, None] == np.arange(len(classes))


class _Bad:
    """The rows that cannot be used, each with its first reason."""

    def __init__(self, rows: Sequence[int], ids: Sequence[str]) -> None:
        self.rows, self.ids, self.why = rows, ids, {}

    def mark(self, i: int, is_bad: bool, reason: str, detail: str) -> None:
        if is_bad:
            self.why.setdefault(i, (reason, detail))

    def first(self) -> str:
        reason, detail = next(iter(self.why.values()), ("no_label", ""))
        return f"{REASONS[reason]}{f' ({detail})' if detail else ''}"

    def rows_of(self) -> list[dict[str, Any]]:
        return [
            {"row": self.rows[i], "id": self.ids[i], "reason": reason, "detail": detail}
            for i, (reason, detail) in sorted(self.why.items())
        ]


def _joined(
    table: Columns, file: Path, gold: Path | None, id: str | None, label: str, groups: Sequence[str]
) -> tuple[Columns, list[int]]:
    """Join the table to that of the labels, if there is one; rows are counted from 1."""
    if gold is None:
        take(table, file, label, *groups)
        return table, list(range(1, len(next(iter(table.values()), [])) + 1))
    if id is None:
        raise InputError("labels in a file of their own need an id", file=gold, remedy="name id")
    truth = read_table(gold)
    take(truth, gold, id, label, *groups)
    place: dict[str, int] = {}
    for i, name in enumerate(table[id]):
        if place.setdefault(name, i) != i:
            raise InputError(f"has the id {name!r} twice", file=file, line=i + 2)
    if unknown := sorted(set(place) - set(truth[id])):
        raise InputError(
            f"has {len(unknown)} ids that {gold.name} does not have, such as {unknown[0]!r}",
            file=file,
            remedy="give predictions for the rows of the labels",
        )
    others = {
        name: [cells[place[one]] if one in place else "" for one in truth[id]]
        for name, cells in table.items()
        if name not in truth
    }
    return truth | others, list(range(1, len(truth[id]) + 1))


def _classes(labels: list[str], many: Mapping[str, str], label: str, file: Path) -> list[str]:
    classes = sorted({one for one in labels if one})
    if many:
        named = [as_label(one) for one in many]
        if outside := [one for one in classes if one not in named]:
            raise InputError(
                f"{label} has {listed(outside, 4)}, for which there are no probabilities",
                file=file,
                remedy=f"the probabilities are of {', '.join(named)}",
            )
        classes = named
    if len(classes) > MOST_LABELS:
        raise InputError(
            f"{label} has {len(classes)} values, so it is no class",
            file=file,
            remedy="name a column with at most 200 different labels",
        )
    if len(classes) < 2:
        only = f"one value only ({classes[0]})" if classes else "no value"
        raise InputError(f"{label} has {only}", file=file)
    return classes


def _positive(positive: str | None, classes: list[str], label: str, file: Path) -> int | None:
    if positive is None:
        found = [one for one in POSITIVE if one in classes and len(classes) == 2]
        return classes.index(found[0]) if found else None
    if as_label(str(positive)) not in classes:
        raise InputError(
            f"no row has {label} = {positive}",
            file=file,
            remedy=f"its values are {listed(classes, 6)}",
        )
    return classes.index(as_label(str(positive)))


def _probabilities(
    table: Columns,
    prediction: str | None,
    many: Mapping[str, str],
    classes: list[str],
    positive: int | None,
    bad: _Bad,
) -> np.ndarray | None:
    """Return the probabilities of the classes, or None where labels are predicted."""
    columns = list(many.values()) or [prediction]
    cells = [table[name] for name in columns]
    values = np.array([[or_nan(cell) for cell in column] for column in cells]).T
    if not many:
        held = {as_label(cell) for cell in cells[0]} - {""}
        inside = [0 <= or_nan(one) <= 1 for one in held]
        if held <= set(classes) or not np.mean(inside or [0]) > 0.5:
            return None
        if positive is None or len(classes) != 2:
            raise InputError(
                f"{prediction} has probabilities, and it is not known of which label",
                remedy=f"name positive, one of {listed(classes, 6)}, or probabilities by class",
            )
    for i, row in enumerate(values):
        given = [column[i] for column in cells]
        bad.mark(i, "" in given, "no_prediction", "")
        fits = bool(((row >= 0) & (row <= 1)).all())
        bad.mark(i, not fits, "not_a_probability", ", ".join(given))
        bad.mark(i, bool(many) and abs(row.sum() - 1) > TOLERANCE, "sum_not_one", f"{row.sum():g}")
    if many:
        return values
    of_positive = values[:, 0]
    pair = (1 - of_positive, of_positive) if positive else (of_positive, 1 - of_positive)
    return np.stack(pair, axis=1)


def _counterfactuals(
    of: list[str], by_id: dict[str, int], members: Mapping[str, np.ndarray], bad: _Bad
) -> list[tuple[int, str, int]]:
    """Return each counterfactual row: place of its factual case, changed attributes, its place."""
    found = []
    for i, name in enumerate(of):
        if not name or i in bad.why:
            continue
        bad.mark(i, name not in by_id, "no_factual", repr(name))
        if i in bad.why:
            continue
        case = by_id[name]
        changed = [one for one, cells in members.items() if cells[i] != cells[case]]
        bad.mark(i, not changed, "no_flip", repr(name))
        if changed:
            found.append((case, " and ".join(changed), i))
    return found
