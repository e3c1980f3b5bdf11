"""Section: tests between methods, the paper's inconsistent cells, and descriptions of the data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.individual.names import method_title, title, who
from evenhand.individual.results import setting_of
from evenhand.report.render import signed
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_words import (
    CHOICES,
    METRICS,
    OFFICIAL,
    method,
    metric_title,
    setting,
    verdict,
)
from evenhand.text.phrases import VERDICTS

#: The counted quantities of a data set, in words.
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
    rows: Sequence[dict[str, Any]],
    titles: Mapping[str, str] | None = None,
    behind: Behind | None = None,
) -> list[dict[str, Any]] | None:
    """Return, per data set, the differences of each setting from its reference setting.

    A difference links to the test individuals of the setting, not of its reference.
    """
    behind = behind or Behind()
    made = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        lines: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
        for row in rows:
            if row["dataset"] == dataset and row["metric"] in TESTED:
                key = (*setting_of(row), row["against"])
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
        "verdict": VERDICTS.get(row["verdict"]),
        "reason": row["reason"],
        "behind": behind.cell(row, row["metric"]),
    }


def describe_checks(
    rows: Sequence[dict[str, Any]], titles: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """Return the checks of the paper's tables that found a contradiction, and how many did not."""
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


def describe_data(
    rows: Iterable[dict[str, Any]],
    documents: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
) -> dict[str, Any]:
    """Return the rates of the data sets, and a description of each data set.

    Parameters
    ----------
    rows : iterable of dict
        The rows of the table ``groups``.
    documents : sequence of mapping
        ``data.json`` of each data set.
    titles : mapping
        The title of each data set.
    """
    rates: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        rates.setdefault(row["dataset"], []).append(row)
    return {
        "tables": [
            {
                "name": title(name, titles),
                "judged": any(row["verdict"] for row in own),
                "rows": [_rate(row) for row in own],
            }
            for name, own in rates.items()
        ],
        "documents": [_document(one) for one in documents],
        "files": [f"tabular/{one['name']}/data.json" for one in documents],
    }


def _rate(row: dict[str, Any]) -> dict[str, Any]:
    words, kind = verdict(row["verdict"])
    return row | {
        "what": QUANTITIES.get(row["quantity"], row["quantity"]),
        "share": None if row["quantity"] == "rows" else row["reproduced"],
        "words": words,
        "kind": kind,
        "ways": DIGITS.get(row["digits"]),
    }


def _document(document: Mapping[str, Any]) -> dict[str, Any]:
    meta = document["meta"]
    return {
        "title": meta.get("title") or title(document["name"]),
        "label": meta.get("label"),
        "attribute": document["attribute_name"],
        "values": document["attribute_values"],
        "rows": document["rows"],
        "features": len(document["features"]),
        "excluded": sum((meta.get("excluded") or {}).values()),
    }
