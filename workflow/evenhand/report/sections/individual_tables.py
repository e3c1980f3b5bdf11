"""Sections: the paper's tables of results beside our runs, tests, checks, and the data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.core.rows import Row, grouped
from evenhand.individual.names import method_title, title, who
from evenhand.individual.people import WITH_INTEGERS
from evenhand.individual.results import SETTING
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_words import (
    CHOICES,
    OFFICIAL,
    method,
    metric_title,
    setting,
    verdict,
)

#: Where a row of a table ends and the next begins.
LINE = ("method", "individual", "group", "reduction", "lambda", "epsilon", "epsilon_unit", "mu")
LINE += ("js_base", "split", "choice")

#: The verdicts that a reason explains.
EXPLAINED = ("not_reproduced", "inconsistent_in_paper")


def describe_results(
    rows: Sequence[Row],
    groups: Mapping[str, Sequence[str]],
    integer_groups: Mapping[str, Sequence[str]],
    titles: Mapping[str, str],
    behind: Behind,
) -> dict[str, Any] | None:
    """Return a table per data set: our means and sd with the paper's numbers and verdicts.

    Parameters
    ----------
    rows : sequence of dict
        The rows of ``table_4`` and so on.
    groups : mapping
        Names of the groups by data set and code.
    integer_groups : mapping
        The same for the methods with EIDIG's encoding.
    titles : mapping
        The titles of the data sets.
    behind : Behind
        The test individuals behind the numbers.

    Returns
    -------
    dict or None
        datasets, and verdicts (the number of the paper's cells with each); None without a row.
    """
    if not rows:
        return None
    verdicts = Counter(row["verdict"] for row in rows if row["verdict"] != "no_published_value")
    datasets = []
    for name, own in grouped(rows, "dataset").items():
        lines = []
        for cells in grouped(own, *LINE).values():
            code, with_integers = cells[0]["group"], cells[0]["method"].startswith(WITH_INTEGERS)
            names = (integer_groups if with_integers else groups).get(name, ())
            group = code if code is None else names[code] if code < len(names) else str(code)
            lines.append(describe_line(cells, behind, group))
        datasets.append(
            {
                "key": name,
                "name": title(name, titles),
                "chosen": any(line["choice"] for line in lines),
                "metrics": list(dict.fromkeys(row["metric"] for row in own)),
                "rows": lines,
                "reasons": [row for row in own if row["reason"] and row["verdict"] in EXPLAINED],
            }
        )
    most = sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))
    return {"datasets": datasets, "verdicts": [(*verdict(name), count) for name, count in most]}


def describe_line(cells: Sequence[Row], behind: Behind, group: str | None = None) -> dict[str, Any]:
    """Return a row of a table: the head of its cells, and the cells by metric."""
    first = cells[0]
    return {
        "items": behind.row_items(first, group),
        "method": method(first),
        "setting": setting(first),
        "choice": CHOICES.get(first["choice"]),
        "group": group,
        **{
            name: max(row[name] or 0 for row in cells)
            for name in ("seeds", "diverged", "empty")
            if name in first
        },
        "cells": {row["metric"]: row for row in cells},
    }


#: Metrics shown in the table of tests.
TESTED = ("balanced_acc", "positive_rate", "ifr_p", "ddp")


def describe_tests(
    rows: Sequence[Row], titles: Mapping[str, str], behind: Behind
) -> list[dict[str, Any]]:
    """Return, per data set, the differences of each setting from its reference setting.

    A difference links to the test individuals of the setting, not of its reference.
    """
    return [
        {
            "key": dataset,
            "name": title(dataset, titles),
            "rows": [
                describe_line(cells, behind) | {"against": _against(cells[0])}
                for cells in grouped(
                    (row for row in own if row["metric"] in TESTED), *SETTING, "against"
                ).values()
            ],
        }
        for dataset, own in grouped(rows, "dataset").items()
    ]


def _against(row: Row) -> str:
    names = {"mlp": method_title("mlp"), "none": f"{method_title(row['method'])} alone"}
    other = names.get(row["against"], "its control")
    return f"{other}, {OFFICIAL}" if row["split"] == "official" else other


def describe_checks(
    rows: Sequence[dict[str, Any]], titles: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """Return the checks of the paper's tables that found a contradiction, and how many did not."""
    if not rows:
        return None
    odd = [row for row in rows if row["result"] != "agrees"]
    return {
        "checks": len(rows),
        "agree": len(rows) - len(odd),
        "rows": [
            row
            | {
                "row": f"{title(row['dataset'], titles)}, {who(row)}",
                "metrics": ", ".join(
                    metric_title(one).removesuffix(", %") for one in row["metric"].split(" ")
                ),
            }
            for row in odd
        ],
    }


def describe_data(
    rows: Iterable[dict[str, Any]], documents: Sequence[dict[str, Any]], titles: Mapping[str, str]
) -> dict[str, Any]:
    """Return the rates of the data sets, and a description of each data set.

    Parameters
    ----------
    rows : iterable of dict
        The rows of the table ``groups``.
    documents : sequence of mapping
        ``data.json`` of each data set.
    titles : mapping
        The title of each data set.
    """
    return {
        "tables": [
            {"name": title(name, titles), "judged": any(row["verdict"] for row in own), "rows": own}
            for name, own in grouped(rows, "dataset").items()
        ],
        "documents": [
            one | {"title": one["meta"].get("title") or title(one["name"])} for one in documents
        ],
        "files": [f"tabular/{one['name']}/data.json" for one in documents],
    }
