"""Section: tests between methods, the paper's inconsistent cells, and descriptions of the data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.core.rows import Row, grouped
from evenhand.individual.names import method_title, title, who
from evenhand.individual.results import SETTING
from evenhand.report.sections.individual_people import Behind
from evenhand.report.sections.individual_tables import describe_line
from evenhand.report.sections.individual_words import OFFICIAL, metric_title

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
    rows: Iterable[dict[str, Any]],
    documents: Sequence[dict[str, Any]],
    titles: Mapping[str, str],
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
            {
                "name": title(name, titles),
                "judged": any(row["verdict"] for row in own),
                "rows": own,
            }
            for name, own in grouped(rows, "dataset").items()
        ],
        "documents": [
            one | {"title": one["meta"].get("title") or title(one["name"])} for one in documents
        ],
        "files": [f"tabular/{one['name']}/data.json" for one in documents],
    }
