"""Read the inputs of a page's sections: small typed tables and documents."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


def read_csv(path: Path, columns: Mapping[str, Callable[[str], Any]]) -> list[dict[str, Any]]:
    """Return the rows of a result table.

    Parameters
    ----------
    path : Path
        A UTF-8 CSV file with a header.
    columns : mapping
        The function that parses a cell, by the name of the column. An empty cell is None.
        Other columns are not read.

    Raises
    ------
    InputError
        The file lacks a column, or a cell is not a value of its kind.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        header = reader.fieldnames or []
        for name in columns:
            if name not in header:
                raise InputError(f"lacks the column {name}", file=path, line=1)
        rows = []
        for row in reader:
            try:
                rows.append(
                    {name: kind(row[name]) if row[name] else None for name, kind in columns.items()}
                )
            except ValueError as error:
                raise InputError(str(error), file=path, line=reader.line_num) from error
    return rows


def read_json(path: Path) -> Any:
    """Return a JSON document.

    Raises
    ------
    InputError
        The file is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError("is not JSON", file=path) from error
