"""Section: tests between methods, the paper's inconsistent cells, and what the data are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.individual.names import method_title, title, titles_of, who
from evenhand.report.read import boolean, read_csv, read_json
from evenhand.report.render import signed
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_sweeps import SETTING
from evenhand.report.sections.individual_words import (
    CHOICES,
    METRICS,
    OFFICIAL,
    method,
    metric_title,
    setting,
    verdict,
)

TESTS = SETTING | {
    "choice": str,
    "against": str,
    "against_mu": float,
    "metric": str,
    "seeds": int,
    "difference": float,
    "difference_low": float,
    "difference_high": float,
    "p_adjusted": float,
    "p_resampled_adjusted": float,
    "reason": str,
}
CHECKS = {
    "kind": str,
    "table": str,
    "dataset": str,
    "method": str,
    "individual": str,
    "metric": str,
    "paper": float,
    "computed": float,
    "result": str,
    "listed": boolean,
    "known_error": str,
    "words": str,
}
RATES = {
    "quantity": str,
    "value": str,
    "count": int,
    "of": int,
    "ours": float,
    "published": str,
    "verdict": str,
    "digits": str,
}

#: What is counted of a data set, in words.
QUANTITIES = {
    "rows": "People",
    "P(Y=1)": "Label 1, P(Y=1)",
    "P(A)": "In the group, P(A)",
    "P(Y=1|A)": "Label 1 in the group, P(Y=1|A)",
}

#: How ours gives the digits that the paper has.
DIGITS = {"rounded": "ours rounded", "truncated": "ours cut off"}

#: Metrics shown in the table of tests.
TESTED = ("balanced_acc", "positive_rate", "ifr_p", "ddp")

#: Below this a difference is called one.
CHANCE = 0.05

KINDS = {
    "mix": "The groups do not mix to the overall value",
    "swapped": "The groups are swapped",
    "copy": "A row is a copy of another",
    "infeasible": "The gaps cannot be had at this accuracy",
    "misprint": "Misprint",
}

RESULTS = {"cannot_be_checked": "known, not checked here"}


def describe_tests(
    path: Path | None,
    titles: Mapping[str, str] | None = None,
    behind: Behind | None = None,
) -> list[dict[str, Any]] | None:
    """Per data set the differences of each setting from what it is tested against.

    Behind a difference stand the people of the setting itself, not of what it is tested against.
    """
    behind = behind or Behind(None)
    rows = read_csv(path, TESTS, ("choice",)) if path else []
    made = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        lines: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
        for row in rows:
            if row["dataset"] == dataset and row["metric"] in TESTED:
                key = (*(row[name] for name in SETTING), row["against"])
                lines.setdefault(key, {})[row["metric"]] = row
        found = []
        for cells in lines.values():
            first = next(iter(cells.values()))
            found.append(
                {
                    "items": behind.row_items(first),
                    "method": method(first),
                    "setting": setting(first),
                    "choice": CHOICES.get(first["choice"]),
                    "against": _against(first),
                    "seeds": max(row["seeds"] or 0 for row in cells.values()),
                    "cells": [_cell(cells.get(metric), behind) for metric in TESTED],
                }
            )
        made.append(
            {
                "key": dataset,
                "name": title(dataset, titles),
                "metrics": [metric_title(metric) for metric in TESTED],
                "rows": found,
            }
        )
    return made or None


def _against(row: dict[str, Any]) -> str:
    if row["against"] == "mlp":
        other = method_title("mlp")
    elif row["against"] == "none":
        other = f"{method_title(row['method'])} alone"
    else:
        other = "its control"
    return f"{other}, {OFFICIAL}" if row["split"] == "official" else other


def _cell(row: dict[str, Any] | None, behind: Behind) -> dict[str, Any] | None:
    if row is None or row["difference"] is None:
        return None
    digits = METRICS[row["metric"]][1]
    low, high = row["difference_low"], row["difference_high"]
    p, wide = row["p_adjusted"], row["p_resampled_adjusted"]
    return {
        "difference": signed(row["difference"], digits),
        "span": (
            None if low is None else f"{low:.{digits}f} to {high:.{digits}f}".replace("-", "−")
        ),
        "sure": p is not None and p < CHANCE,
        "surer": wide is not None and wide < CHANCE,
        "p": None if p is None else "< 0.001" if p < 0.0005 else f"{p:.3f}",
        "reason": row["reason"],
        "behind": behind.cell(row, row["metric"]),
    }


def describe_checks(
    path: Path | None, titles: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The checks of the paper's tables that found a contradiction, and how many did not."""
    rows = read_csv(path, CHECKS) if path else []
    if not rows:
        return None
    odd = [row for row in rows if row["result"] != "agrees"]
    return {
        "checks": len(rows),
        "agree": len(rows) - len(odd),
        "rows": [
            row
            | {
                "what": KINDS.get(row["kind"], row["kind"]),
                "row": f"{title(row['dataset'], titles)}, {who(row)}",
                "metrics": ", ".join(
                    metric_title(one).removesuffix(", %") for one in row["metric"].split(" ")
                ),
                "result": RESULTS.get(row["result"]),
            }
            for row in odd
        ],
    }


def describe_data(tables: list[Path], documents: list[Path]) -> dict[str, Any]:
    """The rates of the data sets, what the data sets are, and their titles."""
    read = [read_json(path) for path in documents]
    titles = titles_of(read)
    return {
        "titles": titles,
        "tables": [_rates(path, titles) for path in tables],
        "documents": [_document(one) for one in read],
        "files": [f"tabular/{path.parent.name}/{path.name}" for path in documents],
    }


def _rates(path: Path, titles: Mapping[str, str]) -> dict[str, Any]:
    rows = read_csv(path, RATES)
    return {
        "name": titles.get(path.stem.removesuffix("_groups")) or path.stem.replace("_", " "),
        "file": path.stem,
        "judged": any(row["verdict"] for row in rows),
        "rows": [_rate(row) for row in rows],
    }


def _rate(row: dict[str, Any]) -> dict[str, Any]:
    words, kind = verdict(row["verdict"])
    return row | {
        "what": QUANTITIES.get(row["quantity"], row["quantity"]),
        "share": None if row["quantity"] == "rows" else row["ours"],
        "words": words,
        "kind": kind,
        "ways": DIGITS.get(row["digits"]),
    }


def _document(document: dict[str, Any]) -> dict[str, Any]:
    meta = document.get("meta") or {}
    name = str(document.get("name", ""))
    return {
        "key": name,
        "title": meta.get("title") or title(name),
        "label": meta.get("label"),
        "attribute": document.get("attribute_name"),
        "values": document.get("attribute_values") or [],
        "integer_values": meta.get("integer_groups") or [],
        "rows": document.get("rows"),
        "features": len(document.get("features") or []),
        "excluded": sum((meta.get("excluded") or {}).values()),
    }
