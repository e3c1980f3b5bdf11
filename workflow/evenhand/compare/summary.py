"""The comparison as Markdown for a person, and as JSON for a program."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.compare.causes import Causes
from evenhand.compare.gates import BROKEN, HELD, Outcome
from evenhand.compare.numbers import (
    ALPHA,
    GONE,
    MOVED,
    NEW,
    NOISE,
    SAME,
    UNJUDGED,
    Compared,
    ComparedTable,
)
from evenhand.io.markdown import render
from evenhand.metrics.differences import Estimate

TEMPLATE = Path(__file__).parent / "templates" / "summary.md.jinja"

#: Most rows of a table, items of a list, characters of a cell, modules of a stage, columns of a
#: table.
ROWS, ITEMS_SHOWN, CHARACTERS, MODULES, COLUMNS = 25, 12, 60, 4, 6

#: Markup, links and mentions of Markdown and of the HTML in it.
_MARKS = re.compile(
    r"[\\`*\[\]<>#|~&@$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE
)


#: Verdicts of tests in plain words; others are shown as they are.
VERDICTS = {
    "": "none",
    "above": "above the neutral value",
    "below": "below the neutral value",
    "equivalent": "no difference that matters",
    "inconclusive": "cannot tell",
}


class Comparison(NamedTuple):
    """The result of comparing two folders."""

    folders: tuple[str, str]
    causes: Causes
    tables: list[ComparedTable]
    changed_since: dict[str, dict[str, str]]
    outcomes: list[Outcome]
    versions: tuple[str, str] | None = None


def markdown(found: Comparison) -> str:
    """Return the summary: moved numbers, gates, causes, and the basis of the judgements."""
    differing = [table for table in found.tables if not table.equal]
    numbers = [one for table in differing for one in table.numbers]
    both = [table for table in differing if None not in table.rows]
    judged = [one for one in numbers if one.change is not None]
    causes = found.causes
    facts = {
        "found": found,
        "headline": _headline(found, numbers),
        "nothing_changed": nothing_changed(found),
        "causes": [
            (name.capitalize(), getattr(causes, name))
            for name in ("data", "configuration", "code", "packages")
        ],
        "files": [
            f"{number} {kind}"
            for kind, number in sorted(Counter(one.kind for one in causes.files).items())
        ],
        "untraced": [run for run, number in causes.untraced.items() if number is None],
        "moved": sorted(
            (n for n in numbers if n.status == MOVED), key=lambda n: (not n.main, n.p_adjusted)
        ),
        "verdicts": [one for table in found.tables for one in table.verdicts],
        "both": both,
        "without": [_stem(one.name) for one in both if not one.numbers and not one.problem],
        "reasons": _reasons(numbers),
        "new_and_missing": _new_and_missing(differing, both),
        "judged": judged,
        "raw": [one for one in judged if one.status == NOISE and one.change.p_value < ALPHA],
        "by": Counter(one.by for one in judged),
        "notes": _notes(found),
        "main": [one for one in judged if one.main],
        "rows": ROWS,
        "items": ITEMS_SHOWN,
        "modules": MODULES,
        "alpha": ALPHA,
    }
    filters = {
        "text": text,
        "names": _names,
        "stem": lambda name: text(_stem(name)),
        "where": _where,
        "verdict": lambda word: text(VERDICTS.get(word, word)),
        "count": lambda list, noun: _count(list, noun),
        "estimate": estimate,
        "change": _change,
        "p": lambda value: "< 0.0001" if value < 0.0001 else f"{value:.2g}",
        "statuses": _statuses,
        "others": _others,
    }
    summary = render(TEMPLATE, facts, filters)
    return re.sub(r"\n{3,}", "\n\n", summary).rstrip("\n") + "\n"


def nothing_changed(found: Comparison) -> bool:
    """Return whether no record, no table and no store of items differs."""
    since = found.changed_since
    return (
        not any(found.causes._replace(untraced={}))
        and since["base"] == since["head"]
        and all(table.equal for table in found.tables)
    )


def counts(found: Comparison) -> dict[str, Any]:
    """Count the tables, the numbers by status, and the gates by outcome."""
    status = Counter(one.status for table in found.tables for one in table.numbers)
    return {
        "tables": len(found.tables),
        "tables_that_differ": sum(not table.equal for table in found.tables),
        "numbers": {name: status[name] for name in sorted(status)},
        "gates": dict(sorted(Counter(one.status for one in found.outcomes).items())),
    }


def _headline(found: Comparison, numbers: Sequence[Compared]) -> list[str]:
    gates = Counter(one.status for one in found.outcomes)
    broken, undecided = gates[BROKEN], gates.total() - gates[BROKEN] - gates[HELD]
    sentences = [f"{_count(range(broken), 'gate')} broken."] if broken else []
    sentences += [f"{_count(range(undecided), 'gate')} undecided."] if undecided else []
    sentences += ["All gates held."] if gates[HELD] and gates[HELD] == gates.total() else []
    if nothing_changed(found):
        return ["Nothing changed.", *sentences]
    judged = [one for one in numbers if one.status in (MOVED, NOISE, SAME)]
    if all(table.equal for table in found.tables):
        return [*sentences, "No table differs."]
    if not numbers:
        return [*sentences, "No table that differs has a number with an interval in both."]
    if not judged:
        return [*sentences, "No number could be judged."]
    main = [one for one in judged if one.main]
    others = [one for one in judged if not one.main]
    sentences += [f"{_bias(main)}."] if main else []
    for own, kind in ((main, "main number"), (others, "other number" if main else "number")):
        if own:
            moved = sum(one.status == MOVED for one in own) or "None"
            sentences.append(f"{moved} of {_count(own, kind)} moved beyond noise{_sides(own)}.")
    verdicts = [one for table in found.tables for one in table.verdicts]
    return [*sentences, *([f"{_count(verdicts, 'verdict')} changed."] if verdicts else [])]


def _bias(main: Sequence[Compared]) -> str:
    """Return whether bias rose or fell, by the main numbers that moved."""
    sides = {_side(one) for one in main if one.status == MOVED}
    words = {"farther from": "rose", "nearer to": "fell"}
    moved = [word for side, word in words.items() if side in sides]
    return f"Bias {' and '.join(moved)}" if moved else "No change of bias is shown"


def _sides(numbers: Sequence[Compared]) -> str:
    """Return in how many main numbers there is more or less bias than before."""
    sides = Counter(_side(one) for one in numbers if one.main and one.status == MOVED)
    words = (("more", "farther from"), ("less", "nearer to"))
    told = [f"{bias} bias in {sides[side]} of them" for bias, side in words if sides[side]]
    return f", {', '.join(told)}" if told else ""


def _reasons(numbers: Sequence[Compared]) -> dict[str, list[str]]:
    """List, for each reason, how many numbers of which tables could not be judged."""
    reasons = Counter((n.reason, _stem(n.table)) for n in numbers if n.status == UNJUDGED)
    by_reason = defaultdict(list)
    for (reason, name), number in sorted(reasons.items()):
        by_reason[reason].append(f"{number} in {text(name)}")
    return by_reason


def _new_and_missing(differing: list[ComparedTable], both: list[ComparedTable]) -> list[str]:
    """List the tables, columns, rows and numbers that only one run has."""
    lines = []
    for run, place in (("head", 0), ("base", 1)):
        if names := [_stem(table.name) for table in differing if table.rows[place] is None]:
            lines.append(f"- Tables that only {run} has: {_names(names)}")
    for table in both:
        start = f"- {text(_stem(table.name))}:"
        for status, columns in ((NEW, table.columns_new), (GONE, table.columns_gone)):
            if columns:
                lines.append(f"{start} columns {status}: {_names(columns)}")
        for status, keys in ((NEW, table.new), (GONE, table.gone)):
            if keys:
                shown = "; ".join(map(_where, keys[:3]))
                more = f"; and {len(keys) - 3} more" if len(keys) > 3 else ""
                lines.append(f"{start} {_count(keys, 'row')} {status}: {shown}{more}")
        for status in (NEW, GONE):
            if numbers := [one for one in table.numbers if one.status == status]:
                lines.append(f"{start} {_count(numbers, 'number')} {status}")
    return lines


def _notes(found: Comparison) -> list[str]:
    notes = [
        f"- In {run} no record says what made {_count(range(number), 'file')}."
        for run, number in found.causes.untraced.items()
        if number
    ]
    if empty := [text(table.name) for table in found.tables if not any(table.rows)]:
        notes.append(f"- Tables without a row: {', '.join(empty)}.")
    if same := [text(table.name) for table in found.tables if table.problem and table.equal]:
        notes.append(
            f"- Tables that are the same, and could not have been compared: {', '.join(same)}."
        )
    return notes


def _statuses(table: ComparedTable) -> list[int]:
    status = Counter(one.status for one in table.numbers)
    return [status[name] for name in (MOVED, NOISE, SAME, UNJUDGED)]


def _others(table: ComparedTable) -> str:
    """List the other columns that differ, or why rows were not compared."""
    if table.problem:
        return f"not compared by row: {text(table.problem)}"
    columns = [
        f"{text(name)} in {_count(range(rows), 'row')}" for name, rows in table.others.items()
    ]
    if len(columns) > COLUMNS:
        columns = [*columns[: COLUMNS - 1], f"{len(columns) - COLUMNS + 1} more"]
    return ", ".join(columns)


def estimate(one: Estimate | None) -> str:
    """Return a number with its interval."""
    if one is None:
        return "none"
    value, low, high = (f"{number + 0.0:.4g}" for number in one[:3])
    known = math.isfinite(one.low) and math.isfinite(one.high)
    return f"{value} ({low} to {high})" if known else value


def text(value: object, most: int = 2 * CHARACTERS) -> str:
    """Return a text from data on one line, with all Markdown and HTML in it escaped."""
    words = "".join(c if c.isprintable() else " " for c in str(value))
    if len(words) > most:
        words = f"{words[: most - 1]}…"
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", words)


def _side(one: Compared) -> str:
    if one.neutral is None or one.distance is None or not one.distance.p_value < ALPHA:
        return ""  # the direction is noise, or unknown
    return "farther from" if one.distance.difference > 0 else "nearer to"


def _change(one: Compared) -> str:
    change = f"{one.head.value - one.base.value:+.4g}"
    return f"{change}, {side} {one.neutral:g}" if (side := _side(one)) else change


def _where(key: Mapping[str, str]) -> str:
    """Name a row by its keys; columns that are blank or ``all`` are left out."""
    named = [f"{name} {value}" for name, value in key.items() if value not in ("", "all")]
    return text(", ".join(named), 4 * CHARACTERS) or "all"


def _stem(name: str) -> str:
    return name.removeprefix("tables/").removesuffix(".csv")


def _count(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def _names(names: Sequence[str], most: int = ITEMS_SHOWN) -> str:
    names = list(names)
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(text, names[:most]), *more])


def document(found: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON: the numbers that differ, and the basis of each judgment.

    Unknown values are null.
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
        "versions": found.versions,
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
        "main": one.main,
        "distance_change": plain(one.distance.difference) if one.distance else None,
        "distance_p_value": plain(one.distance.p_value) if one.distance else None,
    }
