"""The report on the legal data sets: contents, records left out, and measures of quality."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.legal.case_tables.shift import find_shifts
from evenhand.legal.records import SPLITS as ALL_SPLITS
from evenhand.report.figures import heat_map, histogram
from evenhand.report.headline import plain, say
from evenhand.report.read import read_json
from evenhand.report.render import percent
from evenhand.report.sections.legal_data import (
    UNKNOWN,
    Described,
    clearest_associations,
    copied_in,
    describe_associations,
    navigation,
    read_datasets,
    titles_by_name,
)
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.study import Study

Rows = list[dict[str, Any]]

#: The most labels or groups that the page shows as columns of a table.
MOST_COLUMNS = 25

#: Columns of the tables by split.
SPLITS = ("train", "dev", "test", "all")


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    items = {split: f"split={split}" for split in study.linked}
    if set(ALL_SPLITS) <= set(study.linked):
        items["all"] = "split="
    datasets = read_datasets(study, "tables/cases/*")
    associations, count = clearest_associations(
        {dataset.id: dataset.tables["cross"] for dataset in datasets}, titles_by_name(datasets)
    )
    associated = ""
    if associations:
        associated = say("legal_associated", rows=associations, count=count)
    return {
        "sections": navigation(datasets),
        "datasets": [_dataset(study, dataset) for dataset in datasets],
        "associations": associated,
        "copied": copied_in(study),
        "split_items": items,
        "most_columns": MOST_COLUMNS,
        "divided_files": [
            file
            for dataset in datasets
            for file in (f"tables/cases/{dataset.id}/sizes.csv", f"legal/{dataset.id}/splits.json")
        ],
        "more_tables": MoreTables(study, ["tables/cases/*"]),
    }


def _dataset(study: Study, dataset: Described) -> dict[str, Any]:
    """Return the values of the section on a data set."""
    tables, name = dataset.tables, dataset.id
    [duplicates] = study.paths(f"{name}/duplicates.parquet")
    audit = study.path(f"tables/audits/{name}")
    audited = read_table(audit / "audit.csv") if audit else []
    pairs = grouped(where(tables["cross"], split="all"), "attribute", "other_attribute")
    too_wide = [pair for pair, rows in pairs.items() if len(_columns(rows)) > MOST_COLUMNS]
    return dataset.head | {
        "fixed": dataset.declaration,
        "sizes": tables["sizes"],
        "groups": describe_groups(tables["groups"]),
        "rarest": _rarest(tables["groups"], dataset.attributes),
        "labels": [by_split(tables["labels"], "label")] if tables["labels"] else [],
        "shift": describe_shift(tables["shift"]),
        "cross": [
            _crossed(*pair, rows, dataset.attributes)
            for pair, rows in pairs.items()
            if pair not in too_wide
        ],
        "too_wide": too_wide,
        "associated": [
            say("legal_shares", row=row, title=dataset.attributes.get(row["attribute"]))
            for row in describe_associations(tables["cross"])
        ],
        "overlapping": [
            say(
                "legal_overlap",
                row=row,
                title=dataset.attributes.get(row["attribute"]),
                other=dataset.attributes.get(other),
            )
            for place, other in enumerate(dataset.attributes)
            for row in describe_associations(tables["cross"], other)
            if row["attribute"] in [*dataset.attributes][:place]  # each pair once
        ],
        "tokenised": any(row["tokenizer"] for row in tables["lengths"]),
        "lengths": describe_lengths(tables["lengths"]),
        "leakage": describe_leakage(tables["leakage"]),
        "rules": grouped(tables.get("rules", []), "attribute"),
        "reading": describe_reading(study.paths(f"{name}/records/*.counts.json")),
        "duplicates": Counter(row["how"] for row in read_rows(duplicates, ["how"])),
        "divided": study.document(f"{name}/splits.json"),
        "audit": [row for row in audited if row["answered"]],
    }


def _rarest(rows: Rows, titles: dict[str, str]) -> dict[str, Any] | None:
    """Return the smallest known group: its cases, and its name with its attribute's title."""
    known = (
        row for row in where(rows, split="all") if row["group"] not in UNKNOWN and row["cases"]
    )
    row = min(known, key=lambda row: row["cases"], default=None)
    if row is None:
        return None
    name = titles.get(row["attribute"], row["attribute"])
    return {"cases": row["cases"], "name": f"{name}: {row['group']}"}


