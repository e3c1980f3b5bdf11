"""The known errors of the papers, their codes and their data: known_errors.csv.

Its columns: id (small letters, digits and hyphens), system (of `evenhand.report.headline`), kind
(of `KINDS`), the location, the erroneous statement, the correction, the effect on the numbers,
Evenhand's handling, and the evidence. Names of code are between backticks.

Other tables name entries by their ids in a column ``known_error``, with spaces between them. The
id of each error is its anchor: ``known_errors.html#id``.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.core.resources import read_resource
from evenhand.core.rows import where
from evenhand.errors import InputError
from evenhand.report.headline import PUBLISHED
from evenhand.report.render import slug, visible
from evenhand.report.study import Study

#: Columns of ``resources/known_errors.csv``; the correction and the effect may be unknown.
COLUMNS = ["id", "system", "kind", "where", "says", "right", "effect", "handled", "evidence"]
OPTIONAL = ("right", "effect")

KINDS = {"paper": "paper", "reference_code": "code", "data": "data"}


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    rows = read_errors(study.paths("*.csv")[0])
    systems = [
        {"id": name.replace("_", "-"), "title": title, "rows": errors}
        for name, title in PUBLISHED.items()
        if (errors := where(rows, system=name))
    ]
    kinds = Counter(row["kind"] for row in rows)
    return {
        "sections": [(system["id"], system["title"]) for system in systems],
        "systems": systems,
        "kinds": {kind: words for kind, words in KINDS.items() if kinds[kind]},
        "counts": kinds,
        "total": len(rows),
        "code": code,
        "first_sentence": first_sentence,
    }


def read_errors(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table, in its order.

    Raises
    ------
    InputError
        The table is not well formed: an unknown system or kind, a duplicate or malformed id, an
        unmatched backtick.
    """
    choices = {"system": PUBLISHED, "kind": KINDS}
    return read_resource(
        path, COLUMNS, optional=OPTIONAL, unique=("id",), choices=choices, make=_checked
    )


def _checked(row: dict[str, str]) -> dict[str, str]:
    if slug(row["id"]) != row["id"] or not row["id"].isascii():
        remedy = "use small letters, digits and hyphens"
        raise InputError(f"{row['id']!r} cannot be an anchor", remedy=remedy)
    for column, cell in row.items():
        if cell.count("`") % 2:
            raise InputError(f"a backtick of {column} has no end")
    return row


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop before a capital letter or code."""
    return re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0]


def code(text: str) -> Markup:
    """Return a text with the words between backticks as code."""
    pieces = [
        Markup("<code>{}</code>").format(visible(piece)) if i % 2 else Markup.escape(visible(piece))
        for i, piece in enumerate(text.split("`"))
    ]
    return Markup("").join(pieces)
