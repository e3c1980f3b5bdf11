"""Stage: the certificate report: whether each method recovers the planted effects."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import stage
from evenhand.core.rows import grouped
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Row, read_tables
from evenhand.report.figures import axis, lines
from evenhand.report.render import Page
from evenhand.report.sections.more_tables import MoreTables

if TYPE_CHECKING:
    from altair import LayerChart

#: The page's words for the verdicts, in the order of the page.
VERDICTS = {
    "certified": "certified",
    "failed": "failed",
    "known_failure": "known failure",
    "shown": "no requirement",
}


def write_certificate_page(
    *, templates: list[Input], certificate: Input, out: Output, pages: list[str] | None = None
) -> dict[str, Any]:
    """Write the certificate report, one HTML file without further files.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    certificate
        The folder of tables that `evenhand.certificates.certify` wrote.
    out
        The page, HTML.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Returns
    -------
    dict
        measures by verdict, and bytes.
    """
    tables = read_tables(certificate)
    rows = tables.pop("certificate")
    problems = grouped(rows, "problem")
    figures = [
        (name, *one)
        for name, found in tables.items()
        if found and "dose" in found[0]
        for one in _figures(name, found)
    ]
    promises = {
        name.removeprefix(_PREFIX): some for name, some in tables.items() if _PREFIX in name
    }
    counts = Counter(row["verdict"] for row in rows)
    written = Page("certificate", out, templates, pages).write(
        sections=[(name, name.replace("_", " ").capitalize(), "") for name in problems],
        problems=problems,
        figures=figures,
        promises=promises,
        prefix=_PREFIX,
        answers={name: ANSWERS[name](some) for name, some in promises.items()},
        verdicts=VERDICTS,
        counts=counts,
        more_tables=MoreTables({"certificate": Path(certificate)}),
    )
    return {**{verdict: counts[verdict] for verdict in VERDICTS}, "bytes": written}


def _mitigation(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the best objective of each kind of classifier, at the strongest correlation."""
    strongest = max(row["agreement"] for row in rows)
    best = [
        max((row for row in own if row["agreement"] == strongest), key=lambda row: row["worst"])
        for own in grouped(rows, "classifier").values()
    ]
    return {
        "agreement": strongest,
        "best": best,
        **_promises(rows, lambda row: f"{row['objective']} ({row['classifier']})"),
    }


def _tables(rows: Sequence[Row]) -> dict[str, Any]:
    """Return, by planted effect, the most accurate method of those that halve dDP."""
    best = [
        max(able, key=lambda row: row["acc"])
        for own in grouped(rows, "effect").values()
        if (able := [row for row in own if row["met"] and row["ddp"] <= row["plain_ddp"] / 2])
    ]

    def name(row: Row) -> str:
        method = row["method"] if row["individual"] == "none" else row["individual"]
        return f"{method} ({row['effect']} effect)"

    return {"best": best, **_promises(rows, name)}


def _promises(rows: Sequence[Row], name: Callable[[Row], str]) -> dict[str, Any]:
    """Return the number of methods that keep their promises, and those that break one."""
    judged = [row for row in rows if row["met"] is not None]
    broken = dict.fromkeys(name(row) for row in judged if not row["met"])
    return {"kept": len({*map(name, judged)} - {*broken}), "broken": list(broken)}


#: From the rows of a problem with promises to its answer.
ANSWERS = {"mitigation": _mitigation, "tables": _tables}

#: Names of the tables of these problems begin with this.
_PREFIX = "certified_"


def _figures(problem: str, rows: Sequence[Row]) -> "list[tuple[str, LayerChart]]":
    """Return the scores by dose of each language and kind of model: title and drawing."""
    found = []
    for (language, family), own in grouped(rows, "language", "family").items():
        means = _means([row for row in own if not row["new_frames"]])
        name = problem.replace("_", " ").capitalize()
        title = f"{name}: {language.capitalize()}, {family} models"
        drawing = lines(
            means,
            f"{problem.replace('_', ' ')}, {title}: score by dose, mean and range over seeds",
            axis("Dose", (-0.02, 1.02)),
            axis("Items in the planted direction, %", (0, 100)),
            series=list(dict.fromkeys(row["name"] for row in means)),
            height=260,
        )
        found.append((title, drawing))
    return found


def _means(rows: Sequence[Row]) -> list[dict[str, Any]]:
    means = []
    for (method, dose), own in grouped(rows, "method", "dose").items():
        scores = [row["score"] for row in own if row["score"] is not None]
        if scores:
            mean = float(np.mean(scores))
            words = f"{method}, dose {dose:g}: {mean:.1f} ({min(scores):.1f} to {max(scores):.1f})"
            means.append({"name": method, "x": dose, "y": mean, "words": words})
            means[-1] |= {"low": min(scores), "high": max(scores)}
    return means


if __name__ == "__main__":
    stage.run(write_certificate_page)
