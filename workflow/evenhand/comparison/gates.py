"""Gates: changes between base and head that continuous integration refuses."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.comparison.numbers import CHANGED_TO, GONE, NEW, SAME, Compared, ComparedTable
from evenhand.comparison.results import Row, name_versions, rename_model
from evenhand.core.config import complete
from evenhand.core.decimals import ALPHA
from evenhand.core.whole import near_names
from evenhand.errors import InputError
from evenhand.metrics.paired import holm
from evenhand.text.phrases import choice, listed, plural

#: Directions that a gate forbids. With a neutral point, a number rose if it is farther from it.
ROSE, FELL, MOVED = "rose", "fell", "moved"
DIRECTIONS = (ROSE, FELL, MOVED)

#: Outcomes of a gate.
HELD, BROKEN, UNDECIDED = "held", "broken", "undecided"

#: The schema of a file of gates.
FILE = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["table", "number", "fail_if"],
        "additionalProperties": False,
        "properties": {
            "table": {"type": "string"},
            "number": {"type": "string"},
            "where": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
            "fail_if": {"enum": list(DIRECTIONS)},
        },
    },
}

#: The place of a fault of `FILE` in an error of `complete`.
_PLACE = re.compile(r"^config: (there is no key )?gates(?:\.(\d+)(?:\.([^\s,]+))?)?")

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
    turned : int
        Of a gate that holds: the numbers that moved to the other side of no bias.
    """

    gate: Gate
    status: str
    words: str
    judged: int = 0
    breaking: list[tuple[Compared, float]] = []  # noqa: RUF012 (no outcome changes it)
    turned: int = 0

    def __str__(self) -> str:
        return f"gate {self.status}: {self.gate}: {self.words}"

    __repr__ = __str__


def parse_gate(text: str | Mapping[str, Any], number: int = 1) -> Gate:
    """Parse a gate such as ``tables/bias/slguset/models.csv:mean_bias:model=mine:rose``.

    Or an entry of a file of `read_gates`; errors give it this number.

    Raises
    ------
    InputError
        The text has another form.
    """
    if not isinstance(text, str):
        return _gates_of([text], first=number)[0]
    parts = text.split(":")
    if len(parts) < 3 or parts[-1] not in DIRECTIONS:
        problem = f"{text!r} is no gate"
        raise InputError(problem, remedy=f"{FORM}, and a direction of {', '.join(DIRECTIONS)}")
    where, key = {}, ""
    for part in parts[2:-1]:
        name, equals, value = part.partition("=")
        if key and part and not equals and part not in DIRECTIONS:  # a value with a colon
            where[key] += f":{part}"
            continue
        if not equals or not name or name in where:
            raise InputError(f"{part!r} of the gate {text!r} chooses no rows", remedy=FORM)
        key, where[name] = name, value
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
        raise InputError("there is no such file", file=path, remedy=near_names(path)) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        line = None if line is None else line + 1
        problem = f"is not YAML ({getattr(error, 'problem', None) or error})"
        raise InputError(problem, file=path, line=line) from error
    if document is None:
        remedy = "give a list of gates with table, number and fail_if"
        raise InputError("is empty", file=path, remedy=remedy)
    return _gates_of(document, path)


def _gates_of(document: Any, file: Path | None = None, first: int = 1) -> list[Gate]:
    def place(match: re.Match[str]) -> str:
        intro, position, key = match.groups(default="")
        if not position:
            return f"{intro}the file"
        gate = f"gate {first + int(position)}"
        return f"{intro}`{key}` of {gate}" if key else f"{intro}{gate}"

    try:
        complete({"gates": document}, {"type": "object", "properties": {"gates": FILE}})
    except InputError as error:
        problems = [_PLACE.sub(place, problem) for problem in error.problem.splitlines()]
        remedy = "give a list of gates with table, number, fail_if, and where if not all rows count"
        raise InputError(problems, file=file, remedy=remedy) from None
    return [
        Gate(entry["table"], entry["number"], entry.get("where") or {}, entry["fail_if"])
        for entry in document
    ]


