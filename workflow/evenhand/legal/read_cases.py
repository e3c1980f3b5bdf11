"""Stage: cases of any source, in the one form of `evenhand.legal.records`."""

import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args

from tqdm import tqdm

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin, Source
from evenhand.errors import InputError
from evenhand.io.decoding import Encoding
from evenhand.io.documents import write_json
from evenhand.io.quarantine import Quarantine
from evenhand.legal.dataset import Dataset
from evenhand.legal.declaration import KIND as COLUMNS
from evenhand.legal.declaration import completed, description, read_dataset, read_declaration
from evenhand.legal.records import Record, write_records
from evenhand.legal.rows import files_of

#: Reasons of the quarantine for which the case stays.
NOTED = frozenset({"bad_date", "conclusion_differs", "no_group", "undecodable_bytes", "nul_bytes"})

#: The kind of a format that reads the data sets of all courts.
ANY = "any"


def read_cases(
    *,
    files: list[Source],
    out: Output,
    quarantine: Output,
    counts: Output,
    format: Annotated[str, Plugin("evenhand.legal.formats")],
    declaration: str,
    tables: list[Input] | None = None,
    documents: list[str] | None = None,
    no_finding: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any]:
    """Read cases, each once, and count the cases kept and left out.

    Parameters
    ----------
    files : list of path
        Files, compressed files, archives, depending on the format. Of a folder all files that
        are not hidden are read, with those of the folders below, in the order of their paths;
        the others go to the quarantine.
    out : path
        ``records.parquet`` (`evenhand.legal.records.RECORD`), in the order of the files.
    quarantine : path
        Cases left out and unreadable data, with file, position and reason.
    counts : path
        JSON: read = records + the sum of left_out (by reason); noted (by reason: the case
        stayed); labels (cases by label; ``none``: no label applies; ``unknown``: the source
        does not tell), undated, languages, splits, paragraphs and characters of the facts.
    format : str
        How the files are read: a module of `evenhand.legal.formats`.
    declaration : str
        The data set, as JSON: a recipe of ``resources/legal/courts`` with its kind, or an entry of
        ``text.datasets``, of which the labels and groups that occur are found. It is written into
        the metadata of the records (`evenhand.legal.declaration.read_dataset`).
    tables : list of path
        The tables that the format reads, named by their stems.
    documents : list of str, optional
        HUDOC's types of documents that are judgments (hudoc_json).
    no_finding : str, optional
        Label of a judgment that finds neither a violation nor none: unknown or no_violation.
    encoding : str, optional
        The files' encoding.

    Raises
    ------
    InputError
        The format is for another kind, does not know an option, lacks a table, or finds no
        case at all; or a declared data set has too few labels or groups.
    """
    dataset = read_declaration(declaration)
    reader = importlib.import_module(f"evenhand.legal.formats.{format}")
    if reader.KIND not in (dataset.kind, ANY):
        raise InputError(
            f"the format {format} reads cases of {reader.KIND}, not of {dataset.kind}",
            remedy=f"choose a format for {dataset.kind}",
        )
    given = {"documents": documents, "no_finding": no_finding, "encoding": encoding}
    options = _options(reader, format, given) | {"declaration": declaration}
    problems = Quarantine()
    tally: dict[str, Any] = {
        "labels": Counter(),
        "undated": 0,
        "languages": Counter(),
        "splits": Counter(),
        "paragraphs": 0,
        "characters": 0,
        "values": {},  # of the attributes of a data set that is declared by columns
    }
    named = _tables(reader, format, tables or [])
    records = reader.read(list(files_of(files, problems)), options, problems, named)

    def describe() -> dict[str, str]:
        if dataset.kind != COLUMNS or not tally["paragraphs"]:
            return description(dataset)
        return description(completed(json.loads(declaration), tally["labels"], tally["values"]))

    distinct = _distinct(records, files, problems)
    written = write_records(out, _counted(distinct, tally, dataset.kind == COLUMNS), describe)
    problems.write(quarantine)
    if not written:
        raise InputError(
            f"no case could be read: {_reasons(problems) or 'there is none'}",
            file=files[0] if files else None,
            remedy=f"the format {format} needs {reader.NEEDS}",
        )
    tally.pop("values")
    left_out = {k: n for k, n in sorted(problems.counts.items()) if k not in NOTED}
    result = {
        "read": written + sum(left_out.values()),
        "records": written,
        "left_out": left_out,
        "noted": {k: n for k, n in sorted(problems.counts.items()) if k in NOTED},
        "labels": _in_order(tally.pop("labels"), read_dataset(out)),
    } | {
        name: dict(sorted(value.items())) if isinstance(value, Counter) else value
        for name, value in tally.items()
    }
    write_json(counts, result)
    return {name: result[name] for name in ("read", "records", "left_out", "noted")}


