"""Result tables as CSV: how a number, a truth value and a gap are written."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def write_rows(
    path: Path, header: Sequence[str], rows: Iterable[Mapping[str, Any]], form: str = ".6f"
) -> int:
    """Write a result table, and return the number of its rows.

    Truth values are ``true`` and ``false``. A cell is blank for None, for a number that is not
    finite, and where a row lacks the column.

    Parameters
    ----------
    path : path
        The file, UTF-8.
    header : sequence of str
        The columns.
    rows : iterable of mapping
        Cells by column.
    form : str
        How a number with decimals is written.

    Raises
    ------
    ValueError
        A row has a column that the header lacks.
    """
    written = 0
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _cell(value, form) for name, value in row.items()})
            written += 1
    return written


def _cell(value: Any, form: str) -> Any:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return ""
        text = format(value, form)
        return text if float(text) else text.removeprefix("-")
    return value
