"""Sections: what classifiers of legal cases do to groups, beside the paper."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand.report.read import boolean, read_csv

TABLE_4 = {
    "dataset": str,
    "attribute": str,
    "classifier": str,
    "stands_for": str,
    "objective": str,
    "trained_for": str,
    "measure": str,
    "seeds": int,
    "constant_seeds": int,
    "always": str,
    "ours": float,
    "sd": float,
    "low": float,
    "high": float,
    "smallest_group": int,
    "noise_mean": float,
    "noise_border": float,
    "p": float,
    "noise_verdict": str,
    "from_labels": boolean,
    "published": float,
    "source": str,
    "verdict": str,
    "reason": str,
}
CLAIMS = {
    "attribute": str,
    "quantity": str,
    "group": str,
    "other_group": str,
    "published_low": float,
    "published_high": float,
    "classifier": str,
    "ours": str,
    "sd": str,
    "verdict": str,
    "reason": str,
    "known_error": str,
}
TESTS = {
    "classifier": str,
    "objective": str,
    "trained_for": str,
    "attribute": str,
    "measure": str,
    "seeds": int,
    "difference": float,
    "low": float,
    "high": float,
    "p_cases_adjusted": float,
    "p_seeds_adjusted": float,
    "verdict": str,
    "reason": str,
}
TABLE_2 = {
    "classifier": str,
    "attribute": str,
    "group": str,
    "train_cases": int,
    "test_cases": int,
    "score": float,
    "drift": float,
    "drift_above_noise": boolean,
    "worst_class": str,
    "as_bad": int,
    "wci": float,
    "worst": boolean,
    "few": str,
}
CALIBRATION = {
    "classifier": str,
    "objective": str,
    "attribute": str,
    "group": str,
    "cases": int,
    "confidence": float,
    "share_right": float,
    "ece": float,
    "noise_95": float,
    "verdict": str,
}

COUNTERFACTUAL = {
    "classifier": str,
    "objective": str,
    "trained_for": str,
    "measure": str,
    "seeds": int,
    "twins": int,
    "value": float,
    "sd": float,
    "low": float,
    "high": float,
    "difference": float,
    "verdict": str,
}

#: What is measured of answers to twins, and what it is called.
TWIN_MEASURES = {
    "ifr_b": "Same answer",
    "ifr_p": "Similar answer",
    "divergence": "Divergence, nats",
    "macro_f1": "Macro-F1",
}

#: The columns of Table 4, and what they are called.
MEASURES = {
    "overall": "All cases",
    "mean": "Mean over groups",
    "gd": "Group disparity",
    "worst": "Worst group",
}


def describe_table_4(path: Path) -> list[dict[str, Any]]:
    """Table 4: for each attribute a row per classifier and objective, a column per measure."""
    rows = read_csv(path, TABLE_4)
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
    """What is to be said of a classifier that says the same of every test case."""
    if not row["constant_seeds"]:
        return None
    said = "gives no label to any case" if row["always"] == "none" else "says the same of each case"
    if row["always"] != "none":
        said += f": {row['always'].replace('none', 'no label')}"
    if row["constant_seeds"] < row["seeds"]:
        said = f"in {row['constant_seeds']} of {row['seeds']} seeds {said}"
    return said


def describe_claims(path: Path) -> list[dict[str, Any]]:
    """What FairLex's text says, beside ours: a number, or the name of a group."""
    rows = read_csv(path, CLAIMS, optional=("other_group",))
    for row in rows:
        with suppress(TypeError, ValueError):
            row["ours"] = float(row["ours"])
    return rows


def describe_tests(path: Path) -> dict[str, Any]:
    """Each objective against ERM: the differences that are shown, and how many were tested."""
    rows = read_csv(path, TESTS)
    tested = [row for row in rows if row["p_cases_adjusted"] is not None]
    return {
        "rows": rows,
        "tested": len(tested),
        "shown": [row for row in rows if row["verdict"] in ("higher", "lower")],
    }


def describe_table_2(path: Path) -> list[dict[str, Any]]:
    """Table 2: for each attribute the groups, with what may explain their scores."""
    blocks: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in read_csv(path, TABLE_2, optional=("few",)):
        blocks.setdefault((row["attribute"], row["classifier"]), []).append(row)
    return [
        {"name": attribute, "classifier": classifier, "rows": rows}
        for (attribute, classifier), rows in blocks.items()
    ]


def describe_counterfactual(path: Path) -> list[dict[str, Any]]:
    """A row per classifier and objective: how like their answers to a case and its twin are."""
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in read_csv(path, COUNTERFACTUAL):
        about = {key: row[key] for key in ("classifier", "objective", "trained_for")}
        about |= {key: row[key] for key in ("seeds", "twins")} | {"cells": {}}
        line = lines.setdefault((row["classifier"], row["objective"], row["trained_for"]), about)
        line["cells"][row["measure"]] = row
    return list(lines.values())


def describe_calibration(path: Path) -> list[dict[str, Any]]:
    """By attribute: how far confidence lies from being right, in each group; ERM only."""
    blocks: dict[str, list[dict[str, Any]]] = {}
    for row in read_csv(path, CALIBRATION):
        if row["objective"] == "erm":
            blocks.setdefault(row["attribute"], []).append(row)
    return [{"name": name, "rows": rows} for name, rows in blocks.items()]
