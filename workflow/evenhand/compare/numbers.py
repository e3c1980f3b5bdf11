"""The numbers of two results folders, row by row, and which of them moved beyond noise."""

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenhand.compare.items.common import side_by_side
from evenhand.compare.results import MODEL, Results
from evenhand.core.tables import Column, Table, declaration
from evenhand.errors import InputError
from evenhand.metrics.differences import (
    LEAST_CLUSTERS,
    Difference,
    Estimate,
    difference_of_intervals,
    difference_of_items,
)
from evenhand.metrics.paired import holm

#: Statuses of a number: equal in both runs; differs beyond noise, or within it; noise is unknown;
#: only head, or only base, has a value.
SAME, MOVED, NOISE, UNJUDGED, NEW, GONE = "same", "moved", "noise", "unjudged", "new", "gone"

#: The basis of a judgment.
ITEMS, INTERVALS = "items", "intervals"

#: Tables have six decimals; the mean of the items may differ from them by this much.
ROUNDING = 2e-6

#: Adjusted p-values below this count as moved.
ALPHA = 0.05


@dataclass
class Compared:
    """One number of one row in both runs.

    Attributes
    ----------
    table, column : str
        The path of its table, and its column.
    key : dict
        The keys of its row.
    neutral : float or None
        See `evenhand.core.tables.Column`.
    base, head : Estimate or None
        None for a run without a value; borders are NaN without an interval.
    status : str
        `SAME`, `NEW`, `GONE`, `UNJUDGED`, and after `mark_moved` `MOVED` or `NOISE`.
    reason : str
        The reason for `UNJUDGED`, else blank.
    by : str
        `ITEMS` or `INTERVALS`, or blank.
    change : Difference or None
        Of the values.
    distance : Difference or None
        Of their distances from the neutral point; without one, the same as `change`.
    p_adjusted : float
        Of the change; NaN if it was not judged.
    main : bool
        Whether it answers the question of its table (`evenhand.core.tables.Table.main`).
    """

    table: str
    column: str
    key: dict[str, str]
    neutral: float | None
    base: Estimate | None
    head: Estimate | None
    status: str
    reason: str = ""
    by: str = ""
    change: Difference | None = None
    distance: Difference | None = None
    p_adjusted: float = math.nan
    main: bool = False


class Verdict(NamedTuple):
    """A verdict column of a table whose value changed."""

    table: str
    column: str
    key: dict[str, str]
    base: str
    head: str


@dataclass
class ComparedTable:
    """One table in both runs.

    Attributes
    ----------
    name : str
        Its path in the results.
    equal : bool
        Whether both runs wrote the same bytes.
    rows : tuple of int
        The number of rows of base and head; None for a run without the table.
    role : Table or None
        Its declaration in head, or else in base.
    new, gone : list of dict
        The keys of rows that only head, or only base, has.
    numbers : list of Compared
        Of the rows in both; blank in both does not count.
    columns_new, columns_gone : list of str
        Columns that only head, or only base, has.
    others : dict
        By column without an interval: the number of rows that differ, if any. For a border of an
        interval only rows with the same number count.
    verdicts : list of Verdict
        The changed verdicts among these columns.
    problem : str
        The reason why rows were not compared, or blank.
    """

    name: str
    equal: bool
    rows: tuple[int | None, int | None]
    role: Table | None = None
    new: list[dict[str, str]] = field(default_factory=list)
    gone: list[dict[str, str]] = field(default_factory=list)
    numbers: list[Compared] = field(default_factory=list)
    columns_new: list[str] = field(default_factory=list)
    columns_gone: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    problem: str = ""


def compare_tables(base: Results, head: Results) -> list[ComparedTable]:
    """Compare all tables of either folder, sorted by name, and mark the numbers that moved.

    Raises
    ------
    InputError
        A table cannot be read, or neither folder has a table with a row.
    """
    names = sorted({*base.tables, *head.tables})
    head.versions = _versions(base, head, names)
    tables = [compare_table(base, head, name) for name in names]
    for one, place in ((base, 0), (head, 1)):
        if not any(table.rows[place] for table in tables):
            raise InputError("has no table with a row, so there is nothing to compare",
                             file=one.folder)  # fmt: skip
    mark_moved([number for table in tables if not table.equal for number in table.numbers])
    return tables


