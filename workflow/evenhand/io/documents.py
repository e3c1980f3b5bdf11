"""Results as JSON: written in a fixed format, and read back with errors that name the stage."""

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

from evenhand.core.whole import read_text
from evenhand.errors import AGAIN, InputError


def write_json(path: Path, document: Any) -> None:
    """Write a document, one key per line, in the given order.

    Raises
    ------
    ValueError
        It contains a number that is not finite, which JSON does not allow.
    """
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read_description(path: Path, keys: Set[str], stage: str) -> dict[str, Any]:
    """Return the description that a stage wrote beside its data.

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
        It has another format.
    """
    try:
        document = json.loads(read_text(path))
        lacks = keys - document.keys()
    except (ValueError, AttributeError) as error:
        problem = f"is not a description that {stage} wrote"
        raise InputError(problem, file=path, remedy=AGAIN) from error
    if lacks:
        raise InputError(f"lacks {min(lacks)}, which {stage} writes", file=path, remedy=AGAIN)
    return document
