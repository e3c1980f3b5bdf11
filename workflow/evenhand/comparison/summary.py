"""The comparison as Markdown for a person, and as JSON for a program."""

import html
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.comparison.causes import Causes, OtherItems
from evenhand.comparison.gates import Outcome
from evenhand.comparison.numbers import (
    MOVED,
    NAMED,
    OTHER_GROUPS,
    UNJUDGED,
    Compared,
    ComparedTable,
)
from evenhand.comparison.results import GROUP, MODEL, name_versions
from evenhand.core.decimals import ALPHA, SCALES, fixed, p_value
from evenhand.core.phrases import MACROS, sentences_file
from evenhand.io.markdown import render
from evenhand.predictions.words import MEASURES, SUMMARIES, TITLES
from evenhand.text.catalogue import verdict_words
from evenhand.text.phrases import CROSS, plural

if TYPE_CHECKING:
    import pandas as pd

TEMPLATE = sentences_file(__file__, MACROS)

#: The key of rows of a single training.
SEED = "seed"

#: Most characters of a cell; the limits of lists are in the template.
CHARACTERS = 60

#: Markup, links and mentions of Markdown and of the HTML in it. Underscores within a word are none.
_MARKS = re.compile(
    r"[\\`*\[\]#|~@$]|<(?=[a-z/!?])|&(?=#|\w+;)|(?<!\w)_+|_+(?!\w)|:(?=//)|(?<=www)\.",
    re.IGNORECASE,
)


class Comparison(NamedTuple):
    """The result of comparing two folders.

    Attributes
    ----------
    folders : (str, str)
        The names of base and head; blank for results in Python.
    causes : Causes
        What differs apart from the numbers.
    tables : list of ComparedTable
        All tables of either run.
    changed_since : dict
        By run: the tables and items that are not the recorded ones.
    outcomes : list of Outcome
        Of the gates.
    versions : (str, str), optional
        The names of a model in base and in head, where these are taken for two versions of it;
        blank for the only one of logs, which has the other name too.
    same_models : list of str
        The models by their names in base, if each has the same weights and tokenizer in head.
    notes : dict of list of str
        By run: what may be a mistake in the data of its audits.
    datasets : dict of str
        The titles of tables of people, by name.
    former : dict of list of str
        By run: tables of an earlier run in its folder, which are left out.
    log_models : (str, str), optional
        The models of base and head, if each has the logs of a single one, which no row names.
    doubts : dict of list of str
        By run: why the findings of its audits may not hold.
    """

    folders: tuple[str, str]
    causes: Causes
    tables: list[ComparedTable]
    changed_since: dict[str, dict[str, str]]
    outcomes: list[Outcome]
    versions: tuple[str, str] | None = None
    same_models: list[str] = []  # noqa: RUF012 (no comparison changes it)
    notes: Mapping[str, list[str]] = MappingProxyType({})
    datasets: Mapping[str, str] = MappingProxyType({})
    former: Mapping[str, list[str]] = MappingProxyType({})
    log_models: tuple[str, str] | None = None
    doubts: Mapping[str, list[str]] = MappingProxyType({})

    @property
    def findings(self) -> list[str]:
        """The main sentence, its list, then those on other items, choices and equal models."""
        *reservations, (main, others) = re.findall(
            r"^\*\*(.+)\*\*$((?:\n+- .+$)*)", str(self), re.MULTILINE
        )
        others = [line.removeprefix("- ") for line in others.split("\n") if line]
        return [main, *others, *(words for words, _ in reservations)]

    @property
    def table(self) -> "pd.DataFrame":
        """The numbers of both, with the keys of their rows, their change and its test.

        ``status`` is moved, noise, same, unjudged, new or gone; ``repeats`` tells whether a number
        is another one under a second name.
        """
        import pandas as pd

        columns = ("change", "change_low", "change_high", "p_value", "p_adjusted", "status")
        return pd.DataFrame(
            {"table": number.table, "number": number.number, "main": number.main}
            | number.row
            | {"base": number.base and number.base.value, "head": number.head and number.head.value}
            | {name: getattr(number, name) for name in (*columns, "reason", "judged_by")}
            | {"repeats": number.repeats is not None}
            for table in self.tables
            for number in table.numbers
        )

    def _repr_markdown_(self) -> str:
        return markdown(self)

    def __str__(self) -> str:
        """Return the summary as the command prints it on a terminal."""
        return html.unescape(markdown(self))

    __repr__ = __str__


