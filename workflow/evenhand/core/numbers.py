"""Parse and format numbers in cells and messages."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite, isnan
from pathlib import Path

from evenhand.errors import InputError

#: Maximum number of digits of a whole number; all columns of whole numbers are counts.
MOST_DIGITS = 15

#: The most groups of an attribute, and the most where they are numbers without bins, dates, or more
#: than half as many as the rows.
MOST_GROUPS, MOST_NUMBERS = 100, 20

#: A column is taken for one of ids if its values are more than this share of its rows.
IDS = 0.9

#: A column is taken for one of numbers if at most this share of its values are texts.
TEXTS = 0.1

#: Labels that mean 1, the first one that occurs.
POSITIVE = ("1", "true", "yes", "positive", "True", "Yes", "TRUE", "YES")

#: Labels beside which nobody doubts which one is positive.
NEGATIVE = ("0", "-1", "false", "no", "negative", "False", "No", "FALSE", "NO")

#: Errors of formulas in English, German, French, Polish and Spanish spreadsheets.
ERRORS = frozenset((
    "#N/A", "#NV", "#N/D", "#BRAK", "#DIV/0!", "#¡DIV/0!", "#VALUE!", "#WERT!", "#VALEUR!",
    "#ARG!", "#¡VALOR!", "#REF!", "#BEZUG!", "#ADR!", "#ADR", "#¡REF!", "#NAME?", "#NOM?",
    "#NAZWA?", "#¿NOMBRE?", "#NUM!", "#ZAHL!", "#NOMBRE!", "#LICZBA!", "#¡NUM!", "#NULL!",
    "#NUL!", "#ZERO!", "#¡NULO!",
))  # fmt: skip

#: Cells without a value, as pandas has them, too.
MISSING = ERRORS | frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None"}
    | {"n/a", "nan", "null"}
)

#: Thousands that points separate, and how many different numbers with and without are evidence.
_THOUSANDS, _FEW = re.compile(r"-?[1-9]\d{0,2}(\.\d{3})+"), 5

#: Words that may mean a missing value, and may be a value.
_DOUBTFUL = frozenset({"na", "none", "unknown", "not known", "missing", "?", "-"})

#: Numbers that may mean a missing value where they lie apart from the others: -999, 99, 888.
_CODES = {int(str(digit) * size) for digit in (7, 8, 9) for size in range(1, 7)}
_CODES |= {-1, *(-code for code in _CODES)}

#: They lie apart if all others are on the other side of 0, or at more than so many times the
#: largest distance between two neighbours of these.
_APART = 5

#: The beginning of a date: 2024-05-31, 31.5.2024, 5/31/24.
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b")

_WHOLE = re.compile(r"\A(-?\d+)\.0\Z")


def number(text: str) -> float:
    """Return a cell as a number.

    Unlike Python, ``1_0`` is not read as 10; in a table it is a code or an error.

    Raises
    ------
    ValueError
        The cell is not a number.
    """
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def whole(text: str) -> int:
    """Return a cell as a whole number; see `number`."""
    if "_" in text or len(text) > MOST_DIGITS:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def or_nan(cell: str) -> float:
    """Return a cell as a number; NaN for other text."""
    try:
        return number(cell)
    except ValueError:
        return float("nan")


def doubtful(cells: Iterable[str]) -> dict[str, int]:
    """Return how often each value occurs that may mean a missing one."""
    counts = Counter(cells)
    words = {cell: n for cell, n in counts.items() if cell.strip().casefold() in _DOUBTFUL}
    return dict(sorted(words.items())) | missing_codes(counts)


def missing_codes(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how often each number occurs that may mean a missing one, of counts of cells.

    Among numbers, those of one or two digits only if they occur more than once, as 99 may be an
    age.
    """
    numbers: Counter[float] = Counter()
    for cell, count in counts.items():
        numbers[or_nan(cell)] += count
    others = sorted(value for value in numbers if isfinite(value) and value not in _CODES)
    codes = sorted(_CODES & {*numbers})
    if len(others) < 2:  # a code among words is no word
        words = [cell for cell in counts if cell not in MISSING and isnan(or_nan(cell))]
        return {f"{code:g}": numbers[code] for code in codes if not others and len(words) > 1}
    codes = [code for code in codes if numbers[code] > 1 or abs(code) > 99]
    apart = _APART * max(high - low for low, high in pairwise(others))
    is_count = others[0] >= 0 and len(others) > 2
    return {
        f"{value:g}": numbers[value]
        for value in codes
        if ((is_count and value < 0) or not others[0] - apart <= value <= others[-1] + apart)
    }


