"""The notes of audits on their data, which a comparison of two of them repeats."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.comparison.results import Results
from evenhand.core.tables import PACKAGE, read_tables
from evenhand.individual.tables.findings import DOUBTS
from evenhand.io.documents import read_description
from evenhand.predictions.words import Tables, warnings
from evenhand.predictions.words import notes as words_of
from evenhand.stereotypes.pairs import flag_notes


def audit_notes(results: Results) -> list[str]:
    """Return what may be a mistake in the pairs, predictions, logs and tables of people.

    If there are several sets of one kind, each note begins with the name of its set.
    """
    notes = _of_sets(results, _notes)
    findings = results.rows("tables/individual/findings.csv")[1]
    return notes + [row["sentence"] for row in findings if row.get("finding") in DOUBTS]


def audit_doubts(results: Results) -> list[str]:
    """Return why the findings of predictions and logs may not hold, as `audit_notes` does."""
    return _of_sets(results, warnings)


def _notes(described: dict[str, Any], tables: Tables) -> list[str]:
    """Return the notes of a set of pairs, predictions or logs, by its description."""
    if "flags" in described or not tables:
        return flag_notes(described)
    return words_of({"rows": 0, "unknown": {}} | described, tables, "")


def _of_sets(results: Results, words: Callable[[dict[str, Any], Tables], list[str]]) -> list[str]:
    notes = []
    for pattern in ("stereotypes/*/pairs.json", "predictions/*/meta.json"):
        former = {Path(table).parent for table in results.former}
        files = [
            file
            for file in sorted(results.matching([pattern]))
            if Path("tables", file).parent not in former
        ]
        for file in files:
            described = read_description(results.folder / file, set(), "the audit")
            name = Path(file).parent
            folder = results.folder / "tables" / name
            tables = read_tables(folder) if (folder / PACKAGE).is_file() else {}
            some = words(described, tables)
            notes += [f"{name.name}: {note}" if len(files) > 1 else note for note in some]
    return notes
