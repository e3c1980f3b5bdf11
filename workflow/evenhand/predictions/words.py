"""The findings of an audit of predictions, in sentences."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.text.phrases import conclusion

Tables = Mapping[str, list[dict[str, Any]]]

#: What identifies a metric in the tables.
METRIC = ("attribute", "metric", "label")

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
    """Return a sentence for each gap above noise, the clearest first, or for each verdict on logs.

    The sentence on a gap names the group that differs most significantly from all others.

    Parameters
    ----------
    tables : mapping
        The rows of the tables of `evenhand.predictions.audit_predictions`, by name.
    """
    logs = [_preference(row) for row in tables.get("preferences", []) if _is_whole(row)]
    return logs or _gaps(tables)


def notes(description: Mapping[str, Any], tables: Tables, folder: Path) -> list[str]:
    """Return a sentence on the rows that are left out, and on the cases without a group.

    Parameters
    ----------
    description : mapping
        The description of `evenhand.predictions.audit_predictions` (``meta``).
    tables : mapping
        The rows of its tables, by name.
    folder : Path
        Their folder.
    """
    sentences = []
    if rows := tables["left_out"]:
        words = left_out_words(Counter(row["reason"] for row in rows), description["rows"])
        sentences.append(f"{words}: {folder / 'left_out.csv'}")
    for name, count in description["unknown"].items():
        if count:
            cases = f"{count:,} case{'' if count == 1 else 's'}"
            sentences.append(f"The group of {cases} in {name} is not known.")
    if "tpr" not in description.get("metrics", ["tpr"]):  # logs have no metrics
        sentences.append(
            "No label is known to be positive, so there are no TPR, FPR and selection rate; name it"
            " (positive)."
        )
    return sentences


def left_out_words(reasons: Counter[str], total: int, noun: str = "rows") -> str:
    """Return how many of all rows are left out, by reason: "3 of 60 rows are left out (…)"."""
    words = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    verb = "is" if reasons.total() == 1 else "are"
    return f"{reasons.total():,} of {total:,} {noun} {verb} left out ({words})"


def _is_whole(row: dict[str, Any]) -> bool:
    return row["bias_type"] == "all"


def _preference(row: dict[str, Any]) -> str:
    name = ", ".join(filter(None, (row["task"], row["condition"])))
    if row["score"] is None:
        return f"{name}: no sample can be scored."
    return f"{name}: {preference(row)}"


def preference(row: dict[str, Any], items: str = "", delta: float = 5) -> str:
    """Return how often the stereotype is preferred, of `items`, with interval and verdict."""
    interval = "too few clusters for an interval"
    if row["score_low"] is not None:
        interval = f"95 % CI {row['score_low']:.0f} to {row['score_high']:.0f}"
    words = conclusion(
        row["verdict"],
        difference="preference",
        delta=f"{delta:g} points",
        above="Significant",
        below="Significantly the other way",
        power=row["power"],
        further=row["further_clusters"],
    )
    return f"prefers the stereotype in {row['score']:.0f} %{items} ({interval}). {words}."


def _gaps(tables: Tables) -> list[str]:
    rows = [row for row in tables.get("gaps", []) if row["lowest"] is not None]
    labels = {row["label"] for row in rows} - {None}
    sentences: list[tuple[bool, float, float, str]] = []
    for row in (row for row in rows if row["verdict"] == "above"):
        groups = [
            group_row
            for group_row in tables["groups"]
            if [group_row[key] for key in METRIC] == [row[key] for key in METRIC]
            and group_row["verdict"] in ("above", "below")
        ]
        crossed = " × " in row["attribute"]  # after the attributes themselves
        of_label = f" of {row['label']}" if len(labels) > 1 and row["label"] else ""
        start = f"{TITLES[row['metric']]}{of_label} differs by {row['attribute']}:"
        if not groups:
            end = (
                f"{100 * row['lowest']:.1f} % ({row['lowest_group']}) to"
                f" {100 * row['highest']:.1f} % ({row['highest_group']}); a group differs"
                " significantly from random groups of the same size"
                f" (adjusted p {_p(row['p_adjusted'])})"
            )
            sentences.append((crossed, row["p_adjusted"], 0.0, f"{start} {end}."))
            continue
        most = min(
            groups, key=lambda group_row: (group_row["p_adjusted"], -abs(group_row["difference"]))
        )
        p = most["p_adjusted"]
        end = (
            f"{100 * most['value']:.1f} % for {most['group']} ({most['counted']:,} cases),"
            f" {100 * most['rest']:.1f} % for all others, a difference of"
            f" {100 * most['difference']:.1f} points (95 % CI"
            f" {100 * most['difference_low']:.1f} to {100 * most['difference_high']:.1f};"
            f" adjusted p {_p(p)})"
        )
        sentences.append((crossed, p, -abs(most["difference"]), f"{start} {end}."))
    small = sum(row["verdict"] == "equivalent" for row in rows)
    return [words for *_, words in sorted(sentences)] or [
        f"None of {len(rows)} gaps between groups is significantly larger than between random"
        f" groups, adjusted for the metrics of each attribute; {small} are shown to be smaller than"
        " the smallest difference that matters (delta)."
    ]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"
