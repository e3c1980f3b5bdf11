"""The Pareto fronts: settings that no other setting dominates in accuracy and fairness.

A method has many settings with different trade-offs. A comparison of one setting per method depends
on the choice of settings; the Pareto front shows all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.core.rows import grouped
from evenhand.core.tables import Row, Table, flag, integer, number, percent, text
from evenhand.individual.results import FORM, SETTING, SETTING_COLUMNS, Result, describe, summarise
from evenhand.individual.study import IndividualStudy

#: The measures of unfairness (less is better) that are plotted against balanced accuracy.
FRONTS = ("ddp", "ifr_p")

TABLE = Table(
    "pareto_fronts",
    title="Pareto fronts of balanced accuracy and fairness",
    key=("front", *SETTING),
    columns=(
        text("front", "ddp: unfairness is dDP; ifr_p: it is 1 - IFR_p, as a share"),
        *SETTING_COLUMNS,
        text("point", "The setting in words"),
        percent("balanced_acc", "Mean over seeds"),
        percent("balanced_acc_sd", "Standard deviation over seeds"),
        number("unfairness", "Mean over seeds"),
        number("unfairness_sd", "Standard deviation over seeds"),
        integer("seeds"),
        integer("diverged"),
        flag("on_front", "Whether no other point of the data set and kind of split dominates it"),
        text("dominated_by", "The fairest point of the front that is at least as accurate"),
    ),
    form=FORM,
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per front and setting that has both measures, compared by their means."""
    for front in FRONTS:
        all_points = filter(None, (_point(result, front) for result in study.results.values()))
        for points in grouped(all_points, "dataset", "split").values():
            above = dominators(
                [point["balanced_acc"] for point in points],
                [point["unfairness"] for point in points],
            )
            for point, other in zip(points, above, strict=True):
                name = None if other is None else points[other]["point"]
                yield point | {"on_front": other is None, "dominated_by": name}


def _point(result: Result, front: str) -> dict[str, Any] | None:
    runs = [run for run in result.runs if None not in (run["balanced_acc"], run[front])]
    if not runs:
        return None
    accuracy = summarise([run["balanced_acc"] for run in runs], 100.0)
    unfair = [run["ddp"] if front == "ddp" else 1 - run[front] / 100 for run in runs]
    unfairness = summarise(unfair, 1.0)
    return {
        "front": front,
        **result.setting.named,
        "point": describe(result.setting),
        "balanced_acc": accuracy["mean"],
        "balanced_acc_sd": accuracy["sd"],
        "unfairness": unfairness["mean"],
        "unfairness_sd": unfairness["sd"],
        "seeds": accuracy["seeds"],
        "diverged": result.diverged,
    }


def dominators(good: Sequence[float], bad: Sequence[float]) -> list[int | None]:
    """Return the dominating point of each point: at least as good, at most as bad, not equal.

    Parameters
    ----------
    good, bad : sequence of float
        Finite values of the same length.

    Returns
    -------
    list of int or None
        Among all points that are at least as good, the least bad one (in case of ties the better,
        then the first), which is on the front; None for a point on the front.
    """
    dominating: list[int | None] = [None] * len(good)
    best: int | None = None
    for point in sorted(range(len(good)), key=lambda i: (-good[i], bad[i])):
        if best is None or bad[point] < bad[best]:
            best = point
        elif (good[best], bad[best]) != (good[point], bad[point]):
            dominating[point] = best
    return dominating
