"""Build the table of a data set: its cases with labels, attributes, evidence and split."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Range, Share
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import count_rows, read_rows, write_table
from evenhand.legal.built import cases_schema
from evenhand.legal.declaration import Dataset, described
from evenhand.legal.findings import findings_files
from evenhand.legal.records import BATCH_CASES, SPLITS, Record, read_distinct
from evenhand.legal.splits import split_cases


@stage.checked
def build_cases(
    *,
    records: list[Input],
    findings: Input,
    out: Output,
    counts: Output,
    splits: Output,
    duplicates: Output,
    split_counts: Output,
    shares: Annotated[list[float], Range(above=0, below=1)] | None = None,
    threshold: Share = 0.8,
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
    if missing := [each.name for each in dataset.attributes if each.name not in files]:
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
    """Yield the rows of `build_cases`, and count them."""
    files, attributes = [splits, *findings], [each.name for each in dataset.attributes]
    for record, *rows in zip_longest(read_distinct(records), *map(read_rows, files)):
        expected = record.case_id if record else None
        for path, row in zip(files, rows, strict=True):
            case_id = row["case_id"] if row else None
            if case_id != expected:
                pair = (case_id, expected)
                actual, required = (f"the case {i}" if i else "no further case" for i in pair)
                raise InputError(
                    f"has {actual} where the records have {required}",
                    file=path,
                    remedy="make both from the same records, and give them in the same order",
                )
        case = _case(record, *rows, dataset=dataset)
        tally.update(["cases", case["split"]])
        tally["unlabelled"] += not case["label_known"]
        tally["near_duplicates"] += case["duplicate_of"] is not None
        tally.update(f"unknown {name}" for name in attributes if case[name] is None)
        yield case


def _case(
    record: Record, split: dict[str, Any], *findings: dict[str, Any], dataset: Dataset
) -> dict[str, Any]:
    copied = ("case_id", "date", "title", "language", "source", "source_position")
    case = {name: getattr(record, name) for name in copied} | {
        "split": split["split"],
        "text": list(record.text),
        "labels": _labels(record, dataset),
        "label_known": record.labels is not None,
        "duplicate_of": split["duplicate_of"],
    }
    for attribute, finding in zip(dataset.attributes, findings, strict=True):
        value, name = finding["value"], attribute.name
        if value is not None and attribute.groups and value not in attribute.groups:
            groups = ", ".join(attribute.groups)
            raise ValueError(f"case {record.case_id}: {value!r} is no group of {name} ({groups})")
        case |= {
            name: value,
            f"{name}_rule": finding["rule"],
            f"{name}_evidence": finding["evidence"],
        }
    return case


def _labels(record: Record, dataset: Dataset) -> list[int]:
    """Return the labels as numbers, ascending."""
    if record.labels is None:
        return []
    if unknown := [name for name in record.labels if name not in dataset.labels]:
        raise ValueError(f"case {record.case_id}: {unknown[0]!r} is no label of {dataset.title}")
    labels = sorted({dataset.labels.index(name) for name in record.labels})
    if dataset.task == "multi_class" and len(labels) != 1:
        raise ValueError(f"case {record.case_id} has {len(labels)} labels, and needs one")
    return labels


if __name__ == "__main__":
    stage.run(build_cases)
