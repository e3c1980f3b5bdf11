"""Read existing predictions: labels, predictions or probabilities, groups.

A row that cannot be used goes to the quarantine with its reason (`REASONS`).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from math import isfinite, isinf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.numbers import (
    MISSING,
    MOST_NUMBERS,
    NEGATIVE,
    POSITIVE,
    bin_column,
    check_group_count,
    doubtful,
    or_nan,
    without_point,
)
from evenhand.core.resources import check_unique
from evenhand.errors import InputError, nearest
from evenhand.predictions.words import ALL, REASONS, left_out_words
from evenhand.tabular.delimited import check_columns, is_open, read_cells
from evenhand.tabular.words import sets_among, spelt_alike
from evenhand.text.phrases import CROSS, choice, listed, plural

#: A sum of probabilities may differ from 1 by so much, or by what rounding to their digits gives.
TOLERANCE = 1e-3

#: A number that is farther from 0 to 1 than this is no probability.
CLOSE = 1e-6

#: The threshold where none is named.
THRESHOLD = 0.5

#: The columns of the cases beside their groups.
CASE_COLUMNS = ("id", "label", "prediction", "probability", "outcome", "cluster")

#: A further column of cases: `PredictionStudy.counterfactuals` of each, if there are any.
COUNTERFACTUALS = "counterfactuals"

#: Below this number each whole one is a float of its own.
EXACT = 2**53

#: More distinct labels than this are taken for numbers, not classes.
MOST_LABELS = 200

#: Of wrong predictions of a quantity, the least correlation with the true numbers.
NEAR = 0.5

#: With more different rows, of which none occurs once only, a file holds copies of its rows.
MOST_EQUAL = 100

#: So many rows would have other groups than another row with their cell, if that were no person.
LEAST_AGAIN = 10

#: A list of texts, of one number, or of nothing, as text; `[18, 30]` is an interval.
LIST = r"\[(|['\"].*['\"]|-?[\d.]+)\]"

#: Fewer distinct numbers outside 0 to 1, or a smaller share, are wrong cells among probabilities.
FEW_WRONG, WRONG_SHARE = 3, 0.05


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
    factual, changed, set_to : array of int, two arrays of str
        Of each counterfactual row: the place of its factual case, the changed attribute and its
        value.
    flipped : array of float, shape (m, k), or None
        Their probabilities.
    flipped_predicted : array of bool, shape (m, k)
        Whether each class is predicted for them.
    several : bool
        Whether a case may have several of the classes.
    unclustered : int
        Cases whose cluster is blank: each is one of its own.
    repeated : dict of int
        Where there is no cluster, the rows that have the cell of an earlier one in a column that
        seems to tell persons apart, by its name; and by a blank name, without an id, those that
        equal an earlier one in every column, if there is a column that is not used otherwise, or
        every row has a copy.
    references : str
        A column that is not used, in which the rows without a label, and no others, name rows.
    relabelled : int
        Counterfactual rows with another label than their factual case.
    set_again : int
        Counterfactual rows that set their case to values that an earlier row has set it to.
    doubtful : dict of dict
        By column of labels or groups, how often each value occurs that may mean a missing one.
    positive_is_default : bool
        Whether the positive label was not named, and the other one is not a usual negative one.
    rescaled : int
        Rows whose probabilities sum to 1 within rounding only, and are divided by their sum.
    tied : array of bool, shape (n,)
        Whether the largest probabilities are equal, or that of the positive label is the threshold.
    is_coded : bool
        Whether the predictions were 0 and 1, which are no labels, and 1 is the positive one.
    is_open : bool
        Whether the last line of the file, or of the labels, has no end.
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
    factual: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    changed: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=str))
    set_to: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=str))
    flipped: np.ndarray | None = None
    flipped_predicted: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=bool))
    several: bool = False
    unclustered: int = 0
    repeated: dict[str, int] = field(default_factory=dict)
    references: str = ""
    relabelled: int = 0
    set_again: int = 0
    doubtful: dict[str, dict[str, int]] = field(default_factory=dict)
    positive_is_default: bool = False
    rescaled: int = 0
    tied: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    is_coded: bool = False
    is_open: bool = False
    left_out: list[dict[str, Any]] = field(default_factory=list)


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file as text: a missing value is blank, ``1.0`` is ``1``."""
    header, rows = read_cells(path)
    check_unique(header, path)
    table = pd.DataFrame([cells for _, cells in rows], columns=header, dtype=object)
    return table.where(~table.isin(MISSING), "").map(without_point)


