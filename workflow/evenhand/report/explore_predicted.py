"""Stage: the explorer of cases behind the numbers of external predictions."""

from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.stage import Count, Input, Output, checked
from evenhand.io.tables import read_columns
from evenhand.report.explorer import Document, column, columns, form, rounded, write_explorer
from evenhand.report.headline import plain
from evenhand.report.read import read_json
from evenhand.report.render import visible


@checked
def explore_predicted(
    *,
    templates: list[Input],
    cases: list[Input],
    meta: list[Input],
    out: Output,
    tables_out: Output,
    most: Count = 50_000,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the explorer of predicted cases.

    Parameters
    ----------
    templates, out, tables_out, pages
        Of `evenhand.report.explorer.write_explorer`.
    cases, meta : list of path
        Of `evenhand.predictions.audit_predictions`, in the same order. Logs are left out.
    most : int
        Cases of each, at most; the page states how many it leaves out.
    """
    sets, files, notes = [], {}, {}
    for path, document in zip(cases, map(read_json, meta), strict=True):
        if document["format"] == "table":
            sets.append(_describe(document, path, most))
            name = document["name"]
            files[name] = [
                f"predictions/{name}/cases.parquet",
                f"tables/predictions/{name}/groups.csv",
            ]
            left_out = document["cases"] - len(sets[-1]["id"])
            notes[name] = [plain("explorer_more", items=left_out, noun="case")] if left_out else []
    return write_explorer(
        "predicted", sets, files, notes,
        out=out, tables_out=tables_out, templates=templates, pages=pages,
    )  # fmt: skip


def _describe(document: dict[str, Any], path: Path, most: int) -> Document:
    cells = read_columns(path).slice(0, most).to_pydict()
    title, positive = visible(document["title"]), document["positive"]
    right = np.array(cells["label"], object) == np.array(cells["prediction"], object)
    probability = np.array(cells["probability"], dtype=float)
    measure = np.where(np.isfinite(probability), probability, right)
    is_positive = [float(value == positive) for value in cells["prediction"]]
    kinds = ["positive" if value == positive else "negative" for value in cells["label"]]
    item_columns = [
        column(name, name, [cell or None for cell in cells[name]], filter=True,
               place="line", none="unknown", ask=f"group: {name.lower()}")
        for name in document["groups"]
    ]  # fmt: skip
    values = {name: cells[name] for name in ("label", "prediction", "outcome")}
    item_columns += columns("predicted", values | ({} if positive is None else {"negative": kinds}))
    model = {
        "name": title,
        "asks": {"model": document["name"]},
        "group": None,
        "row": None,
        "measures": [rounded(measure, 3, (0.5,))],
        "shares": [right.astype(float).tolist(), is_positive],
        "columns": [],
    }
    return form("predicted") | {
        "key": document["name"],
        "title": title,
        "id": [visible(name) for name in cells["id"]],
        "columns": item_columns,
        "models": [model],
    }
