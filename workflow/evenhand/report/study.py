"""The results that a page shows, and the settings of the run that it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.core.tables import read_tables
from evenhand.report.read import read_json
from evenhand.text.phrases import Titles


@dataclass(frozen=True)
class Study:
    """The results that a page shows; the fields are arguments of `write_page`."""

    files: Sequence[Path]
    titles: Mapping[str, str] = field(default_factory=dict)
    systems: Sequence[str] = ()
    planted: Path | None = None
    declarations: Sequence[str] = ()
    linked: Sequence[str] = ()
    swapped: str = ""
    delta: float = 5.0
    results: str = ""

    def paths(self, pattern: str) -> list[Path]:
        """Return the files whose paths end like this, with ``*`` for any part of a name."""
        return [path for path in map(Path, self.files) if path.match(pattern)]

    def path(self, pattern: str) -> Path | None:
        """Return the first of these files; None without one."""
        return next(iter(self.paths(pattern)), None)

    def places(self, *patterns: str) -> tuple[str, ...]:
        """Return the paths of these files, and of these tables of folders, below the results."""
        places: list[str] = []
        for pattern in patterns:
            folder, _, table = pattern.rpartition("/") if ".csv" in pattern else (pattern, "", "")
            for path in self.paths(folder):
                steps = path.parts[-folder.count("/") - 1 :]
                places.append("/".join(filter(None, [*steps, table])))
        return tuple(places)

    def documents(self, pattern: str) -> list[Any]:
        """Return the contents of JSON files."""
        return [read_json(path) for path in self.paths(pattern)]

    def document(self, pattern: str) -> Any:
        """Return the content of a JSON file; None without the file."""
        return next(iter(self.documents(pattern)), None)

    def tables(self, folder: str) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of a folder's tables by name; none without the folder."""
        path = self.path(folder)
        return read_tables(path) if path else {}

    def titles_of(self, kind: str) -> Titles:
        """Return the titles of the names ``kind/name``, by name."""
        start = f"{kind}/"
        named = ((name, title) for name, title in self.titles.items() if name.startswith(start))
        return Titles({name.removeprefix(start): title for name, title in named})
