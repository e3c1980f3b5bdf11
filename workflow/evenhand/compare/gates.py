"""Gates: changes between base and head that continuous integration refuses."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.compare.numbers import ALPHA, GONE, NEW, SAME, UNJUDGED, Compared, ComparedTable
from evenhand.errors import InputError
from evenhand.metrics.paired import holm

#: Directions that a gate forbids. With a neutral point, a number rose if it is farther from it.
ROSE, FELL, MOVED = "rose", "fell", "moved"
DIRECTIONS = (ROSE, FELL, MOVED)

#: Outcomes of a gate.
HELD, BROKEN, UNDECIDED = "held", "broken", "undecided"

FORM = "write TABLE:COLUMN:KEY=VALUE:DIRECTION, with any number of KEY=VALUE"


@dataclass(frozen=True)
class Gate:
    """A rule for the numbers of one column.

    Attributes
    ----------
    table : str
        The path of the table in the results; ``*`` and ``?`` match other characters.
    column : str
        A number whose table declares an interval.
    where : dict
        The values that choose the rows, by column; other columns may have any value.
    direction : str
        Of `DIRECTIONS`.
    """

    table: str
    column: str
    where: dict[str, str] = field(default_factory=dict)
    direction: str = MOVED

    def __str__(self) -> str:
        where = "".join(f":{key}={value}" for key, value in self.where.items())
        return f"{self.table}:{self.column}{where}:{self.direction}"


class Outcome(NamedTuple):
    """The outcome of a gate.

    Attributes
    ----------
    gate : Gate
        The gate.
    status : str
        `HELD`, `BROKEN` or `UNDECIDED`.
    words : str
        The reason, as a clause.
    judged : int
        Numbers of both runs that could be compared.
    breaking : list of (Compared, float)
        The numbers that break it, each with its p-value adjusted for this gate.
    """

    gate: Gate
    status: str
    words: str
    judged: int = 0
    breaking: list[tuple[Compared, float]] = []  # noqa: RUF012 (no outcome changes it)


def parse_gate(text: str) -> Gate:
    """Parse a gate such as ``tables/bias/slguset/models.csv:mean_bias:model=mine:rose``.

    Raises
    ------
    InputError
        The text has another form.
    """
    parts = text.split(":")
    if len(parts) < 3 or parts[-1] not in DIRECTIONS:
        raise InputError(
            f"{text!r} is no gate", remedy=f"{FORM}, and a direction of {', '.join(DIRECTIONS)}"
        )
    where = {}
    for part in parts[2:-1]:
        key, equals, value = part.partition("=")
        if not equals or not key or key in where:
            raise InputError(f"{part!r} of the gate {text!r} chooses no rows", remedy=FORM)
        where[key] = value
    return Gate(parts[0], parts[1], where, parts[-1])


def read_gates(path: Path) -> list[Gate]:
    """Read gates from a YAML file: a list of ``table``, ``number``, ``where`` and ``fail_if``.

    Raises
    ------
    InputError
        The file has another form, or holds no gate.
    """
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("there is no such file", file=path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError("is not YAML", file=path) from error
    if not isinstance(document, list) or not document:
        raise InputError("holds no list of gates", file=path)
    return [_gate(one, number, path) for number, one in enumerate(document, 1)]


def _gate(one: Any, number: int, path: Path) -> Gate:
    def fault(problem: str) -> InputError:
        return InputError(
            f"gate {number} {problem}",
            file=path,
            remedy="give table, number, fail_if, and where if not all rows are meant",
        )

    if not isinstance(one, dict):
        raise fault("is not a mapping")
    if unknown := [key for key in one if key not in ("table", "number", "where", "fail_if")]:
        raise fault(f"has the unknown key {unknown[0]!r}")
    for key in ("table", "number", "fail_if"):
        if not isinstance(one.get(key), str):
            raise fault(f"lacks {key}")
    if one["fail_if"] not in DIRECTIONS:
        raise fault(f"has fail_if {one['fail_if']!r}, not one of {', '.join(DIRECTIONS)}")
    where = one.get("where") or {}
    if not isinstance(where, dict) or not all(
        isinstance(value, str) for pair in where.items() for value in pair
    ):
        raise fault("has a where that is not column names with texts (put numbers in quotes)")
    return Gate(one["table"], one["number"], where, one["fail_if"])


def judge_gate(gate: Gate, tables: list[ComparedTable]) -> Outcome:
    """Return the outcome of a gate.

    It is broken if one of its numbers moved in its direction with a p-value below `ALPHA`,
    adjusted by Holm for the numbers that it chooses. It held if at least one number was judged
    and none broke it. It is undecided, and must not pass, if it chooses no number, if a number of
    base is gone, or if no number, or none of the changed ones, can be judged.
    """
    named = [table for table in tables if fnmatchcase(table.name, gate.table)]
    if not named:
        return Outcome(gate, UNDECIDED, "neither folder has such a table")
    chosen: list[Compared] = []
    lost = fresh = 0
    for table in named:
        role = table.role
        if None in table.rows:
            run = "base" if table.rows[0] is None else "head"
            return Outcome(gate, UNDECIDED, f"{run} has no {table.name}")
        if table.problem:
            return Outcome(gate, UNDECIDED, f"{table.name} cannot be compared: {table.problem}")
        numbers = [number.name for number in role.numbers()] if role else []
        if gate.column not in numbers:
            words = f"{table.name} has no number {gate.column} with an interval"
            known = f"{', '.join(numbers)}, in rows named by {', '.join(role.key)}"
            return Outcome(gate, UNDECIDED, f"{words}; it has {known if numbers else 'none'}")
        if unknown := [key for key in gate.where if key not in role.key]:
            words = f"{unknown[0]} names no rows of {table.name}"
            return Outcome(gate, UNDECIDED, f"{words}; {', '.join(role.key)} do")
        chosen += [
            one for one in table.numbers if one.column == gate.column and _chosen(gate, one.key)
        ]
        lost += sum(_chosen(gate, key) for key in table.gone)
        fresh += sum(_chosen(gate, key) for key in table.new)
    lost += sum(one.status == GONE for one in chosen)
    fresh += sum(one.status == NEW for one in chosen)
    judged = [one for one in chosen if one.status not in (NEW, GONE, UNJUDGED)]
    judged = [one for one in judged if not np.isnan(one.distance.p_value)]
    unknown = len([one for one in chosen if one.status not in (NEW, GONE)]) - len(judged)
    adjusted = holm(np.array([_test(one, gate).p_value for one in judged])).tolist()
    breaking = [
        (one, p_adjusted)
        for one, p_adjusted in zip(judged, adjusted, strict=True)
        if p_adjusted < ALPHA and _went(_test(one, gate).difference, gate.direction)
    ]
    words = f"{len(judged)} numbers compared" if len(judged) != 1 else "1 number compared"
    if adjusted:
        words += f" (least p: {min(adjusted):.2g})"
    asides = [(lost, "of base gone"), (fresh, "new in head"), (unknown, "that cannot be judged")]
    words += "".join(f", {count} {aside}" for count, aside in asides if count)
    blind = unknown and all(one.status == SAME for one in judged)
    status = BROKEN if breaking else HELD if judged and not (lost or blind) else UNDECIDED
    if not (judged or lost or fresh or unknown):
        words = "it chooses no row with a number"
    return Outcome(gate, status, words, len(judged), breaking)


def _chosen(gate: Gate, key: dict[str, str]) -> bool:
    return all(key[column] == value for column, value in gate.where.items())


def _test(one: Compared, gate: Gate) -> Any:
    return one.change if gate.direction == MOVED else one.distance


def _went(difference: float, direction: str) -> bool:
    return {ROSE: difference > 0, FELL: difference < 0, MOVED: difference != 0}[direction]
