"""Any CSV file, with configured columns of label, attribute and features.

A column of numbers is one feature; a column in `categories`, or without numbers, becomes a feature
per value. By default, rows with a blank cell are left out and counted; see the option `missing`.
Where blank is a category, people with a blank cell in any column of an intersection are one group.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.files import content_digest
from evenhand.core.numbers import MISSING as NO_VALUE
from evenhand.core.numbers import (
    MOST_NUMBERS,
    NEGATIVE,
    POSITIVE,
    bin_column,
    check_group_count,
    check_thousands,
    doubtful,
    missing_codes,
    number,
    or_nan,
    without_point,
)
from evenhand.core.resources import check_unique
from evenhand.errors import InputError, nearest
from evenhand.tabular.delimited import check_columns, is_open, only_file, read_cells
from evenhand.tabular.prepared import Prepared, standardise
from evenhand.text.phrases import CROSS, choice, listed, plural

#: A text column with more values than this has names or numbers, and not categories; so has one
#: with more than `MOST_NUMBERS` and more than half as many as rows.
MOST_CATEGORIES = 200

#: Amounts of fewer people may all be different whole numbers.
LEAST_DISTINCT = 100

#: Squares of larger numbers are infinite.
LARGEST = 1e100

#: A feature nearly gives the label or the attribute if by its values alone so much of the rows
#: beyond the most frequent value are predicted; numbers are cut into at most so many bins, each of
#: so many rows.
NEARLY, MOST_BINS, ROWS_OF_BIN = 0.8, 50, 10

#: Features imply the attribute if they leave less of its variance unexplained.
UNEXPLAINED = 0.05

#: Rows may be equal by chance unless their values allow so many times as many different rows.
ROOM = 10

#: A number in another form, such as 34 %, $1,200 or a date: such columns are no categories.
_OTHER_NUMBER = re.compile(r"\W*\d")

#: The name of a blank value.
MISSING = "missing"


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read a CSV (UTF-8, a header, commas).

    Parameters
    ----------
    files : list of Path
        One file.
    options : dict
        label (a column), positive (its values that count as 1), others (whether several values
        count as 0), attribute (a list of columns,
        whose intersection is the attribute), bins (of these), missing (drop, category, impute),
        features (columns; all others if empty), categories (columns whose numbers are codes),
        scale (standard or none), test_share, split (a column of train and test, or None), title.

    Raises
    ------
    InputError
        There is not exactly one file, it is not CSV in UTF-8 or has no rows; a column is missing,
        occurs twice, has only one value, too many values, or mixes numbers and text; the label
        does not have two classes, or a `positive` value does not occur.
    """
    path = only_file(files, "a table")
    header, lines = read_cells(path)
    check_unique(header, path)
    place = {name: number for number, name in enumerate(header)}
    rows = [["" if cell in NO_VALUE else cell for cell in cells] for _, cells in lines]
    label, protected, split = options["label"], options["attribute"], options["split"]
    attribute = CROSS.join(protected)
    chosen = options["features"] or [n for n in header if n not in (label, *protected, split)]
    name_others = "" if options["features"] else "name the other columns in `features`"
    leave_out = name_others or "leave it out of `features`"
    columns = {"label": label, "attribute": protected, "features": chosen, "split": split}
    check_columns(header, path, **columns, categories=options["categories"])
    if label in (*chosen, *protected):
        part = "attribute" if label in protected else "features"
        problem, remedy = f"the label {label} is in `{part}` too", "name another column there"
        raise InputError(problem, file=path, remedy=remedy)
    policy = options["missing"]
    needed = [label, *([split] if split else []), *([] if policy == "category" else protected)]
    needed += [*protected, *chosen] if policy == "drop" else []
    is_complete = [all(row[place[name]] for name in needed) for row in rows]
    complete = list(compress(rows, is_complete))
    used = dict.fromkeys([*needed, *protected, *chosen])
    blank_cells = Counter(name for row in rows for name in used if not row[place[name]])
    if empty := [name for name, count in blank_cells.items() if count == len(rows)]:
        remedy = leave_out if empty[0] in chosen else "name another column"
        raise InputError(f"the column {empty[0]} is blank in all rows", file=path, remedy=remedy)
    if 2 * len(complete) < len(rows):
        most = [f"{name} ({count})" for name, count in blank_cells.most_common() if name in needed]
        remedy = f"{name_others or 'leave such columns out of `features`'}, or choose another"
        remedy += " `missing`"
        for kept, other in ((protected, ", or let `missing` be category"), ((), "")):
            names = [name for name in (label, *kept, split) if name in needed]
            blank = [not all(row[place[name]] for name in names) for row in rows]
            if 2 * sum(blank) > len(rows):  # no choice of the features helps
                names = [name for name in names if blank_cells[name]]
                noun = "the column" if len(names) == 1 else "the columns"
                remedy = f"mend {noun} {listed(names)}, or leave out these rows{other}"
        raise InputError(
            f"{len(rows) - len(complete)} of {len(rows)} rows have a blank cell, more than half of"
            f" them; blank by column: {listed(most, 3)}",
            file=path,
            remedy=remedy,
        )
    column = {name: [row[i] for row in complete] for name, i in place.items()}
    for name, cells in column.items():
        check_thousands(cells, name, path)
    unclear = {n: values for n in (label, *protected) if (values := doubtful(column[n]))}
    column[label] = list(map(without_point, column[label]))
    positive = list(map(without_point, options["positive"] or []))
    is_default = not positive and not {*column[label]} & {*NEGATIVE}
    positive = _check_label(column[label], positive, label, path, others=options["others"])
    at = list(compress((line for line, _ in lines), is_complete))
    for name in protected:
        column[name] = list(map(without_point, column[name]))
        if name in options["bins"]:
            borders = options["bins"][name]
            column[name] = bin_column(column[name], borders, name, path, at)
    parts = list(zip(*(column[name] for name in protected), strict=True))
    members = [CROSS.join(cells) if all(cells) else MISSING for cells in parts]
    grouped = sum(not all(cells) for cells in parts)
    values = sorted(set(members))
    official = np.array(column[split]) if split else None
    check_group_count(attribute, values, len(members), path)
    if not chosen:
        problem = "has no column beside the label and the attribute"
        raise InputError(problem, file=path, remedy="add a feature")
    if unused := [name for name in options["categories"] if name not in (*chosen, *protected)]:
        problem = f"`categories` names {unused[0]}, which is none of the features"
        raise InputError(problem, file=path, remedy="leave it out")
    names, arrays, filled, shifted, unseen = [], [], 0, [], []
    predictors: dict[str, Sequence[str] | np.ndarray] = {attribute: members}
    # the attribute comes first, with a column per value (one column for two values)
    for code, value in enumerate(values) if len(values) > 2 else [(1, values[-1])]:
        names.append(f"{attribute}={value}")
        arrays.append(np.array([member == values[code] for member in members], dtype=float))
    carriers = list(range(len(names)))
    codes = np.eye(len(values)) if len(values) > 2 else np.array([[0.0], [1.0]])
    for name in dict.fromkeys(chosen):
        if name in protected:
            continue
        if len(set(column[name])) == 1:
            problem = f"the column {name} has one value only ({column[name][0]!r})"
            raise InputError(problem, file=path, remedy=leave_out)
        blank = np.array([not cell for cell in column[name]])
        of_train = np.ones_like(blank) if official is None else official == "train"
        of_train |= blank[of_train].all()  # else it has no value there
        filled += int(blank.sum())
        numbers = None if name in options["categories"] else _numbers(column[name], name, path, at)
        predictors[name] = column[name] if numbers is None else numbers
        if numbers is not None:
            if counts := missing_codes(Counter(column[name])):
                unclear[name] = counts
            shifted += [name] if split and _is_shifted(numbers, official) else []
            names.append(name)
            arrays.append(np.where(blank, np.nanmedian(numbers[of_train]), numbers))
            if blank.any() and policy == "category":
                names.append(f"{name}={MISSING}")
                arrays.append(blank.astype(float))
            continue
        if words := doubtful(column[name]):
            unclear[name] = words
        usual = MISSING
        if policy == "impute":
            usual = Counter(compress(column[name], of_train & ~blank)).most_common(1)[0][0]
        column[name] = [cell or usual for cell in column[name]]
        kinds = sorted(set(column[name]))
        are_names = 2 * len(kinds) > len(complete)
        are_numbers = name not in options["categories"] and all(
            kind == MISSING or _OTHER_NUMBER.match(kind) for kind in kinds
        )
        if len(kinds) > (MOST_NUMBERS if are_names or are_numbers else MOST_CATEGORIES):
            remedies = [leave_out, "write numbers like 1234.5"]
            remedies += [] if are_names else ["name it among `categories`"]
            raise InputError(
                f"the column {name} has {len(kinds)} values that are no numbers, such as"
                f" {kinds[0]!r}",
                file=path,
                remedy=", or ".join([", ".join(remedies[:-1]), remedies[-1]]),
            )
        if split:
            known = {*compress(column[name], official == "train")}
            unknown = [cell not in known for cell in compress(column[name], official == "test")]
            unseen += [name] if 2 * sum(unknown) > len(unknown) else []
        for kind in kinds:
            names.append(f"{name}={kind}")
            arrays.append(np.array([value == kind for value in column[name]], dtype=float))
    if split and (others := sorted(set(column[split]) - {"train", "test"})):
        problem = f"the split {split} has {others[0]!r}"
        raise InputError(problem, file=path, remedy="write train or test")
    cells_of = {name: [row[place[name]] for row in rows] for name in chosen}
    numbered = [name for name in chosen if _numbers_rows(cells_of[name])]
    distinct = [n for n in chosen if n not in numbered and _are_distinct(cells_of[n])]
    seen = dict.fromkeys([label, *protected, *chosen])
    copies = _copies([column[name] for name in seen], column[split] if split else None)
    code_of = {value: code for code, value in enumerate(values)}
    x = np.column_stack(arrays)
    notes = {"positive_is_default": is_default, "numbered": numbered, "distinct": distinct}
    notes |= {
        "copies": copies,
        "shifted": shifted,
        "unseen": unseen,
        "implied": _is_implied(x, len(carriers)),
    }
    notes["is_open"] = is_open(path)
    return Prepared(
        name=path.stem,
        x=x,
        y=np.array([value in positive for value in column[label]], dtype=np.int8),
        a=np.array([code_of[member] for member in members], dtype=np.int16),
        features=names,
        attribute_name=attribute,
        attribute_values=values,
        attribute_columns=carriers,
        attribute_codes=codes,
        scale=options["scale"],
        test_share=options["test_share"],
        official=official,
        kept=np.flatnonzero(is_complete),
        meta={
            "title": options["title"] or path.stem,
            "label": f"{label} = {listed(positive)}",
            "table": content_digest(path),
            "excluded": {"blank_cell": len(rows) - len(complete)},
            "doubtful": unclear,
            **{name: noted for name, noted in notes.items() if noted},
            "revealing": {
                "label": _revealing(predictors, [cell in positive for cell in column[label]]),
                "attribute": _revealing(predictors, members),
            },
            "missing": {"policy": policy, "rows": len(rows), "filled": filled}
            | ({"grouped": grouped} if grouped else {}),
        },
    )