def describe_groups(rows: Rows) -> Rows:
    """Return Tables 6 and 7: the groups of each attribute by split, and the share of known ones."""
    blocks = []
    for name, group in grouped(rows, "attribute").items():
        known = [row["known"] / row["of"] for row in where(group, split="all") if row["of"]]
        block = {"name": name, "known": known[0] if known else None}
        blocks.append(block | by_split(group, "group"))
    return blocks


def by_split(rows: Rows, line: str) -> dict[str, Any]:
    """Return a table with a row per value of `line` and a column per split.

    An unknown value that no case has is left out.
    """
    cells = {(row[line], row["split"]): row for row in rows}
    splits = [name for name in SPLITS if any(split == name for _, split in cells)]
    lines = [
        {"name": name, "cells": [cells.get((name, split)) for split in splits]}
        for name, of_line in grouped(rows, line).items()
        if not _is_empty(name, of_line)
    ]
    return {"splits": splits, "rows": lines}


def _is_empty(name: str, rows: Rows) -> bool:
    """Return whether these are the rows of an unknown value, without cases."""
    return name == "unknown" and not any(row["cases"] for row in rows)


def describe_reading(paths: Sequence[Path]) -> Rows:
    """Return the number of records of each part, and the reasons for those left out.

    Parameters
    ----------
    paths : sequence of path
        ``{part}.counts.json``.
    """
    parts = []
    for path in paths:
        counts = read_json(path)
        reasons = counts.get("left_out", {}) | counts.get("noted", {})
        part = {"name": path.name.removesuffix(".counts.json"), "records": counts["records"]}
        part["reasons"] = [
            {"name": name.replace("_", " "), "meaning": REASONS.get(name, ""), "cases": cases}
            for name, cases in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
            if cases
        ]
        parts.append(part)
    return parts


def describe_shift(rows: Rows) -> dict[str, Any]:
    """Return Tables 8 to 11: distances of the label distributions, with the noise floor."""
    return {
        "rows": rows,
        "compat": any(row["compat_published"] is not None for row in rows),
    } | find_shifts(rows)


def _columns(rows: Rows) -> list[str]:
    return [
        name for name, some in grouped(rows, "other_group").items() if not _is_empty(name, some)
    ]


def _crossed(first: str, second: str, rows: Rows, titles: dict[str, str]) -> dict[str, Any]:
    """Return a pair's table; the map leaves out groups without cases, listed in `without`."""
    lines = {
        name: {row["other_group"]: row for row in group}
        for name, group in grouped(rows, "group").items()
        if name != "unknown" or any(row["of"] for row in group)
    }
    columns = _columns(rows)
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
    over, within = titles.get(second, second), titles.get(first, first)
    numbered = [f"{i} {name}" for i, name in enumerate(columns, 1)]
    label = plain("figure_shares", over=over, within=within, columns=numbered)
    heading = over[:1].upper() + over[1:]
    return {
        "name": first,
        "other": second,
        "columns": columns,
        "rows": [{"name": name, "cells": cells} for name, cells in lines.items()],
        "figure": heat_map(drawn, shares, label, title=heading) if drawn else None,
        "without": [name for name in lines if name not in drawn],
    }


def describe_lengths(rows: Rows) -> Rows:
    """Return Figure 2: a histogram for each unit, with the quantities beside it."""
    units = []
    for (unit, tokenizer), group in grouped(rows, "unit", "tokenizer").items():
        bars = where(group, quantity="histogram")
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
        values = {row["quantity"]: row for row in group if row["quantity"] != "histogram"}
        entry = {"unit": unit, "tokenizer": tokenizer, "figure": drawing, "quantities": values}
        units.append(entry)
    return units


def describe_leakage(rows: Rows) -> Rows:
    """Return the patterns found, each with the label whose risk ratio is farthest from 1."""
    measured = (row for row in rows if row["label"] is not None and row["risk_ratio"] is not None)
    labels = grouped(measured, "language", "pattern")
    patterns = []
    for row in rows:
        if row["label"] is None and row["cases"]:
            ratios = labels.get((row["language"], row["pattern"]))
            words = _risk_words(max(ratios, key=_distance)) if ratios else None
            patterns.append(row | {"words": words})
    return patterns


def _risk_words(row: dict[str, Any]) -> str:
    shares = [row[f"label_{side}"] / (row[f"of_{side}"] or 1) for side in ("with", "without")]
    return plain("legal_risk", label=row["label"], shares=shares)


def _distance(row: dict[str, Any]) -> float:
    """Return the distance of a risk ratio's interval from 1, on either side."""
    low, high = row["low"] or 0.0, row["high"] or 0.0
    return max(low - 1, 1 / high - 1 if high else 0.0)
