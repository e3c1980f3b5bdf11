"""What the paper prints, as far as we know it, and which of our settings stands beside it.

Source of each number: the column ``source`` of the tables in ``resources/iifr``.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.individual.results import METRICS, SETTING, Setting
from evenhand.tabular import numbers

#: A data set's row that has no row of its own in the settings uses that of this name.
ANY = "*"


@dataclass(frozen=True)
class Number:
    """A number as printed.

    Attributes
    ----------
    value : float
    rounding : float
        Half a unit of its last digit.
    explanation : str
        Why it may not be reproduced, where that is known.
    """

    value: float
    rounding: float
    explanation: str = ""


#: Of a published cell: data set, method, individual, group and epsilon (None where it has none),
#: metric.
Cell = tuple[str, str, str, int | None, float | None, str]


def number(text: str, explanation: str = "") -> Number:
    """A number as printed: ``.192`` is known to half a thousandth.

    Raises
    ------
    ValueError
        The text is no plain decimal.
    """
    if not re.fullmatch(r"\d*\.?\d+", text):
        raise ValueError(f"{text!r} is not a number")
    decimals = len(text.partition(".")[2])
    return Number(float(text), 0.5 * 10.0**-decimals, explanation)


def read_published(path: Path) -> dict[Cell, Number]:
    """A table of the paper: ``published_table_4.csv`` and so on."""
    columns = [
        "dataset",
        "method",
        "individual",
        "group",
        "epsilon",
        "metric",
        "value",
        "explanation",
        "source",
    ]
    key = ("dataset", "method", "individual", "group", "epsilon", "metric")
    rows = read_resource(path, columns, optional=("group", "epsilon", "explanation"), unique=key)
    found: dict[Cell, Number] = {}
    for row in rows:
        with _at(path, row):
            _check_metric(row["metric"])
            cell = (
                row["dataset"],
                row["method"],
                row["individual"],
                _whole(row["group"]),
                _decimal(row["epsilon"]),
                row["metric"],
            )
            found[cell] = number(row["value"], row["explanation"])
    return found


def read_settings(path: Path) -> list[dict[str, Any]]:
    """Which setting of ours stands for a row: ``settings.csv``, in the order of the tables.

    Each row has ``dataset`` (or `ANY`), ``setting`` (as in `SETTING`, without a data set) and
    ``source``.
    """
    columns = ["dataset", "method", "individual", "lambda", "epsilon", "mu", "split", "source"]
    rows = read_resource(path, columns, optional=("epsilon", "mu"), unique=tuple(columns[:-1]))
    found = []
    for row in rows:
        with _at(path, row):
            named: dict[str, Any] = dict.fromkeys(SETTING)
            named |= {name: row[name] for name in ("method", "individual", "split")}
            named |= {name: _decimal(row[name]) for name in ("lambda", "epsilon", "mu")}
            named["js_base"] = "e"
            if named["individual"] != "none":
                named["reduction"] = "sum"
            if named["epsilon"] is not None:
                named["epsilon_unit"] = "cosine"
            found.append({"dataset": row["dataset"], "setting": named, "source": row["source"]})
    return found


def settings_of(settings: list[dict[str, Any]], dataset: str) -> list[dict[str, Any]]:
    """The rows of a data set: its own, and those of `ANY` that it has none for itself."""
    own = [row for row in settings if row["dataset"] == dataset]
    known = {_kind(row) for row in own}
    rest = [row for row in settings if row["dataset"] == ANY and _kind(row) not in known]
    return [
        {**row, "key": tuple((row["setting"] | {"dataset": dataset})[name] for name in SETTING)}
        for row in [*own, *rest]
    ]


def _kind(row: dict[str, Any]) -> Setting:
    return tuple(row["setting"][name] for name in ("method", "individual", "split"))


def read_inconsistencies(path: Path) -> list[dict[str, Any]]:
    """The cells of the paper that contradict other cells: ``inconsistencies.csv``.

    Its ``known_error`` is the id of an entry of ``known_errors.csv``, or blank.
    """
    columns = [
        "table",
        "dataset",
        "method",
        "individual",
        "group",
        "metric",
        "kind",
        "other",
        "why",
        "source",
        "known_error",
    ]
    blank = ("group", "other", "known_error")
    rows = read_resource(path, columns, optional=blank, unique=tuple(columns[:6]))
    for row in rows:
        with _at(path, row):
            _check_metric(row["metric"])
            if row["kind"] not in KINDS:
                raise ValueError(f"there is no kind {row['kind']!r}")
            row["group"] = _whole(row["group"])
    return rows


#: What is wrong with a cell.
KINDS = ("mix", "copy", "swapped", "infeasible", "misprint")


def read_mixes(path: Path) -> list[dict[str, Any]]:
    """Mixes of groups whose cells we do not know: ``published_mixes.csv``."""
    columns = ["dataset", "method", "individual", "metric", "groups", "value", "source"]
    rows = read_resource(path, columns)
    for row in rows:
        with _at(path, row):
            row["number"] = number(row["value"])
            if row["groups"] not in ("as printed", "swapped"):
                raise ValueError(f"the groups are {row['groups']!r}")
    return rows


def read_rates(path: Path) -> dict[str, list[tuple[float, float]]]:
    """P(A) and P(Y=1|A) by group and data set: ``published_rates.csv``."""
    rows = read_resource(path, ["dataset", "group", "share", "positive", "source"])
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        with _at(path, row):
            rates = found.setdefault(row["dataset"], [])
            if _whole(row["group"]) != len(rates):
                raise ValueError("the groups are not 0, 1 and so on")
            rates.append((numbers.number(row["share"]), numbers.number(row["positive"])))
    return found


@contextmanager
def _at(path: Path, row: dict[str, Any]) -> Iterator[None]:
    """Turns a value that cannot be used into an error that names the row."""
    try:
        yield
    except ValueError as error:
        where = ", ".join(str(value) for value in list(row.values())[:6] if value)
        raise InputError(f"in the row {where}: {error}", file=path) from error


def _check_metric(name: str) -> None:
    if name not in METRICS:
        raise ValueError(f"there is no metric {name!r}")


def _whole(text: str) -> int | None:
    return numbers.whole(text) if text else None


def _decimal(text: str) -> float | None:
    return numbers.number(text) if text else None
