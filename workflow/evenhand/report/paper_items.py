"""The tables and figures of the papers, and the places of ours: paper_items.csv.

Its columns: paper (of `PAPERS`), item (its number; blank if unknown), shows (its content), page
(of `evenhand.report.page_list.PAGES`), anchor (ids of that page, separated by blanks), published (of
`PUBLISHED`: whether the page shows the paper's numbers beside ours), and the reason why they, or
ours, are missing.

An anchor that begins with ``*-`` names one place for each data set, set of pairs or source of
the page: ``*-scores`` is ``set-mine-scores`` and so on. Without an anchor we have no such item.
A page has an id of this table only where it shows something under it.
"""

import re
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.report.page_list import PAGES

COLUMNS = ["paper", "item", "shows", "page", "anchor", "published", "reason"]
OPTIONAL = ("item", "anchor", "reason")

#: How each paper is cited.
PAPERS = {
    "zhao": "Zhao et al. 2021 and 2023",
    "kaneko": "Kaneko and Bollegala 2022",
    "chalkidis": "Chalkidis et al. 2022 (FairLex)",
    "wang": "Wang et al. 2023 (IIFR)",
}

PUBLISHED = ("yes", "partly", "no")

ANCHOR = re.compile(r"(\*-)?[a-z][a-z0-9]*(-[a-z0-9]+)*")


def read_items(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table, in its order.

    Raises
    ------
    InputError
        The table is not well formed: an unknown paper or page, another word than yes, partly and
        no, an invalid anchor, or a missing reason.
    """
    choices = {"paper": PAPERS, "page": PAGES, "published": PUBLISHED}
    unique = ("paper", "item", "shows")
    rows = read_resource(path, COLUMNS, optional=OPTIONAL, unique=unique, choices=choices)
    for line, row in enumerate(rows, start=2):
        if odd := [one for one in row["anchor"].split() if not ANCHOR.fullmatch(one)]:
            raise InputError(
                f"{odd[0]!r} cannot be an anchor",
                file=path,
                line=line,
                remedy="use small letters, digits and hyphens, with *- before them for a place"
                " in each data set",
            )
        if not row["anchor"] and row["published"] != "no":
            raise InputError("numbers of a paper stand beside nothing", file=path, line=line)
        if row["published"] != "yes" and not row["reason"]:
            problem = "does not say why the paper's numbers are not there"
            raise InputError(problem, file=path, line=line)
    return rows
