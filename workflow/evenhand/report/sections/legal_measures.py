"""Sections: the contents of a legal data set, the records left out, and measures of its quality."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table
from evenhand.errors import InputError
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.report.cells import Axis, estimate, ruler, ticks_between
from evenhand.report.figures import heat_map, histogram
from evenhand.report.read import read_json
from evenhand.report.render import decimal, percent

Rows = list[dict[str, Any]]

#: Columns of the tables by split.
SPLITS = ("train", "dev", "test", "all")

#: The widest that distances are drawn: sqrt(ln 2) is the largest there is.
MOST = 0.8325546


def describe_groups(rows: Rows) -> Rows:
    """Return Tables 6 and 7: the groups of each attribute by split, and the share of known ones."""
    blocks = []
    for name, own in grouped(rows, "attribute").items():
        known = [row["known"] / row["of"] for row in where(own, split="all") if row["of"]]
        blocks.append({"name": name, "known": known[0] if known else None} | by_split(own, "group"))
    return blocks


def by_split(rows: Rows, line: str) -> dict[str, Any]:
    """Return a table with a row per value of `line` and a column per split."""
    cells = {(row[line], row["split"]): row for row in rows}
    splits = [one for one in SPLITS if any(split == one for _, split in cells)]
    lines = [
        {"name": name, "cells": [cells.get((name, split)) for split in splits]}
        for name in grouped(rows, line)
    ]
    return {"splits": splits, "rows": lines}


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
        part = {"name": path.name.removesuffix(".counts.json"), "records": numbers["records"]}
        part["reasons"] = [
            {"name": name.replace("_", " "), "meaning": REASONS.get(name, ""), "cases": cases}
            for name, cases in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
            if cases
        ]
        parts.append(part)
    return parts


def describe_duplicates(path: Path) -> dict[str, int]:
    """Return the numbers of repeated records of a case and of near duplicates."""
    return Counter(row["how"] for row in read_rows(path, ["how"]))


def describe_shift(rows: Rows) -> dict[str, Any]:
    """Return Tables 8 to 11: distances of the label distributions, with the noise floor."""
    highest = max((row["high"] or row["distance"] or 0 for row in rows), default=0)
    noise = max((row["noise_95"] or 0 for row in rows), default=0)
    axis = Axis(0, min(MOST, max(highest, noise, 0.05) * 1.05))
    ticks = ticks_between(axis.low, axis.high, 4)
    drawn = []
    for row in rows:
        figure = None
        if row["distance"] is not None:
            words = f"{row['group'] or 'all'}, {row['splits']}: {decimal(row['distance'])}"
            figure = estimate(
                axis,
                row["distance"],
                (row["low"], row["high"]),
                words,
                kind="more" if row["above_noise"] else "unclear",
                centre=0,
                band=(0.0, row["noise_95"]) if row["noise_95"] is not None else (None, None),
            )
        drawn.append(row | {"figure": figure})
    return {
        "rows": drawn,
        "scale": ruler(axis, ticks, "Scale of the distance"),
        "compat": any(row["compat_published"] is not None for row in rows),
        "above": sum(row["above_noise"] is True for row in rows),
        "measured": sum(row["distance"] is not None for row in rows),
    }


def describe_cross(rows: Rows) -> Rows:
    """Return Table 3: per pair of attributes a table, group by group, and a map of its shares."""
    return [
        _crossed(first, second, own)
        for (first, second), own in grouped(rows, "attribute", "other_attribute").items()
    ]


def _crossed(first: str, second: str, rows: Rows) -> dict[str, Any]:
    """Return a pair's table; the map leaves out groups without cases, listed in `without`."""
    lines = {
        name: {row["other_group"]: row for row in own}
        for name, own in grouped(rows, "group").items()
    }
    columns = list(grouped(rows, "other_group"))
    drawn = [name for name, cells in lines.items() if any(cell["of"] for cell in cells.values())]
    shares = [
        {
            "row": i,
            "column": j,
            "value": (share := lines[name].get(other, {}).get("share")),
            "text": percent(share, 0),
            "words": f"{name}, {other}: {percent(share)}",
        }
        for i, name in enumerate(drawn)
        for j, other in enumerate(columns, 1)
    ]
    over = second.replace("_", " ")
    numbered = ", ".join(f"{i} {name}" for i, name in enumerate(columns, 1))
    label = f"Shares of {over} in each group of {first.replace('_', ' ')}: {numbered}"
    return {
        "name": first,
        "other": second,
        "columns": columns,
        "rows": [{"name": name, "cells": cells} for name, cells in lines.items()],
        "figure": heat_map(drawn, shares, label, title=over.capitalize()) if drawn else None,
        "without": [name for name in lines if name not in drawn],
    }


def describe_lengths(rows: Rows) -> Rows:
    """Return Figure 2: a histogram for each unit, with the quantities beside it."""
    found = []
    for (unit, tokenizer), own in grouped(rows, "unit", "tokenizer").items():
        bars = [row for row in own if row["quantity"] == "histogram"]
        drawing = None
        if bars:
            edges = [bar["from"] or 0.0 for bar in bars]
            edges.append(edges[-1] + (edges[1] - edges[0] if len(edges) > 1 else 1.0))
            name = unit + (f" ({tokenizer})" if tokenizer else "")
            drawing = histogram(
                [bar["count"] or 0 for bar in bars],
                edges,
                f"Cases by number of {name}",
                title=f"{name} in a case".capitalize(),
                thing="case",
            )
        values = {row["quantity"]: row for row in own if row["quantity"] != "histogram"}
        found.append(
            {"unit": unit, "tokenizer": tokenizer, "figure": drawing, "quantities": values}
        )
    return found


def describe_leakage(rows: Rows) -> Rows:
    """Return the patterns found, each with the label whose risk ratio is farthest from 1."""
    measured = (row for row in rows if row["label"] is not None and row["risk_ratio"] is not None)
    labels = grouped(measured, "language", "pattern")
    found = []
    for row in rows:
        if row["label"] is None and row["cases"]:
            own = labels.get((row["language"], row["pattern"]))
            found.append(row | {"words": _risk_words(max(own, key=_distance)) if own else None})
    return found


def _risk_words(row: dict[str, Any]) -> str:
    shares = [row[f"label_{side}"] / (row[f"of_{side}"] or 1) for side in ("with", "without")]
    return "{}: {} with it, {} without".format(row["label"], *(percent(one, 0) for one in shares))


def describe_audit(folder: Path) -> Rows:
    """Return the precision of the rules by manual check; rules without an answer are left out."""
    return [row for row in read_table(folder / "audit.csv") if row["answered"]]


def _distance(row: dict[str, Any]) -> float:
    """Return the distance of a risk ratio's interval from 1, on either side."""
    low, high = row["low"] or 0.0, row["high"] or 0.0
    return max(low - 1, 1 / high - 1 if high else 0.0)
