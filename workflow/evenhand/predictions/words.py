"""The findings of an audit of predictions, in sentences."""

from collections.abc import Mapping
from typing import Any

from evenhand.text.phrases import conclusion

Tables = Mapping[str, list[dict[str, Any]]]

#: The metrics in words.
TITLES = {
    "accuracy": "Accuracy",
    "selection_rate": "Selection rate",
    "tpr": "True positive rate",
    "fpr": "False positive rate",
    "macro_f1": "Macro-F1",
    "ece": "Calibration error",
    "equalised_odds": "Equalised odds",
}


def findings(tables: Tables) -> list[str]:
    """Return a sentence for each gap above noise and each verdict on logs, or that there is none.

    Parameters
    ----------
    tables : mapping
        The rows of the tables of `evenhand.predictions.audit_predictions`, by name.
    """
    return [_preference(row) for row in tables.get("preferences", []) if _is_whole(row)] or _gaps(
        tables.get("gaps", [])
    )


def _is_whole(row: dict[str, Any]) -> bool:
    return row["bias_type"] == "all"


def _preference(row: dict[str, Any]) -> str:
    name = ", ".join(filter(None, (row["task"], row["condition"])))
    if row["score"] is None:
        return f"{name}: no sample can be scored."
    interval = "too few clusters for an interval"
    if row["score_low"] is not None:
        interval = f"95 % CI {row['score_low']:.0f} to {row['score_high']:.0f}"
    words = conclusion(
        row["verdict"],
        difference="preference",
        delta="5 points",
        above="Probably biased",
        below="Prefers the anti-stereotype",
        power=row["power"],
        further=row["further_clusters"],
    )
    return f"{name}: prefers the stereotype in {row['score']:.0f} % ({interval}). {words}."


def _gaps(rows: list[dict[str, Any]]) -> list[str]:
    found = []
    for row in rows:
        if row["verdict"] != "above" or row["lowest"] is None:
            continue
        found.append(
            f"{TITLES[row['metric']]} differs by {row['attribute']}:"
            f" {100 * row['lowest']:.1f} % ({row['lowest_group']}) to {100 * row['highest']:.1f} %"
            f" ({row['highest_group']}); random groups of these sizes differ by"
            f" {100 * row['noise_mean']:.1f} points on average (adjusted p ="
            f" {row['p_adjusted']:.2g})."
        )
    tested = sum(row["lowest"] is not None for row in rows)
    small = sum(row["verdict"] == "equivalent" for row in rows)
    return found or [
        f"None of {tested} gaps between groups exceeds that of random groups; {small} are shown to"
        " be smaller than delta."
    ]
