"""The data set that `build_cases` writes, as the stages after it read it; and their tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evenhand.errors import InputError
from evenhand.io.tables import opened, read_batches, read_table_schema
from evenhand.legal.declaration import Attribute, Dataset, read_dataset
from evenhand.legal.findings import EVIDENCE
from evenhand.legal.records import BATCH_CASES, SPLITS
from evenhand.metrics.classification import with_none_class
from evenhand.metrics.group import group_sums

#: The name of the unknown group where FairLex has none.
UNKNOWN = "unknown"

#: The label of a case to which none of the labels applies.
NO_LABEL = "none"


def cases_schema(attributes: Sequence[Attribute]) -> pa.Schema:
    """Return the columns of a data set with these attributes."""
    columns = {
        "case_id": pa.string(),
        "date": pa.date32(),
        "title": pa.string(),
        "language": pa.string(),
        "split": pa.string(),
        "text": pa.list_(pa.string()),
        "labels": pa.list_(pa.int32()),
        "label_known": pa.bool_(),
    }
    for attribute in attributes:
        columns[attribute.name] = columns[f"{attribute.name}_rule"] = pa.string()
        columns[f"{attribute.name}_evidence"] = EVIDENCE
    places = {"duplicate_of": pa.string(), "source": pa.string(), "source_position": pa.int64()}
    return pa.schema(columns | places)


#: The columns that every built data set has.
FIXED = tuple(cases_schema(()).names)


class Groups(NamedTuple):
    """The groups of one attribute.

    Attributes
    ----------
    attribute : Attribute
        The attribute.
    names : tuple of str
        Its groups, the unknown one last.
    codes : array of int64, shape (n,)
        Each case's index in `names`.
    """

    attribute: Attribute
    names: tuple[str, ...]
    codes: np.ndarray

    @property
    def unknown(self) -> int:
        """The code of the unknown group."""
        return len(self.names) - 1

    @property
    def known(self) -> np.ndarray:
        """Whether the group of each case is known: array of bool, shape (n,)."""
        return self.codes < self.unknown

    @property
    def sizes(self) -> np.ndarray:
        """The number of cases of each known group."""
        return np.bincount(self.codes, minlength=len(self.names))[: self.unknown]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum the rows of `values` (n, m) by known group: (groups, m)."""
        return group_sums(values, self.codes, self.unknown)

    def take(self, rows: np.ndarray) -> "Groups":
        """Return the groups of some of the cases."""
        return self._replace(codes=self.codes[rows])


