"""Small built data sets in the form of `build_cases`, and records and findings to them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.io.tables import write_table
from evenhand.legal.built import cases_schema
from evenhand.legal.declaration import Dataset, described, description, read_declaration
from evenhand.legal.findings import Evidence, Finding, write_findings
from evenhand.legal.records import Record, write_records
from evenhand.plan_legal import recipe

#: The language of a kind's cases.
LANGUAGES = {"ecthr": "en", "scotus": "en", "fscs": "de", "cail": "zh"}


def declaration(kind: str) -> str:
    """The recipe of a court as stages get it."""
    return json.dumps(recipe(kind))


def court(kind: str) -> Dataset:
    """The data set of a court."""
    return read_declaration(declaration(kind))


def schema(kind: str) -> pa.Schema:
    """The columns of a data set of this kind."""
    return described(cases_schema(court(kind).attributes), court(kind))


def case(kind: str, number: int, **values: Any) -> dict[str, Any]:
    """A case; `labels` as names, None for unknown."""
    labels = court(kind).labels
    named = values.pop("labels", [labels[0]])
    row = {
        **dict.fromkeys(schema(kind).names),
        "case_id": f"{kind}-{number}",
        "language": LANGUAGES[kind],
        "split": "train",
        "text": [f"Facts of the case {number}."],
        "labels": [labels.index(name) for name in named or []],
        "label_known": named is not None,
        "source": f"{kind}.jsonl",
        "source_position": number,
    }
    assert values.keys() <= row.keys(), values.keys() - row.keys()
    return row | values


def write_cases(path: Path, kind: str, cases: list[dict[str, Any]]) -> Path:
    """Write cases, each a dict of what differs from the usual (see `case`)."""
    rows = [case(kind, number, **one) for number, one in enumerate(cases, start=1)]
    write_table(path, schema(kind), rows)
    return path


def record(number: int, **values: Any) -> Record:
    """A record as a reader gives it."""
    return Record(
        **{
            "case_id": f"ecthr-{number}",
            "source": "ecthr.jsonl",
            "source_position": number,
            "text": (f"Facts of the case {number}.",),
            "labels": (),
            "metadata": {},
        }
        | values
    )


def write_found(
    folder: Path,
    pairs: list[tuple[Record, Finding]],
    name: str = "part",
    attribute: str = "applicant_gender",
    kind: str = "ecthr",
) -> tuple[Path, Path]:
    """Write records and the findings of one attribute; return the file and the folder."""
    records, findings = folder / f"{name}.records.parquet", folder / f"{name}.findings"
    write_records(records, [one for one, _ in pairs], lambda: description(court(kind)))
    found = [(one.case_id, finding) for one, finding in pairs]
    write_findings(findings / f"{attribute}.parquet", found, court(kind))
    return records, findings


def evidence(record: Record, words: str, part: str = "text", paragraph: int = 0) -> Evidence:
    """Words of a record as evidence."""
    start = getattr(record, part)[paragraph].index(words)
    return Evidence(part, paragraph, start, start + len(words), words)
