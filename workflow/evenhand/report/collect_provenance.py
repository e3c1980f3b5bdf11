"""Stage: write the provenance of all result files into one document beside the results."""

import csv
import json
import os
from pathlib import Path
from typing import Any

from evenhand.core import hermetic
from evenhand.core.files import content_digest, folder_files
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import PACKAGE, read_package, write_rows
from evenhand.core.verify import DELETE_RECORD
from evenhand.report.read import read_json

#: The fields of a run's record, except its inputs.
FIELDS = ("stage", "code", "parameters", "config", "packages", "counts")


#: The columns of the table.
TABLE = [
    *("file", "kind", "result", "sha256", "bytes", "rows", "columns", "stage", "code"),
    *("parameters", "packages", "counts", "inputs"),
]


def collect_provenance(
    *, files: list[Source], records: list[Input] | None = None, out: Output, table: Output
) -> dict[str, Any]:
    """Collect, for each result file, the stage, code, parameters and inputs that made it.

    The record of a file's run is looked up by the path under which the stage wrote it, and the
    records of that run's inputs in the same way. So each result is traced through the
    intermediate files to the sources, which no recorded run made.

    Parameters
    ----------
    files
        The result files and folders (a model, a set of sheets), by the paths that the stages
        wrote them to.
    records
        The records of the runs that made these and the intermediate files, from the folder
        EVENHAND_STATE. A file without one is described, but not traced.
    out
        The document, JSON: ``{"files": [{file, result, kind, sha256, bytes, rows, columns, stage,
        code, parameters, config, packages, counts, inputs}], "sources": [{file, sha256}]}``,
        sorted by file.

        ``result`` is true for `files` and false for intermediate files; ``bytes`` is the sum over
        a folder's files; ``rows`` is null where there are none; ``config`` gives the
        configuration's key of those parameters that have one; ``inputs`` gives for each argument
        of the stage the path and the sha256 of each file as it was read. A path that begins with
        ``{mirror}`` lies in the mirror. The path of a file elsewhere on the machine is reduced
        to its name, after an ellipsis. Unknown values are null.
    table
        The same as CSV (`TABLE`), a row per file, then a row per source (with ``kind`` source):
        parameters and counts as JSON, under the configuration's keys where there are any;
        packages as ``name version`` and inputs as paths, separated by semicolons.
    """
    written = _by_content(records or [])
    known = {path for path, _ in written}
    for folder in list(files):  # a declared table of a folder is a result of its own
        if (folder / PACKAGE).is_file():
            paths = [folder / f"{name}.csv" for name in read_package(folder)]
            if record := written.get((str(folder), content_digest(folder))):
                written |= {(str(path), content_digest(path)): record for path in paths}
            files = [*files, *paths]
    entries = {
        str(file): {"result": True, "sha256": content_digest(file)} | _describe(file)
        for file in files
    }
    sources: dict[tuple[str, str], dict[str, Any]] = {}
    waiting = sorted(entries)
    while waiting:
        name = waiting.pop()
        entry = entries[name]
        record = written.get((name, entry["sha256"]), {})  # none if it was changed by hand
        entry |= {field: record.get(field) for field in FIELDS}
        entry["inputs"] = {}
        for argument, contents in record.get("inputs", {}).items():
            entry["inputs"][argument] = inputs = []
            for content in contents:
                file, sha256 = content.get("file"), content["sha256"]
                if file in known and file not in entries:
                    entries[file] = {"result": False, "sha256": sha256} | _describe(Path(file))
                    waiting.append(file)
                if file not in entries:
                    file = _public(file)
                    sources[file or "", sha256] = {"file": file, "sha256": sha256}
                inputs.append({"file": file, "sha256": sha256})
    document = {
        "files": [{"file": name} | entries[name] for name in sorted(entries)],
        "sources": [sources[key] for key in sorted(sources)],
    }
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    out.write_text(f"{text}\n", encoding="utf-8")
    rows = map(_row, document["files"])
    write_rows(table, TABLE, [*rows, *(row | {"kind": "source"} for row in document["sources"])])
    traced = sum(entry["stage"] is not None for entry in entries.values())
    return {"files": len(entries), "traced": traced, "sources": len(sources)}


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a file as a row of the table."""
    keys = entry["config"] or {}
    parameters, packages = entry["parameters"] or {}, entry["packages"] or {}
    settings = {keys.get(name, name): value for name, value in parameters.items()}
    inputs = {file["file"] for files in entry["inputs"].values() for file in files} - {None}
    return {name: entry.get(name) for name in TABLE} | {
        "columns": "; ".join(entry["columns"] or []),
        "parameters": _json(settings),
        "counts": _json(entry["counts"] or {}),
        "packages": "; ".join(f"{name} {version}" for name, version in sorted(packages.items())),
        "inputs": "; ".join(sorted(inputs)),
    }


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""


def _by_content(records: list[Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the records by path and checksum of each file or folder that they list as written."""
    written = {}
    for path in sorted(records):
        record = read_json(path, DELETE_RECORD)
        for output in record["outputs"].values():
            written[output["file"], output["sha256"]] = record
            hermetic.allow(Path(output["file"]))  # its content is fixed by the record's checksum
    return written


def _public(file: str | None) -> str | None:
    """Return the path of a source without parts of this machine; None if it is not recorded."""
    if file is None or not Path(file).is_absolute():
        return file
    path, mirror = Path(file), os.environ.get("EVENHAND_MIRROR")
    if path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    if mirror and path.is_relative_to(mirror):
        return f"{{mirror}}/{path.relative_to(mirror)}"
    return f"…/{path.name}"


def _describe(path: Path) -> dict[str, Any]:
    """Return kind, bytes, rows and columns of a file or folder; rows only of a table."""
    entry: dict[str, Any] = {"kind": "file", "bytes": None, "rows": None, "columns": None}
    if path.is_dir():
        entry["kind"] = "folder"
        entry["bytes"] = sum((path / name).stat().st_size for name in folder_files(path))
    elif path.exists():
        entry["bytes"] = path.stat().st_size
    if path.suffix == ".parquet" and path.is_file():
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
        entry |= {"rows": metadata.num_rows, "columns": metadata.schema.to_arrow_schema().names}
    elif path.suffix == ".csv" and path.is_file():
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            entry |= {"columns": next(reader, None), "rows": sum(1 for _ in reader)}
    return entry