def judge_gate(
    gate: Gate, tables: list[ComparedTable], versions: tuple[str, str] | None = None
) -> Outcome:
    """Return the outcome of a gate.

    Its values may be those of base, of head or of the summary, where a model has two `versions`.

    It is broken if one of its numbers moved in its direction with a p-value below `ALPHA`,
    adjusted by Holm for the numbers that it chooses. It held if at least one number was judged
    and none broke it. It is undecided, and must not pass, if it chooses no number, if a number of
    base is gone, or if no number, or none of the changed ones, can be judged.
    """
    matching = [
        table
        for table in tables
        if any(fnmatchcase(name, gate.table) for name in (table.table, table.head_table))
    ]
    there = choice(gate.table, sorted(table.table for table in tables))
    lacking = f"neither folder has such a table; {there}"
    problems = [_problem(gate, table, tables) for table in matching] or [lacking]
    if problem := next(filter(None, problems), ""):
        return Outcome(gate, UNDECIDED, problem)

    where = gate.where.items()

    def count_rows(rows: list[dict[str, str]]) -> int:
        return sum(
            all(value in _values(row, key, versions) for key, value in where) for row in rows
        )

    chosen = [
        number
        for table in matching
        for number in table.numbers
        if number.number == gate.column and count_rows([number.row])
    ]
    statuses = Counter(number.status for number in chosen)
    lost = statuses[GONE] + sum(count_rows(table.gone) for table in matching)
    fresh = statuses[NEW] + sum(count_rows(table.new) for table in matching)
    judged = [number for number in chosen if not math.isnan(number.distance_p_value)]
    unknown = len(chosen) - len(judged) - statuses[GONE] - statuses[NEW]
    judged = [*{id(number.repeats or number): number for number in judged[::-1]}.values()][::-1]
    moved = gate.direction == MOVED
    adjusted = holm(np.array([n.p_value if moved else n.distance_p_value for n in judged])).tolist()
    clear = [pair for pair in zip(judged, adjusted, strict=True) if pair[1] < ALPHA]
    breaking = [pair for pair in clear if _moves(pair[0], gate.direction)]
    allowed = [] if breaking else [number for number, _ in clear]
    words = f"{plural(len(judged), 'number')} compared"
    if adjusted:
        words += f" (least p: {min(adjusted):.2g})"
    if allowed:
        words += f", {len(allowed):,} moved in the allowed direction, {_away(gate, allowed[0])}"
    reasons = ", or ".join(sorted({number.reason for number in chosen if number.reason}))
    unjudged = f"that cannot be judged (reason: {reasons})"
    asides = [(lost, "of base gone"), (fresh, "new in head"), (unknown, unjudged)]
    words += "".join(f", {count:,} {aside}" for count, aside in asides if count)
    if (lost or fresh) and not judged:
        words += "; spell the groups alike in both, or choose rows that both have"
    if not (judged or lost or fresh or unknown):
        rows = [n.row for table in matching for n in table.numbers if n.number == gate.column]
        rows += [row for table in matching for row in (*table.new, *table.gone)]
        words = _no_row(gate, [name_versions(row, versions) for row in rows])
    all_same = all(number.status == SAME for number in judged)
    p_values = holm(np.array([number.p_value for number in judged])).tolist()
    turned = [
        n for n, p_value in zip(judged, p_values, strict=True) if p_value < ALPHA and n.crossed
    ]
    turned = [] if moved or breaking else turned
    if turned:
        words += f", {len(turned):,} moved to the other side of {turned[0].neutral:g}"
    undecided = not judged or lost or (unknown and all_same)
    status = BROKEN if breaking else UNDECIDED if undecided else HELD
    return Outcome(gate, status, words, len(judged), breaking, len(turned))


def _no_row(gate: Gate, rows: list[dict[str, str]]) -> str:
    """Return why a gate chooses no row: a value that no row has, or else their combination."""
    for key, value in gate.where.items():
        known = {row[key] for row in rows if row.get(key)}
        if known and value not in known:
            others = {name: other for name, other in gate.where.items() if name != key}
            fitting = {row[key] for row in rows if row.get(key) and others.items() <= row.items()}
            known = sorted(fitting or known)
            aside = " (its name counts, not its title)" if key == "dataset" else ""
            return f"no row with a number has {key}={value}{aside}; {choice(value, known)}"
    return "it chooses no row with a number"


def _values(row: Row, key: str, versions: tuple[str, str] | None) -> set[str]:
    """Return the value of a row's key in base, in head and in the summary."""
    rows = [row, name_versions(row, versions)]
    rows += [rename_model(row, *versions)] if versions else []
    values = {each.get(key, "") for each in rows}
    return values.union(*(value.split(CHANGED_TO) for value in values))


def _problem(gate: Gate, table: ComparedTable, tables: list[ComparedTable]) -> str:
    """Return why a gate cannot choose numbers of a table; blank if it can."""
    if None in table.rows:
        return f"{'base' if table.rows[0] is None else 'head'} has no {table.table}"
    if table.problem:
        return f"{table.table} cannot be compared: {table.problem}"
    keys = ", ".join(table.declaration.key)
    numbers = ", ".join(column.name for column in table.declaration.numbers())
    if gate.column not in numbers.split(", "):
        known = f"{numbers}, in rows named by {keys}"
        if not numbers:
            beside = [
                f"{other.table}:{column.name}"
                for other in tables
                if other.declaration and Path(other.table).parent == Path(table.table).parent
                for column in other.declaration.numbers()
                if column.neutral is not None
            ]
            known = f"none: set it on {listed(beside, 3) or 'another table'}"
        return f"{table.table} has no number {gate.column} with an interval; it has {known}"
    if unknown := [column for column in gate.where if column not in table.declaration.key]:
        return f"{unknown[0]} names no rows of {table.table}; {keys} do"
    return ""


def _away(gate: Gate, number: Compared) -> str:
    """Return the direction that a gate allows, for a number."""
    if number.neutral is None:
        return "down" if gate.direction == ROSE else "up"
    return f"{'nearer to' if gate.direction == ROSE else 'farther from'} {number.neutral:g}"


def _moves(number: Compared, direction: str) -> bool:
    if direction == MOVED:
        return number.change != 0
    return number.distance_change > 0 if direction == ROSE else number.distance_change < 0
