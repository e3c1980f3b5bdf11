"""The records and the quarantine of each format, whole, for the files in `cases`.

Each file of `cases` has the cases of a format, by name: files (text; a list of JSON objects, one
a line, which change the object `base` unless they are `alone`; such content in an encoding, or as
members of a zip file; rows of a Parquet file; or changes of a made judgment), options, and the
court of FairLex's files.
``EXPECTED=write`` writes what comes out.
"""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from evenhand.errors import InputError
from evenhand.legal.records import Record
from expected import check_expected
from unit.legal.made_cases import declaration
from unit.legal.made_judgments import changed
from unit.legal.made_records import read_all

CASES = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "cases").glob("*.yaml"))
}


def write(path: Path, content: Any, base: dict[str, Any]) -> Path:
    encoding = "utf-8"
    if isinstance(content, dict) and "parquet" in content:
        pq.write_table(pa.Table.from_pylist(content["parquet"]), path)
        return path
    if isinstance(content, dict) and "zip" in content:
        with zipfile.ZipFile(path, "w") as archive:
            for name, member in content["zip"].items():
                archive.write(write(path.parent / "member", member, base), name)
        return path
    if isinstance(content, dict) and "judgment" in content:
        content = changed(content)
    if isinstance(content, dict):
        encoding, content = content["encoding"], content["content"]
    if isinstance(content, list):
        rows = [row.get("alone", base | row) if isinstance(row, dict) else row for row in content]
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode(encoding, "surrogateescape"))
    return path


def shown(record: Record) -> Iterator[str]:
    """The fields of a record that are written and have a value, without its folder."""
    fields = asdict(record) | {"source": Path(record.source).name, "unit": None}
    for name, value in fields.items():
        if value or value == () == record.labels:
            yield f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}"
    yield "--"


def outcome(folder: Path, format: str, case: dict[str, Any], base: dict[str, Any]) -> list[str]:
    folder.mkdir()
    paths = {name: write(folder / name, text, base) for name, text in case["files"].items()}
    files = dict.fromkeys(folder / name.partition("/")[0] for name in paths)
    options = case.get("options", {})
    if "court" in case:
        options = options | {"declaration": declaration(case["court"])}
    try:
        records, quarantine = read_all(format, list(files), **options)
    except InputError as error:
        return [f"error: {error}".replace(f"{folder}/", "")]
    reasons = [
        f"{reason} {count}: {quarantine.first_detail(reason)}".replace(f"{folder}/", "")
        for reason, count in sorted(quarantine.counts.items())
    ]
    return [line for record in records for line in shown(record)] + reasons


@pytest.mark.parametrize("format", CASES)
def test_records_and_quarantine(tmp_path, format):
    base = CASES[format].get("base", {})
    lines = []
    for number, (name, case) in enumerate(CASES[format]["cases"].items()):
        lines += [f"## {name}", *outcome(tmp_path / str(number), format, case, base), ""]
    check_expected(f"formats/{format}.txt", "\n".join(lines))
