"""Sections: what a legal data set holds, and what was left out of it."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.report.read import read_csv, read_json

SIZES = {
    "dataset": str,
    "quantity": str,
    "item": str,
    "ours": str,
    "of": int,
    "share": float,
    "published": str,
    "verdict": str,
}
GROUPS = {
    "dataset": str,
    "attribute": str,
    "split": str,
    "group": str,
    "cases": int,
    "of": int,
    "share": float,
    "known": int,
    "share_known": float,
}
LABELS = {
    "dataset": str,
    "split": str,
    "label": str,
    "cases": int,
    "of": int,
    "share": float,
}

#: Columns of the tables by split.
SPLITS = ("train", "dev", "test", "all")


def describe_sizes(path: Path) -> dict[str, Any]:
    """Table 1: its rows, and the number of cases in each split."""
    rows = read_csv(path, SIZES)
    cases = {row["item"]: row["ours"] for row in rows if row["quantity"] == "cases"}
    return {
        "rows": rows,
        "cases": cases,
        "published": any(row["published"] for row in rows),
    }


def describe_groups(path: Path) -> list[dict[str, Any]]:
    """Tables 6 and 7: for each attribute its groups, with cases and shares by split.

    Each also says of which share of all cases the group is known.
    """
    rows = read_csv(path, GROUPS)
    known = {
        row["attribute"]: row["known"] / row["of"]
        for row in rows
        if row["split"] == "all" and row["of"]
    }
    return [
        block | {"known": known.get(block["name"])}
        for block in _by_split(rows, "attribute", "group")
    ]


def describe_labels(path: Path) -> list[dict[str, Any]]:
    """The labels, with cases and shares by split."""
    rows = [row | {"attribute": "labels"} for row in read_csv(path, LABELS)]
    return _by_split(rows, "attribute", "label")


def _by_split(rows: list[dict[str, Any]], block: str, line: str) -> list[dict[str, Any]]:
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


def describe_reading(counts: list[Path], parts: list[str]) -> list[dict[str, Any]]:
    """What each part of a data set gave, and why cases were left out.

    Parameters
    ----------
    counts : list of path
        ``{part}.counts.json``.
    parts : list of str
        The name of each.

    Raises
    ------
    InputError
        A file of counts does not say how many records were written.
    """
    found = []
    for path, part in zip(counts, parts, strict=True):
        numbers = read_json(path)
        if not isinstance(numbers, dict) or not isinstance(numbers.get("records"), int):
            raise InputError("does not say how many records were written", file=path)
        reasons = dict(numbers.get("left_out", {})) | dict(numbers.get("noted", {}))
        found.append(
            {
                "name": part,
                "records": numbers["records"],
                "reasons": [
                    {
                        "name": name.replace("_", " "),
                        "meaning": REASONS.get(name, ""),
                        "cases": cases,
                    }
                    for name, cases in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
                    if cases
                ],
            }
        )
    return found


def describe_duplicates(path: Path) -> dict[str, int]:
    """How many records stood there already, and how many are nearly another."""
    return Counter(row["how"] for row in read_rows(path, ["how"]))
