"""Section: links from the numbers of individual fairness to their test individuals."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from evenhand.individual.people import Name, name_of
from evenhand.individual.results import setting_of
from evenhand.report.headline import say

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
