"""Build the table of a data set: its cases with labels, attributes, evidence and split."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import count_rows, read_rows, write_table
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.declaration import described
from evenhand.legal.findings import EVIDENCE, findings_files
from evenhand.legal.records import BATCH_CASES, SPLITS, Record, read_distinct
from evenhand.legal.splits import split_cases


def build_cases(
    *,
    records: list[Input],
    findings: Input,
    out: Output,
    counts: Output,
    splits: Output,
    duplicates: Output,
    split_counts: Output,
    shares: list[float] | None = None,
    threshold: float = 0.8,
) -> dict[str, Any]:
    """Divide the cases of a data set, and join them with their attributes.

    Parameters
    ----------
    records : list of path
        The records of `read_cases`.
    findings : path
        The folder of `find_attributes`, of all attributes of the data set.
    out : path
        Parquet, a row a case in the order of `records`: case_id, date, title, language, split,
        text, labels (numbers of `Dataset.labels`; empty where none applies or none is known),
        label_known, for each attribute its group (or number; null where unknown), the rule
        and the evidence, then duplicate_of, source, source_position. Of a case id in several
        files, the first counts.
    counts : path
        JSON: the returned dict.
    splits, duplicates, split_counts : paths
        The split of each case, and its reason: see `evenhand.legal.splits.split_cases`.
    shares, threshold : list of float, float
        The shares of the splits, and the similarity from which texts are near duplicates.

    Raises
    ------
    InputError
        The findings lack an attribute or are of other records, or the shares, the threshold or
        the records cannot be used.
    ValueError
        A label or a group is none of the data set's, or a case of a task with single labels
        has several.
    """
    dataset, files = findings_files(findings)
    if missing := [one.name for one in dataset.attributes if one.name not in files]:
        raise InputError(f"lacks the attribute {missing[0]}", file=findings)
    split_cases(
        records=records,
        out=splits,
        duplicates=duplicates,
        counts=split_counts,
        shares=shares,
        threshold=threshold,
    )
    tally: Counter[str] = Counter()
    rows = _join(records, splits, list(files.values()), dataset, tally)
    write_table(out, described(cases_schema(dataset.attributes), dataset), rows, BATCH_CASES)
    read = sum(count_rows(path) for path in records)
    result = {
        "cases": tally["cases"],
        "splits": {split: tally[split] for split in SPLITS},
        "unlabelled": tally["unlabelled"],
        "same_id": read - tally["cases"],
        "near_duplicates": tally["near_duplicates"],
        "unknown": {name: tally[f"unknown {name}"] for name in files},
    }
    write_json(counts, result)
    return result


def _join(
    records: list[Path], splits: Path, findings: list[Path], dataset: Dataset, tally: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `build_cases`, counted on the way."""
    beside = [splits, *findings]
    for record, *rows in zip_longest(read_distinct(records), *map(read_rows, beside)):
        for path, row in zip(beside, rows, strict=True):
            if (row and row["case_id"]) != (record and record.case_id):
                raise InputError(
                    f"has {_of(row and row['case_id'])} where the records have"
                    f" {_of(record and record.case_id)}",
                    file=path,
                    remedy="make both from the same records, and give them in the same order",
                )
        case = _case(record, rows[0], rows[1:], dataset)
        tally.update(
            {
                "cases": 1,
                case["split"]: 1,
                "unlabelled": not case["label_known"],
                "near_duplicates": case["duplicate_of"] is not None,
                **{f"unknown {one.name}": case[one.name] is None for one in dataset.attributes},
            }
        )
        yield case


def _of(case_id: str | None) -> str:
    return f"the case {case_id}" if case_id else "no further case"


def cases_schema(attributes: Sequence[Attribute]) -> pa.Schema:
    """Return the columns of a data set with these attributes."""
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
    for one in attributes:
        columns += [
            (one.name, pa.string()),
            (f"{one.name}_rule", pa.string()),
            (f"{one.name}_evidence", EVIDENCE),
        ]
    columns += [
        ("duplicate_of", pa.string()),
        ("source", pa.string()),
        ("source_position", pa.int64()),
    ]
    return pa.schema(columns)


def _case(
    record: Record,
    row: dict[str, Any],
    found: list[dict[str, Any]],
    dataset: Dataset,
) -> dict[str, Any]:
    case = {
        "case_id": record.case_id,
        "date": record.date,
        "title": record.title,
        "language": record.language,
        "split": row["split"],
        "text": list(record.text),
        "labels": _labels(record, dataset),
        "label_known": record.labels is not None,
        "duplicate_of": row["duplicate_of"],
        "source": record.source,
        "source_position": record.source_position,
    }
    for attribute, one in zip(dataset.attributes, found, strict=True):
        value = one["value"]
        if value is not None and attribute.groups and value not in attribute.groups:
            raise ValueError(
                f"case {record.case_id}: {value!r} is no group of {attribute.name}"
                f" ({', '.join(attribute.groups)})"
            )
        case[attribute.name] = value
        case[f"{attribute.name}_rule"] = one["rule"]
        case[f"{attribute.name}_evidence"] = one["evidence"]
    return case


def _labels(record: Record, dataset: Dataset) -> list[int]:
    """The labels as numbers, ascending."""
    if record.labels is None:
        return []
    if strange := [name for name in record.labels if name not in dataset.labels]:
        raise ValueError(f"case {record.case_id}: {strange[0]!r} is no label of {dataset.title}")
    labels = sorted({dataset.labels.index(name) for name in record.labels})
    if dataset.task == "multi_class" and len(labels) != 1:
        raise ValueError(f"case {record.case_id} has {len(labels)} labels, and needs one")
    return labels


if __name__ == "__main__":
    stage.run(build_cases)