@dataclass(frozen=True, eq=False)
class BuiltCases:
    """A data set that `build_cases` wrote: its columns, each read when it is needed, once.

    Attributes
    ----------
    path : Path
        {dataset}.parquet, or a file with the same columns (`FIXED`).
    """

    path: Path

    @cached_property
    def dataset(self) -> Dataset:
        """The description of the data set."""
        return read_dataset(self.path)

    def table(self, *columns: str) -> pa.Table:
        """Read columns into memory; do not read the texts this way."""
        with opened(self.path) as file:
            return file.read(columns=list(columns))

    def batches(self, *columns: str) -> Iterator[pa.RecordBatch]:
        """Yield columns a few cases at a time, in order: for texts."""
        return read_batches(self.path, list(columns), BATCH_CASES)

    def documents(self) -> Iterator[tuple[list[str], str | None]]:
        """Yield the paragraphs and the language of each case."""
        for batch in self.batches("text", "language"):
            columns = (batch[name].to_pylist() for name in ("text", "language"))
            for text, language in zip(*columns, strict=True):
                yield text or [], language

    @cached_property
    def case_ids(self) -> list[str]:
        """The id of each case."""
        return self.table("case_id")["case_id"].to_pylist()

    @cached_property
    def splits(self) -> np.ndarray:
        """The split of each case, "" where it has none: array of str, shape (n,)."""
        return np.array(self.table("split")["split"].fill_null("").to_pylist(), dtype=str)

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """Whether each case belongs to train, dev, test, and all: arrays of bool, shape (n,)."""
        every = {"all": np.ones(len(self.splits), bool)}
        return {split: self.splits == split for split in SPLITS} | every

    @cached_property
    def labelled(self) -> np.ndarray:
        """The places of the cases that are trained on or scored: array of int64.

        Those have a known label and a split.
        """
        return np.flatnonzero(self.labels[0] & np.isin(self.splits, SPLITS))

    @property
    def trained(self) -> np.ndarray:
        """Whether each case is in train and has a known label: array of bool, shape (n,)."""
        return self.labels[0] & (self.splits == SPLITS[0])

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Whether the labels of each case are known, and the labels.

        Returns
        -------
        known : array of bool, shape (n,)
            Whether the source states them.
        hot : array of int64, shape (n, labels)
            1 where a label applies; zeros where nothing is known.
        """
        table, count = self.table("label_known", "labels"), len(self.dataset.labels)
        known = table["label_known"].to_numpy().astype(bool)
        labels = table["labels"].combine_chunks().fill_null([])
        hot = np.zeros((len(known), count), dtype=np.int64)
        hot[labels.value_parent_indices().to_numpy(), labels.flatten().to_numpy()] = 1
        return known, hot

    @cached_property
    def groups(self) -> list[Groups]:
        """The group of each case, by attribute with groups, as far as the file has it."""
        there = read_table_schema(self.path).names
        attributes = [each for each in self.dataset.attributes if each.groups]
        attributes = [attribute for attribute in attributes if attribute.name in there]
        table, groups = self.table(*(attribute.name for attribute in attributes)), []
        for attribute in attributes:
            coded = table[attribute.name].combine_chunks().dictionary_encode()
            values, names = coded.dictionary.to_pylist(), attribute.groups
            to_code = np.array([*map(names.index, values), len(names)], dtype=np.int64)
            codes = to_code[coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
            groups.append(Groups(attribute, group_names(attribute), codes))
        return groups


def check_ids(case_ids: Sequence[str], data_ids: Sequence[str], file: Path) -> None:
    """Refuse a file about other cases than the data set, or in another order."""
    if list(case_ids) != list(data_ids):
        problem = "is about other cases than the data set, or has them in another order"
        raise InputError(problem, file=file, remedy="make it from this data set")


def group_names(attribute: Attribute) -> tuple[str, ...]:
    """Return the names of an attribute's groups, the unknown one last."""
    return (*attribute.groups, attribute.unknown or UNKNOWN)


def label_names(dataset: Dataset) -> tuple[str, ...]:
    """Return the labels, and for a task with several labels last the name of none of them."""
    return dataset.labels + ((NO_LABEL,) if dataset.task == "multi_label" else ())


def with_none(labels: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Return labels (..., k) as they are scored and counted: "none" is a class of several."""
    return with_none_class(labels) if dataset.task == "multi_label" else labels


def label_sets(hot: np.ndarray, dataset: Dataset) -> tuple[np.ndarray, list[str]]:
    """Return a number of the label or set of labels of each case, and the names of the numbers."""
    sets, codes = np.unique(hot, axis=0, return_inverse=True)
    names = [
        " and ".join(dataset.labels[i] for i in np.flatnonzero(row)) or NO_LABEL for row in sets
    ]
    return codes.reshape(-1), names


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseStudy(BuiltCases):
    """The cases of a data set and the files on them.

    Attributes
    ----------
    published : bool
        Whether the cases are FairLex's own.
    claims, words : Path
        ``published_cross.csv`` and ``outcome_words.csv``.
    findings : dict of str to Path
        The findings of each attribute.
    tokens : list of (Path, Path)
        Token ids of the cases and their description, per tokenizer.
    permutations : int
        Random draws.
    """

    published: bool
    claims: Path
    words: Path
    findings: dict[str, Path] = field(default_factory=dict)
    tokens: list[tuple[Path, Path]] = field(default_factory=list)
    permutations: int = 1000
