"""The table of data sources, and the paths of fetched sources."""

import csv
import io
import re
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.errors import InputError

_NAME = re.compile(r"\w[\w.-]*")


def read_sources(path: Path) -> dict[str, dict[str, str]]:
    """Read the table of data sources, by name.

    Raises
    ------
    InputError
        It is no such table, or a name or file contains a blank or another character not allowed
        in paths.
    """
    columns = ["name", "file", "sha256", "url", "licence"]

    def checked(row: dict[str, str]) -> dict[str, str]:
        for column in ("name", "file"):
            if not _NAME.fullmatch(row[column]):
                problem = f"the {column} {row[column]!r} of a data source cannot name a file"
                remedy = "use letters, digits, underscores, dots and hyphens"
                raise InputError(problem, remedy=remedy)
        return row

    optional = ("url", "sha256")
    rows = read_resource(path, columns, optional=optional, unique=("name",), make=checked)
    return {row["name"]: row for row in rows}


def source_path(config: dict[str, Any], sources: dict[str, dict[str, str]], name: str) -> str:
    """Return the path of a data source once it is fetched."""
    if name not in sources:
        problem = f"config: there is no data source {name}"
        raise InputError(problem, remedy=f"add it to {config['sources']}")
    return f"{config['results']}/sources/{name}/{sources[name]['file']}"


def input_files(
    config: dict[str, Any], sources: dict[str, dict[str, str]], key: str, named: dict[str, Any]
) -> list[str]:
    """Return the files and the fetched sources that a part of the configuration names.

    Raises
    ------
    InputError
        It names neither; the error names its key.
    """
    if not named["files"] and not named["sources"]:
        raise InputError(f"config: {key} names neither files nor sources")
    return named["files"] + [source_path(config, sources, name) for name in named["sources"]]


def unchecked(config: dict[str, Any], sources: dict[str, dict[str, str]]) -> str:
    """Return the lines to add to the table for fetched sources without a checksum there."""
    words = []
    for name in (name for name, row in sources.items() if not row["sha256"]):
        record = Path(f"{source_path(config, sources, name)}.sha256")
        if not record.is_file():
            continue
        with Path(config["sources"]).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            reader.fieldnames = [column.strip() for column in reader.fieldnames or []]
            row = next(row for row in reader if row["name"].strip() == name)
        line = io.StringIO()
        row["sha256"] = record.read_text(encoding="utf-8").partition(" ")[0]
        csv.DictWriter(line, list(row), lineterminator="").writerow(row)
        words.append(
            f"warning: the data source {name} has no checksum in {config['sources']}. Copies are"
            f" held against the first one's ({record}). If you trust it, replace the line of"
            f" {name} by:\n{line.getvalue()}"
        )
    return "\n".join(words)