def as_label(cell: str) -> str:
    """Return a label in one form: ``1.0`` is ``1``."""
    value = or_nan(cell)
    return str(int(value)) if value.is_integer() and abs(value) < EXACT else cell


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
    threshold: float = THRESHOLD,
) -> Predictions:
    """Read a table of predictions; see `evenhand.predictions.audit_predictions`.

    Raises
    ------
    InputError
        A column is missing, no row can be used, an attribute has one value, or the predictions
        are none of the labels.
    """
    table = read_table(file)
    by_class = dict(sorted((probabilities or {}).items()))
    bins = bins or {}
    if (prediction is None) == (not by_class):
        raise InputError("name either `prediction` or `probabilities`", file=file)
    if label in (prediction, *by_class.values()):
        problem = f"{label} is named as `label` and as the prediction"
        raise InputError(problem, file=file, remedy="name the column of the predictions")
    column, times = next(iter(Counter(by_class.values()).most_common(1)), ("", 0))
    if times > 1:
        labels_of = [name for name, each in by_class.items() if each == column]
        problem = f"`probabilities` names the column {column} for {listed(labels_of, 4)}"
        raise InputError(problem, file=file, remedy="name another column for each label")
    columns = {"prediction": prediction, "probabilities": [*by_class.values()], "id": id}
    check_columns(table, file, **columns, counterfactual_of=counterfactual_of)
    spare = {*table} - {prediction, *by_class.values(), label, counterfactual_of, *groups}
    table = _join_labels(table, file, gold, id, label, groups, cluster)
    _check_lists(table, label, prediction, groups, gold or file)
    if unknown := sorted({*bins} - {*groups}):
        problem = f"`bins` names {unknown[0]}, which is none of `groups` ({listed([*groups], 4)})"
        remedy = f"add {unknown[0]} to `groups`, or leave its bins out"
        raise InputError(problem, file=file, remedy=remedy)
    if same := [name for name in groups if name in (prediction, *by_class.values())]:
        problem = f"the attribute {same[0]} is the prediction"
        raise InputError(problem, file=file, remedy="name a protected attribute")
    reserved = {*CASE_COLUMNS, COUNTERFACTUALS, ALL, ""}
    if taken := [name for name in groups if name in reserved or CROSS in name]:
        means = "joins attributes in" if CROSS in taken[0] else "has a meaning of its own in"
        problem = (
            f"`groups` names {taken[0] or 'a column without a name'}, which {means} the results"
        )
        raise InputError(problem, file=file, remedy="rename it")
    ids = table[id] if id else pd.Series(map(str, table.index + 1), dtype=object)
    factual_ids = table[counterfactual_of] if counterfactual_of else ids.map(lambda _: "")
    is_case = factual_ids == ""
    if counterfactual_of and is_case.all():
        problem = f"the column {counterfactual_of} is blank, so there are no counterfactual rows"
        raise InputError(problem, file=file, remedy="leave `counterfactual_of` out")
    labels = table[label].map(as_label)
    classes = _classes(labels, by_class, label, file)
    place = {name: i for i, name in enumerate(classes)}
    positive_place = _positive(positive, classes, label, file)
    bad = _LeftOut(ids)
    bad.mark(ids == "", "no_id")
    repeats = ids.duplicated()
    if repeats.any():
        read = filter(None, (label, prediction, counterfactual_of, *by_class.values(), *groups))
        cells = table[list(dict.fromkeys(read))]
        # an array, as a series that is one of the columns would be left out of them
        differs = (cells != cells.groupby(ids.to_numpy()).transform("first")).any(axis=1)
        bad.mark(repeats & differs, "other_row", ids)
        bad.mark(repeats, "duplicate_id", ids)
    bad.mark((labels == "") & is_case, "no_label")
    is_p = prediction is not None and _are_probabilities(table[prediction], classes)
    if prediction:
        _check_range(table[prediction], prediction, classes, file)
    if is_p and (positive_place is None or len(classes) != 2):
        raise _unknown_label(labels, prediction, label, classes, gold or file)
    coded = {}
    if is_p and {*table[prediction].map(as_label)} <= {"", "0", "1"}:
        is_p, coded = False, {"0": classes[1 - positive_place], "1": classes[positive_place]}
    is_cut = (is_p or by_class) and len(classes) == 2 and positive_place is not None
    if threshold != THRESHOLD and not is_cut:
        problem = "`threshold` has no effect without the probability of a positive label of two"
        raise InputError(problem, file=file, remedy="leave it out")
    p, is_rescaled, tied = None, bad.usable & False, np.zeros(len(table), dtype=bool)
    if is_p or by_class:
        cells = table[list(by_class.values()) or [prediction]]
        p, is_rescaled = _probabilities(cells, bool(by_class), positive_place, bad)
    if p is None:
        names = table[prediction].map(as_label).map(lambda name: coded.get(name, name))
        bad.mark(names == "", "no_prediction")
        known = names.isin(classes)
        others = names[bad.usable & ~known]
        _check_quantity(labels[bad.usable], names[bad.usable], label, file)
        # a class that is never predicted is probably spelt otherwise
        if {*classes} - {*names} and len(others) > WRONG_SHARE * bad.usable.sum():
            raise _other_labels(others, prediction, label, classes, file, has_lines=gold is None)
        bad.mark(~known, "not_a_label", names)
        predicted = names.map(place).fillna(0).to_numpy(dtype=int)
    elif is_cut:
        predicted = np.where(p[:, positive_place] >= threshold, positive_place, 1 - positive_place)
        tied = p[:, positive_place] == threshold
    else:
        predicted = p.argmax(axis=1)
        tied = (p == p.max(axis=1, keepdims=True)).sum(axis=1) > 1
    members = table[[*groups]].copy()
    lines = np.arange(2, len(table) + 2)  # of the file of the groups, whose rows these are
    for name in bins:
        known = table[name] != ""
        cells, at = table.loc[known, name], lines[known]
        members.loc[known, name] = bin_column(cells, bins[name], name, gold or file, at)
    factual, changed, set_to, rows = _counterfactuals(ids, factual_ids, members, bad)
    kept = np.flatnonzero(bad.usable & is_case)
    if 2 * bad.usable.sum() < len(ids) or not len(kept):
        problem = f"{bad.count()}, more than half of them"
        remedy = "correct or remove these rows (docs/predictions.md)"
        if not len(kept):
            problem, remedy = (
                f"has no row that can be used: {bad.first()}",
                "see docs/predictions.md",
            )
        if 2 * repeats.sum() > len(ids):
            remedy = "name a column as `id` that differs in all rows, or leave it out"
        elif 2 * bad.reasons()["sum_not_one"] > len(ids):
            remedy = "name the column of each label, with its probabilities from 0 to 1"
        line = None if gold or bad.usable.all() else int(lines[~bad.usable][0])
        raise InputError(problem, file=file, line=line, remedy=remedy)
    clusters = ids if cluster is None else table[cluster].where(table[cluster] != "", "\0" + ids)
    if cluster and clusters.iloc[kept].nunique() < 2:
        problem = f"the column {cluster} is the same for all rows, so nothing can be tested"
        raise InputError(problem, file=file, remedy="leave `cluster` out, or name another column")
    named = {id: "`id`, of which each counts once,", label: "`label`", prediction: "`prediction`"}
    if cluster and cluster in named:
        problem = f"{cluster} is named as {named[cluster]} and as `cluster`"
        remedy = "name another column as one of them, or leave one out"
        raise InputError(problem, file=file, remedy=remedy)
    if cluster and clusters.iloc[kept].is_unique and (table[cluster].iloc[kept] != "").all():
        problem = f"the column {cluster} differs in all rows, so that no cases depend on each other"
        raise InputError(problem, file=file, remedy="leave `cluster` out, or name another column")
    for name in groups:
        column = members[name].iloc[kept]
        values = {*column} - {""}
        few = len(values) < len({*members[name]} - {""})
        lost = f"; {bad.count()}" if few else ""
        known = (column != "").sum()
        check_group_count(name, values, known, file, more=lost)
        if name == label or column.equals(labels.iloc[kept]):
            remedy = "name a protected attribute"
            raise InputError(f"the attribute {name} is the label", file=file, remedy=remedy)
        of_group = clusters.iloc[kept].groupby(column).nunique().drop("", errors="ignore")
        if cluster and (of_group == 1).all():
            problem = f"each group of the attribute {name} is one cluster ({cluster}), so that no"
            problem += " difference between them can be tested, and none has an interval"
            remedy = "leave `cluster` out if cases are independent, or name what fewer cases share"
            raise InputError(problem, file=file, remedy=remedy)
    return Predictions(
        id=ids.to_numpy(dtype=str)[kept],
        classes=classes,
        true=one_hot(labels.map(place).fillna(0).to_numpy(dtype=int)[kept], classes),
        predicted=one_hot(predicted[kept], classes)[None],
        positive=positive_place,
        probabilities=None if p is None else p[kept][None],
        groups={name: members[name].to_numpy(dtype=str)[kept] for name in members},
        clusters=clusters.to_numpy(dtype=str)[kept],
        factual=np.searchsorted(kept, factual),
        changed=np.array(changed, dtype=str),
        set_to=np.array(set_to, dtype=str),
        flipped=None if p is None else p[rows],
        flipped_predicted=one_hot(predicted[rows], classes),
        unclustered=int((table[cluster].iloc[kept] == "").sum()) if cluster else 0,
        references=_references(table, spare - {id}, labels, ids) if id else "",
        relabelled=int(
            ((labels.iloc[rows] != "") & (labels.iloc[rows] != labels.iloc[factual].array)).sum()
        ),
        set_again=len(set_to) - len({*zip(factual.tolist(), changed, set_to, strict=True)}),
        repeated={} if cluster else _repeated(table, spare - {id}, members, has_id=id is not None),
        doubtful={
            name: values
            for name, cells in {label: labels, **table[[*groups]]}.items()
            if (values := doubtful(cells[is_case]))
        },
        positive_is_default=positive is None
        and positive_place is not None
        and not {*classes} & {*NEGATIVE},
        rescaled=int((is_rescaled & bad.usable).sum()),
        tied=tied[kept],
        is_coded=bool(coded),
        is_open=any(map(is_open, filter(None, (file, gold)))),
        left_out=bad.rows(),
    )


