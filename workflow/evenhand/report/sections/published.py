"""Section: the published file: its problems, and the results of our filters on it."""

from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.report.read import read_json
from evenhand.report.words import Reasons, reason_name


def describe_published(
    filters: Path | None, report: Path | None, known: Reasons
) -> dict[str, Any] | None:
    """Return the sentences that each filter would drop, and the problems; None without either.

    Parameters
    ----------
    filters : Path, optional
        The folder of tables of `evenhand.slguset.report_published`.
    report : Path, optional
        Its ``report.json``.
    known : dict
        The words for the filters' reasons.
    """
    if filters is None and report is None:
        return None
    rows = read_table(filters / "filters.csv") if filters else []
    for row in rows:
        row["name"] = reason_name(row["reason"], known) if row["reason"] else None
    return {"filters": rows, "report": read_json(report) if report else None}
