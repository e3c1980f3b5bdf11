"""The notes of audits on their data, which a comparison of two of them repeats."""

from pathlib import Path

from evenhand.comparison.results import Results
from evenhand.core.tables import PACKAGE, read_tables
from evenhand.individual.tables.findings import DOUBTS
from evenhand.io.documents import read_description
from evenhand.predictions.words import notes as words_of
from evenhand.predictions.words import reversed_words
from evenhand.stereotypes.pairs import flag_notes


def audit_notes(results: Results) -> list[str]:
    """Return what may be a mistake in the pairs, predictions, logs and tables of people.

    If there are several sets of one kind, each note begins with the name of its set.
    """
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
            tables = results.folder / "tables" / name
            some = flag_notes(described)
            if "flags" not in described and (tables / PACKAGE).is_file():
                all_rows = {"rows": 0, "unknown": {}} | described
                some = [*reversed_words(described), *words_of(all_rows, read_tables(tables), "")]
            notes += [f"{name.name}: {note}" if len(files) > 1 else note for note in some]
    findings = results.rows("tables/individual/findings.csv")[1]
    return notes + [row["sentence"] for row in findings if row.get("finding") in DOUBTS]
