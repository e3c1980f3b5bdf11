"""Sections: scores of classifiers of legal cases by group, beside the paper."""

from contextlib import suppress
from typing import Any

from evenhand.legal.classifier_study import is_constant
from evenhand.report.headline import say

Rows = list[dict[str, Any]]

#: The measures of predictions for counterfactuals, and their titles.
TWIN_MEASURES = {
    "ifr_b": "Same answer",
    "ifr_p": "Similar answer",
    "divergence": "Divergence, nats",
    "macro_f1": "Macro-F1",
}

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
    blocks: dict[str, dict[tuple[Any, ...], dict[str, dict[str, Any]]]] = {}
    unmatched: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["ours"] is None:
            unmatched.setdefault(row["attribute"], []).append(row)
            continue
        line = (row["classifier"], row["objective"], row["trained_for"])
        blocks.setdefault(row["attribute"], {}).setdefault(line, {})[row["measure"]] = row
    return [
        {
            "name": name,
            "measures": [one for one in MEASURES if any(one in cells for cells in lines.values())],
            "rows": [
                {
                    "classifier": line[0],
                    "objective": line[1],
                    "trained_for": line[2],
                    "seeds": max(cell["seeds"] or 0 for cell in cells.values()),
                    "constant": constant_words(next(iter(cells.values()))),
                    "cells": cells,
                }
                for line, cells in lines.items()
            ],
            "unmatched": unmatched.get(name, []),
            "why_not": sorted(
                {
                    cell["reason"]
                    for cells in lines.values()
                    for cell in cells.values()
                    if cell["verdict"] == "not_comparable"
                }
            ),
        }
        for name, lines in blocks.items()
    ]


def constant_words(row: dict[str, Any]) -> str | None:
    """Return the words for a classifier that predicts the same labels for every test case."""
    return say("legal_constant", row=row) if row["constant_seeds"] else None


def describe_claims(rows: Rows) -> Rows:
    """Return the claims of FairLex's text beside our results: a number, or the name of a group."""
    found = [dict(row) for row in rows]
    for row in found:
        with suppress(TypeError, ValueError):
            row["ours"] = float(row["ours"])
    return found


def describe_tests(rows: Rows) -> dict[str, Any]:
    """Return each objective against ERM, the significant differences, and the number of tests."""
    return {
        "rows": rows,
        "tested": sum(row["p_cases_adjusted"] is not None for row in rows),
        "shown": [row for row in rows if row["verdict"] in ("above", "below")],
    }


def describe_table_2(rows: Rows) -> Rows:
    """Return Table 2: the groups of each attribute and classifier, with possible causes."""
    blocks: dict[tuple[str, str], Rows] = {}
    for row in rows:
        blocks.setdefault((row["attribute"], row["classifier"]), []).append(row)
    return [
        {"name": attribute, "classifier": classifier, "rows": own}
        for (attribute, classifier), own in blocks.items()
    ]


def describe_counterfactual(rows: Rows) -> Rows:
    """Return, per setting, how often a case and its counterfactual get the same prediction."""
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["classifier"], row["objective"], row["trained_for"])
        names = ("classifier", "objective", "trained_for", "seeds", "twins")
        line = lines.setdefault(key, {name: row[name] for name in names} | {"cells": {}})
        line["cells"][row["measure"]] = row
    return list(lines.values())


def describe_calibration(rows: Rows) -> Rows:
    """Return confidence and accuracy in each group, by attribute; ERM only."""
    blocks: dict[str, Rows] = {}
    for row in rows:
        if row["objective"] == "erm":
            blocks.setdefault(row["attribute"], []).append(row)
    return [{"name": name, "rows": own} for name, own in blocks.items()]
