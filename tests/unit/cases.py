"""Cases of parametrised tests that are data: a CSV file with a row per case, or YAML."""

import csv
from pathlib import Path
from typing import Any

import yaml


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, with or without a byte-order mark."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def read_cases(test: str, name: str) -> list[list[str]]:
    """The rows of ``cases/{name}.csv`` beside a test module (its `__file__`).

    The header and a last column called note are left out. A cell may contain escapes: ``\\n``.
    """
    path = Path(test).parent / f"cases/{name}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    width = len(header) - (header[-1] == "note")
    return [[_unescaped(cell) for cell in row[:width]] for row in rows]


def _unescaped(cell: str) -> str:
    return cell.encode("latin-1", "backslashreplace").decode("unicode_escape")


def load_cases(test: str) -> dict[str, list[list[Any]]]:
    """The rows of parametrised tests, by test: ``cases/{module}.yaml`` beside its `__file__`."""
    path = Path(test)
    path = path.parent / f"cases/{path.stem.removeprefix('test_')}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))