def _check_lists(
    table: pd.DataFrame, label: str, prediction: str | None, groups: Sequence[str], file: Path
) -> None:
    """Raise InputError for lists of labels or groups in cells."""
    for name in filter(None, (*groups, label, prediction)):
        if len(places := np.flatnonzero(table[name].str.fullmatch(LIST))):
            noun = "group" if name in groups else "label"
            remedy = f"write a column of true and false for each {noun}, and "
            remedy += "name these in `groups`" if name in groups else "audit one label at a time"
            cell = table[name].iloc[places[0]]
            problem = f"{name} has the list {cell}, and each cell is to have one {noun}"
            raise InputError(problem, file=file, line=int(places[0]) + 2, remedy=remedy)


def _references(table: pd.DataFrame, spare: set[str], labels: pd.Series, ids: pd.Series) -> str:
    """Return the column in which the rows without a label, and no others, name other rows."""
    without = labels == ""
    names = (name for name in sorted(spare) if table[name][without].isin({*ids} - {""}).all())
    names = (name for name in names if (table[name][~without] == "").all())
    return next(names, "") if without.any() else ""


def _repeated(
    table: pd.DataFrame, spare: set[str], members: pd.DataFrame, *, has_id: bool
) -> dict[str, int]:
    """Return how many rows repeat another one, in every column or in a spare one of persons.

    A person has the same groups in all rows. Different people may well be equal in all columns,
    groups may be equal by chance, and a number may be that of which they are ranges.
    """
    times = table.value_counts()
    is_copied = times.min() > 1 and len(times) > MOST_EQUAL and len(table) < 4 * len(times)
    count = 0 if has_id or not (spare or is_copied) else len(table) - len(times)
    repeated, copies = {"": count} if count else {}, table.duplicated()
    groups = reduce(
        lambda joined, cells: joined + "\0" + cells, (members[name] for name in members)
    )
    expected = 1 - (groups.value_counts(normalize=True) ** 2).sum()
    for name in sorted(spare):
        cells = table[name]
        again = cells.duplicated() & (cells != "")
        if cells.nunique() <= MOST_NUMBERS or again.sum() * expected < LEAST_AGAIN:
            continue
        numbers = cells.map(or_nan)
        in_order = groups[numbers.sort_values().index]
        changes = (in_order != in_order.shift()).sum()
        are_ranges = numbers.notna().all() and changes <= groups.nunique()
        if count and (again <= copies).all():
            continue  # the copies, which are counted
        if (groups == groups.groupby(cells).transform("first"))[again].all() and not are_ranges:
            repeated[name] = int(again.sum())
    return repeated


