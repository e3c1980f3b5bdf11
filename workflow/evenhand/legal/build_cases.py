"""Stage: one table of a data set: its cases with labels, attributes, evidence and split."""

import importlib
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.io.tables import read_rows, write_table
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.findings import EVIDENCE, read_findings
from evenhand.legal.records import BATCH_CASES, SPLITS, Record, read_records


def build_cases(
    *,
    records: list[Input],
    splits: Input,
    attributes: list[Input],
    out: Output,
    counts: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    names: list[str] | None = None,
) -> dict[str, Any]:
    """Put a data set together.

    Parameters
    ----------
    records : list of path
        The records of `read_cases`, in the order in which `split_cases` had them.
    splits : path
        ``splits.parquet`` of `split_cases`.
    attributes : list of path
        What `find_attributes` found: for each file of `records` in turn, one file for each of
        `names` in turn.
    out : path
        Parquet, a row a case in the order of `records`: case_id, date, title, language, split,
        text, labels (numbers of `Dataset.labels`; empty where none applies or none is known),
        label_known, for each attribute its group (or number; null where unknown), the rule
        and the evidence, then duplicate_of, source, source_position. A case id that stands
        in several files is there once, from the first.
    counts : path
        JSON: what is returned.
    kind : str
        A module of `evenhand.legal.datasets`.
    names : list of str
        The attributes, by their columns; by default all of the data set, in its order.

    Raises
    ------
    InputError
        There is not one file for each record file and attribute, or the files do not belong
        together.
    ValueError
        A label or a group is none of the data set's, or a case of a task with single labels
        has several.
    """
    dataset: Dataset = importlib.import_module(f"evenhand.legal.datasets.{kind}").DATASET
    names = [one.name for one in dataset.attributes] if names is None else names
    chosen = _chosen(dataset, names)
    if len(attributes) != len(records) * len(names):
        raise InputError(
            f"{len(records)} files of records and {len(names)} attributes need"
            f" {len(records) * len(names)} files of findings, and {len(attributes)} are there",
            remedy="give for each file of records one file for each attribute",
        )
    tally = Tally(chosen)
    rows = join_cases(records, splits, attributes, dataset, chosen, tally)
    write_table(out, cases_schema(chosen), rows, BATCH_CASES)
    result = tally.counts()
    write_json(counts, result)
    return result


def join_cases(
    records: list[Path],
    splits: Path,
    findings: list[Path],
    dataset: Dataset,
    attributes: list[Attribute],
    tally: "Tally",
) -> Iterator[dict[str, Any]]:
    """The rows of `build_cases`, with the columns of some attributes; counted as they come."""
    width = len(attributes)
    divided = read_rows(splits)
    row = next(divided, None)
    seen: set[str] = set()
    for source, path in enumerate(records):
        own = findings[source * width : (source + 1) * width]
        for record, found in _together(path, own):
            if row is None or (row["source"], row["case_id"]) != (source, record.case_id):
                if record.case_id not in seen:
                    raise _mismatch(splits, row and row["case_id"], path)
                tally.same_id += 1
                continue
            seen.add(record.case_id)
            case = _case(record, row, found, dataset, attributes)
            tally.add(case)
            yield case
            row = next(divided, None)
        if row is not None and row["source"] <= source:
            raise _mismatch(splits, row["case_id"], path)
    if row is not None:
        raise _mismatch(splits, row["case_id"], records[-1])


def _chosen(dataset: Dataset, names: list[str]) -> list[Attribute]:
    known = [one.name for one in dataset.attributes]
    if strange := [name for name in names if name not in known or names.count(name) > 1]:
        raise InputError(
            f"{strange[0]} is no attribute of {dataset.title}, or is named twice",
            remedy=f"its attributes are {', '.join(known)}",
        )
    return [dataset.attribute(name) for name in names]


def cases_schema(attributes: list[Attribute]) -> pa.Schema:
    """The columns of a built data set with these attributes."""
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


def _together(path: Path, findings: list[Path]) -> Iterator[tuple[Record, list[dict[str, Any]]]]:
    """Each record of a file with what was found of it, attribute by attribute."""
    streams = [read_findings(one) for one in findings]
    for record, *found in zip_longest(read_records(path), *streams):
        for one, file in zip(found, findings, strict=True):
            own = one and one["case_id"]
            if own != (record and record.case_id):
                raise _mismatch(file, own, path)
        yield record, found


def _mismatch(file: Path, case_id: str | None, records: Path) -> InputError:
    what = f"has the case {case_id}" if case_id else "ends"
    return InputError(
        f"{what} where {records} goes on otherwise",
        file=file,
        remedy="make both from the same records, and give them in the same order",
    )


def _case(
    record: Record,
    row: dict[str, Any],
    found: list[dict[str, Any]],
    dataset: Dataset,
    attributes: list[Attribute],
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
    for attribute, one in zip(attributes, found, strict=True):
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


class Tally:
    """Counts of what was written."""

    def __init__(self, attributes: list[Attribute]) -> None:
        self.same_id = 0
        self._attributes = attributes
        self._cases: Counter[str] = Counter()

    def add(self, case: dict[str, Any]) -> None:
        """Count a case."""
        self._cases["cases"] += 1
        self._cases[case["split"]] += 1
        self._cases["unlabelled"] += not case["label_known"]
        self._cases["near_duplicates"] += case["duplicate_of"] is not None
        for one in self._attributes:
            self._cases[f"unknown {one.name}"] += case[one.name] is None

    def counts(self) -> dict[str, Any]:
        """What `build_cases` returns."""
        return {
            "cases": self._cases["cases"],
            "splits": {split: self._cases[split] for split in SPLITS},
            "unlabelled": self._cases["unlabelled"],
            "same_id": self.same_id,
            "near_duplicates": self._cases["near_duplicates"],
            "unknown": {one.name: self._cases[f"unknown {one.name}"] for one in self._attributes},
        }


if __name__ == "__main__":
    stage.run(build_cases)
