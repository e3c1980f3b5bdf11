"""Markdown files, made from a template: data cards and model cards."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from evenhand.core.decimals import fixed, missing

if TYPE_CHECKING:
    import jinja2

#: A missing value.
NOTHING = "–"

#: Markup of Markdown and of the HTML in it; an underscore in a word is none, nor is p < 0.05.
_MARKUP = re.compile(r"[\\`*\[\]>|&~$]|<(?! )|(?<!\w)_|_(?!\w)")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}

#: Control characters, and marks that change the direction of the text.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


#: The hub's categories of size: fewer rows than this.
SIZES = [
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
]


def render(
    template: Path, facts: dict[str, Any], filters: Mapping[str, Callable[..., str]] | None = None
) -> str:
    """Return a file made from its template; a name that is not set is an error.

    Beside `filters` there are ``number`` (12,345), ``percent`` (of a share of 0 to 1),
    ``decimal(digits)``, ``span`` (of two ends, with digits) and ``plain``, through which every
    text from data must go. A missing value becomes a dash.
    """
    import jinja2

    filters = {
        "number": lambda value: NOTHING if missing(value) else f"{value:,}",
        "percent": lambda value, digits=1: _fixed(value, digits, scale=100, unit="%"),
        "decimal": _fixed,
        "span": span,
        "plain": plain,
        **(filters or {}),
    }
    environment = _environment(filters)
    code = _compiled(template.read_text(encoding="utf-8"), tuple(filters))
    named = environment.make_globals(None)
    return jinja2.Template.from_code(environment, code, named).render(facts)


@cache  # one process may fill a template often
def _compiled(template: str, filters: tuple[str, ...]) -> CodeType:
    """Compile a template that has filters of these names."""
    return _environment(dict.fromkeys(filters, str)).compile(template)


def _environment(filters: Mapping[str, Callable[..., str]]) -> "jinja2.Environment":
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # `plain` escapes
        optimized=False,  # a filter is called when the template is filled
    )
    environment.filters |= filters
    return environment


def size_category(rows: int) -> str:
    """Return the Hugging Face Hub's size category of a data set."""
    return next((name for below, name in SIZES if rows < below), "10M<n<100M")


def plain(text: str) -> str:
    """A text on one line, which Markdown shows as it is, also in a cell of a table."""
    line = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return _MARKUP.sub(lambda match: _ENTITIES.get(match[0], "\\" + match[0]), line)


def span(ends: tuple[float | None, float | None], digits: int = 1) -> str:
    """An interval: ``34.6 to 60.2``; a dash without both ends."""
    low, high = ends
    if missing(low) or missing(high):
        return NOTHING
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def _fixed(value: float | None, digits: int, *, scale: int = 1, unit: str = "") -> str:
    return NOTHING if missing(value) else fixed(scale * value, digits) + unit