def _other_labels(
    names: pd.Series,
    prediction: str,
    label: str,
    classes: list[str],
    file: Path,
    *,
    has_lines: bool,
) -> InputError:
    """Return the error for predictions that are no labels."""
    outside = names[~names.map(or_nan).between(0, 1)]
    values, line = sorted({*names}), None
    where = f"the values {listed(values, 4)}" if len(values) > 1 else repr(values[0])
    if not outside.empty:
        where = repr(outside.iloc[0])
        line = int(outside.index[0]) + 2 if has_lines else None
    remedy = "use the same labels in both columns, or probabilities between 0 and 1"
    if outside.str.match(r"[\[{]").any():
        remedy = "write a column of probabilities for each label, and name these by `probabilities`"
    elif any(map(isinf, map(or_nan, outside))):
        remedy = "infinite numbers are no probabilities; write numbers between 0 and 1"
    percentages = outside[outside.str.fullmatch(r"\d+([.,]\d+)?\s*%")]
    if outside.str.fullmatch(r"\d+,\d+").any():
        remedy = "write numbers with a point, not a comma, for example by pandas: `read_csv(FILE,"
        remedy += " sep=None, engine='python', decimal=',', thousands='.', encoding='utf-8-sig')"
        remedy += ".to_csv(NEW, index=False)`"
    elif not percentages.empty:
        share = float(percentages.iloc[0].rstrip("% ").replace(",", ".")) / 100
        remedy = f"write {share:g} for {percentages.iloc[0]}"
    problem = f"{prediction} has {where}, and {label} has {listed(classes, 4)}"
    return InputError(problem, file=file, line=line, remedy=remedy)


