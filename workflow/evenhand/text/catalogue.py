"""Catalogues of sentences: Jinja files with a macro per sentence, which gets its facts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.text.phrases import listed


def read_catalogue(path: Path, *, html: bool = False, **filters: Any) -> Callable[..., str]:
    """Return the function that fills a sentence: it takes the macro's name, and the facts.

    Parameters
    ----------
    path : Path
        The catalogue.
    html : bool
        Whether sentences are markup, in which facts are escaped.
    **filters
        Functions that format facts, besides ``listed``, ``fixed`` (decimals) and ``short``.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, autoescape=html)
    environment.filters |= {
        "listed": listed,
        "fixed": lambda value, digits: f"{value:.{digits}f}",
        "short": lambda value: f"{value:g}",
    } | filters
    macros = environment.from_string(path.read_text(encoding="utf-8")).module

    def fill(sentence: str, /, *facts: Any, **named: Any) -> str:
        text = getattr(macros, sentence)(*facts, **named)
        return type(text)(re.sub("[ \n]+", " ", text).strip())

    return fill
