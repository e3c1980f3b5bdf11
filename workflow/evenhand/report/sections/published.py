"""Section: what the published file holds: its problems, and what our filters say of it."""

from pathlib import Path
from typing import Any

from evenhand.report.read import leaves, read_csv, read_json
from evenhand.report.words import reason_meaning, reason_name

FILTERS = {"filter": str, "reason": str, "sentences": int, "share": float, "examples": str}


def describe_published(filters: Path | None, report: Path | None) -> dict[str, Any] | None:
    """What each filter would drop of the authors' sentences, and the problems; None without."""
    if filters is None and report is None:
        return None
    rows = read_csv(filters, FILTERS) if filters else []
    for row in rows:
        row["name"] = reason_name(row["reason"]) if row["reason"] else None
        row["meaning"] = reason_meaning(row["reason"]) if row["reason"] else None
    found = leaves(read_json(report)) if report else ()
    problems = [
        {"name": name.replace("_", " ").capitalize(), "value": value} for name, value in found
    ]
    return {"filters": rows, "problems": problems}