def _check_range(cells: pd.Series, prediction: str, classes: list[str], file: Path) -> None:
    """Raise InputError for numbers outside 0 to 1, neither labels nor a few wrong cells."""
    names = {*cells.map(as_label)} - {""}
    numbers = [or_nan(name) for name in names]
    others = names - {*classes}
    outside = [or_nan(name) for name in others if not -CLOSE <= or_nan(name) <= 1 + CLOSE]
    outside = [*filter(isfinite, outside)]
    few = len(outside) < max(FEW_WRONG, WRONG_SHARE * len(names))
    if few or 2 * len(others) <= len(names) or any(map(isnan, numbers)):
        return
    remedy = "apply the sigmoid" if min(numbers) < 0 else "divide percentages by 100"
    most = max(outside)
    bound = f"above 1 (up to {most:g})" if most > 1 else f"below 0 (down to {min(outside):g})"
    problem = f"{prediction} has numbers {bound}"
    raise InputError(problem, file=file, remedy=f"{remedy}, or name a column of labels")


def _unknown_label(
    labels: pd.Series, prediction: str, label: str, classes: list[str], file: Path
) -> InputError:
    """Return the error for one column of probabilities that may be of any label."""
    problem = f"{prediction} has one probability a row, which is not enough"
    if len(classes) == 2:
        problem = f"{prediction} has probabilities, and it is not known of which label"
        return InputError(problem, file=file, remedy=f"name `positive`, one of {listed(classes)}")
    problem += f", as {label} has {len(classes)} values ({listed(classes, 6)})"
    if spelt := spelt_alike(classes):
        remedy = f"spell {listed([repr(name) for name in spelt[0]])} alike"
        return InputError(problem, file=file, remedy=f"{remedy}, if they are one label")
    rarest, count = Counter(labels[labels != ""]).most_common()[-1]
    return InputError(
        f"{problem}; the rarest is {rarest!r}, in {plural(count, 'row')}, first here",
        file=file,
        line=int(np.argmax(labels == rarest)) + 2,
        remedy="give `probabilities` by class, or correct these rows if they are mistakes",
    )


