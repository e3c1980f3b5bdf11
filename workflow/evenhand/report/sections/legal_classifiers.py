"""Sections: scores of classifiers of legal cases by group, beside the paper."""

from typing import Any

from evenhand.core.rows import grouped
from evenhand.legal.classifier_study import is_constant
from evenhand.report.headline import say

Rows = list[dict[str, Any]]

#: The columns of Table 4, and their titles.
MEASURES = {
    "overall": "All cases",
    "mean": "Mean over groups",
    "gd": "Group disparity",
    "worst": "Worst group",
}

#: The verdicts on a disparity or calibration error against random groups.
NOISE_VERDICTS = {
    "above": "above noise",
    "equivalent": "none that matters (delta)",
    "inconclusive": "too few cases to tell",
}


def noise_words(row: dict[str, Any]) -> str:
    """Return a row's verdict against random groups in words."""
    if is_constant(row):
        return say("legal_unjudged", row=row)
    words = NOISE_VERDICTS.get(row["noise_verdict"], "")
    return words + (", but from labels that differ between groups" if row["from_labels"] else "")


def describe_table_4(rows: Rows) -> Rows:
    """Return Table 4: per attribute a row per classifier and objective, a column per measure."""
    blocks = []
    for name, own in grouped(rows, "attribute").items():
        scored = [row for row in own if row["ours"] is not None]
        unlike = {row["reason"] for row in scored if row["verdict"] == "not_comparable"}
        lines = [
            line | {"constant": constant_words(next(iter(line["cells"].values())))}
            for line in by_training(scored)
        ]
        block = {"name": name, "rows": lines, "why_not": sorted(unlike)}
        block["measures"] = [one for one in MEASURES if any(one in x["cells"] for x in lines)]
        block["unmatched"] = [row for row in own if row["ours"] is None]
        if scored:
            blocks.append(block)
    return blocks


def by_training(rows: Rows) -> Rows:
    """Return a row per classifier, objective and attribute of training, with cells by measure."""
    names = ("classifier", "objective", "trained_for")
    return [
        dict(zip(names, key, strict=True))
        | {
            "seeds": max(row["seeds"] or 0 for row in own),
            "cells": {row["measure"]: row for row in own},
        }
        for key, own in grouped(rows, *names).items()
    ]


def constant_words(row: dict[str, Any]) -> str | None:
    """Return the words for a classifier that predicts the same labels for every test case."""
    return say("legal_constant", row=row) if row["constant_seeds"] else None
