"""Sections: shift, crossed attributes, lengths, leakage, rules and audit of a legal data set."""

from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.report.cells import Axis, estimate, ruler, ticks_between
from evenhand.report.figures import heat_map, histogram
from evenhand.report.render import decimal, percent

Rows = list[dict[str, Any]]

#: The widest that distances are drawn: sqrt(ln 2) is the largest there is.
MOST = 0.8325546


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
    pairs: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        lines = pairs.setdefault((row["attribute"], row["other_attribute"]), {})
        lines.setdefault(row["group"], {})[row["other_group"]] = row
    return [_crossed(first, second, lines) for (first, second), lines in pairs.items()]


def _crossed(
    first: str, second: str, lines: dict[str, dict[str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return a pair's table; the map leaves out groups without cases, listed in `without`."""
    columns = list(dict.fromkeys(name for cells in lines.values() for name in cells))
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
    units: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for row in rows:
        units.setdefault((row["unit"], row["tokenizer"]), []).append(row)
    found = []
    for (unit, tokenizer), own in units.items():
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
    labels: dict[tuple[str, str], Rows] = {}
    for row in rows:
        if row["label"] is not None and row["risk_ratio"] is not None:
            labels.setdefault((row["language"], row["pattern"]), []).append(row)
    found = []
    for row in rows:
        if row["label"] is None and row["cases"]:
            own = labels.get((row["language"], row["pattern"]))
            found.append(row | {"words": _risk_words(max(own, key=_distance)) if own else None})
    return found


def _risk_words(row: dict[str, Any]) -> str:
    shares = [row[f"label_{side}"] / (row[f"of_{side}"] or 1) for side in ("with", "without")]
    return "{}: {} with it, {} without".format(row["label"], *(percent(one, 0) for one in shares))


def describe_rules(rows: Rows) -> Rows:
    """Return the rules that found each attribute."""
    attributes: dict[str, Rows] = {}
    for row in rows:
        attributes.setdefault(row["attribute"], []).append(row)
    return [{"name": name, "rows": rows} for name, rows in attributes.items()]


def describe_audit(folder: Path) -> Rows:
    """Return the precision of the rules by manual check; rules without an answer are left out."""
    rows = read_table(folder / "audit.csv")
    for row in rows:
        joined = {"values": "all that give a value", "no_values": "all that give none"}
        row["name"] = joined.get(row["scope"]) or (row["rule"] or "").replace("_", " ")
    return [row for row in rows if row["answered"]]


def _distance(row: dict[str, Any]) -> float:
    """Return the distance of a risk ratio's interval from 1, on either side."""
    low, high = row["low"] or 0.0, row["high"] or 0.0
    return max(low - 1, 1 / high - 1 if high else 0.0)