def one_hot(places: Sequence[int], classes: Sequence[str]) -> np.ndarray:
    """Return whether each class is that of each case, of places in `classes`: bool, (n, k)."""
    return np.asarray(places)[:, None] == np.arange(len(classes))


class _LeftOut:
    """The rows that cannot be used, each with its first reason."""

    def __init__(self, ids: pd.Series) -> None:
        self.table = pd.DataFrame({"id": ids, "reason": "", "detail": ""}, index=ids.index)

    @property
    def usable(self) -> pd.Series:
        """Whether each row can be used, so far."""
        return self.table["reason"] == ""

    def mark(
        self,
        is_bad: pd.Series,
        reason: str,
        cells: pd.Series | pd.DataFrame | None = None,
        form: Callable[[Any], str] = repr,
    ) -> None:
        """Mark the rows that are bad and have no reason yet; the detail is from their cells."""
        chosen = is_bad & self.usable
        if cells is not None and chosen.any():
            self.table.loc[chosen, "detail"] = list(map(form, cells[chosen].to_numpy().tolist()))
        self.table.loc[chosen, "reason"] = reason

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the quarantine; they are counted from 1."""
        return [
            {"row": number + 1, **row}
            for number, row in self.table[~self.usable].to_dict("index").items()
        ]

    def count(self) -> str:
        """Return how many rows are left out, by reason with its first detail, in words."""
        firsts = {row["reason"]: row["detail"] for row in reversed(self.rows())}
        return left_out_words(self.reasons(), len(self.table), "row", firsts)

    def reasons(self) -> Counter[str]:
        """Count the rows that are left out, by reason."""
        return Counter(row["reason"] for row in self.rows())

    def first(self) -> str:
        """Return the reason of the first such row, in words."""
        row = self.rows()[0] if not self.usable.all() else {"reason": "no_label", "detail": ""}
        return REASONS[row["reason"]] + (f" ({row['detail']})" if row["detail"] else "")


def _join_labels(
    table: pd.DataFrame,
    file: Path,
    gold: Path | None,
    id: str | None,
    label: str,
    groups: Sequence[str],
    cluster: str | None,
) -> pd.DataFrame:
    """Join the table to that of the labels, if there is one."""
    if gold is None:
        check_columns(table, file, cluster=cluster, label=label, groups=groups)
        return table
    if id is None:
        raise InputError("labels in a file of their own need `id`", file=gold, remedy="name it")
    truth = read_table(gold)
    check_columns(truth, gold, id=id, label=label, groups=groups)
    check_columns(table, file, cluster=None if cluster in truth else cluster)
    if len(twice := np.flatnonzero(table[id].duplicated())):
        name = table[id][twice[0]]
        raise InputError(f"has the id {name!r} twice", file=file, line=int(twice[0]) + 2)
    if unknown := sorted({*table[id]} - {*truth[id]}):
        raise InputError(
            f"has {plural(len(unknown), 'id')} that `gold` does not have, such as {unknown[0]!r}",
            file=file,
            remedy="add these rows to the labels, or leave their predictions out",
        )
    # a column that both have is that of the predictions, such as the probability of another model
    kept = [name for name in table if name not in (id, label, *groups)]
    truth = truth.drop(columns=truth.columns.intersection(kept))
    return truth.join(table.set_index(id)[kept], on=id).fillna("")


def _classes(labels: pd.Series, by_class: Mapping[str, str], label: str, file: Path) -> list[str]:
    classes = sorted({*labels} - {""})
    names = sets_among({*classes, *by_class}, {*by_class})
    parts = {part for name in classes for part in name.split()}
    if not by_class and len(classes) > max(4, 1.5 * len(parts)):
        names = next(name for name in classes if len(name.split()) > 1), " "
    if names:
        problem = f"{label} has cells such as {names[0]!r}: a row has one label here"
        remedy = "if it may have several, audit a column of 0 and 1 for each label, else write"
        raise InputError(problem, file=file, remedy=f"{remedy} these without {names[1]!r}")
    if by_class:
        named = list(map(as_label, by_class))
        if outside := [name for name in classes if name not in named]:
            raise InputError(
                f"{label} has {listed(outside, 4)}, for which `probabilities` names no column",
                file=file,
                remedy=f"it names columns for {', '.join(named)}"
                + (f"; did you mean {near}?" if (near := nearest(outside[0], named)) else "")
                + "; of two labels, `prediction` may be one column of probabilities"
                * (len(classes) == 2),
            )
        classes = named
    are_shares = len(classes) > MOST_NUMBERS and all(0 <= or_nan(name) <= 1 for name in classes)
    if len(classes) > MOST_LABELS or are_shares:
        kind = "numbers between 0 and 1" if are_shares else "values"
        problem = f"{label} has {len(classes)} {kind}, so it is no class"
        remedy = f"name a column with at most {MOST_LABELS} different labels as `label`"
        remedy += ", and that of probabilities as `prediction`" * are_shares
        raise InputError(problem, file=file, remedy=remedy)
    if len(classes) < 2:
        only = f"one value only ({classes[0]})" if classes else "no value"
        raise InputError(f"{label} has {only}", file=file, remedy="name the column of true labels")
    return classes


def _check_quantity(labels: pd.Series, names: pd.Series, label: str, file: Path) -> None:
    """Raise InputError for labels that are numbers with predictions near them, as of a regression.

    Of classes with numbers as names, a wrong one is as likely to be far away.
    """
    if labels.nunique() <= MOST_NUMBERS:
        return
    true, predicted = labels.map(or_nan).to_numpy(), names.map(or_nan).to_numpy()
    wrong = np.isfinite(true) & np.isfinite(predicted) & (true != predicted)
    both = true[wrong], predicted[wrong]
    vary = all(len({*numbers.tolist()}) > 1 for numbers in both)
    if vary and 2 * wrong.sum() > len(true) and np.corrcoef(*both)[0, 1] > NEAR:
        problem = f"{label} has {labels.nunique()} numbers, and most predictions are near the true"
        problem += " one, so it is a quantity and no class"
        remedy = "audit a column that says whether it is above a limit that matters, or write the"
        remedy += " labels as words if they are classes"
        raise InputError(problem, file=file, remedy=remedy)


def _positive(positive: str | None, classes: list[str], label: str, file: Path) -> int | None:
    if positive is None:
        names = [name for name in POSITIVE if name in classes and len(classes) == 2]
        if len(names) > 1:
            problem = f"{label} has {listed(names)}, and each may be the positive label"
            raise InputError(problem, file=file, remedy="name it as `positive`")
        return classes.index(names[0]) if names else None
    if as_label(str(positive)) not in classes:
        problem = f"`positive` is {positive}, which is no value of {label}"
        raise InputError(problem, file=file, remedy=choice(as_label(str(positive)), classes))
    return classes.index(as_label(str(positive)))


def _are_probabilities(cells: pd.Series, classes: list[str]) -> bool:
    """Return whether a column has probabilities: most values are in 0 to 1, and not all labels.

    Without a fraction they are 0 and 1 alone, and no labels.
    """
    names = {*cells.map(as_label)} - {""}
    inside = [0 <= or_nan(name) <= 1 for name in names]
    if names <= {"0", "1"}:
        return bool(names) and names.isdisjoint(classes)
    has_fraction = any(0 < or_nan(name) < 1 for name in names)
    return has_fraction and not names <= {*classes} and np.mean(inside) > 0.5


def _probabilities(
    cells: pd.DataFrame, by_class: bool, positive: int | None, bad: _LeftOut
) -> tuple[np.ndarray, pd.Series]:
    """Return the probabilities of the classes, from a column for each or for the positive one.

    Also whether a row is divided by its sum, which differs from 1 by no more than rounding gives.
    """
    values = cells.map(or_nan)
    inside = values.clip(0, 1)
    values = values.where((values - inside).abs() > CLOSE, inside)
    bad.mark((cells == "").any(axis=1), "no_prediction")
    outside = ~((values >= 0) & (values <= 1)).all(axis=1)
    bad.mark(outside, "not_a_probability", cells, ", ".join)
    if by_class:
        sums = pd.Series([row.sum() for row in values.to_numpy()], index=values.index)
        distance = ((sums - 1).abs() - 1e-9).clip(lower=0)  # 0.999 is within a tolerance of 0.001
        is_off = distance > TOLERANCE
        is_bad = is_off & ((distance > _rounding(cells)) | (sums == 0))
        bad.mark(is_bad, "sum_not_one", sums, "{:g}".format)
        is_rescaled = is_off & ~is_bad
        return values.div(sums.where(is_rescaled, 1.0), axis=0).to_numpy(), is_rescaled
    of_positive = values.iloc[:, 0].to_numpy()
    pair = (1 - of_positive, of_positive) if positive else (of_positive, 1 - of_positive)
    return np.stack(pair, axis=1), bad.usable & False


def _rounding(cells: pd.DataFrame) -> float:
    """Return by how much a row's sum may differ as numbers are rounded to the digits they have.

    For each column half a unit of the last digit, of the column with the fewest digits behind the
    point. Columns of whole numbers do not decide: a class may be impossible.
    """
    numbers = cells.where(np.isfinite(cells.map(or_nan)), "0")
    digits = -numbers.map(lambda cell: Decimal(cell).as_tuple().exponent).min()
    return 0.5 * len(digits) * 10.0 ** -digits[digits > 0].min() if (digits > 0).any() else 0.0


def _counterfactuals(
    ids: pd.Series, factual_ids: pd.Series, members: pd.DataFrame, bad: _LeftOut
) -> tuple[np.ndarray, list[str], list[str], np.ndarray]:
    """Return the row of each counterfactual's factual case, the changed attributes, and its row.

    Before its row the values of these attributes.
    """
    cases = np.flatnonzero((factual_ids == "") & bad.usable)
    place = pd.Series(cases, index=ids.iloc[cases])
    is_known = factual_ids.isin(place.index)
    is_flip = factual_ids.isin(ids[factual_ids != ""]) & ~factual_ids.isin(ids[factual_ids == ""])
    bad.mark((factual_ids != "") & is_flip, "not_factual", factual_ids)
    bad.mark((factual_ids != "") & ~is_known, "no_factual", factual_ids)
    rows = np.flatnonzero((factual_ids != "") & bad.usable)
    factual = place[factual_ids.iloc[rows]].to_numpy()
    named = members.to_numpy()[rows]
    differs = (named != members.to_numpy()[factual]) & (named != "")  # a blank cell is no change
    same = bad.usable & False
    same.iloc[rows] = ~differs.any(axis=1)
    bad.mark(same, "no_flip", factual_ids)
    kept = differs.any(axis=1)
    differs, named = differs[kept], named[kept]
    changed = [" and ".join(members.columns[row]) for row in differs]
    set_to = [" and ".join(cells[row]) for cells, row in zip(named, differs, strict=True)]
    return factual[kept], changed, set_to, rows[kept]
