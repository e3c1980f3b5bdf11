"""The numbers of two results folders, row by row, and which of them moved beyond noise."""

import importlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.comparison.items.common import side_by_side
from evenhand.comparison.results import (
    CHANGED_TO,
    GROUP,
    OF_PEOPLE,
    Results,
    Row,
    names_in_base,
    pair_trainings,
)
from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped
from evenhand.core.tables import Column, Table, declaration
from evenhand.errors import InputError
from evenhand.metrics.differences import (
    LEAST_CLUSTERS,
    Estimate,
    difference_of_intervals,
    difference_of_items,
)
from evenhand.metrics.paired import holm
from evenhand.text.catalogue import doubt_of

#: Statuses of a number: equal in both runs; differs beyond noise, or within it; noise is unknown;
#: only head, or only base, has a value.
SAME, MOVED, NOISE, UNJUDGED, NEW, GONE = "same", "moved", "noise", "unjudged", "new", "gone"

#: The basis of a judgment.
ITEMS, INTERVALS = "items", "intervals"

#: Why a number is not judged.
FEW = f"fewer than {LEAST_CLUSTERS} clusters"
NO_WIDTH, NO_INTERVAL = "an interval without width", "no interval in one of the two"
OUTSIDE = "an interval that does not hold its number, or of a single value"
TRAINING = "an interval without the noise of training"
OTHER_GROUPS = "other groups"

#: Numbers that do not depend on the groups of an attribute.
OVERALL = {"overall", "accuracy", "acc", "balanced_acc", "positive_rate"}

#: Tables have six decimals; the mean of the items may differ from them by this much.
ROUNDING = 2e-6

#: Keys of parts of a set, of which one may be the whole (``all``).
PARTS = ("subset", "bias_type")

#: Keys with the settings of a method for tables of people, and of the training of a classifier.
SETTINGS = ("reduction", "lambda", "epsilon", "epsilon_unit", "mu", "against_mu", "js_base")
SETTINGS += ("trained_for",)

#: Keys whose values are named where only one run has them.
NAMED = ("dataset", "model", "classifier", "objective", "method", "individual", "attribute", "task")

#: The counts of pairs by which a finding on them is doubtful.
DOUBTFUL = ("misplaced", "one_longer", "unequal", "pairs", "samples", "scored")

#: What `evenhand extract` writes, without a description.
EXTRACTED = Table("sentences", title="Extracted sentences", key=("sentence",), columns=())

#: The tables with a verdict for each sentence, or the number of sentences of each verdict.
WITH_SENTENCES = ("sentences.csv", "tables/corpus/funnel.csv")


class Unlike(NamedTuple):
    """What base and head have under the same names although it differs.

    Attributes
    ----------
    people : dict of float
        The share of other people of each data set in which many differ.
    groups : set of (str, str)
        The attributes with other groups, by folder of tables; of people the data sets.
    """

    people: Mapping[str, float]
    groups: Collection[tuple[str, str]]


#: A results folder, and the path of a table in it.
Place = tuple[Results, str]

#: Returns the items behind a number in base and head, by its column and row.
FindItems = Callable[[Column, Row], list[Any]]


