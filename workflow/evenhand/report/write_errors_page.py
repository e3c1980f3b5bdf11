"""Stage: the report on known errors of the papers, their codes and their data."""

from collections import Counter
from typing import Any

from markupsafe import Markup

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.report.headline import PUBLISHED
from evenhand.report.known_errors import KINDS, read_errors
from evenhand.report.render import Page, visible


def write_errors_page(
    *, templates: list[Input], errors: Input, out: Output, pages: list[str] | None = None
) -> dict[str, Any]:
    """Write the report on known errors, one HTML file.

    The id of each error is its anchor: ``known_errors.html#id``.

    Parameters
    ----------
    templates
        The files of ``evenhand/report/templates``.
    errors
        The table (see `evenhand.report.known_errors`).
    out
        The page, HTML.
    pages
        The pages of this run, of `evenhand.report.page_list.PAGES`; all by default.

    Returns
    -------
    dict
        errors, by system and by kind; bytes.

    Raises
    ------
    InputError
        The table is not well formed.
    """
    rows = read_errors(errors)
    systems = [
        {
            "id": name.replace("_", "-"),
            "name": name,
            "title": title,
            "rows": [row for row in rows if row["system"] == name],
        }
        for name, title in PUBLISHED.items()
    ]
    kinds = Counter(row["kind"] for row in rows)
    written = Page("known_errors", out, templates, pages).write(
        sections=[(one["id"], one["title"], "") for one in systems if one["rows"]],
        systems=[one for one in systems if one["rows"]],
        kinds={kind: words for kind, words in KINDS.items() if kinds[kind]},
        counts=kinds,
        total=len(rows),
        code=code,
    )
    return {
        "errors": len(rows),
        **{one["name"]: len(one["rows"]) for one in systems},
        **{kind: kinds[kind] for kind in KINDS},
        "bytes": written,
    }


def code(text: str) -> Markup:
    """Return a text with the words between backticks as code."""
    pieces = [
        Markup("<code>{}</code>").format(visible(piece)) if i % 2 else Markup.escape(visible(piece))
        for i, piece in enumerate(text.split("`"))
    ]
    return Markup("").join(pieces)


if __name__ == "__main__":
    stage.run(write_errors_page)
