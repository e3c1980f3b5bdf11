"""The notes of audits on their data, which a comparison of two of them repeats."""

from pathlib import Path

from evenhand.comparison.results import Results
from evenhand.core.tables import read_tables
from evenhand.individual.tables.findings import DOUBTS
from evenhand.io.documents import read_description
from evenhand.predictions.words import doubts
from evenhand.stereotypes.pairs import flag_notes


def audit_notes(results: Results) -> list[str]:
    """Return what may be a mistake in the pairs, predictions, logs and tables of people.

    If there are several sets of one kind, each note begins with the name of its set.
    """
    notes = []
    for pattern in ("stereotypes/*/pairs.json", "predictions/*/meta.json"):
        files = sorted(results.matching([pattern]))
        for file in files:
            described = read_description(results.folder / file, set(), "the audit")
            name = Path(file).parent
            if name.parts[0] == "stereotypes":
                some = flag_notes(described)
            else:
                some = doubts(
                    {"unknown": {}} | described, read_tables(results.folder / "tables" / name)
                )
            notes += [f"{name.name}: {note}" if len(files) > 1 else note for note in some]
    findings = results.rows("tables/individual/findings.csv")[1]
    return notes + [row["sentence"] for row in findings if row["finding"] in DOUBTS]
