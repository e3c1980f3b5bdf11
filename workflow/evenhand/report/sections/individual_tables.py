"""Sections: the paper's tables of results beside our runs, tests, checks, and test individuals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from evenhand.core.rows import Row, grouped
from evenhand.individual.names import method_title, title, who
from evenhand.individual.people import WITH_INTEGERS, Name, name_of
from evenhand.individual.results import SETTING, setting_of
from evenhand.report.headline import say
from evenhand.report.sections.individual_words import (
    CHOICES,
    OFFICIAL,
    method,
    metric_title,
    setting,
    verdict,
)

#: Numbers of some test individuals: the column that counts them, and the explorer's name of such an
#: answer.
ANSWERS = {
    "acc": ("wrong", "wrong"),
    "positive_rate": ("positive", "positive"),
    "ifr_b": ("changed", "changes"),
    "ifr_p": ("beyond", "beyond"),
    "ifr_p_all": ("beyond", "beyond"),
}

#: Numbers of people with one label.
LABELS = {"deo_0": 0, "deo_1": 1}

#: The method equivalent to a threshold of 1, at which no individuals are neighbours.
ALONE = "mlp"


class Behind:
    """The test individuals behind the numbers of the tables.

    Parameters
    ----------
    rows : iterable of dict
        The rows of the table ``individuals``; without them no number has a link.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._counts = {(name_of(setting_of(row)), row["group"], row["label"]): row for row in rows}

    def training(self, row: Mapping[str, Any]) -> Name | None:
        """Return the training behind a row of a table; None without test individuals."""
        name = name_of(setting_of(row))
        names = [name, (name[0], ALONE)] if row["epsilon"] == 1 else [name]
        return next((name for name in names if (name, None, None) in self._counts), None)

    def row_items(self, row: Mapping[str, Any], group: str | None = None) -> str:
        """Return the part of the query string for a table row; ``-``: no test individuals.

        Parameters
        ----------
        row : mapping
            A row of a table of results, with the columns of a setting.
        group : str, optional
            The name of the row's group, if it has one.
        """
        name = self.training(row)
        if name is None or (group is not None and (name, row["group"], None) not in self._counts):
            return "-"
        return urlencode({"training": name[1]} | ({} if group is None else {"group": group}))

    def cell(self, row: Mapping[str, Any], metric: str) -> dict[str, str] | None:
        """Return the part of the query string for a number, and the link text: items, link.

        None without test individuals.
        """
        name, label = self.training(row), LABELS.get(metric)
        tally = name and self._counts.get((name, row.get("group"), label))
        if not tally:
            return None
        items: dict[str, Any] = {} if label is None else {"label": label}
        column, answer = ANSWERS.get(metric, (None, None))
        if column and tally[column]:
            items["answer"] = answer
        link = say("if_people", row=tally, column=column, label=label)
        return {"items": urlencode(items), "link": link}


#: Where a row of a table ends and the next begins.
LINE = ("method", "individual", "group", "reduction", "lambda", "epsilon", "epsilon_unit", "mu")
LINE += ("js_base", "split", "choice")

#: The verdicts that a reason explains.
EXPLAINED = ("not_reproduced", "inconsistent_in_paper")


def describe_results(
    rows: Sequence[Row],
    documents: Iterable[Mapping[str, Any]],
    titles: Mapping[str, str],
    behind: Behind,
) -> dict[str, Any] | None:
    """Return a table per data set: our means and sd with the paper's numbers and verdicts.

    Parameters
    ----------
    rows : sequence of dict
        The rows of ``table_4`` and so on.
    documents : iterable of mapping
        ``data.json`` of each data set, which names the groups.
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
    described = {document["name"]: document for document in documents}
    verdicts = Counter(row["verdict"] for row in rows if row["verdict"] != "no_published_value")
    datasets = []
    for name, of_dataset in grouped(rows, "dataset").items():
        lines = [
            describe_line(cells, behind, _group(cells[0], described.get(name)))
            for cells in grouped(of_dataset, *LINE).values()
        ]
        dataset = {
            "key": name,
            "name": title(name, titles),
            "chosen": any(line["choice"] for line in lines),
            "metrics": list(grouped(of_dataset, "metric")),
            "rows": lines,
            "reasons": [row for row in of_dataset if row["reason"] and row["verdict"] in EXPLAINED],
        }
        datasets.append(dataset)
    most = sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))
    return {"datasets": datasets, "verdicts": [(*verdict(name), count) for name, count in most]}


def _group(row: Row, document: Mapping[str, Any] | None) -> str | None:
    """Return the name of a row's group; the methods with EIDIG's encoding have their own groups."""
    code = row["group"]
    if code is None or document is None:
        return code if code is None else str(code)
    names = document["attribute_values"]
    if row["method"].startswith(WITH_INTEGERS):
        names = document["meta"].get("integer_groups") or []
    return names[code] if code < len(names) else str(code)


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
    blocks = []
    for dataset, group in grouped(rows, "dataset").items():
        tested = (row for row in group if row["metric"] in TESTED)
        lines = [
            describe_line(cells, behind) | {"against": _against(cells[0])}
            for cells in grouped(tested, *SETTING, "against").values()
        ]
        blocks.append({"key": dataset, "name": title(dataset, titles), "rows": lines})
    return blocks


def _against(row: Row) -> str:
    names = {"mlp": method_title("mlp"), "none": f"{method_title(row['method'])} alone"}
    other = names.get(row["against"], "its control")
    return f"{other}, {OFFICIAL}" if row["split"] == "official" else other


def describe_checks(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return the number of checks of the paper's tables, and those that found a contradiction."""
    if not rows:
        return None
    contradictions = [row for row in rows if row["result"] != "agrees"]
    lines = []
    for row in contradictions:
        names = [metric_title(name).removesuffix(", %") for name in row["metric"].split(" ")]
        who_row = f"{title(row['dataset'])}, {who(row)}"
        lines.append(row | {"row": who_row, "metrics": ", ".join(names)})
    return {"checks": len(rows), "rows": lines}
