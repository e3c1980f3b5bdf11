"""Results as JSON: written in one way, and read back with a word on who writes them."""

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


def write_json(path: Path, document: Any) -> None:
    """Write a document: a key a line, in the order given.

    Raises
    ------
    ValueError
        It holds a number that is not finite, which JSON does not know.
    """
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read_description(path: Path, keys: Set[str], stage: str) -> dict[str, Any]:
    """The description that a stage wrote beside its data.

    Parameters
    ----------
    path : path
        The description.
    keys : set of str
        The required keys.
    stage : str
        The stage, for the error.

    Raises
    ------
    InputError
        It has another form.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        lacks = keys - document.keys()
    except (ValueError, AttributeError) as error:
        raise InputError(f"is not a description that {stage} wrote", file=path) from error
    if lacks:
        raise InputError(f"lacks {min(lacks)}, which {stage} writes", file=path)
    return document
