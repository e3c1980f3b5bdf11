"""The audit task: check whether the value that a rule found for a case is right."""

from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.sheets import Column
from evenhand.legal.built import group_names
from evenhand.legal.declaration import Attribute
from evenhand.sheets.tasks import Task, group_of

#: The possible answers.
ANSWERS = ("right", "wrong", "cannot_tell")


def task(attribute: Attribute) -> Task:
    """Return the audit of an attribute."""
    return Task(
        item="case",
        group="attribute",
        key="case_id",
        columns=(
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
            Column(
                "should_be",
                "",
                15,
                choices=group_names(attribute) if attribute.groups else (),
                fill_in=True,
            ),
            Column("comment", "", 32, fill_in=True),
            Column("attribute", "", 18, hidden=True),
        ),
        fixed=("value", "rule"),
        handed_out=(
            *("attribute", "rank", "case_id", "title", "value", "rule", "confidence", "where"),
            *("evidence", "mark_start", "mark_end", "more"),
        ),
        numbers=("rank", "mark_start", "mark_end"),
        table="findings",
    )


def read_drawn(
    paths: list[Path], attributes: dict[str, Attribute]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the handed-out rows of audits by attribute and case; empty lists are left out.

    Raises
    ------
    InputError
        A list is of another attribute, or a second one of an attribute.
    """
    drawn: dict[str, dict[str, dict[str, Any]]] = {}
    for path in paths:
        name, cases = group_of(path, task(next(iter(attributes.values()))))
        if cases and (name in drawn or name not in attributes):
            raise InputError(f"is a second file of {name}, or of another kind", file=path)
        drawn |= {name: cases} if cases else {}
    return drawn
