"""The table of data sources, and where a source lies once it is fetched."""

from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.resources import read_resource


def read_sources(path: Path) -> dict[str, dict[str, str]]:
    """The table of data sources, by name."""
    columns = ["name", "file", "sha256", "url", "licence"]
    rows = read_resource(path, columns, optional=("url", "sha256"), unique=("name",))
    return {row["name"]: row for row in rows}


def source_path(config: dict[str, Any], sources: dict[str, dict[str, str]], name: str) -> str:
    """Where a data source lies once it is fetched."""
    if name not in sources:
        raise InputError(
            f"config: there is no data source {name}", remedy=f"add it to {config['sources']}"
        )
    return f"{config['results']}/sources/{name}/{sources[name]['file']}"