@dataclass
class Compared:
    """One number of one row in both runs.

    Attributes
    ----------
    table, number : str
        The path of its table, and its column.
    row : dict
        The keys of its row.
    base, head : Estimate or None
        None for a run without a value; ends are NaN without an interval.
    neutral : float or None
        See `evenhand.core.tables.Column`.
    unit : str
        See `evenhand.core.tables.Column`.
    main : bool
        Whether it answers the question of its table (`evenhand.core.tables.Table.main`).
    status : str
        `SAME`, `NEW`, `GONE`, `UNJUDGED`, and after `mark_moved` `MOVED` or `NOISE`.
    reason : str
        The reason for `UNJUDGED`, else blank.
    judged_by : str
        `ITEMS` or `INTERVALS`, or blank.
    change, standard_error, p_value, change_low, change_high : float
        The difference of the values, its test and its 95 % interval; NaN if it was not judged.
    distance_change, distance_p_value : float
        The same of their distances from the neutral value; without one, of the values.
    p_adjusted : float
        Of the change.
    repeats : Compared or None
        An earlier number that is the same, so that this one is no test of its own.
    doubts : (str, str)
        Why a finding on it may not hold in base and in head (`doubt_of`); blank without a reason.
    """

    table: str
    number: str
    row: Row
    base: Estimate | None
    head: Estimate | None
    neutral: float | None
    main: bool
    status: str = UNJUDGED
    reason: str = ""
    judged_by: str = ""
    change: float = math.nan
    standard_error: float = math.nan
    p_value: float = math.nan
    change_low: float = math.nan
    change_high: float = math.nan
    distance_change: float = math.nan
    distance_p_value: float = math.nan
    p_adjusted: float = math.nan
    repeats: "Compared | None" = None
    doubts: tuple[str, str] = ("", "")
    unit: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether its change has a p-value."""
        return not math.isnan(self.p_value)

    @property
    def crossed(self) -> bool:
        """Whether it is on the other side of its neutral value than before."""
        if self.neutral is None or self.base is None or self.head is None:
            return False
        return (self.base.value - self.neutral) * (self.head.value - self.neutral) < 0


@dataclass
class ComparedTable:
    """One table in both runs.

    Attributes
    ----------
    table, head_table : str
        Its path in the results; in head, that of a classifier trained for other groups differs.
    equal : bool
        Whether both runs wrote the same bytes.
    rows : tuple of int
        The number of rows of base and head; None for a run without the table.
    declaration : Table or None
        Of head, or else of base.
    new, gone : list of dict
        The keys of rows that only head, or only base, has.
    numbers : list of Compared
        Of the rows in both; blank in both does not count.
    columns_new, columns_gone : list of str
        Columns that only head, or only base, has.
    other_columns_that_differ : dict
        By column without an interval: the number of rows that differ, if any. For the end of an
        interval only rows with the same number count.
    verdicts : list of dict
        The changed verdicts among these columns: table, column, row, base, head.
    problem : str
        The reason why rows were not compared, or blank.
    title : str
        Its title and its data set, for readers; with the titles of both runs where they differ.
    sentences : dict
        By step, reason or verdict: the numbers of sentences in base and head, where tables of
        `WITH_SENTENCES` differ.
    values : tuple of set
        The values of keys (of `NAMED`) that base and head have, as (key, value).
    """

    table: str
    equal: bool
    rows: tuple[int | None, ...]
    declaration: Table | None = None
    new: list[Row] = field(default_factory=list)
    gone: list[Row] = field(default_factory=list)
    numbers: list[Compared] = field(default_factory=list)
    columns_new: list[str] = field(default_factory=list)
    columns_gone: list[str] = field(default_factory=list)
    other_columns_that_differ: dict[str, int] = field(default_factory=dict)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    title: str = ""
    head_table: str = ""
    sentences: dict[str, list[int]] = field(default_factory=dict)
    values: tuple[set[tuple[str, str]], ...] = (set(), set())

    @property
    def compared(self) -> bool:
        """Whether base and head have a row in common."""
        if self.equal:
            return bool(self.rows[0])
        return None not in self.rows and not self.problem and self.rows[0] != len(self.gone)


def compare_tables(
    base: Results,
    head: Results,
    others: Mapping[str, float] | None = None,
    apart: Collection[str] = (),
) -> list[ComparedTable]:
    """Compare all tables of either folder, sorted by name, and mark the numbers that moved.

    `others` is the share of other people of each data set in which many differ: a mean over seeds,
    each with a random split, then varies nearly as a single seed does. `apart` are the folders of
    tables whose items have the same ids in both and are others.

    Raises
    ------
    InputError
        A table cannot be read, or neither folder has a table with a row.
    """
    names = {name: name for name in base.tables} | names_in_base(base, head, head.tables)
    finders = {
        name: _item_finder((base, name), (head, names[name]), str(Path(name).parent) in apart)
        for name in sorted(names)
    }
    before, after = base.groups(), head.groups()
    both = before.keys() & after.keys()
    unlike = Unlike(others or {}, {place for place in both if before[place] != after[place]})
    tables = [
        _compare_table((base, name), (head, names[name]), finder, unlike)
        for name, finder in finders.items()
    ]
    for run, place in ((base, 0), (head, 1)):
        if not any(table.rows[place] for table in tables):
            problem = "has no table with a row, so there is nothing to compare"
            raise InputError(problem, file=run.folder)
    differing = [table for table in tables if not table.equal]
    for some in (differing, [table for table in tables if table.equal]):
        _mark_repeats(some, finders)
    mark_moved([number for table in differing for number in table.numbers])
    return tables


def mark_moved(numbers: list[Compared]) -> None:
    """Mark the judged numbers that moved: Holm's p-values, of main numbers and of the others.

    Numbers that repeat an earlier one have the status and the p-value of that one.
    """
    distinct = [number for number in numbers if number.is_judged and number.repeats is None]
    for main in (True, False):
        judged = [number for number in distinct if number.main == main]
        adjusted = holm(np.array([number.p_value for number in judged]))
        for number, p_adjusted in zip(judged, adjusted.tolist(), strict=True):
            number.p_adjusted = p_adjusted
            if number.status != SAME:
                number.status = MOVED if p_adjusted < ALPHA else NOISE
    for number in numbers:
        if number.is_judged and (first := number.repeats):
            number.p_adjusted, number.status = first.p_adjusted, first.status


def _mark_repeats(tables: list[ComparedTable], finders: dict[str, FindItems]) -> None:
    """Mark numbers that are the same as another one, of the main numbers if one is.

    These are those of parts that are the whole set, mirrored differences of two groups, a number in
    two tables or columns, and those of equal items under two names.
    """
    columns = {
        (table.table, column.name): column
        for table in tables
        for column in (table.declaration.numbers() if table.declaration else ())
    }
    numbers = [number for table in tables for number in table.numbers]
    numbers.sort(key=lambda number: not number.main)
    values = Counter(_values(number) for number in numbers)
    firsts: dict[str, Compared] = {}
    for number in numbers:
        row = number.row
        places = [_place(number, row)]
        column = columns[number.table, number.number]
        if values[_values(number)] > 1 and column.items:
            sides = finders[number.table](column, row)
            if all(side is not None and len(side.value) for side in sides):
                items = [sorted(zip(side.name, side.value, strict=True)) for side in sides]
                places.append(sha256(repr((_values(number), items)).encode()).hexdigest())
        others = [
            _place(number, row | {part: "all"}) for part in PARTS if row.get(part, "all") != "all"
        ]
        if GROUP in row and number.neutral == 0:
            others.append(_place(number, row | {GROUP: ""}, sign=-1.0))
        number.repeats = next((firsts[each] for each in (*places, *others) if each in firsts), None)
        for each in (*places, _place(number, row | {GROUP: ""})):
            firsts.setdefault(each, number.repeats or number)


def _values(number: Compared) -> str:
    """Return the key that numbers of equal items share."""
    values = [each and each.value for each in (number.base, number.head)]
    return repr((number.is_judged, number.neutral, values))


def _place(number: Compared, row: Row, sign: float = 1.0) -> str:
    """Return what equal numbers of a row share; with the sign −1 what mirrored ones do.

    A number that differs may be in several tables and columns of a folder.
    """
    estimates = [
        [part * sign + 0.0 for part in (each.value, *(each[1:3] if sign > 0 else each[2:0:-1]))]
        for each in (number.base, number.head)
        if each is not None
    ]
    differs = number.is_judged and number.status != SAME
    keys = sorted((key, value) for key, value in row.items() if value not in ("", "all"))
    name = "" if differs else number.number
    place = Path(number.table).parent, name, number.neutral, number.is_judged
    return repr((*place, keys, estimates))


def _compare_table(
    base: Place, head: Place, find_items: FindItems, unlike: Unlike
) -> ComparedTable:
    """Compare one table, without the correction for multiple tests."""
    name = base[1]
    paths = [run.folder / path for run, path in (base, head)]
    present = [path in run.tables for run, path in (base, head)]
    equal = all(present) and paths[0].read_bytes() == paths[1].read_bytes()
    before, old = base[0].rows(name)
    after, new = (before, old) if equal else head[0].rows(head[1])
    sizes = zip((old, new), present, strict=True)
    default = EXTRACTED if name == "sentences.csv" else None
    declared = next(filter(None, map(declaration, reversed(paths))), default)
    rows = tuple(len(run) if exists else None for run, exists in sizes)
    data = [
        run.data_title(path)
        for (run, path), there in zip((base, head), present, strict=True)
        if there
    ]
    title = _title(name, declared, data)
    table = ComparedTable(name, equal, rows, declared, title=title, head_table=head[1])
    common = [column for column in before if column in after]
    # an older folder may lack a key of today; the other keys may still identify the rows
    keys = [key for key in declared.key if key in common] if declared else []
    old, new = _match_settings(old, new, keys)
    old_rows, new_rows = (
        {tuple(row[key] for key in keys): row for row in run} for run in (old, new)
    )
    if not all(present):
        return table
    if declared is None:
        table.problem = "its columns are not declared"
    elif not declared.key:
        table.problem = "its rows are a list"
    elif not keys:
        table.problem = "it has other keys"
    elif len(old_rows) < len(old) or len(new_rows) < len(new):
        table.problem = f"two rows have the same {', '.join(keys)}"
    if table.problem:
        return table
    if not equal and name in WITH_SENTENCES:
        counts = [_count_sentences(run) for run in (old, new)]
        table.sentences = {
            each: [count[each] for count in counts] for each in ("accepted", *counts[0], *counts[1])
        }
    table.columns_new = [column for column in after if column not in before]
    table.columns_gone = [column for column in before if column not in after]
    named = [key for key in keys if key in NAMED]
    table.values = tuple(
        {(key, row[key]) for row in run for key in named if row[key]} for run in (old, new)
    )
    # a key that one folder lacks still names the rows of the other
    table.gone, table.new = (
        [_key(row, declared) for key, row in run.items() if key not in other]
        for run, other in ((old_rows, new_rows), (new_rows, old_rows))
    )
    pairs = [(row, new_rows[key]) for key, row in old_rows.items() if key in new_rows]
    numbers = [
        column for column in declared.numbers() if {column.name, *column.interval} <= {*common}
    ]
    table.numbers = [
        compared
        for column in numbers
        for pair in pairs
        if (compared := _compare(name, declared, column, pair, find_items, unlike))
    ]
    values = {end: column.name for column in numbers for end in column.interval}
    for column in common:
        if column not in {*keys, *(number.name for number in numbers)}:
            value = values.get(column)
            _compare_column(
                table, column, [p for p in pairs if not value or p[0][value] == p[1][value]]
            )
    return table


def _match_settings(old: list[Row], new: list[Row], keys: list[str]) -> list[list[Row]]:
    """Return the rows with a setting that differs named by both, as ``0.1 → 2``.

    These are rows of methods with a single setting in each run, and `pair_trainings`.
    """
    if not (settings := [key for key in keys if key in SETTINGS]):
        return [old, new]
    names = [key for key in keys if key not in SETTINGS]
    befores, afters = (grouped(run, *names) for run in (old, new))
    renamed: dict[int, Row] = {}
    for place, rows in befores.items():
        others = afters.get(place, [])
        single = [(rows[0], others[0])] if len(rows) == len(others) == 1 else []
        pairs = pair_trainings(rows, others) if settings == ["trained_for"] else single
        for before, after in pairs:
            ends = {key: (before[key] or "none", after[key] or "none") for key in settings}
            both = {key: CHANGED_TO.join(pair) for key, pair in ends.items() if pair[0] != pair[1]}
            renamed |= {id(row): row | both for row in (before, after)}
    return [[renamed.get(id(row), row) for row in run] for run in (old, new)]


def _row_of(row: Row, side: int) -> Row:
    """Return a row that `_match_settings` may have renamed as base (0) or head (1) names it."""
    return row | {key: row[key].split(CHANGED_TO)[side]
                  for key in SETTINGS if CHANGED_TO in row.get(key, "")}  # fmt: skip


def _count_sentences(rows: list[Row]) -> Counter[str]:
    """Count the sentences of a funnel by step or reason, those of an extraction by verdict."""
    counts: Counter[str] = Counter()
    for row in rows:
        count = int(_finite(row.get("sentences", "1")) or 0)
        counts[row.get("verdict") or row.get("reason") or row.get("step", "")] += count
    return counts


def _title(name: str, declared: Table | None, data: list[str]) -> str:
    """Return the declared title of a table, with its data sets unless it ends with their name.

    Without a declaration, its path.
    """
    if declared is None:
        return name.removeprefix("tables/").removesuffix(".csv")
    names = [*dict.fromkeys(filter(None, data))]
    if all(f" {declared.title}".casefold().endswith(f" {name}".casefold()) for name in names):
        names = []
    titles = " → ".join(f"“{name}”" for name in names)
    return declared.title + (f", {titles}" if titles else "")


def _key(row: Row, declared: Table) -> Row:
    return {key: row[key] for key in declared.key if key in row}


def _item_finder(base: Place, head: Place, apart: bool) -> FindItems:
    """Return the function that finds items; none of head is one of base if they are `apart`."""

    @cache
    def stores(module: str) -> list[Any]:
        store = importlib.import_module(f"evenhand.comparison.items.{module}").Store
        return [store(run, name) for run, name in (base, head)]

    def find(column: Column, row: Row) -> list[Any]:
        rows = [_row_of(run, side) for side, run in enumerate((row, head[0].stored_row(row)))]
        stored = zip(stores(column.items), rows, strict=True)
        sides = [store.items(key, column.name) for store, key in stored]
        if apart and (items := sides[1]) is not None:
            named = {key: np.char.add("\1", getattr(items, key)) for key in ("name", "cluster")}
            sides[1] = items._replace(**named)
        return sides

    return find


def _compare(
    table: str,
    declared: Table,
    column: Column,
    pair: tuple[Row, Row],
    find_items: FindItems,
    unlike: Unlike,
) -> Compared | None:
    """Return the number of a row, or None if it is blank in both runs."""
    base, head = (_estimate(row, column) for row in pair)
    if base is None and head is None:
        return None
    key = _key(pair[0], declared)
    neutral = column.neutral
    if isinstance(neutral, Mapping):
        neutral = neutral.get(key.get("metric", ""))
    main = (
        declared.main is not None
        and neutral is not None
        and all(key.get(name) in values for name, values in declared.main.items())
    )
    number = Compared(table, column.name, key, base, head, neutral, main, unit=column.unit)
    number.doubts = tuple(_doubt(row) for row in pair)
    folder = str(Path(table).parent)
    of_people = folder == OF_PEOPLE
    other = unlike.people.get(key.get("dataset", "")) if of_people else None
    place = folder, key.get("dataset" if of_people else "attribute", "")
    depends = not key.get(GROUP) and not OVERALL & {column.name, *key.values()}
    if base is None or head is None:
        number.status = NEW if base is None else GONE
    elif base.value == head.value:
        number.status = SAME
        number.change = number.standard_error = number.distance_change = 0.0
        number.p_value = number.distance_p_value = 1.0
    elif depends and place in unlike.groups:
        number.reason = OTHER_GROUPS
    elif of_people and (column.count != "seeds" or (other and key.get("split") == "official")):
        number.reason = TRAINING
    elif other:
        number.base, number.head = (_widened(each, other) for each in (base, head))
        _judge(number, column, pair, find_items)
        number.base, number.head = base, head
    else:
        _judge(number, column, pair, find_items)
    return number


def _widened(mean: Estimate, other: float) -> Estimate:
    """Return a mean over seeds with the noise of other people: that of a single seed.

    Between simulated tables the means of five seeds varied with 0.4 to 1.5 times the variance of
    single seeds (benchmarks/redrawn_people.py); `other` is the share of people that are not the
    same.
    """
    factor = math.sqrt(1 + (mean.count or 1) * other)
    ends = (mean.value + factor * (end - mean.value) for end in mean[1:3])
    return Estimate(mean.value, *ends, mean.count)


def _judge(number: Compared, column: Column, pair: tuple[Row, Row], find_items: FindItems) -> None:
    """Compute the difference with its p-value, or the reason why there is none."""
    clusters = [_finite(row.get(column.clusters, "")) for row in pair]
    if any(count is not None and count < LEAST_CLUSTERS for count in clusters):
        number.reason = FEW
        return
    estimates, neutral = (number.base, number.head), number.neutral
    sides = find_items(column, number.row) if column.items else [None, None]
    if all(
        side is not None and len(side.value) and math.isclose(
            float(side.value.mean()), estimate.value, rel_tol=ROUNDING, abs_tol=ROUNDING
        )
        for side, estimate in zip(sides, estimates, strict=True)
    ):  # fmt: skip
        (*items, parts, slopes), judged_by, reason = side_by_side(*sides), ITEMS, FEW
        more = {"runs": [side.runs for side in sides], "parts": parts, "slopes": slopes}
        change = distance = difference_of_items(*items, **more)
        if neutral is not None:
            distance = difference_of_items(*items, neutral=neutral, **more)
    elif not all(math.isfinite(end) for estimate in estimates for end in estimate[1:3]):
        number.reason = NO_INTERVAL
        return
    elif any(estimate.low == estimate.high for estimate in estimates):
        number.reason = NO_WIDTH
        return
    else:
        judged_by, reason = INTERVALS, OUTSIDE
        change = distance = difference_of_intervals(*estimates)
        if neutral is not None:
            distance = difference_of_intervals(*(each.from_neutral(neutral) for each in estimates))
    if math.isnan(change.p_value):
        number.reason = reason
    else:
        number.judged_by = judged_by
        number.change, number.standard_error, number.p_value = change[:3]
        number.change_low, number.change_high = change[3:]
        number.distance_change, number.distance_p_value = distance.difference, distance.p_value


def _doubt(row: Row) -> str:
    """Return the doubt of a row of pairs; blank for other tables."""
    known = {name: _finite(row.get(name, "")) for name in DOUBTFUL}
    counts = {name: int(value) for name, value in known.items() if value is not None}
    return doubt_of(
        {"verdict": row.get("verdict"), "score": _finite(row.get("score", ""))} | counts
    )


def _estimate(row: Row, column: Column) -> Estimate | None:
    value = _finite(row[column.name])
    if value is None:
        return None
    low, high = (_finite(row[end]) for end in column.interval)
    count = _finite(row.get(column.count, ""))
    ends = (math.nan if end is None else end for end in (low, high))
    return Estimate(value, *ends, None if count is None else int(count))


def _finite(cell: str) -> float | None:
    """Parse a finite number, or return None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _compare_column(table: ComparedTable, column: str, pairs: list[tuple[Row, Row]]) -> None:
    """Count the rows in which a column differs that is neither key nor number."""
    differing = [(old, new) for old, new in pairs if old[column] != new[column]]
    if differing:
        table.other_columns_that_differ[column] = len(differing)
    if column == "verdict" or column.endswith("_verdict"):
        table.verdicts += [
            {
                "table": table.table,
                "column": column,
                "row": _key(old, table.declaration),
                "base": old[column],
                "head": new[column],
            }
            for old, new in differing
        ]
