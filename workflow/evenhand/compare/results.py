"""A results folder: its tables and their provenance."""

import csv
import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.core.files import content_digest
from evenhand.errors import InputError

#: The tables that are compared by row; other files are compared as a whole.
TABLES = ("tables/**/*.csv", "slguset/*.csv", "slguset_published/*.csv")

#: The files with the items behind numbers.
STORES = (
    "slguset/slguset.parquet",
    "slguset_published/slguset.parquet",
    "slguset*/bias/*.parquet",
    "stereotypes/*/pairs.parquet",
    "stereotypes/*/scores/*.parquet",
)

PROVENANCE = "provenance.json"

#: The column with the name of a language model.
MODEL = "model"


class Results:
    """The results folder of a finished run, or of an audit from Python or the command line.

    Parameters
    ----------
    folder : Path
        The folder with tables, and `provenance.json` if the workflow made them.

    Raises
    ------
    InputError
        The folder does not exist, has no table, or a run is not finished.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: The name of a model elsewhere, and its name here: two versions of one model.
        self.versions: tuple[str, str] | None = None
        if not folder.is_dir():
            raise InputError("there is no such folder", file=folder, remedy="name a results folder")
        self.traced = (folder / PROVENANCE).is_file()
        if not self.traced and (folder / ".evenhand").is_dir():
            raise InputError(
                f"holds no {PROVENANCE}, so its run is not finished",
                file=folder,
                remedy="let the workflow finish first",
            )
        found = {file for pattern in TABLES for file in folder.glob(pattern)}
        self.tables = sorted(file.relative_to(folder).as_posix() for file in found)
        if not self.tables:
            raise InputError("holds no table, so there is nothing to compare", file=folder)

    @cached_property
    def files(self) -> dict[str, dict[str, Any]]:
        """The entries of `provenance.json` by path in the folder; none without that file.

        Paths of inputs that the run made are relative to the folder too.
        """
        if not self.traced:
            return {}
        path = self.folder / PROVENANCE
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))["files"]
            names = [str(entry["file"]) for entry in entries]
            for entry in entries:
                entry["sha256"], entry["stage"], entry["code"]
                entry["parameters"], entry["packages"], entry["inputs"].items()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                "does not say where the results come from",
                file=path,
                remedy="remove it, and let the workflow write it again",
            ) from error
        start = self._start(names)
        return {
            _within(entry["file"], start): entry
            | {
                "inputs": {
                    argument: [one | {"file": _within(one["file"], start)} for one in described]
                    for argument, described in entry["inputs"].items()
                }
            }
            for entry in entries
        }

    @cached_property
    def made(self) -> set[str]:
        """The SHA-256 of every file that the run made, intermediate files included."""
        digests = {entry["sha256"] for entry in self.files.values()}
        for path in (self.folder / ".evenhand" / "records").glob("*.json"):
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                digests.update(output["sha256"] for output in record["outputs"].values())
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # of a killed run: its files count as sources
        return digests

    def _start(self, names: list[str]) -> str:
        """Return the prefix of the recorded paths; the folder may have been moved since."""
        starts: Counter[str] = Counter()
        for name in names:
            parts = name.split("/")
            for place in range(len(parts)):
                if (self.folder / "/".join(parts[place:])).exists():
                    starts["/".join(parts[:place]) + "/" if place else ""] += 1
                    break
        if not starts:
            raise InputError(
                f"none of the files that {PROVENANCE} names is there", file=self.folder
            )
        return starts.most_common(1)[0][0]

    def changed_since(self) -> dict[str, str]:
        """Return the SHA-256 of tables and stores that differ from their records."""
        stores = {file for pattern in STORES for file in self.folder.glob(pattern)}
        names = {*self.tables, *(file.relative_to(self.folder).as_posix() for file in stores)}
        digests = {
            name: content_digest(self.folder / name) for name in sorted(names & self.files.keys())
        }
        return {
            name: digest for name, digest in digests.items() if digest != self.files[name]["sha256"]
        }

    def rows(self, name: str) -> tuple[list[str], list[dict[str, str]]]:
        """Return the header and the rows of a table, both empty without a file.

        Raises
        ------
        InputError
            It is not a table: not UTF-8, without a header, or with rows of another length.
        """
        path = self.folder / name
        if not path.is_file():
            return [], []
        with path.open(encoding="utf-8-sig", newline="") as stream:
            try:
                reader = csv.reader(stream, strict=True)
                header = next(reader, [])
                rows = []
                for cells in reader:
                    if len(cells) != len(header):
                        raise InputError(
                            f"does not have {len(header)} cells", file=path, line=reader.line_num
                        )
                    rows.append(self._renamed(dict(zip(header, cells, strict=True))))
            except (csv.Error, UnicodeDecodeError) as error:
                raise InputError(f"is not a table ({error})", file=path) from error
        if not header or len({*header}) < len(header):
            raise InputError("has no header, or a column twice", file=path, line=1)
        return header, rows

    def _renamed(self, row: dict[str, str]) -> dict[str, str]:
        """Return a row with the name that its model has elsewhere."""
        known = self.versions and row.get(MODEL) == self.versions[1]
        return row | {MODEL: self.versions[0]} if known else row

    def own_key(self, key: dict[str, str]) -> dict[str, str]:
        """Return the key that a row, as `rows` has it, has in the files of this folder."""
        known = self.versions and key.get(MODEL) == self.versions[0]
        return key | {MODEL: self.versions[1]} if known else key


def _within(name: str | None, start: str) -> str | None:
    """Return a path relative to the folder, or unchanged if it is outside."""
    return name.removeprefix(start) if name and start else name
