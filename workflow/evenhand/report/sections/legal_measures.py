"""Sections: how groups shift, cross, how long cases are, and what leaks, of a legal data set."""

from pathlib import Path
from typing import Any

from evenhand.report.cells import Axis, estimate, ruler, ticks_between
from evenhand.report.figures import histogram, shares
from evenhand.report.read import boolean, read_csv
from evenhand.report.render import decimal, percent

SHIFT = {
    "dataset": str,
    "attribute": str,
    "group": str,
    "splits": str,
    "train_cases": int,
    "other_cases": int,
    "distance": float,
    "low": float,
    "high": float,
    "noise_mean": float,
    "noise_95": float,
    "p": float,
    "above_noise": boolean,
    "compat_published": float,
}
CROSS = {
    "dataset": str,
    "attribute": str,
    "group": str,
    "other_attribute": str,
    "other_group": str,
    "cases": int,
    "of": int,
    "share": float,
    "low": float,
    "high": float,
    "published": str,
    "verdict": str,
}
LENGTHS = {
    "dataset": str,
    "unit": str,
    "tokenizer": str,
    "quantity": str,
    "from": float,
    "to": float,
    "value": float,
    "count": int,
    "of": int,
    "share": float,
}
LEAKAGE = {
    "dataset": str,
    "language": str,
    "pattern": str,
    "label": str,
    "cases": int,
    "of": int,
    "share": float,
    "mutual_information": float,
    "p": float,
    "associated": boolean,
    "label_with": int,
    "of_with": int,
    "label_without": int,
    "of_without": int,
    "risk_ratio": float,
    "low": float,
    "high": float,
    "examples": str,
}
RULES = {
    "dataset": str,
    "attribute": str,
    "rule": str,
    "value": str,
    "cases": int,
    "of": int,
    "share": float,
    "mean_confidence": float,
    "with_evidence": int,
    "flags": str,
}

AUDIT = {
    "dataset": str,
    "attribute": str,
    "scope": str,
    "rule": str,
    "cases": int,
    "drawn": int,
    "answered": int,
    "right": int,
    "wrong": int,
    "cannot_tell": int,
    "precision": float,
    "low": float,
    "high": float,
    "recall": float,
}

#: The widest that distances are drawn: sqrt(ln 2) is the largest there is.
MOST = 0.8325546


def describe_shift(path: Path) -> dict[str, Any]:
    """Tables 8 to 11: distances of the label distributions, with the noise floor as a band."""
    rows = read_csv(path, SHIFT)
    highest = max((row["high"] or row["distance"] or 0 for row in rows), default=0)
    noise = max((row["noise_95"] or 0 for row in rows), default=0)
    axis = Axis(0, min(MOST, max(highest, noise, 0.05) * 1.05))
    ticks = ticks_between(axis.low, axis.high, 4)
    for row in rows:
        row["figure"] = None
        if row["distance"] is not None:
            words = f"{row['group'] or 'all'}, {row['splits']}: {decimal(row['distance'])}"
            row["figure"] = estimate(
                axis,
                row["distance"],
                (row["low"], row["high"]),
                words,
                kind="more" if row["above_noise"] else "unclear",
                centre=0,
                band=(0.0, row["noise_95"]) if row["noise_95"] is not None else (None, None),
            )
    return {
        "rows": rows,
        "scale": ruler(axis, ticks, "Scale of the distance"),
        "compat": any(row["compat_published"] is not None for row in rows),
        "above": sum(row["above_noise"] is True for row in rows),
        "measured": sum(row["distance"] is not None for row in rows),
    }


def describe_cross(path: Path) -> list[dict[str, Any]]:
    """Table 3: for each pair of attributes a table, group by group, and a map of its shares."""
    pairs: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in read_csv(path, CROSS):
        lines = pairs.setdefault((row["attribute"], row["other_attribute"]), {})
        lines.setdefault(row["group"], {})[row["other_group"]] = row
    return [_crossed(first, second, lines) for (first, second), lines in pairs.items()]


def _crossed(
    first: str, second: str, lines: dict[str, dict[str, dict[str, Any]]]
) -> dict[str, Any]:
    """One pair's table; the map leaves out groups without cases, which `without` names."""
    columns = list(dict.fromkeys(name for cells in lines.values() for name in cells))
    drawn = [
        (name, [cells[other]["share"] if other in cells else None for other in columns])
        for name, cells in lines.items()
        if any(cell["of"] for cell in cells.values())
    ]
    over = second.replace("_", " ")
    numbered = ", ".join(f"{i} {name}" for i, name in enumerate(columns, 1))
    label = f"Shares of {over} in each group of {first.replace('_', ' ')}: {numbered}"
    return {
        "name": first,
        "other": second,
        "columns": columns,
        "rows": [{"name": name, "cells": cells} for name, cells in lines.items()],
        "figure": shares(drawn, columns, label, title=over.capitalize()) if drawn else None,
        "without": [name for name in lines if name not in dict(drawn)],
    }


def describe_lengths(path: Path) -> list[dict[str, Any]]:
    """Figure 2: a histogram for each unit, with the quantities beside it."""
    units: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for row in read_csv(path, LENGTHS):
        units.setdefault((row["unit"], row["tokenizer"]), []).append(row)
    found = []
    for (unit, tokenizer), rows in units.items():
        bars = [row for row in rows if row["quantity"] == "histogram"]
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
        values = {row["quantity"]: row for row in rows if row["quantity"] != "histogram"}
        found.append(
            {"unit": unit, "tokenizer": tokenizer, "figure": drawing, "quantities": values}
        )
    return found


def describe_leakage(path: Path) -> list[dict[str, Any]]:
    """Patterns that were found, the strongest risk ratio of each beside it."""
    found: list[dict[str, Any]] = []
    for row in read_csv(path, LEAKAGE):
        if row["label"] is None:
            if row["cases"]:
                found.append(row | {"strongest": None})
        elif found and row["pattern"] == found[-1]["pattern"] and row["risk_ratio"] is not None:
            best = found[-1]["strongest"]
            if best is None or _lean(row) > _lean(best):
                found[-1]["strongest"] = row
    for row in found:
        one = row["strongest"]
        row["words"] = (
            None
            if one is None
            else f"{one['label']}: {percent(_share(one['label_with'], one['of_with']), 0)} with it,"
            f" {percent(_share(one['label_without'], one['of_without']), 0)} without"
        )
    return found


def describe_rules(path: Path) -> list[dict[str, Any]]:
    """How each attribute was found: its rules, by attribute."""
    attributes: dict[str, list[dict[str, Any]]] = {}
    for row in read_csv(path, RULES):
        attributes.setdefault(row["attribute"], []).append(row)
    return [{"name": name, "rows": rows} for name, rows in attributes.items()]


def describe_audit(path: Path) -> list[dict[str, Any]]:
    """What people said of the rules; those that nobody answered for are left out."""
    rows = read_csv(path, AUDIT, optional=("recall",))
    for row in rows:
        joined = {"values": "all that give a value", "no_values": "all that give none"}
        row["name"] = joined.get(row["scope"]) or (row["rule"] or "").replace("_", " ")
    return [row for row in rows if row["answered"]]


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _lean(row: dict[str, Any]) -> float:
    """How far a risk ratio's interval stays away from 1, whichever way."""
    low, high = row["low"] or 0.0, row["high"] or 0.0
    return max(low - 1, 1 / high - 1 if high else 0.0)
