"""Build the table of a data set: its cases with labels, attributes, evidence and split."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from evenhand.core.stage import Input, Output, Range, Share, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import count_rows, read_rows, write_table
from evenhand.legal.built import cases_schema
from evenhand.legal.declaration import Dataset, described
from evenhand.legal.findings import findings_files
from evenhand.legal.records import BATCH_CASES, SPLITS, Record, read_distinct
from evenhand.legal.splits import DUPLICATE, SPLIT, Case, split_cases


@checked
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
        The split of each case, and its reason; the duplicates; and JSON: see
        `evenhand.legal.splits`.
    shares, threshold : list of float, float
        The shares of the splits, and the similarity from which texts are near duplicates.

    Raises
    ------
    InputError
        The findings are of other records, or the shares, the threshold or the records cannot be
        used.
    ValueError
        A label is none of the data set's, or a case of a task with single labels has several.
    """
    dataset, files = findings_files(findings)
    cases, others, numbers = split_cases(records, shares, threshold)
    write_table(
        splits, SPLIT, ({name: case[name] for name in SPLIT.names} for case in cases.values())
    )
    write_table(duplicates, DUPLICATE, others)
    write_json(split_counts, numbers)
    tally: Counter[str] = Counter()
    rows = _join(records, cases, list(files.values()), dataset, tally)
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
    records: list[Path],
    cases: dict[str, Case],
    findings: list[Path],
    dataset: Dataset,
    tally: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `build_cases`, and count them."""
    attributes = [each.name for each in dataset.attributes]
    for record, *rows in zip(read_distinct(records), *map(read_rows, findings), strict=True):
        for path, row in zip(findings, rows, strict=True):
            if row["case_id"] != record.case_id:
                problem = f"has the case {row['case_id']} where the records have {record.case_id}"
                remedy = "find the attributes anew in these records"
                raise InputError(problem, file=path, remedy=remedy)
        case = _case(record, cases[record.case_id], *rows, dataset=dataset)
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
    labels = sorted({dataset.labels.index(name) for name in record.labels})
    if dataset.task == "multi_class" and len(labels) != 1:
        raise ValueError(f"case {record.case_id} has {len(labels)} labels, and needs one")
    return labels
