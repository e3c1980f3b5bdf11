"""Stage: the report on external predictions: gaps between groups and their uncertainty."""

from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.tables import read_tables
from evenhand.predictions.words import TITLES, findings
from evenhand.report.headlines.predictions import conclude, draw
from evenhand.report.read import read_json
from evenhand.report.render import Page, slug
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
    """Write the report on predictions, one HTML file.

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
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.
    """
    sets = [
        read_json(one)
        | {"tables": read_tables(folder), "place": f"tables/predictions/{folder.name}"}
        for one, folder in zip(meta, map(Path, tables), strict=True)
    ]
    for one in sets:
        one["id"] = f"set-{slug(one['name'])}"
        one["findings"] = findings(one["tables"])
        one["figure"] = draw(one)
    written = Page("predictions", out, templates, pages).write(
        headline=conclude(sets),
        sections=[(one["id"], one["title"], one["title"]) for one in sets],
        sets=sets,
        titles=TITLES,
        verdicts=VERDICTS,
        more_tables=MoreTables(
            {one["place"]: Path(f) for one, f in zip(sets, tables, strict=True)}
        ),
    )
    return {"sets": len(sets), "bytes": written}


if __name__ == "__main__":
    stage.run(write_predictions_page)
