"""Plan which results `snakemake --report` shows, and how.

``workflow/report/shown.csv`` lists them; ``workflow/report`` contains the captions.
"""

import csv
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

#: Columns of the table: the path below the results, as in its rule; the category; the caption's
#: stem; a description; and the data set or model (which may have wildcards, or be blank).
COLUMNS = ["file", "category", "caption", "result", "of"]


def read_shown(table: Path) -> dict[str, dict[str, Any]]:
    """Return the arguments of Snakemake's ``report`` by the path of the output.

    Parameters
    ----------
    table : Path
        ``shown.csv``. Captions are files in the same folder, with paths relative to the rules.

    Raises
    ------
    InputError
        The table has other columns, lists a file twice, or names a missing caption.
    """
    with table.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != COLUMNS:
            raise InputError(f"has other columns than {', '.join(COLUMNS)}", file=table, line=1)
        arguments: dict[str, dict[str, Any]] = {}
        for row in reader:
            place = {"file": table, "line": reader.line_num}
            caption = table.with_name(f"{row['caption']}.rst")
            if not caption.is_file():
                raise InputError(f"names the caption {caption.name}, which is not there", **place)
            file = f"<results>/{row['file']}"
            if file in arguments:
                raise InputError(f"tells of {row['file']} a second time", **place)
            arguments[file] = {
                "caption": f"../{table.parent.name}/{caption.name}",
                "category": row["category"],
                "labels": {name: row[name] for name in ("result", "of") if row[name]},
            }
    return arguments
