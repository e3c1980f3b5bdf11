"""Sections: the contents of a legal data set, and the records that were left out of it."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.report.read import read_json

Rows = list[dict[str, Any]]

#: Columns of the tables by split.
SPLITS = ("train", "dev", "test", "all")


def describe_groups(rows: Rows) -> Rows:
    """Return Tables 6 and 7: the groups of each attribute by split, and the share of known ones."""
    known = {
        row["attribute"]: row["known"] / row["of"]
        for row in rows
        if row["split"] == "all" and row["of"]
    }
    return [
        block | {"known": known.get(block["name"])}
        for block in by_split(rows, "attribute", "group")
    ]


def by_split(rows: Rows, block: str, line: str) -> Rows:
    """Return a table per value of `block`: a row per value of `line` and a column per split."""
    blocks: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for row in rows:
        blocks.setdefault(row[block], {}).setdefault(row[line], {})[row["split"]] = row
    splits = [one for one in SPLITS if any(row["split"] == one for row in rows)]
    return [
        {
            "name": name,
            "splits": splits,
            "rows": [
                {"name": group, "cells": [cells.get(split) for split in splits]}
                for group, cells in lines.items()
            ],
        }
        for name, lines in blocks.items()
    ]


def describe_reading(paths: list[Path]) -> Rows:
    """Return the number of records of each part, and the reasons for those left out.

    Parameters
    ----------
    paths : list of path
        ``{part}.counts.json``.

    Raises
    ------
    InputError
        A file of counts does not contain the number of records.
    """
    parts = []
    for path in paths:
        numbers = read_json(path)
        if not isinstance(numbers, dict) or not isinstance(numbers.get("records"), int):
            raise InputError("does not say how many records were written", file=path)
        reasons = dict(numbers.get("left_out", {})) | dict(numbers.get("noted", {}))
        most = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        parts.append(
            {
                "name": path.name.removesuffix(".counts.json"),
                "records": numbers["records"],
                "reasons": [
                    {
                        "name": name.replace("_", " "),
                        "meaning": REASONS.get(name, ""),
                        "cases": cases,
                    }
                    for name, cases in most
                    if cases
                ],
            }
        )
    return parts


def describe_duplicates(path: Path) -> dict[str, int]:
    """Return the numbers of repeated records of a case and of near duplicates."""
    return Counter(row["how"] for row in read_rows(path, ["how"]))
