"""Any CSV: which column is the label, which the attribute, and which are the features.

A column whose values are all numbers is a feature as it is; one named in `categories`, or
that holds no numbers, becomes a column a value. A row with a blank cell is left out and counted.
"""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.resources import first_twice
from evenhand.errors import InputError
from evenhand.tabular.delimited import read_csv
from evenhand.tabular.numbers import counted, number
from evenhand.tabular.prepared import Prepared

#: A column of text with more values than this is a name or a number in disguise.
MOST_CATEGORIES = 200


def read(files: list[Path], options: dict[str, Any]) -> Prepared:
    """Read a CSV (UTF-8, a header, commas).

    Parameters
    ----------
    files : list of Path
        One file.
    options : dict
        label (a column), positive (its value that counts as 1), attribute (a column),
        features (columns; all others if empty), categories (columns whose numbers are
        codes), scale (standard or none), test_share, split (a
        column of train and test, if there is one), title.

    Raises
    ------
    InputError
        There is not one file, it is no CSV file in UTF-8 or has no rows, a column is missing,
        there twice, has one value only, too many, or numbers and something else, the label has
        not two values, or `positive` does not occur.
    """
    if len(files) != 1:
        raise InputError(f"a table is one file, and {len(files)} are named")
    path = files[0]
    header, lines = read_csv(path)
    if twice := first_twice(header):
        raise InputError(f"has the column {twice!r} twice", file=path, line=1)
    place = {name: number for number, name in enumerate(header)}
    rows = [cells for _, cells in lines]
    label, attribute, split = options["label"], options["attribute"], options["split"]
    chosen = options["features"] or [n for n in header if n not in (label, attribute, split)]
    for name in (label, attribute, *chosen, *options["categories"], *([split] if split else [])):
        if name not in place:
            raise InputError(
                f"lacks the column {name!r} (it has {', '.join(header)})", file=path, line=1
            )
    if label in (*chosen, attribute):
        part = "the attribute" if label == attribute else "among the features"
        raise InputError(f"the label {label} is {part} too", file=path)
    used = [place[name] for name in dict.fromkeys((label, attribute, *chosen))]
    complete = [row for row in rows if all(row[i] for i in used)]
    if not complete:
        raise InputError("has no row without a blank cell", file=path)
    column = {name: [row[i] for row in complete] for name, i in place.items()}
    labels = sorted(set(column[label]))
    if len(labels) != 2:
        raise InputError(
            f"the label {label} has {counted(len(labels), 'value')} ({', '.join(labels[:5])}); it"
            " needs two",
            file=path,
        )
    positive = str(options["positive"])
    if positive not in labels:
        raise InputError(
            f"the label {label} has the values {', '.join(labels)}, and not {positive!r}",
            file=path,
            remedy="name the one that counts as 1 as `positive`",
        )
    values = sorted(set(column[attribute]))
    if len(values) < 2:
        raise InputError(
            f"the attribute {attribute} has one value only ({values[0]!r}), so there are no"
            " groups to compare",
            file=path,
        )
    names, arrays = [], []
    # the attribute comes first, a column a value (one, for two values)
    for code, value in enumerate(values) if len(values) > 2 else [(1, values[-1])]:
        names.append(f"{attribute}={value}")
        arrays.append(np.array([one == values[code] for one in column[attribute]], dtype=float))
    carriers = list(range(len(names)))
    codes = np.eye(len(values)) if len(values) > 2 else np.array([[0.0], [1.0]])
    for name in dict.fromkeys(chosen):
        if name == attribute:
            continue
        if len(set(column[name])) == 1:
            raise InputError(
                f"the column {name} has one value only ({column[name][0]!r})",
                file=path,
                remedy="leave it out of the features",
            )
        numbers = None if name in options["categories"] else _numbers(column[name], name, path)
        if numbers is not None:
            names.append(name)
            arrays.append(numbers)
            continue
        kinds = sorted(set(column[name]))
        if len(kinds) > MOST_CATEGORIES:
            raise InputError(
                f"the column {name} has {len(kinds)} values that are no numbers",
                file=path,
                remedy="leave it out of the features",
            )
        for kind in kinds:
            names.append(f"{name}={kind}")
            arrays.append(np.array([one == kind for one in column[name]], dtype=float))
    if split and (others := sorted(set(column[split]) - {"train", "test"})):
        raise InputError(
            f"the split {split} has {others[0]!r}", file=path, remedy="write train or test"
        )
    code_of = {value: code for code, value in enumerate(values)}
    return Prepared(
        name=path.stem,
        x=np.column_stack(arrays),
        y=np.array([one == positive for one in column[label]], dtype=np.int8),
        a=np.array([code_of[one] for one in column[attribute]], dtype=np.int16),
        features=names,
        attribute_name=attribute,
        attribute_values=values,
        attribute_columns=carriers,
        attribute_codes=codes,
        scale=options["scale"],
        test_share=options["test_share"],
        official=np.array(column[split]) if split else None,
        meta={
            "title": options["title"] or path.stem,
            "label": f"{label} = {positive}",
            "excluded": {"blank_cell": len(rows) - len(complete)},
        },
    )


def _numbers(values: list[str], name: str, path: Path) -> np.ndarray | None:
    """The column as numbers; None if it holds none."""
    numbers, others = [], []
    for value in values:
        try:
            numbers.append(number(value))
        except ValueError:
            others.append(value)
    if not numbers:
        return None
    others += [str(one) for one in numbers if not np.isfinite(one)]
    if others:
        raise InputError(
            f"the column {name} holds numbers, and {others[0]!r}, which is none",
            file=path,
            remedy="leave such cells blank, or name the column among the categories",
        )
    return np.array(numbers)