def markdown(comparison: Comparison) -> str:
    """Return the summary: moved numbers, gates, causes, and the basis of the judgments."""
    repeats = _repeats(comparison.tables)
    elsewhere = [table.table for table in comparison.tables if table.numbers]
    comparison = comparison._replace(tables=[*map(_distinct, comparison.tables)])
    differing = [table for table in comparison.tables if not table.equal]
    numbers = [number for table in differing for number in table.numbers]
    only = _only(comparison.tables)
    alone = _alone(differing, only)
    facts = {
        **comparison._asdict(),
        "notes_of": comparison.notes,
        "doubts": comparison.doubts,
        "nothing_changed": nothing_changed(comparison),
        "other_items": _by_content(comparison.causes.items),
        "differing": differing,
        "both": [table for table in differing if None not in table.rows],
        "numbers": numbers,
        "judged": [number for number in numbers if number.is_judged],
        "moved": sorted(
            (number for number in numbers if number.status == MOVED),
            key=_clearest_first,
        ),
        "untested": sorted(
            (n for n in numbers if n.status == UNJUDGED and n.reason != OTHER_GROUPS),
            key=lambda number: (CROSS in number.row.get("attribute", ""), -_size(number)),
        ),
        "alpha": ALPHA,
        "elsewhere": [
            table.table for table in differing if not table.numbers and table.table in elsewhere
        ],
        "only": only,
        "alone": {table: others for table, (_, others) in alone.items() if others},
        "of_seeds": [row for of_seeds, _ in alone.values() for row in of_seeds],
        "single": [t for t in _with_numbers(differing) if None in t.rows and any(t.rows)],
    }
    titles = {table.table: table.title for table in comparison.tables}
    of_groups = {number.table for number in numbers if "group" in number.row}
    filters = {
        "text": text,
        "metric": lambda name: _within(TITLES.get(name, name.replace("_", " "))),
        "place": lambda number: _place_of_group(
            number, text(titles[number.table], 4 * CHARACTERS), several=len(of_groups) > 1
        ),
        "measure": lambda column: text(MEASURES.get(column, column.replace("_", " "))),
        "titled": lambda path: text(titles[path], 4 * CHARACTERS),
        "stem": lambda path: text(path.removeprefix("tables/").removesuffix(".csv")),
        "row": lambda key: _row(key, comparison.versions, comparison.datasets),
        "count": lambda items, noun: plural(len(items), noun),
        "model": lambda name: text(name_versions({MODEL: name}, comparison.versions)[MODEL]),
        "repeats": lambda number: repeats.get(_place(number), {}),
        "estimate": estimate,
        "neutral": lambda number: _scaled(number.neutral, number.unit)[0].removesuffix(".0"),
        "verdict": lambda word: (verdict_words(word) or word) if word else "none",
        "side": _side,
        "difference": difference,
        "p": lambda value: "< 0.0001" if value < 0.0001 else p_value(value),
        "tally": lambda items, key: Counter(getattr(item, key) for item in items),
    }
    summary = render(TEMPLATE, facts, filters)
    return re.sub(r"\n{3,}", "\n\n", summary).rstrip("\n") + "\n"


def nothing_changed(comparison: Comparison) -> bool:
    """Return whether no record, no table and no store of items differs."""
    since = comparison.changed_since
    return (
        not any(comparison.causes._replace(untraced={}))
        and since["base"] == since["head"]
        and all(table.equal for table in comparison.tables)
    )


def estimate(number: Compared, side: str) -> str:
    """Return the number of base or head with its interval, in the unit of the audits."""
    if (known := getattr(number, side)) is None:
        return "none"
    (value, mark), (low, _), (high, _) = (_scaled(part, number.unit) for part in known[:3])
    value += mark
    return f"{value} ({low} to {high})" if math.isfinite(known.low + known.high) else value


def difference(number: Compared) -> str:
    """Return the change of a number with its 95 % interval, of percentages in points."""
    ends = (number.change, number.change_low, number.change_high)
    (change, mark), (low, _), (high, _) = (_scaled(part, number.unit, signs=True) for part in ends)
    change += " points" * bool(mark)
    return f"{change} (95 % interval {low} to {high})" if math.isfinite(sum(ends)) else change


