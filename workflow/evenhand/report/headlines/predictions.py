"""The headline of predictions that were made elsewhere: gaps between groups beyond chance."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.core.tables import read_tables
from evenhand.predictions.words import findings
from evenhand.report.figures import Row, axis, forest
from evenhand.report.headline import Headline, by_kind, say, strength
from evenhand.report.read import read_json

FILES = {"meta": "predictions/*/meta.json", "tables": "tables/predictions/*"}

#: The findings of the front page.
MOST = 3


def describe(files: list[Path], titles: Mapping[str, str]) -> Headline:
    """Return the headline of predictions.

    Parameters
    ----------
    files : list of Path
        Any of `FILES`, by their places below the results.
    titles : mapping
        Not used: the title of a set is in its ``meta.json``.

    Raises
    ------
    InputError
        A file is none of these, or malformed.
    """
    found = by_kind(files, FILES)
    folders = {path.name: path for path in found["tables"]}
    return conclude(
        [
            read_json(path)
            | {
                "tables": read_tables(folders[path.parent.name]),
                "place": f"tables/predictions/{path.parent.name}",
            }
            for path in found["meta"]
            if path.parent.name in folders
        ]
    )


def conclude(sets: Sequence[dict[str, Any]]) -> Headline:
    """Return the headline of sets: ``meta.json`` of each with its tables and their place."""
    order = sorted(sets, key=_clear, reverse=True)
    lines = [
        say("predictions_line", _files(one), title=one["title"], words=words)
        for one in order
        for words in findings(one["tables"])
    ]
    if not lines:
        return Headline(sentence=say("predictions_nothing"))
    figure = draw(order[0])
    return Headline(
        sentence=lines[0],
        more=lines[1:MOST],
        figure=figure,
        caption=say("predictions_caption", title=order[0]["title"]) if figure else "",
        figure_files=_files(order[0]),
        strength=_clear(order[0]),
    )


def _files(one: dict[str, Any]) -> list[str]:
    tables = ("preferences",) if "preferences" in one["tables"] else ("gaps", "groups")
    return [f"{one['place']}/{table}.csv" for table in tables]


def _clear(one: dict[str, Any]) -> float:
    """Return the clearest gap in multiples of chance, or the `strength` of a preference.

    Zero without a significant one.
    """
    gaps = [
        row["gap"] / max(row["noise_95"], 1e-9)
        for row in one["tables"].get("gaps", [])
        if row["verdict"] == "above"
    ]
    preferences = [
        strength(row["score"], 50, row["score_low"], row["score_high"])
        for row in one["tables"].get("preferences", [])
        if row["verdict"] in ("above", "below")
    ]
    return max([*gaps, *preferences], default=0.0)


def draw(one: dict[str, Any]) -> LayerChart | None:
    """The preferences of logs, or the accuracy of each group of the attributes, with noise."""
    rows = []
    for row in one["tables"].get("preferences", []):
        if row["score"] is not None:
            name = " ".join(filter(None, (row["task"], row["condition"], row["bias_type"])))
            rows.append(_estimate(name, row["score"], row["score_low"], row["score_high"]))
    for row in one["tables"].get("groups", []):
        single = row["attribute"] in one["groups"]
        if single and row["metric"] == "accuracy" and row["value"] is not None:
            ends = (100 * row[key] if row[key] is not None else None for key in ("low", "high"))
            drawn = _estimate(f"{row['attribute']}: {row['group']}", 100 * row["value"], *ends)
            noise = {"band_low": 100 * row["noise_low"], "band_high": 100 * row["noise_high"]}
            rows.append(drawn | noise)
    if not rows:
        return None
    is_log = "preferences" in one["tables"]
    unit = axis("For the stereotype, %" if is_log else "Accuracy, %", (0, 100))
    label = "Preferences of each task" if is_log else "Accuracy of each group"
    return forest(rows, unit, label, centre=50.0 if is_log else None)


def _estimate(name: str, value: float, low: float | None, high: float | None) -> Row:
    words = f"{name}: {value:.1f} %"
    found = {"name": name, "value": value, "text": f"{value:.1f}", "kind": "plain"}
    if low is not None:
        words += f" ({low:.1f} to {high:.1f})"
        found |= {"low": low, "high": high}
    return found | {"words": words}
