"""What stands in the sheets on which people check what was found: columns, answers, values."""

from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.sheets import Column, read_csv
from evenhand.legal.built import UNKNOWN
from evenhand.legal.dataset import Attribute

#: What can be said of a finding.
ANSWERS = ("right", "wrong", "cannot_tell")

#: The sheet of a workbook that holds the table, and the one with the instructions.
TABLE = "findings"
NOTES = "instructions"

#: The columns by which a filled sheet is read.
NEEDED = ("attribute", "case_id", "value", "rule", "right", "should_be", "comment")

#: What is kept of a sheet that was handed out (handed_out.csv).
HANDED_OUT = (
    *("attribute", "rank", "case_id", "title", "value", "rule", "confidence", "where"),
    *("evidence", "mark_start", "mark_end", "more"),
)


def unknown_name(attribute: Attribute) -> str:
    """What the value of a case is called in the sheet of which nothing is known."""
    return attribute.unknown or UNKNOWN


def columns(attribute: Attribute) -> tuple[Column, ...]:
    """The columns of a sheet."""
    values = (*attribute.groups, unknown_name(attribute)) if attribute.groups else ()
    return (
        Column("rank", "", 6),
        Column("case_id", "", 16),
        Column("title", "", 28),
        Column("value", "", 14),
        Column("rule", "", 20),
        Column("confidence", "", 11),
        Column("where", "", 16),
        Column("evidence", "", 80),
        Column("more", "evidence", 32),
        Column("right", "?", 13, choices=ANSWERS, fill_in=True),
        Column("should_be", "", 15, choices=values, fill_in=True),
        Column("comment", "", 32, fill_in=True),
        Column("attribute", "", 18, hidden=True),
    )


def read_handed_out(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a handed_out.csv by case_id, in the order of their ranks.

    Raises
    ------
    InputError
        A number in it is none, a case stands there twice, or it is of several attributes.
    """
    rows: dict[str, dict[str, Any]] = {}
    attribute = None
    for line, cells in read_csv(path, HANDED_OUT):
        row: dict[str, Any] = dict(cells)
        for name in ("rank", "mark_start", "mark_end"):
            if not (row[name].isascii() and row[name].isdigit() and len(row[name]) < 10):
                raise InputError(f"{row[name]!r} is no {name}", file=path, line=line)
            row[name] = int(row[name])
        attribute = attribute or row["attribute"]
        if row["case_id"] in rows or row["attribute"] != attribute or not row["case_id"]:
            raise InputError(
                "gives a case a second time, or one of another attribute",
                file=path,
                line=line,
                remedy="put back the file as it was made",
            )
        rows[row["case_id"]] = row
    return dict(sorted(rows.items(), key=lambda item: item[1]["rank"]))