def _size(number: Compared) -> float:
    """Return by how much an unjudged number differs, of shares in points."""
    scale, _ = SCALES.get(number.unit, (1, ""))
    return scale * abs(number.head.value - number.base.value)


def _scaled(value: float, unit: str, *, signs: bool = False) -> tuple[str, str]:
    """Return a value as audits write it, and what follows it: of shares the percentage."""
    if unit not in SCALES:
        return f"{value + 0.0:{'+' * signs}.4g}", ""
    scale, mark = SCALES[unit]
    return fixed(scale * value, 1, signs=signs), mark


def text(value: object, most: int = 2 * CHARACTERS) -> str:
    """Return a text from data on one line, with all Markdown and HTML in it escaped."""
    words = "".join(c if c.isprintable() else " " for c in str(value))
    if len(words) > most:
        words = f"{words[: most - 1]}…"
    return _MARKS.sub(lambda mark: "".join(f"&#{ord(c)};" for c in mark[0]), words)


def _only(tables: list[ComparedTable]) -> dict[str, dict[str, list[str]]]:
    """Return the values of keys that only head, or only base, has rows of, by side and key."""
    base, head = (set().union(*sides) for sides in zip(*(t.values for t in tables), strict=True))
    sides = {"head": sorted(head - base), "base": sorted(base - head)}
    return {
        side: {
            key: [value for name, value in pairs if name == key]
            for key in NAMED
            if key in dict(pairs)
        }
        for side, pairs in sides.items()
        if pairs
    }


def _alone(
    tables: list[ComparedTable], only: dict[str, dict[str, list[str]]]
) -> dict[str, tuple[list[Mapping[str, str]], ...]]:
    """Return, by table with intervals, the rows of one run alone that no key of `only` explains.

    These are the rows of seeds that the other run lacks, and the others.
    """
    named = {(key, v) for keys in only.values() for key, values in keys.items() for v in values}
    judged = (table for table in _with_numbers(tables) if None not in table.rows)
    rows = {}
    for table in judged:
        some = [row for row in (*table.gone, *table.new) if not named & {*row.items()}]
        both = {number.row.get(SEED) for number in table.numbers}
        seeds = {row[SEED] for row in some if SEED in row} - both if both else set()
        parts = ([row for row in some if (row.get(SEED) in seeds) == of_seed]
                 for of_seed in (True, False))  # fmt: skip
        rows[table.table] = tuple(parts)
    return {table: parts for table, parts in rows.items() if any(parts)}


def _with_numbers(tables: list[ComparedTable]) -> list[ComparedTable]:
    return [table for table in tables if table.declaration and any(table.declaration.numbers())]


def _by_content(items: list[OtherItems]) -> dict[OtherItems, list[str]]:
    """Return the files of items that differ by the same numbers, as those of several classifiers.

    Their keys have no file.
    """
    files = defaultdict(list)
    for each in items:
        files[each._replace(file="")].append(each.file)
    return files


def _distinct(table: ComparedTable) -> ComparedTable:
    """Return a table without repeated numbers and their verdicts."""
    numbers = [number for number in table.numbers if number.repeats is None]
    places = [number.row for number in numbers]
    repeated = [item.row for item in table.numbers if item.repeats and item.row not in places]
    verdicts = [verdict for verdict in table.verdicts if verdict["row"] not in repeated]
    return replace(table, numbers=numbers, verdicts=verdicts)


def _repeats(tables: list[ComparedTable]) -> dict[str, dict[bool, list[str]]]:
    """Return the names of numbers that repeat a number, equal ones and mirrored ones, by number.

    A name has what differs: the values of keys, the column, or the table.
    """
    names: dict[str, dict[bool, list[str]]] = defaultdict(lambda: defaultdict(list))
    titles = {table.table: table.title for table in tables}
    for number in (number for table in tables for number in table.numbers if number.repeats):
        first = number.repeats
        row = {key: value for key, value in number.row.items() if first.row.get(key, "") != value}
        parts = [*row.values()]
        parts += [number.number.replace("_", " ")] if number.number != first.number else []
        if number.table != first.table:
            parts.append(f"({titles[number.table]})" if parts else titles[number.table])
        names[_place(first)][[*row] == [GROUP]].append(" ".join(parts))
    return names


