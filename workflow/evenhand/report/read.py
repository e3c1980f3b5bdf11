"""Read the documents that pages show."""

import json
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


def read_json(path: Path, remedy: str | None = None) -> Any:
    """Return a JSON document; the error names the remedy.

    Raises
    ------
    InputError
        The file is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError("is not JSON", file=path, remedy=remedy) from error
