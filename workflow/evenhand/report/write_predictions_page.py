"""Stage: the page of predictions that somebody made: gaps between groups, beside their noise."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_tables
from evenhand.predictions.words import TITLES, findings
from evenhand.report.figures import axis, forest
from evenhand.report.read import read_json
from evenhand.report.render import slug, write_page
from evenhand.report.sections.more_tables import MoreTables
from evenhand.text.phrases import VERDICTS


def write_predictions_page(
    *,
    templates: list[Input],
    meta: list[Input],
    tables: list[Input],
    out: Output,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of predictions, one HTML file.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    meta, tables
        ``meta.json`` and the folder of tables of each, in the same order, of
        `evenhand.predictions.audit_predictions`.
    out
        The page, HTML.
    pages
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.
    """
    sets = [
        read_json(one)
        | {"tables": read_tables(folder), "place": f"tables/predictions/{folder.name}"}
        for one, folder in zip(meta, map(Path, tables), strict=True)
    ]
    for one in sets:
        one["id"] = f"set-{slug(one['name'])}"
        one["findings"] = findings(one["tables"])
        one["figure"] = _figure(one)
    written = write_page(
        out,
        "predictions",
        templates,
        pages,
        sections=[(one["id"], one["title"], one["title"]) for one in sets],
        sets=sets,
        titles=TITLES,
        verdicts=VERDICTS,
        more_tables=MoreTables(
            {one["place"]: Path(f) for one, f in zip(sets, tables, strict=True)}
        ),
    )
    return {"sets": len(sets), "bytes": written}


def _figure(one: dict[str, Any]) -> Any:
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


def _estimate(name: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    words = f"{name}: {value:.1f} %"
    found = {"name": name, "value": value, "text": f"{value:.1f}", "kind": "plain"}
    if low is not None:
        words += f" ({low:.1f} to {high:.1f})"
        found |= {"low": low, "high": high}
    return found | {"words": words}


if __name__ == "__main__":
    stage.run(write_predictions_page)