def _options(reader: ModuleType, format: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, all of which the format must know."""
    chosen = {name: value for name, value in given.items() if value is not None}
    options = getattr(reader, "OPTIONS", {})
    if unknown := sorted(chosen.keys() - options.keys()):
        known = ", ".join(options) or "none"
        raise InputError(
            f"the format {format} has no option {unknown[0]}",
            remedy=f"leave it out (its options: {known})",
        )
    known_encodings = getattr(reader, "ENCODINGS", get_args(Encoding))
    if chosen.get("encoding", known_encodings[0]) not in known_encodings:
        raise InputError(
            f"the encoding {chosen['encoding']!r} is none that the format {format} reads",
            remedy=f"choose one of {', '.join(known_encodings)}",
        )
    return chosen


def _tables(reader: ModuleType, format: str, tables: list[Path]) -> dict[str, Path]:
    """The tables by name; those that the format reads must be there."""
    named = {path.stem: path for path in tables}
    if missing := [name for name in reader.TABLES if name not in named]:
        raise InputError(
            f"the format {format} reads the table {missing[0]}, which is not given",
            remedy=f"name {missing[0]}.csv among the tables",
        )
    return {name: named[name] for name in reader.TABLES}


def _distinct(
    records: Iterable[Record], files: list[Path], problems: Quarantine
) -> Iterator[Record]:
    """The records with facts, the first of each id; sources without the folders before them."""
    roots = sorted({f"{path.parent}/" for path in files}, key=lambda root: (-len(root), root))
    seen: dict[str, str] = {}
    bar = tqdm(
        records,
        unit=" cases",
        mininterval=0.5 if sys.stderr.isatty() else 10,
        desc="reading",
    )
    for record in bar:
        where = (record.source, record.source_position, "record")
        if not record.text:
            problems.add(*where, "no_facts", record.case_id)
            continue
        root = next((one for one in roots if record.source.startswith(one)), "")
        source = record.source.removeprefix(root)
        if record.case_id in seen:
            detail = f"{record.case_id} was read from {seen[record.case_id]}"
            problems.add(*where, "duplicate_case", detail)
            continue
        seen[record.case_id] = source
        yield replace(record, source=source)


def _counted(records: Iterable[Record], tally: dict[str, Any], columns: bool) -> Iterator[Record]:
    for record in records:
        labels = ["unknown"] if record.labels is None else record.labels or ["none"]
        tally["labels"].update(labels)
        tally["undated"] += record.date is None
        tally["languages"][record.language or "unknown"] += 1
        tally["splits"][record.split or "none"] += 1
        tally["paragraphs"] += len(record.text)
        tally["characters"] += sum(map(len, record.text))
        if columns:
            for name, value in record.given.items():
                tally["values"].setdefault(name, Counter())[value] += 1
        yield record


def _in_order(labels: Counter[str], dataset: Dataset) -> dict[str, int]:
    """Counts of labels in the data set's order, then of cases without; others are a defect."""
    names = dataset.labels
    if strange := sorted(labels.keys() - {*names, "none", "unknown"}):
        raise ValueError(f"{strange[0]} is no label of {dataset.title}")
    return {name: labels[name] for name in (*names, "none", "unknown") if labels[name]}


def _reasons(problems: Quarantine) -> str:
    """Return the three most frequent reasons in the quarantine, the most frequent first."""
    found = problems.counts.most_common(3)
    return ", ".join(f"{reason} {n} times ({problems.first_detail(reason)})" for reason, n in found)


if __name__ == "__main__":
    stage.run(read_cases)
