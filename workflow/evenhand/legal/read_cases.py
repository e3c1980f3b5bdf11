"""Stage: read the cases of any source into the common form of `evenhand.legal.records`."""

import importlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args

from tqdm import tqdm

from evenhand.core.stage import Input, Output, Plugin, Setting, Source
from evenhand.errors import InputError, placed
from evenhand.io.decoding import Encoding
from evenhand.io.documents import write_json
from evenhand.io.quarantine import Quarantine
from evenhand.legal.declaration import KIND as COLUMNS
from evenhand.legal.declaration import completed, description, read_dataset, read_declaration
from evenhand.legal.records import Record, tables_of, text_id, write_records
from evenhand.legal.rows import CaseFiles, files_of
from evenhand.text.phrases import plural

#: Reasons of the quarantine for which the case stays.
NOTED = frozenset({"bad_date", "conclusion_differs", "doubtful_number", "no_group"})
NOTED |= {"undecodable_bytes", "nul_bytes", "open_end", "other_encoding"}

#: Numbers of the records that are kept: labels, languages, splits, sizes, and groups by attribute.
Tally = dict[str, Counter[str]]


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
    positive: Annotated[str | None, Setting] = None,
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
        stayed); without_group (cases whose value gives no single group, by attribute);
        empty_bins (those that no case is in, by attribute); labels
        (cases by label; ``none``: no label applies; ``unknown``: the source does not state it),
        undated, languages, splits, paragraphs and characters of the facts.
    format : str
        How the files are read: a module of `evenhand.legal.formats`.
    declaration : str
        The data set, as JSON: a recipe of ``resources/legal/courts`` with its kind, or an entry of
        ``text.datasets``, whose labels and groups are those that occur. It is written into
        the metadata of the records (`evenhand.legal.declaration.read_dataset`).
    tables : list of path
        The tables that the format reads, named by their stems.
    documents : list of str, optional
        HUDOC's types of documents that are judgments (hudoc_json).
    no_finding : str, optional
        Label of a judgment that finds neither a violation nor none: unknown or no_violation.
    encoding : str, optional
        The files' encoding.
    positive : str, optional
        The label whose rates are computed later, so that a wrong one fails before any training.

    Raises
    ------
    InputError
        The format finds no case at all; or a declared data set has too few labels, too few or
        too many groups, or leaves out more than half of its rows, or more than half of them have
        no label, or it lacks the positive one, or its texts are all equal or without words.
    """
    dataset = read_declaration(declaration)
    reader = importlib.import_module(f"evenhand.legal.formats.{format}")
    options = _options(reader, documents=documents, no_finding=no_finding, encoding=encoding)
    problems = Quarantine()
    cases = CaseFiles(
        list(files_of(files, problems)),
        problems,
        options | {"declaration": declaration},
        tables_of(reader, tables or []),
    )
    tally: Tally = defaultdict(Counter)

    def refusal(problem: str) -> InputError:
        reasons = Counter(_left_out(problems)).most_common(3)
        words = ", ".join(
            f"{reason} {plural(n, 'time')}"
            f" ({problems.first_place(reason)}: {problems.first_detail(reason)})"
            for reason, n in reasons
        )
        cure = getattr(reader, "CURES", {}).get(reasons[0][0]) if reasons else None
        return InputError(
            f"{problem}: {words or 'the files have no records'}",
            file=files[0] if files else None,
            remedy=cure or f"the format {format} needs {reader.NEEDS}",
        )

    def describe() -> dict[str, str]:
        kept, left_out = tally["sizes"]["records"], sum(_left_out(problems).values())
        if dataset.kind != COLUMNS or not kept:
            return description(dataset)
        if problems.counts["unknown_encoding"]:
            place = problems.first_place("unknown_encoding")
            problem = f"no encoding is known for {place}, so that nothing after it can be read"
            remedy = "save the file as UTF-8, for example by `iconv -f windows-1252 -t UTF-8`, if"
            remedy += " windows-1252 is the encoding of the program that wrote it"
            raise InputError(problem, remedy=remedy)
        if left_out > kept:
            raise refusal(f"only {kept} of {kept + left_out} rows can be used")
        if 2 * (unknown := tally["labels"]["unknown"]) > kept:
            problem = f"{unknown} of {kept} rows have no label"
            remedy = "mend the label's column or its missing values, or leave out these rows"
            raise InputError(problem, file=files[0] if files else None, remedy=remedy)
        groups = {each.name: tally[f"group {each.name}"] for each in dataset.attributes}
        unusable = {
            name: f"{n} of {kept} rows have a value that gives no single group (the first:"
            f" {problems.first_detail('no_group', f'{name}: ') or 'in the quarantine'})"
            for name, n in tally["without_group"].items()
        }
        details = (row[4] for row in problems.rows() if row[3] == "outside_labels")
        beginnings = (detail.rpartition(", which is not declared")[0] for detail in details)
        undeclared = list(dict.fromkeys(filter(None, beginnings)))
        whole = completed(json.loads(declaration), tally["labels"], groups, unusable, undeclared)
        with placed(files[0]):
            _check_texts(tally, kept)
            whole.positive_place(positive)
        return description(whole)

    distinct = _distinct(reader.read(cases), files, problems)
    written = write_records(out, (count(record, tally) for record in distinct), describe)
    problems.write(quarantine)
    if not written:
        raise refusal("no case could be read")
    left_out = _left_out(problems)
    reasons = sorted(problems.counts.items())
    whole = read_dataset(out)
    labels = (*whole.labels, "none", "unknown")
    sizes = tally["sizes"]
    noted = {reason: n for reason, n in reasons if reason in NOTED}
    if "no_group" in noted:
        noted["no_group"] = tally["without_group"].total()  # without those of copies
    result = {
        "read": written + sum(left_out.values()),
        "records": written,
        "left_out": left_out,
        "first_left_out": {reason: problems.first_place(reason) for reason in left_out},
        "noted": noted,
        "without_group": dict(sorted(tally["without_group"].items())),
        "empty_bins": {
            before.name: empty
            for before, after in zip(dataset.attributes, whole.attributes, strict=True)
            if (empty := [name for name in before.groups if name not in after.groups])
        },
        "first_noted": {
            reason: problems.first_detail(reason) for reason, _ in reasons if reason in NOTED
        },
        "labels": {name: tally["labels"][name] for name in labels if tally["labels"][name]},
        "undated": sizes["undated"],
        "languages": dict(sorted(tally["languages"].items())),
        "splits": dict(sorted(tally["splits"].items())),
        "paragraphs": sizes["paragraphs"],
        "characters": sizes["characters"],
    }
    write_json(counts, result)
    return {name: result[name] for name in ("read", "records", "left_out", "noted")}


def count(record: Record, tally: Tally) -> Record:
    """Count a record that is kept, and return it."""
    tally["labels"].update(["unknown"] if record.labels is None else record.labels or ["none"])
    tally["languages"][record.language or "unknown"] += 1
    tally["splits"][record.split or "none"] += 1
    tally["without_group"].update(record.without_group)
    sizes = {"paragraphs": len(record.text), "characters": sum(map(len, record.text))}
    tally["sizes"].update(sizes | {"records": 1, "undated": record.date is None})
    for name, value in record.metadata.items():
        tally[f"group {name}"][value] += 1
    if len(tally["first texts"]) < 2:
        tally["first texts"][" ".join(record.text)] += 1
    if not tally["sizes"]["with_words"]:
        tally["sizes"]["with_words"] = int(any(map(str.isalnum, chain(*record.text))))
    return record


def _check_texts(tally: Tally, kept: int) -> None:
    """Raise InputError if all texts are equal, or none has a letter or a digit."""
    (text, *others), remedy = tally["first texts"], "name the column of the texts in `text`"
    if kept > 1 and not others:
        raise InputError(f"all {kept} rows have the same text ({text[:60]!r})", remedy=remedy)
    if not tally["sizes"]["with_words"]:
        problem = f"none of {kept} texts has a letter or a digit (the first: {text[:60]!r})"
        raise InputError(problem, remedy=remedy)


def _left_out(problems: Quarantine) -> dict[str, int]:
    """Return how many cases are left out, by reason."""
    reasons = sorted(problems.counts.items())
    return {reason: n for reason, n in reasons if reason not in NOTED}


def _options(reader: ModuleType, **options: Any) -> dict[str, Any]:
    """Return the options of a format: defaults, and those that are set."""
    options = {name: value for name, value in options.items() if value is not None}
    name = reader.__name__.rpartition(".")[2]
    known = getattr(reader, "OPTIONS", {})
    encodings = getattr(reader, "ENCODINGS", get_args(Encoding))
    if options.get("encoding", encodings[0]) not in encodings:
        problem = f"the encoding {options['encoding']!r} is none that the format {name} reads"
        raise InputError(problem, remedy=f"choose one of {', '.join(encodings)}")
    return known | options


def _distinct(
    records: Iterable[Record], files: list[Path], problems: Quarantine
) -> Iterator[Record]:
    """Yield records with facts, the first of each id; their sources without parent folders.

    A later one is a copy (``duplicate_case``), or has another text (``duplicate_id``).
    """
    roots = sorted({f"{path.parent}/" for path in files}, key=lambda root: (-len(root), root))
    seen: dict[str, tuple[str, str]] = {}
    interval = 0.5 if sys.stderr.isatty() else 10
    bar = {"mininterval": interval, "delay": interval}  # nothing before an error of small data
    for record in tqdm(records, unit=" cases", desc="reading", **bar):
        place = (record.source, record.source_position, record.unit)
        if not record.text:
            problems.add(*place, "no_facts", record.case_id)
            continue
        root = next((root for root in roots if record.source.startswith(root)), "")
        source = record.source.removeprefix(root)
        digest = text_id(record.text)
        if record.case_id in seen:
            first, text = seen[record.case_id]
            reason = "duplicate_case" if text == digest else "duplicate_id"
            problems.add(
                *place, reason, f"an earlier record of {first} has the id {record.case_id}"
            )
            continue
        seen[record.case_id] = source, digest
        yield replace(record, source=source)
