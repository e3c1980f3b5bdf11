"""Helpers of the tests of formats and attributes."""

import csv
import importlib
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import evenhand
from evenhand.io.quarantine import Quarantine
from evenhand.legal.find_attributes import finder
from evenhand.legal.findings import Finding, check_evidence
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, files_of
from unit.legal.made_cases import court, record

FOLDER = Path(evenhand.__file__).resolve().parents[2] / "resources" / "legal"


def tables(module: Any) -> dict[str, Path]:
    """Return the repository's tables that a format or an attribute reads."""
    return {name: FOLDER / f"{name}.csv" for name in getattr(module, "TABLES", ())}


def read_all(format: str, files: list[Path], **options: Any) -> tuple[list[Record], Quarantine]:
    """Return the records that a format reads, and the quarantine."""
    module = importlib.import_module(f"evenhand.legal.formats.{format}")
    quarantine = Quarantine()
    paths = list(files_of(files, quarantine))
    cases = CaseFiles(paths, quarantine, getattr(module, "OPTIONS", {}) | options, tables(module))
    return list(module.read(cases)), quarantine


def read(format: str, files: list[Path], **options: Any) -> tuple[list[Record], Counter]:
    """Return the records that a format reads, and the counts of the quarantine by reason."""
    records, quarantine = read_all(format, files, **options)
    return records, quarantine.counts


@cache
def finder_of(name: str, changed: tuple[Path, ...] = ()) -> Callable[[Record], Finding]:
    """Return the finder of a court's attribute, with the repository's tables or changed ones."""
    module = importlib.import_module(f"evenhand.legal.attributes.{name}")
    (attribute,) = [each for each in court(module.KIND).attributes if each.module == name]
    return finder(module, attribute, tables(module) | {path.stem: path for path in changed})


def find(
    attribute: str, *text: str, changed: tuple[Path, ...] = (), metadata: Any = None, **values: Any
) -> Finding:
    """Return the finding on a record, whose evidence is checked."""
    case = record(3, text=text or ("x",), metadata=metadata or {}, **values)
    finding = finder_of(attribute, changed)(case)
    check_evidence(case, finding)
    return finding


def count_findings(attribute: str, records: list[Record]) -> Counter:
    """Return the number of findings by rule, value and last flag; their evidence is checked."""
    counts: Counter = Counter()
    for case in records:
        finding = finder_of(attribute)(case)
        check_evidence(case, finding)
        counts[finding.rule, finding.value, *finding.flags[-1:]] += 1
    return counts


def table(name: str, *lists: str) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the rows of a table of sentences, for `pytest.mark.parametrize`.

    A blank cell is None; cells of `lists` are divided by " | ".
    """
    with (Path(__file__).parent / "sentences" / f"{name}.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    split = {key: lambda cell: cell.split(" | ") if cell else [] for key in lists}
    return header, [
        [split.get(key, lambda cell: cell or None)(cell) for key, cell in row.items()]
        for row in cells
    ]


def json_lines(path: Path, *rows: Any, encoding: str = "utf-8") -> Path:
    """Write a file with an object per line."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes("".join(lines).encode(encoding))
    return path
