"""Stage: for each result file, what made it: one document beside the results."""

import csv
import json
from pathlib import Path
from typing import Any

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.files import content_digest
from evenhand.stage import Input, Output, Source

#: What a record says of a run, beside its inputs.
FIELDS = ("stage", "code", "parameters", "packages", "counts")


def collect_provenance(
    *, files: list[Source], records: list[Input] | None = None, out: Output
) -> dict[str, Any]:
    """Collect, for each result file, the stage, code, parameters and inputs that made it.

    The record of a file's run is looked up by the path under which the stage wrote it.

    Parameters
    ----------
    files
        The result files and folders (a model, a set of sheets), by the paths that the stages
        wrote them to.
    records
        The records of the runs that made them, from the folder EVENHAND_STATE. A file without
        one is described, but not traced.
    out
        The document, JSON: ``{"files": [{file, kind, sha256, bytes, rows, columns, stage,
        code, parameters, packages, counts, inputs}]}``, sorted by file. ``bytes`` counts a
        folder's files together; ``rows`` is null where there are none; ``inputs`` gives for
        each argument of the stage the sha256 of each file and, where it is one of `files`,
        its path. What is not known is null.
    """
    if twice := {file for file in files if files.count(file) > 1}:
        raise InputError("is named twice among the result files", file=min(twice))
    by_path = _records_by_path(records or [])
    entries = {str(file): _describe(file) for file in files}
    made_here = {}
    for name in sorted(entries):
        made_here.setdefault(entries[name]["sha256"], name)
    for name, entry in entries.items():
        record = by_path.get(name, {})
        if record.get("sha256") != entry["sha256"]:  # changed by hand, or by another run
            record = {}
        entry |= {field: record.get(field) for field in FIELDS}
        entry["inputs"] = {
            argument: [
                {"sha256": one["sha256"], "file": made_here.get(one["sha256"], _named(one))}
                for one in described
            ]
            for argument, described in record.get("inputs", {}).items()
        }
    document = {"files": [entries[name] for name in sorted(entries)]}
    out.write_text(
        json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    traced = sum(entry["stage"] is not None for entry in entries.values())
    return {"files": len(entries), "traced": traced}


def _records_by_path(records: list[Path]) -> dict[str, dict[str, Any]]:
    """The records by each path that they say was written."""
    by_path: dict[str, dict[str, Any]] = {}
    for path in sorted(records):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError("is not JSON", file=path, remedy="remove the file") from error
        for output in record["outputs"].values():
            by_path[output["file"]] = record | {"sha256": output["sha256"]}
    return by_path


def _named(described: dict[str, str]) -> str | None:
    """The path of a `Source` of the run; of an `Input` only suffixes are recorded."""
    name = described["name"]
    return name if name.strip(".") and not name.startswith(".") else None


def _describe(path: Path) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "file": str(path),
        "kind": "folder" if path.is_dir() else "file",
        "sha256": content_digest(path),
        "rows": None,
        "columns": None,
    }
    if path.is_dir():
        inside = [one for one in sorted(path.rglob("*")) if one.is_file()]
        return entry | {"bytes": sum(one.stat().st_size for one in inside)}
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as table:
            entry["rows"] = table.metadata.num_rows
            entry["columns"] = table.schema_arrow.names
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            entry["columns"] = next(reader, None)
            entry["rows"] = sum(1 for _ in reader)
    return entry | {"bytes": path.stat().st_size}


if __name__ == "__main__":
    stage.run(collect_provenance)
