"""Stage: which settings no other setting beats on both of two measures.

A method has many settings, and each trades accuracy for fairness in its own way; to compare
methods by one setting each is to compare the choice of settings. The front shows all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Output, Source
from evenhand.individual.results import (
    FORM,
    SETTING,
    Result,
    by_setting,
    describe,
    read_runs,
)
from evenhand.individual.summary import summarise

#: What balanced accuracy is set against, as unfairness: less is better.
FRONTS = ("ddp", "ifr_p")

HEADER = [
    "front",
    *SETTING,
    "point",
    "balanced_acc",
    "balanced_acc_sd",
    "unfairness",
    "unfairness_sd",
    "seeds",
    "diverged",
    "on_front",
    "dominated_by",
]


def find_fronts(*, runs: list[Source], out: Output) -> dict[str, Any]:
    """Set balanced accuracy against dDP, and against 1 - IFR_p.

    Parameters
    ----------
    runs : list of Path
        What `train_table` wrote.
    out : Path
        CSV, per front and setting with a number: point (the setting in words), balanced_acc in
        percent, unfairness (front ``ddp``: dDP; front ``ifr_p``: 1 - IFR_p as a share), each as
        mean and sd over seeds; on_front; dominated_by, the setting of the front with the least
        unfairness among those that are at least as accurate. Settings are compared within a
        data set and a kind of split, by their means.
    """
    results = by_setting(read_runs(runs))
    rows = []
    for front in FRONTS:
        parts: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
        for result in results.values():
            if point := _point(result, front):
                parts.setdefault((point["dataset"], point["split"]), []).append(point)
        for points in parts.values():
            above = dominators(
                [point["balanced_acc"] for point in points],
                [point["unfairness"] for point in points],
            )
            for point, other in zip(points, above, strict=True):
                beaten = None if other is None else points[other]["point"]
                rows.append(point | {"on_front": other is None, "dominated_by": beaten})
    write_rows(out, HEADER, rows, FORM)
    return {
        "settings": len(results),
        "points": len(rows),
        "on_front": sum(row["on_front"] for row in rows),
    }


def _point(result: Result, front: str) -> dict[str, Any] | None:
    runs = [run for run in result.runs if None not in (run["balanced_acc"], run[front])]
    if not runs:
        return None
    accuracy = summarise([run["balanced_acc"] for run in runs])
    unfairness = summarise([run["ddp"] if front == "ddp" else 1 - run[front] / 100 for run in runs])
    named: Mapping[str, Any] = result.named
    return {
        "front": front,
        **named,
        "point": describe(result.setting),
        "balanced_acc": accuracy["mean"],
        "balanced_acc_sd": accuracy["sd"],
        "unfairness": unfairness["mean"],
        "unfairness_sd": unfairness["sd"],
        "seeds": accuracy["seeds"],
        "diverged": result.diverged,
    }


def dominators(good: Sequence[float], bad: Sequence[float]) -> list[int | None]:
    """For each point the one that beats it: at least as good, at most as bad, and not equal.

    Parameters
    ----------
    good, bad : sequence of float
        Of the same length; finite.

    Returns
    -------
    list of int or None
        Of all that are at least as good, the least bad (the better one of two such, the first
        of equals), which is on the front; None for a point that nothing beats.
    """
    beaten: list[int | None] = [None] * len(good)
    best: int | None = None
    for point in sorted(range(len(good)), key=lambda i: (-good[i], bad[i])):
        if best is None or bad[point] < bad[best]:
            best = point
        elif (good[best], bad[best]) != (good[point], bad[point]):
            beaten[point] = best
    return beaten


if __name__ == "__main__":
    stage.run(find_fronts)