def _clearest_first(number: Compared) -> tuple[bool, bool, bool, float]:
    """Order moved numbers; those that summarise errors follow the rates of these errors."""
    is_summary = number.row.get("metric") in SUMMARIES
    return not number.main, _is_crossed(number), is_summary, number.p_adjusted


def _is_crossed(number: Compared) -> bool:
    """Return whether a number is of an intersection of attributes."""
    return CROSS in number.row.get("attribute", "")


def _place(number: Compared) -> str:
    return repr((number.table, number.number, number.row))


def _within(title: str) -> str:
    """Return the title of a metric within a sentence."""
    return title[:1].lower() + title[1:]


def _place_of_group(number: Compared, table: str, *, several: bool) -> str:
    """Return the attribute of a group, its label and other keys; the table if several have it."""
    named = ("attribute", "group", "metric", "label")
    row = {key: value for key, value in number.row.items() if key not in named}
    label = number.row.get("label")
    parts = [number.row.get("attribute", ""), f"label {label}" if label else ""]
    parts += [_row(row)] if any(row.values()) else []
    return text(", ".join(filter(None, parts))) + (f"; {table}" if several else "")


def _side(number: Compared) -> str:
    """Return whether bias rose or fell; blank if the direction is noise, or unknown."""
    if number.neutral is None or not number.distance_p_value < ALPHA:
        return ""
    return "rose" if number.distance_change > 0 else "fell"


def _row(
    key: Mapping[str, str],
    versions: tuple[str, str] | None = None,
    datasets: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Name a row by its keys, without ``all`` and blanks; a model of two versions by both."""
    if name := datasets.get(key.get("dataset", "")):
        key = {**key, "dataset": name}
    key = name_versions(key, versions).items()
    named = [f"{name} {value}" for name, value in key if value not in ("", "all")]
    return text(", ".join(named), 4 * CHARACTERS) or "all"


def document(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON: the numbers of tables that differ, and how each was judged.

    These are the numbers that Holm's adjustment counts; the same in both has p = 1. Unknown values
    are null.
    """
    tables, distinct = [], [*map(_distinct, comparison.tables)]
    for table in comparison.tables:
        entry = asdict(replace(table, numbers=[])) | {
            "rows_base": table.rows[0],
            "rows_head": table.rows[1],
        }
        entry["numbers"] = [] if table.equal else [*map(_entry, table.numbers)]
        left_out = ("rows", "declaration", "values")
        tables.append({key: entry[key] for key in entry if key not in left_out})
    statuses = Counter(number.status for table in distinct for number in table.numbers)
    repeats = sum(bool(item.repeats) for table in comparison.tables for item in table.numbers)
    outcomes = Counter(outcome.status for outcome in comparison.outcomes)
    causes = {
        name: [change._asdict() for change in changes]
        for name, changes in comparison.causes._asdict().items()
        if name != "untraced"
    }
    return _finite(
        {
            "nothing_changed": nothing_changed(comparison),
            "counts": {
                "tables": len(tables),
                "tables_that_differ": sum(not table.equal for table in comparison.tables),
                "numbers": dict(sorted(statuses.items())),
                "repeats": repeats,  # in none of these counts
                "verdicts": sum(len(table.verdicts) for table in distinct),
                "gates": dict(sorted(outcomes.items())),
            },
            "gates": [
                {
                    "gate": str(outcome.gate),
                    "outcome": outcome.status,
                    "because": outcome.words,
                    "judged": outcome.judged,
                    "breaking": [_entry(number) | {"p_gate": p} for number, p in outcome.breaking],
                }
                for outcome in comparison.outcomes
            ],
            "causes": causes,
            "tables": tables,
            "versions": comparison.versions,
            "log_models": comparison.log_models,
            "same_models": comparison.same_models,
            "notes": dict(comparison.notes),
            "doubts": dict(comparison.doubts),
            "changed_since": comparison.changed_since,
            "untraced": comparison.causes.untraced,
        }
    )


def _entry(number: Compared) -> dict[str, Any]:
    """Return a number as JSON; of a number that it repeats, its place."""
    first = number.repeats
    repeats = first and {"table": first.table, "number": first.number, "row": first.row}
    return asdict(replace(number, repeats=None)) | {"repeats": repeats}


def _finite(value: Any) -> Any:
    """Return a document with null in place of NaN, infinity and blank text."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