def _versions(base: Results, head: Results, names: list[str]) -> tuple[str, str] | None:
    """Return the model that only base has and the one that only head has, if there is one each."""
    models = [
        {row[MODEL] for name in names for row in one.rows(name)[1] if row.get(MODEL)}
        for one in (base, head)
    ]
    gone, new = models[0] - models[1], models[1] - models[0]
    return (gone.pop(), new.pop()) if len(gone) == len(new) == 1 else None


def compare_table(base: Results, head: Results, name: str) -> ComparedTable:
    """Compare one table, without the correction for multiple tests."""
    paths = [one.folder / name for one in (base, head)]
    present = [path.is_file() for path in paths]
    equal = all(present) and paths[0].read_bytes() == paths[1].read_bytes()
    before, old = base.rows(name)
    after, new = (before, old) if equal else head.rows(name)
    rows = tuple(
        len(found) if there else None for found, there in zip((old, new), present, strict=True)
    )
    declared = [declaration(path) for path in reversed(paths)]
    role = next(filter(None, declared), None)
    table = ComparedTable(name, equal, rows, role)
    if not all(present):
        return table
    if role is None:
        table.problem = "its columns are not declared"
    elif not role.key:
        table.problem = "its rows are a list"
    if table.problem:
        return table
    table.columns_new = [column for column in after if column not in before]
    table.columns_gone = [column for column in before if column not in after]
    common = [column for column in before if column in after]
    # an older folder may lack a key of today; the other keys may still identify the rows
    keys = tuple(key for key in role.key if key in common)
    own, other = (_by_key(found, keys) for found in (old, new))
    if own is None or other is None or not keys:
        table.problem = f"two rows have the same {', '.join(keys)}" if keys else "it has other keys"
        return table
    table.gone = [_key(row, role) for key, row in own.items() if key not in other]
    table.new = [_key(row, role) for key, row in other.items() if key not in own]
    both = [(row, other[key]) for key, row in own.items() if key in other]
    numbers = [one for one in role.numbers() if {one.name, *one.interval} <= {*common}]
    stores = _Stores(base, head, name)
    for number in numbers:
        for pair in both:
            table.numbers += _compare(table, role, number, pair, stores)
    known = {*keys, *(number.name for number in numbers)}
    values = {border: one.name for one in numbers for border in one.interval}
    others = [column for column in common if column not in known]
    _compare_others(table, role, both, {column: values.get(column) for column in others})
    return table


def mark_moved(numbers: list[Compared]) -> None:
    """Mark the judged numbers that moved: Holm's p-values, of main numbers and of the others."""
    for main in (True, False):
        judged = [one for one in numbers if one.change is not None and one.main == main]
        adjusted = holm(np.array([one.change.p_value for one in judged]))
        for one, p_adjusted in zip(judged, adjusted.tolist(), strict=True):
            one.p_adjusted = p_adjusted
            if one.status != SAME:
                one.status = MOVED if p_adjusted < ALPHA else NOISE


def _by_key(
    rows: list[dict[str, str]], keys: tuple[str, ...]
) -> dict[tuple[str, ...], dict[str, str]] | None:
    """Return the rows by their keys, or None if two rows have the same."""
    found = {tuple(row[key] for key in keys): row for row in rows}
    return found if len(found) == len(rows) else None


def _key(row: dict[str, str], role: Table) -> dict[str, str]:
    return {key: row[key] for key in role.key if key in row}


class _Stores:
    """The items behind a table in both runs, read on first use."""

    def __init__(self, base: Results, head: Results, name: str) -> None:
        self.folders, self.name, self.found = (base.folder, head.folder), name, {}
        self.head = head

    def items(self, module: str, key: dict[str, str]) -> list[Any]:
        """Return the items of base and of head, or None for a run without them."""
        if module not in self.found:
            store = importlib.import_module(f"evenhand.compare.items.{module}").Store
            self.found[module] = [store(folder, self.name) for folder in self.folders]
        keys = (key, self.head.own_key(key))
        return [store.items(own) for store, own in zip(self.found[module], keys, strict=True)]