def _is_shifted(numbers: np.ndarray, parts: np.ndarray) -> bool:
    """Return whether the median of test is beyond all numbers of train, as in another unit."""
    known = ~np.isnan(numbers)
    train, test = (numbers[known & (parts == part)] for part in ("train", "test"))
    return len(train) and len(test) and not train.min() <= np.median(test) <= train.max()


def _numbers_rows(cells: list[str]) -> bool:
    """Return whether a column counts the rows, one by one."""
    steps = np.diff([or_nan(cell) for cell in cells])
    return len(cells) > MOST_NUMBERS and bool((steps == 1).all())


def _are_distinct(cells: list[str]) -> bool:
    """Return whether each row has another whole number, as ids have."""
    return (
        len(cells) >= LEAST_DISTINCT
        and len({*cells}) == len(cells)
        and all(or_nan(cell).is_integer() for cell in cells)
    )


def _copies(columns: list[list[str]], parts: list[str] | None) -> int:
    """Return how many rows repeat an earlier one, of a given split how many of test one of train.

    Without one it is 0 where different people may well have the same values.
    """
    rows = list(zip(*columns, strict=True))
    if parts:
        train = {row for row, part in zip(rows, parts, strict=True) if part == "train"}
        return sum(row in train for row, part in zip(rows, parts, strict=True) if part == "test")
    possible = prod(len(set(values)) for values in columns)
    return len(rows) - len(set(rows)) if possible > ROOM * len(rows) else 0


