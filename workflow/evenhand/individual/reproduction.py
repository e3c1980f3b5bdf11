"""The tables of the paper with the results of our runs, and a verdict for each cell.

Tables 4, 6, 7 and 8 of the paper have the same columns; each is a module of
`evenhand.individual.tables`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.core.tables import Row, Table, integer, number, text
from evenhand.individual.published import Number
from evenhand.individual.results import (
    FORM,
    SETTING,
    SETTING_COLUMNS,
    SUMMARY_COLUMNS,
    Result,
    largest,
    summarise,
)
from evenhand.individual.study import ALIKE, FIRST, MOST, IndividualStudy, ReportedSetting

#: A number of the paper, from one run, is reproduced if it is within this many sd of single runs.
WIDTH = 2.0


def reproduction(table: str, title: str, main: str = "") -> Table:
    """Return the declaration of a table of the paper with our results.

    `main` is the metric of the plain network that answers the question of the table.
    """
    plain = {"method": ("mlp",), "individual": ("none",), "metric": (main,)}
    return Table(
        f"table_{table}",
        title=title,
        key=(*SETTING, "group", "metric"),
        columns=(
            *SETTING_COLUMNS,
            integer("group", "Code of the attribute; blank: everyone"),
            text(
                "choice",
                "Why the setting is reported: named in settings.csv; alike: the same numbers with"
                " another reduction, base, unit or split; first that was run; every setting of the"
                " method; most thresholds",
            ),
            text("metric"),
            number("published", "As printed; blank: the paper has no such cell, or is not known"),
            *SUMMARY_COLUMNS,
            integer("diverged", "Runs that diverged; they are in no mean"),
            integer("empty", "Runs whose split leaves a group or a label empty"),
            text(
                "verdict",
                "reproduced: within 2 sd of single runs; not_reproduced; inconsistent_in_paper;"
                " undecided: one run; not_run; no_published_value",
            ),
            text("reason", "Of the verdict"),
        ),
        source=f"IIFR, Table {table}",
        form=FORM,
        main=plain if main else None,
    )


def compare_overall(study: IndividualStudy, table: str, metrics: Sequence[str]) -> Iterator[Row]:
    """Yield the cells of all reported settings, of all test individuals together."""
    for reported, result in study.reported_results():
        yield from compare_cells(study, table, reported, result, metrics)


def compare_cells(
    study: IndividualStudy,
    table: str,
    reported: ReportedSetting,
    result: Result | None,
    metrics: Sequence[str],
    *,
    group: int | None = None,
    epsilon: float | None = None,
) -> Iterator[Row]:
    """Yield the cells of a setting for which the paper or we have a number."""
    setting, choice = reported
    named = setting.named
    comparable = named["split"] == "random" and choice not in (ALIKE, FIRST, MOST)
    inconsistent = study.published.inconsistent(table)
    for metric in metrics:
        cell = (*setting[:3], group, epsilon, metric)
        paper = study.published.cells[table].get(cell) if comparable else None
        why = inconsistent.get(cell) if comparable else None
        if result is None and paper is None and not why:
            continue
        summary = summarise(result.values(metric) if result else [], largest(metric))
        lost = {name: getattr(result, name) if result else 0 for name in ("diverged", "empty")}
        verdict, reason = judge(paper, summary, why, **lost)
        yield (
            named
            | {"group": group, "choice": choice, "metric": metric}
            | {"published": paper.value if paper else None}
            | summary
            | lost
            | {"verdict": verdict, "reason": reason}
        )


def judge(
    paper: Number | None,
    summary: Mapping[str, Any],
    inconsistent: str | None,
    diverged: int = 0,
    empty: int = 0,
) -> tuple[str, str | None]:
    """Return the verdict on a cell, and its reason.

    Parameters
    ----------
    paper : Number, optional
        The published number.
    summary : mapping
        The result of `evenhand.individual.results.summarise`.
    inconsistent : str, optional
        Why the cell contradicts others of the paper.
    diverged, empty : int
        Numbers of runs that diverged, and of runs that were not possible.
    """
    if inconsistent:
        return "inconsistent_in_paper", inconsistent
    if not summary["seeds"]:
        if diverged and not empty:
            return "not_run", f"every run diverged ({diverged})"
        if empty:
            lost = f"{diverged} diverged, and of {empty} the" if diverged else f"of {empty} the"
            return "not_run", f"no run is left: {lost} split leaves a group or a label empty"
        return "not_run", "there is no run of this setting that has the measure"
    if paper is None:
        return "no_published_value", None
    if summary["seeds"] == 1:
        return "undecided", "one run does not say how far runs lie apart"
    distance = paper.value - summary["mean"]
    if abs(distance) <= WIDTH * summary["sd"] + paper.rounding + 1e-9:
        return "reproduced", None
    side = "above" if distance > 0 else "below"
    digits = 1 if paper.rounding > 0.01 else 3
    sd = summary["sd"]
    far = f", {abs(distance) / sd:.1f} sd of single runs" if sd > 1e-9 else ""
    known = paper.explanation or "why is not known"
    return "not_reproduced", f"{abs(distance):.{digits}f} {side} our mean{far}; {known}"
