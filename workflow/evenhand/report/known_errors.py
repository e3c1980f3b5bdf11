"""The table of the known errors of the papers, their codes and their data: known_errors.csv.

Its columns: id (small letters, digits and hyphens), system (of `evenhand.report.headline`), kind
(of `KINDS`), the location, the erroneous statement, the correction, the effect on the numbers,
Evenhand's handling, and the evidence. Names of code are between backticks.

Other tables name entries by their ids in a column ``known_error``, with spaces between them.
"""

from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.report.headline import PUBLISHED
from evenhand.report.render import slug

#: Columns of ``resources/known_errors.csv``; the correction and the effect may be unknown.
COLUMNS = ["id", "system", "kind", "where", "says", "right", "effect", "handled", "evidence"]
OPTIONAL = ("right", "effect")

KINDS = {"paper": "paper", "reference_code": "code", "data": "data"}


def read_errors(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table, in its order.

    Raises
    ------
    InputError
        The table is not well formed: an unknown system or kind, a duplicate or malformed id, an
        unmatched backtick.
    """
    choices = {"system": PUBLISHED, "kind": KINDS}
    rows = read_resource(path, COLUMNS, optional=OPTIONAL, unique=("id",), choices=choices)
    for line, row in enumerate(rows, start=2):
        if slug(row["id"]) != row["id"] or not row["id"].isascii():
            problem, remedy = f"{row['id']!r} cannot be an anchor", "use small letters, digits and"
            raise InputError(problem, file=path, line=line, remedy=f"{remedy} hyphens")
        if odd := [column for column in COLUMNS if row[column].count("`") % 2]:
            raise InputError(f"a backtick of {odd[0]} has no end", file=path, line=line)
    return rows
