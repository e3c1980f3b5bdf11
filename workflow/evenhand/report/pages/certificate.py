"""The certificate: whether each method recovers the planted effects."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.rows import grouped, where
from evenhand.core.tables import Row
from evenhand.report.figures import axis, lines
from evenhand.report.headline import plain
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.study import Study
from evenhand.scoring.methods import METHODS

if TYPE_CHECKING:
    from altair import LayerChart

#: The page's words for the verdicts, in the order of the page.
VERDICTS = {
    "certified": "certified",
    "failed": "failed",
    "known_failure": "known failure",
    "shown": "no requirement",
}

#: Titles of problems that are not their names.
TITLES = {"slguset_bias": "SlguSet bias", "tables": "Tables of people"}

#: Names of the tables of the problems with promises begin with this.
PREFIX = "certified_"


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    tables = study.tables("certificate")
    rows = tables.pop("certificate")
    promises = {
        name.removeprefix(PREFIX): promised for name, promised in tables.items() if PREFIX in name
    }
    problems = grouped(rows, "problem")
    dosed = [name for name, doses in tables.items() if doses and "dose" in doses[0]]
    return {
        "sections": [(name, _title(name)) for name in problems],
        "titles": {name: _title(name) for name in problems},
        "rows": rows,
        "missed": [row for row in rows if row["verdict"] in ("failed", "known_failure")],
        "figures": {name: _figures(name, tables[name]) for name in dosed},
        "promises": promises,
        "prefix": PREFIX,
        "answers": {name: ANSWERS[name](promised) for name, promised in promises.items()},
        "verdicts": VERDICTS,
        "more_tables": MoreTables(study, ["certificate"]),
    }


def _title(problem: str) -> str:
    return TITLES.get(problem, problem.replace("_", " ").capitalize())


def _mitigation(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the best and the worst objective of each classifier under a spurious correlation."""
    ranked = [
        sorted(where(group, problem="spurious"), key=lambda row: -row["worst"])
        for group in grouped(rows, "classifier").values()
    ]
    return {
        "ends": [(group[0], group[-1]) for group in ranked],
        **_promises(rows, lambda row: f"{row['objective']} ({row['classifier']})"),
    }


def _tables(rows: Sequence[Row]) -> dict[str, Any]:
    """Return, by planted effect, the most accurate method of those that halve dDP."""
    best = [
        max(fair, key=lambda row: row["acc"])
        for group in grouped(rows, "effect").values()
        if (fair := [row for row in group if row["met"] and row["ddp"] <= row["plain_ddp"] / 2])
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


def _figures(problem: str, rows: Sequence[Row]) -> "list[tuple[str, LayerChart]]":
    """Return the scores by dose of each language and kind of model: title and drawing."""
    figures = []
    for (language, family), group in grouped(rows, "language", "family").items():
        means = _means(where(group, new_frames=False))
        title = f"{_title(problem)}: {language.capitalize()}, {family} models"
        drawing = lines(
            means,
            plain("figure_doses", title=title),
            axis("Dose", (-0.02, 1.02)),
            axis("Items in the planted direction, %", (0, 100)),
            series=list(dict.fromkeys(row["name"] for row in means)),
            height=260,
            key=plain("figure_key", line=plain("doses_interval")),
        )
        figures.append((title, drawing))
    return figures


def _means(rows: Sequence[Row]) -> list[dict[str, Any]]:
    means = []
    for (method, dose), group in grouped(rows, "method", "dose").items():
        scores = [row["score"] for row in group if row["score"] is not None]
        if scores:
            mean, low, high = float(np.mean(scores)), min(scores), max(scores)
            name = METHODS[method].title if method in METHODS else method
            words = f"{name}, dose {dose:g}: {mean:.1f} ({low:.1f} to {high:.1f})"
            point = {"name": name, "x": dose, "y": mean, "words": words}
            means.append(point | {"low": low, "high": high})
    return means
