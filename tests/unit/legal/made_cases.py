"""Small built data sets in the form of `build_cases`, and records and findings to them."""

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.io.tables import write_table
from evenhand.legal.built import load_dataset
from evenhand.legal.findings import EVIDENCE, Evidence, Finding, write_findings
from evenhand.legal.records import Record, write_records

#: The language of a kind's cases.
LANGUAGES = {"ecthr": "en", "scotus": "en", "fscs": "de", "cail": "zh"}


def schema(kind: str) -> pa.Schema:
    """The columns of a data set of this kind."""
    columns = [
        ("case_id", pa.string()),
        ("date", pa.date32()),
        ("title", pa.string()),
        ("language", pa.string()),
        ("split", pa.string()),
        ("text", pa.list_(pa.string())),
        ("labels", pa.list_(pa.int32())),
        ("label_known", pa.bool_()),
    ]
    for one in load_dataset(kind).attributes:
        columns += [
            (one.name, pa.string()),
            (f"{one.name}_rule", pa.string()),
            (f"{one.name}_evidence", EVIDENCE),
        ]
    return pa.schema(
        [
            *columns,
            ("duplicate_of", pa.string()),
            ("source", pa.string()),
            ("source_position", pa.int64()),
        ]
    )


def case(kind: str, number: int, **given: Any) -> dict[str, Any]:
    """A case; `labels` as names, None for unknown."""
    labels = load_dataset(kind).labels
    named = given.pop("labels", [labels[0]])
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
    assert given.keys() <= row.keys(), given.keys() - row.keys()
    return row | given


def write_cases(path: Path, kind: str, cases: list[dict[str, Any]]) -> Path:
    """Write cases, each a dict of what differs from the usual (see `case`)."""
    rows = [case(kind, number, **one) for number, one in enumerate(cases, start=1)]
    write_table(path, schema(kind), rows)
    return path


def record(number: int, **given: Any) -> Record:
    """A record as a reader gives it."""
    return Record(
        **{
            "case_id": f"ecthr-{number}",
            "source": "ecthr.jsonl",
            "source_position": number,
            "text": (f"Facts of the case {number}.",),
            "labels": (),
            "given": {},
        }
        | given
    )


def write_found(
    folder: Path,
    pairs: list[tuple[Record, Finding]],
    name: str = "part",
    attribute: str = "applicant_gender",
) -> tuple[Path, Path]:
    """Write records and the findings of one attribute; return the file and the folder."""
    records, findings = folder / f"{name}.records.parquet", folder / f"{name}.findings"
    write_records(records, [one for one, _ in pairs])
    found = [(one.case_id, finding) for one, finding in pairs]
    write_findings(findings / f"{attribute}.parquet", found)
    return records, findings


def evidence(record: Record, words: str, part: str = "text", paragraph: int = 0) -> Evidence:
    """Words of a record as evidence."""
    start = getattr(record, part)[paragraph].index(words)
    return Evidence(part, paragraph, start, start + len(words), words)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a result table."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