def _compare(
    table: ComparedTable,
    role: Table,
    number: Column,
    pair: tuple[dict[str, str], dict[str, str]],
    stores: _Stores,
) -> Iterator[Compared]:
    """Yield the number of a row, or nothing if it is blank in both runs."""
    base, head = (_estimate(row, number) for row in pair)
    if base is None and head is None:
        return
    key = _key(pair[0], role)
    found = Compared(table.name, number.name, key, number.neutral, base, head, UNJUDGED)
    found.main = role.main is not None and all(
        key.get(column) in values for column, values in role.main.items()
    )
    if base is None or head is None:
        found.status = NEW if base is None else GONE
    elif base.value == head.value:
        found.status, found.change = SAME, Difference(0.0, 0.0, 1.0)
        found.distance = found.change
    else:
        _judge(found, number, pair, stores)
    yield found


def _judge(
    found: Compared,
    number: Column,
    pair: tuple[dict[str, str], dict[str, str]],
    stores: _Stores,
) -> None:
    """Compute the difference with its p-value, or the reason why there is none."""
    few = f"fewer than {LEAST_CLUSTERS} clusters"
    clusters = [_number(row.get(number.clusters, "")) for row in pair]
    if any(count is not None and count < LEAST_CLUSTERS for count in clusters):
        found.reason = few
        return
    estimates = (found.base, found.head)
    sides = stores.items(number.items, found.key) if number.items else [None, None]
    if all(
        one is not None and len(one.value) and math.isclose(
            float(one.value.mean()), estimate.value, rel_tol=ROUNDING, abs_tol=ROUNDING
        )
        for one, estimate in zip(sides, estimates, strict=True)
    ):  # fmt: skip
        above, below, members = side_by_side(*sides)
        found.by = ITEMS
        change = distance = difference_of_items(above, below, members)
        if found.neutral is not None:
            distance = difference_of_items(above, below, members, neutral=found.neutral)
        reason = few
    elif not all(math.isfinite(one.low) and math.isfinite(one.high) for one in estimates):
        found.reason = "no interval"
        return
    elif any(one.low == one.high for one in estimates):
        found.reason = "an interval without width"
        return
    else:
        found.by = INTERVALS
        change = distance = difference_of_intervals(*estimates)
        if found.neutral is not None:
            distance = difference_of_intervals(
                *(one.from_neutral(found.neutral) for one in estimates)
            )
        reason = "an interval that does not hold its number, or of a single value"
    if math.isnan(change.p_value):
        found.by, found.reason = "", reason
    else:
        found.change, found.distance = change, distance


def _estimate(row: dict[str, str], number: Column) -> Estimate | None:
    value = _number(row[number.name])
    if value is None:
        return None
    low, high = (_number(row[column]) for column in number.interval)
    count = _number(row.get(number.count, ""))
    borders = (math.nan if border is None else border for border in (low, high))
    return Estimate(value, *borders, None if count is None else int(count))


def _number(cell: str) -> float | None:
    """Parse a finite number, or return None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _compare_others(
    table: ComparedTable,
    role: Table,
    both: list[tuple[dict[str, str], dict[str, str]]],
    columns: dict[str, str | None],
) -> None:
    """Count, for each column that is neither key nor number, the rows in which it differs.

    For a border of an interval only rows with the same number count.
    """
    for column, value in columns.items():
        unlike = [
            (old, new)
            for old, new in both
            if old[column] != new[column] and (value is None or old[value] == new[value])
        ]
        if unlike:
            table.others[column] = len(unlike)
        if column == "verdict" or column.endswith("_verdict"):
            table.verdicts += [
                Verdict(table.name, column, _key(old, role), old[column], new[column])
                for old, new in unlike
            ]
