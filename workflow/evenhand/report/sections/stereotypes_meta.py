"""Section: each method against the annotators' judgements: ROC curves, AUC, and tests."""

from typing import Any

from evenhand.core.decimals import ALPHA
from evenhand.core.rows import grouped, where
from evenhand.report.figures import axis, lines
from evenhand.report.headline import plain, say
from evenhand.report.sections.stereotypes_words import in_a_list, in_order, method_of, method_title

Rows = list[dict[str, Any]]

#: The coordinates of a point of a curve.
RATES = ("false_positive_rate", "true_positive_rate")


def describe_meta(rows: Rows, points: Rows, tests: Rows) -> dict[str, Any] | None:
    """Return AUC per model, method and number of agreeing annotators, with curves and tests.

    Parameters
    ----------
    rows, points, tests : list of dict
        The rows of ``meta_evaluation``, ``roc`` and ``auc_tests`` of trusted models.

    Returns
    -------
    dict or None
        models, and drawings by number of agreeing annotators; None without a row.
    """
    if not rows and not points:
        return None
    models = list(dict.fromkeys(row["model"] for row in [*rows, *points]))
    levels = sorted({row["agreeing"] for row in [*rows, *points]})
    known = [row for row in points if None not in (row[RATES[0]], row[RATES[1]])]
    return {
        "levels": levels,
        "models": [_model(model, levels, rows, tests) for model in models],
        "drawings": [
            {"agreeing": agreeing, "figures": figures}
            for agreeing in levels
            if (figures := _figures(models, agreeing, rows, known))
        ],
    }


def _model(
    model: str, levels: list[int], rows: list[dict[str, Any]], tests: list[dict[str, Any]]
) -> dict[str, Any]:
    rows_by_level = {(row["method"], row["agreeing"]): row for row in rows if row["model"] == model}
    methods = in_order(method for method, _ in rows_by_level)
    counts = []
    for agreeing in levels:
        level_rows = [row for (_, level), row in rows_by_level.items() if level == agreeing]
        ends = {name: max((row[name] or 0 for row in level_rows), default=0) for name in COUNTS}
        counts.append({"agreeing": agreeing, **ends})
    lines = []
    for method in methods:
        cells = [_scored(rows_by_level.get((method, agreeing))) for agreeing in levels]
        lines.append({"description": method_of(method), "cells": cells})
    return {
        "model": model,
        "counts": counts,
        "words": agreement_words([rows_by_level.get((method, levels[0])) for method in methods]),
        "rows": lines,
        "tests": where(tests, model=model),
    }


COUNTS = ("biased", "unbiased")


def _scored(row: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if row is None or row["auc"] is None else row


def agreement_words(rows: list[dict[str, Any] | None]) -> str:
    """State which methods agree or disagree with the annotators; rows of one model and number.

    A method does if the interval of its AUC excludes 0.5 and its p-value is below `ALPHA`.
    Methods with fewer than `FEWEST` pairs of either kind are not judged.
    """
    known = [row for row in rows if row and row["auc_low"] is not None]
    if not known:
        return ""
    counts = {name: max(row[name] or 0 for row in known) for name in COUNTS}
    sure = [row for row in known if row["p_value"] is not None and row["p_value"] < ALPHA]
    return say(
        "lm_people",
        few=counts if min(counts.values()) < FEWEST else None,
        above=[in_a_list(row["method"]) for row in sure if row["auc_low"] > 0.5],
        below=[in_a_list(row["method"]) for row in sure if row["auc_high"] < 0.5],
        known=len(known),
    )


#: The pairs of each kind needed.
FEWEST = 10


def _figures(models: list[str], agreeing: int, rows: Rows, points: Rows) -> list[dict[str, Any]]:
    """Return a drawing per model, with each method's AUC in the legend."""
    auc = {(row["model"], row["method"]): row["auc"] for row in rows if row["agreeing"] == agreeing}
    figures = []
    for model in models:
        curves = grouped(where(points, model=model, agreeing=agreeing), "method")
        names, dots = [], []
        for method in in_order(curves):
            name, area = method_title(method), auc.get((model, method))
            name += f" {area:.2f}" if area is not None else ""
            names.append(name)
            places = sorted((row[RATES[0]], row[RATES[1]]) for row in curves[method])
            dots += [{"name": name, "x": x, "y": y} for x, y in _thinned(places)]
        if not names:
            continue
        label = plain("figure_roc", model=model, agreeing=agreeing, areas=names)
        sides = (
            axis(title, (0, 1), values=[0, 0.5, 1])
            for title in ("False positives, share", "True positives, share")
        )
        drawing = lines(dots, label, *sides, series=names, points=False, diagonal=True, widest=380)
        figures.append({"model": model, "drawing": drawing})
    return figures


#: A curve's next point lies at least so far from the one before: more cannot be seen.
STEP = 0.006


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first and last points, and those in between visibly apart from the previous."""
    kept = points[:1]
    for point in points[1:-1]:
        if max(abs(a - b) for a, b in zip(point, kept[-1], strict=True)) >= STEP:
            kept.append(point)
    return [*kept, *points[-1:]] if len(points) > 1 else kept
