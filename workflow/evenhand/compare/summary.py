"""The comparison as Markdown for a person, and as JSON for a program."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from evenhand.compare.causes import GONE, NEW, Causes, Change
from evenhand.compare.gates import BROKEN, HELD, Outcome
from evenhand.compare.numbers import (
    ALPHA,
    ITEMS,
    MOVED,
    NOISE,
    SAME,
    UNJUDGED,
    Compared,
    ComparedTable,
)
from evenhand.metrics.differences import Estimate

#: At most so many rows of a table, items of a list, and characters of a cell.
ROWS, ITEMS_SHOWN, CHARACTERS = 25, 12, 60

#: At most so many modules of a stage, and columns of a table.
MODULES, COLUMNS = 4, 6

#: What Markdown, or HTML in it, would read as a mark or a link, and what would call somebody.
_MARKS = re.compile(
    r"[\\`*\[\]<>#|~&@$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE
)


class Comparison(NamedTuple):
    """All that is said of two results folders."""

    causes: Causes
    tables: list[ComparedTable]
    changed_since: dict[str, dict[str, str]]
    outcomes: list[Outcome]


def markdown(found: Comparison) -> str:
    """The summary: what moved, the gates, what changed, what could not be judged, and how."""
    parts = ["# Two results compared", _headline(found)]
    if found.outcomes:
        parts += ["## Gates", *_gates(found.outcomes)]
    if not nothing_changed(found):
        parts += ["## What changed", _causes(found)]
        parts += _numbers(found.tables)
        parts += _tables(found.tables)
        parts += ["## How the numbers were judged", _method(found.tables)]
        if notes := _notes(found):
            parts += ["## Take care", *notes]
    return "\n\n".join(parts) + "\n"


def nothing_changed(found: Comparison) -> bool:
    """Whether no record, no table and no store of items differs."""
    lists = found.causes._replace(untraced={})
    since = found.changed_since
    return (
        not any(lists)
        and since["base"] == since["head"]
        and all(table.equal for table in found.tables)
    )


def counts(found: Comparison) -> dict[str, Any]:
    """What the summary says, counted."""
    status = Counter(one.status for table in found.tables for one in table.numbers)
    return {
        "tables": len(found.tables),
        "tables_that_differ": sum(not table.equal for table in found.tables),
        "numbers": {name: status[name] for name in sorted(status)},
        "gates": dict(sorted(Counter(one.status for one in found.outcomes).items())),
    }


def _headline(found: Comparison) -> str:
    gates = Counter(one.status for one in found.outcomes)
    words = []
    if broken := gates[BROKEN]:
        words.append(f"{_count(broken, 'gate')} broken.")
    if undecided := gates.total() - broken - gates[HELD]:
        words.append(f"{_count(undecided, 'gate')} undecided.")
    if gates.total() and gates[HELD] == gates.total():
        words.append("All gates held.")
    if nothing_changed(found):
        return f"**{' '.join(['Nothing changed.', *words])}**"
    differing = [table for table in found.tables if not table.equal]
    status = Counter(one.status for table in differing for one in table.numbers)
    judged = status[MOVED] + status[NOISE] + status[SAME]
    if not differing:
        words.append("No table differs.")
    elif not status.total():
        words.append("No table that differs has a number with an interval in both.")
    elif not judged:
        words.append("No number could be judged.")
    elif moved := status[MOVED]:
        words.append(f"{moved} of {_count(judged, 'number')} moved beyond noise.")
    else:
        words.append(f"None of {_count(judged, 'number')} moved beyond noise.")
    return f"**{' '.join(words)}**"


def _gates(outcomes: list[Outcome]) -> list[str]:
    rows = [(text(str(one.gate)), one.status, text(one.words)) for one in outcomes]
    parts = [_table(("gate", "outcome", "because"), rows)]
    for one in outcomes:
        if one.breaking:
            parts.append(f"{text(str(one.gate))}:")
            ordered = sorted(one.breaking, key=lambda pair: (pair[1], pair[0].table))
            parts.append(
                _rows(
                    ("row", "base", "head", "change", "p"),
                    ordered,
                    lambda pair: (
                        _where(pair[0].key),
                        estimate(pair[0].base),
                        estimate(pair[0].head),
                        _change(pair[0]),
                        _p(pair[1]),
                    ),
                )
            )
    return parts


def _causes(found: Comparison) -> str:
    causes = found.causes
    lists = (
        ("Data", causes.data, _source),
        ("Configuration", causes.configuration, _parameter),
        ("Code", causes.code, _code),
        ("Packages", causes.packages, _version),
    )
    lines = []
    for name, changes, words in lists:
        if not changes:
            lines.append(f"- {name}: the same.")
        else:
            lines.append(f"- {name}:")
            lines += [f"  - {words(one)}" for one in changes[:ITEMS_SHOWN]]
            if len(changes) > ITEMS_SHOWN:
                lines.append(f"  - and {len(changes) - ITEMS_SHOWN} more")
    kinds = Counter(one.kind for one in causes.files)
    words = [f"{number} {kind}" for kind, number in sorted(kinds.items())]
    lines.append(f"- Result files: {', '.join(words) or 'the same'}.")
    for run, names in found.changed_since.items():
        if names:
            lines.append(f"- Files of {run} that are not the ones it recorded: {_list([*names])}.")
    return "\n".join(lines)


def _source(one: Change) -> str:
    if one.what.endswith(f" of {one.where[0]}"):  # its path was not recorded
        return f"{text(one.what)}: {one.kind}"
    return f"{text(one.what)}: {one.kind}, read by {_list(one.where)}"


def _parameter(one: Change) -> str:
    before, after = (None if v is None else _code_span(v) for v in (one.base, one.head))
    files = _count(len(one.where), "file")
    if one.kind == NEW:
        return f"{text(one.what)}: new, {after} ({files})"
    if one.kind == GONE:
        return f"{text(one.what)}: gone, it was {before} ({files})"
    return f"{text(one.what)}: {before} → {after} ({files})"


def _code(one: Change) -> str:
    if one.kind != "changed":
        return f"{text(one.what)}: {one.kind}"
    return f"{text(one.what)}: {_list(one.where, MODULES) if one.where else 'it'} changed"


def _version(one: Change) -> str:
    if one.base and one.head:
        return f"{text(one.what)} {text(one.base)} → {text(one.head)}"
    return f"{text(one.what)} {text(one.head or one.base or '')}: {one.kind}"


def _numbers(tables: list[ComparedTable]) -> list[str]:
    numbers = [one for table in tables for one in table.numbers]
    parts = []
    if moved := sorted((n for n in numbers if n.status == MOVED), key=lambda n: n.p_adjusted):
        parts.append("## Numbers that moved")
        parts.append(
            _rows(
                ("number", "row", "base", "head", "change", "p", "judged by"),
                moved,
                lambda one: (
                    f"{text(one.column)} in {text(_stem(one.table))}",
                    _where(one.key),
                    estimate(one.base),
                    estimate(one.head),
                    _change(one),
                    _p(one.p_adjusted),
                    one.by,
                ),
            )
        )
    if verdicts := [one for table in tables for one in table.verdicts]:
        parts.append("## Verdicts that changed")
        parts.append(
            _rows(
                ("verdict", "row", "base", "head"),
                verdicts,
                lambda one: (
                    f"{text(one.column)} in {text(_stem(one.table))}",
                    _where(one.key),
                    text(one.base) or "none",
                    text(one.head) or "none",
                ),
            )
        )
    return parts


def _tables(tables: list[ComparedTable]) -> list[str]:
    """The tables that differ, a row each, and the rows and tables that only one run has."""
    parts = []
    differing = [table for table in tables if not table.equal]
    both = [table for table in differing if None not in table.rows]
    if both:
        parts += [
            "## Tables that differ",
            f"<details><summary>{_count(len(both), 'table')}</summary>",
            _table(
                ("table", "moved", "within noise", "the same", "not judged", "also differ"),
                [_table_row(table) for table in both],
            ),
            "</details>",
        ]
        if names := [_stem(one.name) for one in both if not one.numbers and not one.problem]:
            parts.append(
                "Without a number that has an interval, so that nothing in them can be judged:"
                f" {_list(names)}."
            )
    reasons = Counter(
        (one.reason, _stem(one.table))
        for table in differing
        for one in table.numbers
        if one.status == UNJUDGED
    )
    if reasons:
        parts.append("Numbers that differ and could not be judged:")
        by_reason: dict[str, list[str]] = {}
        for (reason, name), number in sorted(reasons.items()):
            by_reason.setdefault(reason, []).append(f"{number} in {text(name)}")
        parts.append(
            "\n".join(f"- {reason}: {_joined(names)}" for reason, names in by_reason.items())
        )
    lines = []
    for run, place in (("head", 0), ("base", 1)):
        if names := [_stem(table.name) for table in differing if table.rows[place] is None]:
            lines.append(f"- Tables that only {run} has: {_list(names)}")
    for table in both:
        for words, columns in (("new", table.columns_new), ("gone", table.columns_gone)):
            if columns:
                lines.append(f"- {text(_stem(table.name))}: columns {words}: {_list(columns)}")
        for words, keys in (("new", table.new), ("gone", table.gone)):
            if keys:
                shown = "; ".join(_where(key) for key in keys[:3])
                more = f"; and {len(keys) - 3} more" if len(keys) > 3 else ""
                lines.append(
                    f"- {text(_stem(table.name))}: {_count(len(keys), 'row')} {words}:"
                    f" {shown}{more}"
                )
        for status in (NEW, GONE):
            if number := sum(one.status == status for one in table.numbers):
                lines.append(f"- {text(_stem(table.name))}: {_count(number, 'number')} {status}")
    if lines:
        parts += ["## New and missing", "\n".join(lines)]
    return parts


def _table_row(table: ComparedTable) -> tuple[str, ...]:
    status = Counter(one.status for one in table.numbers)
    others = [f"{text(name)} in {_count(number, 'row')}" for name, number in table.others.items()]
    if len(others) > COLUMNS:
        others = [*others[: COLUMNS - 1], f"{len(others) - COLUMNS + 1} more"]
    if table.problem:
        others = [f"not compared by row: {text(table.problem)}"]
    numbers = (str(status[name]) for name in (MOVED, NOISE, SAME, UNJUDGED))
    return (text(_stem(table.name)), *numbers, _joined(others))


def _method(tables: list[ComparedTable]) -> str:
    differing = [one for table in tables if not table.equal for one in table.numbers]
    judged = [one for one in differing if one.change is not None]
    raw = sum(one.status == NOISE and one.change.p_value < ALPHA for one in judged)
    by = Counter(one.by for one in judged if one.by)
    return (
        f"Of the tables that differ {_count(len(judged), 'number')} could be compared. The p-values"
        f" are adjusted for all that were (Holm); below {ALPHA:g} a number moved."
        f" {raw} more would have without the adjustment, where chance alone gives up to"
        f" {math.ceil(ALPHA * len(judged))}."
        f" Judged by items ({by[ITEMS]}): clusters of sentences or pairs are drawn, the same in"
        " base and head, so that what both share is no noise. Judged by intervals"
        f" ({by.total() - by[ITEMS]}): only the 95 % intervals are known, which are taken for"
        " independent; where both runs read the same items, a real change can hide in them."
        " Gates are adjusted for their own numbers only. “Farther” and “nearer” are from the value"
        " of a system without bias."
    )


def _notes(found: Comparison) -> list[str]:
    lines = []
    for run, number in found.causes.untraced.items():
        if number:
            lines.append(f"- In {run} no record says what made {_count(number, 'file')}.")
    empty = [table.name for table in found.tables if not any(table.rows)]
    if empty:
        lines.append(f"- Tables without a row: {_joined([text(name) for name in empty])}.")
    unread = [table for table in found.tables if table.problem and table.equal]
    if unread:
        names = _joined([text(table.name) for table in unread])
        lines.append(f"- Tables that are the same, and could not have been compared: {names}.")
    return ["\n".join(lines)] if lines else []


def estimate(one: Estimate | None) -> str:
    """A number with its interval."""
    if one is None:
        return "none"
    if math.isfinite(one.low) and math.isfinite(one.high):
        return f"{_digits(one.value)} ({_digits(one.low)} to {_digits(one.high)})"
    return _digits(one.value)


def text(words: str, most: int = 2 * CHARACTERS) -> str:
    """A text from data as Markdown shows it: nothing in it is a mark, a link or a mention."""
    words = "".join(c if c.isprintable() else " " for c in words)
    if len(words) > most:
        words = f"{words[: most - 1]}…"
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", words)


def _code_span(words: str) -> str:
    words = words if len(words) <= CHARACTERS else f"{words[: CHARACTERS - 1]}…"
    return text(words)


def _change(one: Compared) -> str:
    words = f"{one.head.value - one.base.value:+.4g}"
    if one.neutral is None or one.distance is None:
        return words
    way = one.distance.difference
    if not one.distance.p_value < ALPHA:  # the side is noise, or unknown
        return words
    return f"{words}, {'farther from' if way > 0 else 'nearer to'} {one.neutral:g}"


def _where(key: dict[str, str]) -> str:
    """A row by what names it; columns that are blank, or say that all is meant, are left out."""
    named = [f"{name} {value}" for name, value in key.items() if value not in ("", "all")]
    return text(", ".join(named), 4 * CHARACTERS) or "all"


def _stem(name: str) -> str:
    return name.removeprefix("tables/").removesuffix(".csv")


def _digits(value: float) -> str:
    return f"{value + 0.0:.4g}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words)


def _list(names: Sequence[str], most: int = ITEMS_SHOWN) -> str:
    shown = [text(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return _joined(shown)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _rows(header: Sequence[str], found: list[Any], cells: Callable[[Any], Sequence[str]]) -> str:
    """A table of the first of them, with the number of the others below."""
    table = _table(header, [cells(one) for one in found[:ROWS]])
    if len(found) > ROWS:
        table += f"\n\nand {len(found) - ROWS} more"
    return table


def document(found: Comparison) -> dict[str, Any]:
    """Everything as JSON: the numbers that differ, with what they were judged by.

    What is not known is null.
    """
    return {
        "nothing_changed": nothing_changed(found),
        "counts": counts(found),
        "gates": [
            {
                "gate": str(one.gate),
                "outcome": one.status,
                "because": one.words,
                "judged": one.judged,
                "breaking": [_number(number) | {"p_gate": p} for number, p in one.breaking],
            }
            for one in found.outcomes
        ],
        "causes": {
            name: [one._asdict() for one in getattr(found.causes, name)]
            for name in ("data", "configuration", "code", "packages", "files")
        },
        "tables": [
            {
                "table": table.name,
                "equal": table.equal,
                "rows_base": table.rows[0],
                "rows_head": table.rows[1],
                "new": table.new,
                "gone": table.gone,
                "numbers": [_number(one) for one in table.numbers if one.status != SAME],
                "columns_new": table.columns_new,
                "columns_gone": table.columns_gone,
                "other_columns_that_differ": table.others,
                "verdicts": [one._asdict() for one in table.verdicts],
                "problem": table.problem or None,
            }
            for table in found.tables
        ],
        "changed_since": found.changed_since,
        "untraced": found.causes.untraced,
    }


def _number(one: Compared) -> dict[str, Any]:
    def plain(value: float | None) -> float | None:
        return None if value is None or not math.isfinite(value) else value

    def values(side: Estimate | None) -> list[float | None]:
        return [None] * 3 if side is None else [plain(v) for v in side[:3]]

    change = one.change
    return {
        "table": one.table,
        "number": one.column,
        "row": one.key,
        "base": values(one.base),
        "head": values(one.head),
        "neutral": one.neutral,
        "status": one.status,
        "reason": one.reason or None,
        "judged_by": one.by or None,
        "standard_error": plain(change.error) if change else None,
        "p_value": plain(change.p_value) if change else None,
        "p_adjusted": plain(one.p_adjusted),
        "distance_change": plain(one.distance.difference) if one.distance else None,
        "distance_p_value": plain(one.distance.p_value) if one.distance else None,
    }