def without_point(text: str) -> str:
    """Return a whole number as digits: ``1`` for ``1.0``; other text as it is."""
    return _WHOLE.sub(r"\1", text) if text.endswith(".0") else text


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins between these borders, the lowest first."""
    edges = sorted(edges)
    inner = [f"{low:g} to <{high:g}" for low, high in pairwise(edges)]
    return [f"<{edges[0]:g}", *inner, f"≥{edges[-1]:g}"]


def binned(cells: Sequence[str], edges: Sequence[float]) -> list[str]:
    """Return the bin of each finite number, ``18 to <30``; blank for other text."""
    names, edges = bin_names(edges), sorted(edges)
    values = map(or_nan, cells)
    return [names[bisect_right(edges, value)] if isfinite(value) else "" for value in values]


def check_thousands(cells: Iterable[str], name: str, file: Path | None) -> None:
    """Raise InputError for numbers in which points separate thousands, as German Excel writes them.

    All numbers with a point have three digits after it, and all others are below 1,000.
    """
    points, others = set(), set()
    for cell in cells:
        (points if "." in cell else others).add(cell)
    others.discard("")
    if min(len(points), len(others)) < _FEW or not all(map(_THOUSANDS.fullmatch, points)):
        return
    if all(abs(or_nan(cell)) < 1000 for cell in others):
        first, other = min(points), min(others)
        problem = f"{name} has numbers such as {first} beside {other}, and all with a point have"
        problem += " three digits after it"
        remedy = f"if it separates thousands, write {first.replace('.', '')}; else write all with"
        remedy += f" as many decimals, such as {other}.000"
        raise InputError(problem, file=file, remedy=remedy)


def bin_column(
    cells: Sequence[str], edges: Sequence[float], name: str, file: Path | None, lines: Sequence[int]
) -> list[str]:
    """Return the bins of a column's cells, blank for a blank one.

    Raises
    ------
    InputError
        A cell is a text, or all are in one bin.
    """
    check_thousands(cells, name, file)
    groups = binned(cells, edges)
    for cell, group, line in zip(cells, groups, lines, strict=True):
        if cell and not group:
            problem = f"{name} is {cell!r}, and its bins need a number"
            remedy = (
                f"write numbers like 1234.5, leave such cells blank, or name no `bins` of {name}"
            )
            raise InputError(problem, file=file, line=line, remedy=remedy)
    check_bins(cells, edges, f"bins.{name}", name, file)
    return groups


def check_bins(
    cells: Sequence[str], edges: Sequence[float], key: str, name: str, file: Path | None
) -> None:
    """Raise InputError if all cells of a column are numbers in one bin."""
    groups = {*binned(cells, edges)}
    if len(groups) == 1 and "" not in groups:
        numbers = [*map(or_nan, cells)]
        span = f"{min(numbers):g} to {max(numbers):g}"
        problem = f"`{key}` puts all numbers of {name} ({span}) into one group, {max(groups)}"
        raise InputError(problem, file=file, remedy="choose borders between these numbers")


def check_group_count(
    name: str,
    values: Collection[str],
    rows: int,
    file: Path | None,
    *,
    more: str = "",
) -> None:
    """Raise InputError if an attribute of so many rows has too few or too many groups to compare.

    `more` ends the error about too few: which rows were left out before, or what to do.
    """
    if len(values) < 2:
        only = f"one value only ({min(values)})" if values else "no value"
        problem = f"the attribute {name} has {only}, so there are no groups to compare{more}"
        raise InputError(problem, file=file)
    texts = sorted(value for value in values if isnan(or_nan(value)))
    are_numbers = len(texts) <= TEXTS * len(values)
    are_dates = all(map(_DATE.match, values))
    few = are_numbers or are_dates or 2 * len(values) > rows
    if len(values) > (MOST_NUMBERS if few else MOST_GROUPS):
        kind = "numbers" if are_numbers else "dates" if are_dates else "groups"
        remedy = "give numbers `bins`, write codes as words, or join small groups"
        if are_dates:
            remedy = "write periods, such as years, in place of dates"
        elif len(values) > IDS * rows:
            remedy = (
                "give it `bins`, or, if it is an id," if are_numbers else "it seems to be an id:"
            )
            remedy += " name a protected attribute"
        problem = f"the attribute {name} has {len(values)} {kind} in {rows} rows"
        problem += f", and the text {texts[0]!r}" if texts and are_numbers else ""
        raise InputError(problem, file=file, remedy=remedy)


def low_end(name: str) -> float:
    """Return the lower end of a bin, or the number itself; infinity for other names."""
    if name.startswith("<") and not isnan(or_nan(name[1:])):
        return -inf
    value = or_nan(name.removeprefix("≥").partition(" to <")[0])
    return inf if isnan(value) else value


def read_bins(words: str) -> tuple[str, list[float]]:
    """Parse ``age=30,50``: a column, and the borders between its groups."""
    name, _, borders = words.rpartition("=")
    values = [or_nan(border) for border in borders.split(",")]
    if not name or not all(map(isfinite, values)):
        problem = f"`bins` is {words!r}, which is not a column with borders"
        raise InputError(problem, remedy="write numbers that ascend, as in age=30,50")
    return name, [int(value) if value.is_integer() else value for value in values]
