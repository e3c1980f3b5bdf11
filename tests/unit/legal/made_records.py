"""Helpers of the tests of readers and attributes: tables of the repository, and what is read."""

import importlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evenhand
from evenhand.io.quarantine import Quarantine
from evenhand.legal.find_attributes import finder
from evenhand.legal.findings import Finding, check_evidence
from evenhand.legal.records import Record
from unit.legal.made_cases import court

FOLDER = Path(evenhand.__file__).resolve().parents[2] / "resources" / "legal"


def tables(module: Any) -> dict[str, Path]:
    """The repository's tables that a format or an attribute reads."""
    return {name: FOLDER / f"{name}.csv" for name in module.TABLES}


def read(format: str, files: list[Path], **options: Any) -> tuple[list[Record], Counter]:
    """The records that a format reads, and how many things went to the quarantine, by reason."""
    module = importlib.import_module(f"evenhand.legal.formats.{format}")
    quarantine = Quarantine()
    records = list(module.read(files, options, quarantine, tables(module)))
    return records, quarantine.counts


def finder_of(module: Any, files: dict[str, Path] | None = None) -> Callable[[Record], Finding]:
    """What finds a court's attribute of a record, with the repository's tables or others."""
    name = module.__name__.rpartition(".")[2]
    (attribute,) = [one for one in court(module.KIND).attributes if one.module == name]
    return finder(module, attribute, files or tables(module))


def find(attribute: str, given: dict[str, str], text: tuple[str, ...] = ("x",)) -> Finding:
    """What is found about a record of the given metadata and text; its evidence is checked."""
    module = importlib.import_module(f"evenhand.legal.attributes.{attribute}")
    record = Record(case_id="c", source="f", source_position=3, text=text, given=given)
    finding = finder_of(module)(record)
    check_evidence(record, finding)
    return finding


def json_lines(path: Path, *rows: Any, encoding: str = "utf-8") -> Path:
    """A file with an object a line."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes("".join(lines).encode(encoding))
    return path
