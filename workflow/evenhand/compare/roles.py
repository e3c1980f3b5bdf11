"""The roles of the columns of each table: `resources/compare.csv`."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.core.tables import declaration
from evenhand.errors import InputError

#: The workflow's table of roles.
ROLES = Path(__file__).resolve().parents[3] / "resources" / "compare.csv"

COLUMNS = ["table", "keys", "value", "low", "high", "count", "clusters", "neutral", "items"]

OPTIONAL = tuple(COLUMNS[1:])


@dataclass(frozen=True)
class Number:
    """A column of numbers with intervals.

    Attributes
    ----------
    value, low, high : str
        The columns of the number and of the borders of its 95 % interval.
    count : str
        The column with the number of values behind a mean with a Student interval; else blank.
    clusters : str
        The column with the number of clusters; else blank.
    neutral : float or None
        The value of a system without bias, if there is one: then distances from it are compared.
    items : str
        The module of `evenhand.compare.items` that reads the items behind it; else blank.
    """

    value: str
    low: str
    high: str
    count: str = ""
    clusters: str = ""
    neutral: float | None = None
    items: str = ""


@dataclass(frozen=True)
class Table:
    """A family of tables: the columns that identify a row, and those to compare."""

    pattern: str
    keys: tuple[str, ...]
    numbers: tuple[Number, ...]


def read_roles(path: Path) -> list[Table]:
    """Read the roles; a row per family of tables and number.

    A family without a number has one row with a blank `value`; a list, whose rows have no keys,
    has blank `keys` too.

    Raises
    ------
    InputError
        The table has another form.
    """
    families: dict[str, list[Number]] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for row in read_resource(path, COLUMNS, optional=OPTIONAL, unique=("table", "value")):
        where, own = row["table"], tuple(row["keys"].split())
        if keys.setdefault(where, own) != own:
            raise InputError(f"gives {where} other keys than before", file=path)
        numbers = families.setdefault(where, [])
        if not row["value"]:
            if any(row[name] for name in COLUMNS[3:]):
                raise InputError(f"says something of a number of {where} but not which", file=path)
            continue
        if not row["low"] or not row["high"] or not own:
            raise InputError(
                f"gives {row['value']} of {where} no interval or no keys",
                file=path,
                remedy="name the columns of its borders and those that name a row, or leave value"
                " blank",
            )
        try:
            neutral = float(row["neutral"]) if row["neutral"] else None
        except ValueError as error:
            raise InputError(
                f"the neutral point of {row['value']} of {where} is no number", file=path
            ) from error
        numbers.append(
            Number(
                *(row[name] for name in ("value", "low", "high", "count", "clusters")),
                neutral,
                row["items"],
            )
        )
    return [Table(where, keys[where], tuple(numbers)) for where, numbers in families.items()]


def declared_role(file: Path) -> Table | None:
    """Return the roles of the columns of a table from its declaration; None without one."""
    table = declaration(file)
    if table is None:
        return None
    numbers = (
        Number(one.name, *one.interval, one.count, one.clusters, one.neutral, one.items)
        for one in table.numbers()
    )
    return Table(table.name, table.key, tuple(numbers))


def role_of(name: str, families: list[Table]) -> Table | None:
    """Return the first family to which a table (by its path in the results) belongs."""
    return next((one for one in families if fnmatchcase(name, one.pattern)), None)
