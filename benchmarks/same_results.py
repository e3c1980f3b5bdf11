"""Compare two folders of results file by file: ``python benchmarks/same_results.py BASE HEAD``.

For a redesign that shall change no result. Each difference is listed; the exit status is 1 if
there is one. Tables are compared cell by cell, JSON key by key, Parquet by schema and values, all
else by bytes. ``--renames`` names a YAML file with what may differ::

    files:                  # regular expressions over paths of BASE, the first match wins
      - ["tables/(\\w+)_length.csv", "tables/pairs/\\1/length.csv"]
      - ["report/.*", null]                 # null: gone on purpose
    new: ["tables/.*/index.json"]           # of HEAD only, on purpose
    columns:                                # by a regular expression over paths of HEAD
      - ["tables/.*", {share_longer: prefers_longer_share, note: null}]
    values:                                 # in cells and JSON texts, as columns
      - ["tables/.*", {distinguishable: significant}]
    keys: [code, sha256, packages]          # of JSON documents, not compared

Files that hold times, digests or logs are left out: ``logs``, ``benchmarks``, ``.evenhand``.
"""

import argparse
import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

OMITTED = ("logs", "benchmarks", ".evenhand", "sources")
#: At most so many differences of one file are listed.
LISTED = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--renames", type=Path)
    arguments = parser.parse_args()
    renames = yaml.safe_load(arguments.renames.read_text()) if arguments.renames else {}
    compared, differences = compare(arguments.base, arguments.head, renames or {})
    print("\n".join(differences))
    print(f"{compared} files compared, {len(differences)} differences")
    sys.exit(1 if differences else 0)


def compare(base: Path, head: Path, renames: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the number of files that both have, and a line for each difference."""
    there, here = files(base), files(head)
    target = {name: renamed(name, renames.get("files", ())) for name in there}
    lines = [f"{name}: lost" for name in there if target[name] and target[name] not in here]
    expected = set(filter(None, target.values()))
    lines += [
        f"{name}: new"
        for name in sorted(here - expected)
        if not any(re.fullmatch(pattern, name) for pattern in renames.get("new", ()))
    ]
    both = [name for name in sorted(there) if target[name] in here]
    for name in both:
        found = [*differences(base / name, head / target[name], target[name], renames)]
        lines += [f"{target[name]}: {line}" for line in found[:LISTED]]
        lines += [f"{target[name]}: {len(found) - LISTED} more"] if len(found) > LISTED else []
    return len(both), lines


def files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in found}
    return {
        name
        for name in names
        if name.split("/")[0] not in OMITTED and not name.endswith(".snakemake_timestamp")
    }


def renamed(name: str, rules: list[list[str | None]]) -> str | None:
    """The path in HEAD; None if it is gone on purpose."""
    for pattern, replacement in rules:
        if match := re.fullmatch(pattern, name):
            return None if replacement is None else match.expand(replacement)
    return name


def chosen(path: str, rules: list[list[Any]]) -> dict[str, Any]:
    """All that the rules for this path map."""
    return {k: v for pattern, map_ in rules if re.fullmatch(pattern, path) for k, v in map_.items()}


def differences(base: Path, head: Path, name: str, renames: dict[str, Any]) -> Iterator[str]:
    if digest(base) == digest(head):
        return
    columns = chosen(name, renames.get("columns", ()))
    values = chosen(name, renames.get("values", ()))
    if base.suffix in (".csv", ".parquet"):
        read = read_csv if base.suffix == ".csv" else read_parquet
        yield from of_tables(read(base), read(head), columns, values)
    elif base.suffix in (".json", ".jsonl"):
        skipped = set(renames.get("keys", ()))
        pair = [[json.loads(line) for line in documents(path)] for path in (base, head)]
        yield from of_values(*pair, "", columns, values, skipped)
    else:
        yield f"other bytes ({base.stat().st_size} -> {head.stat().st_size})"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def documents(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return text.splitlines() if path.suffix == ".jsonl" else [text]


def read_csv(path: Path) -> tuple[list[str], list[list[Any]]]:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    return (rows[0], rows[1:]) if rows else ([], [])


def read_parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    table = pq.read_table(path)
    columns = [table.column(name).to_pylist() for name in table.column_names]
    return table.column_names, [list(row) for row in zip(*columns, strict=True)]


def of_tables(base, head, columns: dict[str, str | None], values: dict[str, str]) -> Iterator[str]:
    """Differences of two tables of (names, rows)."""
    names = [columns.get(name, name) for name in base[0]]
    kept = [name for name in names if name is not None]
    if set(kept) != set(head[0]):
        lost, new = sorted(set(kept) - set(head[0])), sorted(set(head[0]) - set(kept))
        yield f"columns lost {lost}, new {new}"
    if len(base[1]) != len(head[1]):
        yield f"{len(base[1])} rows -> {len(head[1])}"
        return
    places = {name: head[0].index(name) for name in kept if name in head[0]}
    for number, (before, after) in enumerate(zip(base[1], head[1], strict=True), start=1):
        for name, value in zip(names, before, strict=True):
            if name in places and not same(value, after[places[name]], values):
                yield f"row {number}, {name}: {value!r} -> {after[places[name]]!r}"


def same(before: Any, after: Any, values: dict[str, str]) -> bool:
    if isinstance(before, float) and isinstance(after, float) and before != before:
        return after != after
    return before == after or (isinstance(before, str) and values.get(before, before) == after)


def of_values(before, after, where: str, columns, values, skipped: set[str]) -> Iterator[str]:
    """Differences of two JSON values."""
    if isinstance(before, dict) and isinstance(after, dict):
        before = {columns.get(key, key): value for key, value in before.items()}
        before.pop(None, None)
        for key in sorted((before.keys() | after.keys()) - skipped, key=str):
            if key not in before or key not in after:
                yield f"{where}.{key} {'new' if key not in before else 'lost'}"
            else:
                pair = before[key], after[key]
                yield from of_values(*pair, f"{where}.{key}", columns, values, skipped)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, pair in enumerate(zip(before, after, strict=True)):
            yield from of_values(*pair, f"{where}[{place}]", columns, values, skipped)
    elif not same(before, after, values):
        yield f"{where}: {str(before)[:60]!r} -> {str(after)[:60]!r}"


if __name__ == "__main__":
    main()
