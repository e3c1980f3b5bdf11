"""Section: the inputs that were read, and the quarantined parts that could not be."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.io.quarantine import REASONS
from evenhand.report.read import read_json

#: Files listed in the table of quarantined parts; of the others only the number is shown.
MOST_FILES = 100


def describe_quarantine(counts: list[Path], corpus: Path | None) -> dict[str, Any] | None:
    """Return totals of the inputs read, encodings, and quarantined parts by reason and file.

    None if there are neither counts nor a quarantine.
    """
    if not counts and not corpus:
        return None
    totals: Counter[str] = Counter()
    encodings: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for document in map(read_json, counts):
        totals.update({name: n for name, n in document.items() if isinstance(n, int)})
        encodings.update(document.get("encodings", {}))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in read_table(corpus / "quarantine.csv") if corpus else ():
        entry = found.setdefault((row["file"], row["reason"]), row | {"parts": 0})
        entry["parts"] += row["parts"]
        reasons[row["reason"]] += row["parts"]
    files = [found[key] for key in sorted(found)]
    return {
        "totals": dict(totals),
        "encodings": sorted(encodings.items()),
        "reasons": [
            {"reason": reason, "meaning": _sentence(REASONS.get(reason)), "parts": n}
            for reason, n in sorted(reasons.items())
        ],
        "files": files[:MOST_FILES],
        "more_files": max(len(files) - MOST_FILES, 0),
    }


def _sentence(words: str | None) -> str | None:
    return words and f"{words[0].upper()}{words[1:]}."