def _revealing(
    predictors: dict[str, Sequence[str] | np.ndarray], targets: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return the columns whose values alone nearly give the targets, with the shares of rows."""
    revealing = []
    for name, values in predictors.items():
        share, base = _predicted(values, targets)
        if values is not targets and share - base >= NEARLY * (1 - base):
            revealing.append({"feature": name, "share": share, "base": base})
    return revealing


def _is_implied(x: np.ndarray, carriers: int) -> bool:
    """Return whether the first columns are a sum of the others, as one dummy of a full set is."""
    if x.shape[1] * ROOM > len(x):
        return False
    attribute, features = np.split(standardise(x)[0], [carriers], axis=1)
    weights = np.linalg.lstsq(features.T @ features, features.T @ attribute, rcond=None)[0]
    return bool(((attribute - features @ weights).var(axis=0) < UNEXPLAINED).all())


def _predicted(values: Sequence[str] | np.ndarray, targets: Sequence[Any]) -> tuple[float, float]:
    """Return the shares of rows whose target the values predict, and its most frequent value."""
    rows = len(targets)
    kinds, codes = np.unique(values, return_inverse=True)
    if len(kinds) > (bins := max(1, min(MOST_BINS, rows // ROWS_OF_BIN))):
        if not isinstance(values, np.ndarray):
            return 0.0, 0.0  # a category of a few rows has one label by chance
        codes = np.searchsorted(np.nanquantile(values, np.arange(1, bins) / bins), values, "right")
    _, target_codes = np.unique(targets, return_inverse=True)
    counts = np.zeros((codes.max() + 1, target_codes.max() + 1))
    np.add.at(counts, (codes, target_codes), 1)
    return float(counts.max(axis=1).sum() / rows), float(counts.sum(axis=0).max() / rows)


def _check_label(
    cells: list[str], positive: list[str], label: str, path: Path, *, others: bool
) -> list[str]:
    """Return the values that count as 1; the label must have such a value and another one."""
    labels = sorted(set(cells))
    several = f"the label {label} has {plural(len(labels), 'value')} ({listed(labels, 5)})"
    if len(labels) < 2:
        raise InputError(f"{several}; it needs two", file=path)
    if len(labels) > MOST_NUMBERS and not others and all(map(_is_number, labels)):
        raise InputError(
            f"the label {label} has {len(labels)} values, which are numbers; it needs two",
            file=path,
            remedy="make it a column of 1 (above a border that you choose) and 0",
        )
    known = [name for name in POSITIVE if name in labels]
    unknown = [value for value in positive if value not in labels]
    remedy = f"name `positive`, one of {listed(labels, 5)}"
    if unknown:
        problem = f"`positive` is {unknown[0]}, which is no value of {label}"
        remedy = choice(unknown[0], labels)
    elif len(labels) > 2 and not others:
        problem = f"{several}; it needs two"
    elif len(known) > 1 and not positive:
        problem = f"the label {label} has {listed(known)}, and each may be the one that counts as 1"
    elif not (positive or known):
        problem = f"it is not known which value of {label} counts as 1"
    elif len(set(positive)) == len(labels):
        problem, remedy = f"all values of the label {label} count as 1", "leave out of `positive`"
        raise InputError(problem, file=path, remedy=f"{remedy} those that count as 0")
    else:
        return positive or known
    if len(labels) > 2 and not others:
        near = nearest(unknown[0], labels) if unknown else ""
        some = [near] if near else [] if unknown else positive or known
        some = json.dumps(some or labels[:1], ensure_ascii=False)
        remedy = "as it has more than two values, give `positive` as a list of all that count as 1,"
        remedy += f" such as {some}; all others count as 0"
    raise InputError(problem, file=path, remedy=remedy)


def _numbers(values: list[str], name: str, path: Path, lines: Sequence[int]) -> np.ndarray | None:
    """Return the column as numbers, NaN for a blank cell; None if it has no numbers."""
    numbers, others = np.full(len(values), np.nan), []
    for i, value in enumerate(values):
        try:
            numbers[i] = number(value or "nan")
            others += [i] if value and not abs(numbers[i]) < LARGEST else []
        except ValueError:
            others.append(i)
    if len(others) == sum(map(bool, values)) and not any(_is_number(values[i]) for i in others):
        return None
    if others:
        raise InputError(
            f"the column {name} holds numbers, and {values[others[0]]!r}, which cannot be used",
            file=path,
            line=lines[others[0]],
            remedy="write numbers like 1234.5, leave such cells blank, or name the column among"
            " `categories`",
        )
    return numbers


def _is_number(value: str) -> bool:
    return not np.isnan(or_nan(value)) or value.lower() == "nan"
