"""Section: the paper's tables of results beside our runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.individual.names import title
from evenhand.individual.people import WITH_INTEGERS
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_words import (
    CHOICES,
    method,
    metric_title,
    number,
    setting,
    verdict,
)

#: Where a row of a table ends and the next begins.
LINE = ("method", "individual", "group", "reduction", "lambda", "epsilon", "epsilon_unit", "mu")
LINE += ("js_base", "split", "choice")


def describe_results(
    rows: Sequence[dict[str, Any]],
    groups: Mapping[str, Sequence[str]] | None = None,
    integer_groups: Mapping[str, Sequence[str]] | None = None,
    titles: Mapping[str, str] | None = None,
    behind: Behind | None = None,
) -> dict[str, Any] | None:
    """Return a table per data set: our means and sd with the paper's numbers and verdicts.

    Parameters
    ----------
    rows : sequence of dict
        The rows of ``table_4`` and so on.
    groups : mapping, optional
        Names of the groups by data set and code.
    integer_groups : mapping, optional
        The same for the methods with EIDIG's encoding.
    titles : mapping, optional
        The titles of the data sets.
    behind : Behind, optional
        The test individuals behind the numbers.

    Returns
    -------
    dict or None
        datasets, and verdicts (the number of the paper's cells with each); None without a row.
    """
    if not rows:
        return None
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    verdicts = Counter(row["verdict"] for row in rows if row["verdict"] != "no_published_value")
    return {
        "datasets": [
            _dataset(
                name,
                title(name, titles),
                behind or Behind(),
                [row for row in rows if row["dataset"] == name],
                (groups or {}).get(name, ()),
                (integer_groups or {}).get(name, ()),
            )
            for name in datasets
        ],
        "verdicts": [
            {"words": verdict(name)[0], "kind": verdict(name)[1], "cells": count}
            for name, count in sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))
        ],
    }


def _dataset(
    key: str,
    name: str,
    behind: Behind,
    rows: list[dict[str, Any]],
    groups: Sequence[str],
    integer_groups: Sequence[str],
) -> dict[str, Any]:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    lines: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(tuple(row[part] for part in LINE), {})[row["metric"]] = row
    made = []
    for cells in lines.values():
        first = next(iter(cells.values()))
        group = first["group"]
        codes = integer_groups if first["method"].startswith(WITH_INTEGERS) else groups
        named = None
        if group is not None:
            named = codes[group] if group < len(codes) else str(group)
        made.append(
            {
                "items": behind.row_items(first, named),
                "method": method(first),
                "setting": setting(first),
                "choice": CHOICES.get(first["choice"]),
                "group": named,
                "epsilon": first["epsilon"],
                "seeds": max(row["seeds"] or 0 for row in cells.values()),
                "diverged": max(row["diverged"] or 0 for row in cells.values()),
                "empty": max(row["empty"] or 0 for row in cells.values()),
                "cells": [_cell(cells.get(metric), behind) for metric in metrics],
            }
        )
    reasons = [
        {
            "method": method(row),
            "setting": setting(row),
            "metric": metric_title(row["metric"]),
            "words": verdict(row["verdict"])[0],
            "reason": row["reason"],
        }
        for row in rows
        if row["reason"] and row["verdict"] in ("not_reproduced", "inconsistent_in_paper")
    ]
    return {
        "key": key,
        "name": name,
        "chosen": any(row["choice"] for row in made),
        "metrics": [metric_title(metric) for metric in metrics],
        "rows": made,
        "reasons": reasons,
    }


def _cell(row: dict[str, Any] | None, behind: Behind) -> dict[str, Any] | None:
    if row is None:
        return None
    words, kind = verdict(row["verdict"])
    sd = row["sd"]
    return {
        "ours": None if row["mean"] is None else number(row["mean"], row["metric"]),
        "sd": None if sd is None else number(sd, row["metric"]),
        "paper": None if row["published"] is None else number(row["published"], row["metric"]),
        # nothing to run and nothing printed needs no word
        "words": "" if row["verdict"] == "not_run" and row["published"] is None else words,
        "kind": kind,
        "behind": behind.cell(row, row["metric"]),
    }
