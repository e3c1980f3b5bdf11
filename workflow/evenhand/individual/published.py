"""Read the paper's numbers that are available to us: the tables of ``resources/iifr``.

The column ``source`` of each table contains the source of each number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from evenhand.core import numbers
from evenhand.core.resources import read_resource
from evenhand.core.rows import where
from evenhand.errors import InputError
from evenhand.individual.results import METRICS, SETTING, setting_of

#: Data sets without a row in ``settings.csv`` use the row of this name.
ANY = "*"

#: Kinds of inconsistency of a cell.
KINDS = ("mix", "copy", "swapped", "infeasible", "misprint")

_METRIC = {"metric": METRICS}


@dataclass(frozen=True)
class Number:
    """A number as printed.

    Attributes
    ----------
    value : float
    rounding : float
        Half a unit of its last digit.
    explanation : str
        Why it may not be reproduced, if known.
    """

    value: float
    rounding: float
    explanation: str = ""


#: The key of a published cell: data set, method, individual, group and epsilon (or None), metric.
Cell = tuple[str, str, str, int | None, float | None, str]


@dataclass(frozen=True)
class Published:
    """All published facts.

    Attributes
    ----------
    cells : dict
        The cells of Tables 4, 6, 7 and 8, by the number of the table.
    inconsistencies : list of dict
        Cells that contradict others; ``known_error`` is the id of an entry of
        ``known_errors.csv``, or blank.
    checks : Path
        The table of checks of the cells against each other.
    groups : list of dict
        The rows of Tables 1 and 2: dataset, quantity, value, published (may be blank), file.
    """

    cells: dict[str, dict[Cell, Number]]
    inconsistencies: list[dict[str, Any]]
    checks: Path
    groups: list[dict[str, Any]]

    def inconsistent(self, table: str) -> dict[Cell, str]:
        """Return why cells of a table are inconsistent."""
        names = itemgetter("dataset", "method", "individual", "group")
        rows = where(self.inconsistencies, table=table)
        return {(*names(row), None, row["metric"]): row["why"] for row in rows}


def read_published(paths: Sequence[Path]) -> Published:
    """Read the facts from the files of ``resources/iifr``, identified by their names."""
    files = {path.stem: path for path in paths}
    return Published(
        {n: read_cells(files[f"published_table_{n}"]) for n in "4678"},
        read_inconsistencies(files["inconsistencies"]),
        files["published_checks"],
        [row for n in "12" for row in _read_groups(files[f"published_table_{n}"])],
    )


def number(text: str, explanation: str = "") -> Number:
    """Parse a printed number: ``.192`` is known to half a thousandth."""
    decimals = len(text.partition(".")[2])
    return Number(float(text), 0.5 * 10.0**-decimals, explanation)


def read_cells(path: Path) -> dict[Cell, Number]:
    """Read the cells of a table of results: ``published_table_4.csv`` and so on."""
    key = ("dataset", "method", "individual", "group", "epsilon", "metric")
    columns = [*key, "value", "explanation", "source"]
    blank = ("group", "epsilon", "explanation")
    cells: dict[Cell, Number] = {}
    for row in read_resource(path, columns, optional=blank, unique=key, choices=_METRIC):
        codes = _whole(row["group"]), _decimal(row["epsilon"])
        cell = (row["dataset"], row["method"], row["individual"], *codes, row["metric"])
        cells[cell] = number(row["value"], row["explanation"])
    return cells


def read_settings(path: Path) -> list[dict[str, Any]]:
    """Read the reported settings of methods: ``settings.csv``, in the order of the tables.

    Each row has ``dataset`` (or `ANY`), ``setting`` (as in `SETTING`, without a data set) and
    ``source``.

    Raises
    ------
    InputError
        A weight or threshold is no number.
    """
    columns = ["dataset", "method", "individual", "lambda", "epsilon", "mu", "split", "source"]
    rows = read_resource(path, columns, optional=("epsilon", "mu"), unique=tuple(columns[:-1]))
    settings = []
    for row in rows:
        named: dict[str, Any] = dict.fromkeys(SETTING) | {"js_base": "e"}
        named |= {name: row[name] for name in ("method", "individual", "split")}
        try:
            named |= {name: _decimal(row[name]) for name in ("lambda", "epsilon", "mu")}
        except ValueError as error:
            where = ", ".join(list(row.values())[:3])
            raise InputError(f"in the row {where}: {error}", file=path) from error
        if named["individual"] != "none":
            named["reduction"] = "sum"
        if named["epsilon"] is not None:
            named["epsilon_unit"] = "cosine"
        settings.append({"dataset": row["dataset"], "setting": named, "source": row["source"]})
    return settings


def settings_of(settings: list[dict[str, Any]], dataset: str) -> list[dict[str, Any]]:
    """Return the rows of a data set, and those of `ANY` for kinds that it has no row for."""

    def kind(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row["setting"][name] for name in ("method", "individual", "split"))

    named = [row for row in settings if row["dataset"] == dataset]
    known = {kind(row) for row in named}
    rest = [row for row in settings if row["dataset"] == ANY and kind(row) not in known]
    return [
        {**row, "key": setting_of(row["setting"] | {"dataset": dataset})} for row in [*named, *rest]
    ]


def read_inconsistencies(path: Path) -> list[dict[str, Any]]:
    """Read the cells of the paper that contradict other cells: ``inconsistencies.csv``."""
    key = ("table", "dataset", "method", "individual", "group", "metric")
    columns = [*key, "kind", "other", "why", "source", "known_error"]
    blank, choices = ("group", "other", "known_error"), _METRIC | {"kind": KINDS}
    rows = read_resource(path, columns, optional=blank, unique=key, choices=choices)
    return [row | {"group": _whole(row["group"])} for row in rows]


def _read_groups(path: Path) -> list[dict[str, Any]]:
    columns = ["dataset", "quantity", "value", "published"]
    rows = read_resource(
        path, columns, optional=("value", "published"), unique=("dataset", "quantity", "value")
    )
    return [row | {"file": path} for row in rows]


def _whole(text: str) -> int | None:
    return numbers.whole(text) if text else None


def _decimal(text: str) -> float | None:
    return numbers.number(text) if text else None
