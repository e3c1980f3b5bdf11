"""The data set that `build_cases` writes, as the stages after it read it; and their tables."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import InputError
from evenhand.io.tables import opened
from evenhand.legal.dataset import Attribute, Dataset
from evenhand.legal.records import BATCH_CASES, SPLITS
from evenhand.metrics.classification import with_none_class
from evenhand.metrics.group import group_sums

#: The name of the unknown group where FairLex has none.
UNKNOWN = "unknown"

#: The label of a case to which none of the labels applies.
NO_LABEL = "none"

#: The columns that every built data set has; those of the attributes come to them.
FIXED = (
    *("case_id", "date", "title", "language", "split", "text", "labels", "label_known"),
    *("duplicate_of", "source", "source_position"),
)


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


def read_cases_table(path: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of the data set into memory; do not read the texts this way.

    Raises
    ------
    InputError
        The file was not written by `build_cases`, or is damaged.
    """
    with _opened(path) as file:
        return file.read(columns=list(columns))


def case_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of the data set a few cases at a time, in order: for texts."""
    with _opened(path) as file:
        yield from file.iter_batches(batch_size=BATCH_CASES, columns=list(columns))


def check_ids(case_ids: Sequence[str], data_ids: Sequence[str], file: Path) -> None:
    """Refuse a file about other cases than the data set, or in another order."""
    if list(case_ids) != list(data_ids):
        raise InputError(
            "is about other cases than the data set, or has them in another order",
            file=file,
            remedy="make it from this data set",
        )


def case_documents(data: Path) -> Iterator[tuple[list[str], str | None]]:
    """Yield the paragraphs and the language of each case."""
    for batch in case_batches(data, ["text", "language"]):
        for text, language in zip(*(batch[n].to_pylist() for n in batch.schema.names), strict=True):
            yield text or [], language


def attributes_of(path: Path, dataset: Dataset) -> list[Attribute]:
    """Return the attributes with groups that the data set has, in their order."""
    with _opened(path) as file:
        names = file.schema_arrow.names
    return [each for each in dataset.attributes if each.groups and each.name in names]


def group_names(attribute: Attribute) -> tuple[str, ...]:
    """Return the names of an attribute's groups, the unknown one last."""
    return (*attribute.groups, attribute.unknown or UNKNOWN)


def read_groups(path: Path, dataset: Dataset) -> list[Groups]:
    """Return the group of each case, by attribute.

    Raises
    ------
    InputError
        A value is no group of its attribute.
    """
    attributes = attributes_of(path, dataset)
    table = read_cases_table(path, [attribute.name for attribute in attributes])
    groups = []
    for attribute in attributes:
        names = group_names(attribute)
        place = {name: code for code, name in enumerate(attribute.groups)}
        coded = table[attribute.name].combine_chunks().dictionary_encode()
        values = coded.dictionary.to_pylist()
        if unknown := [value for value in values if value not in place]:
            raise InputError(
                f"has the {attribute.name} {unknown[0]!r}, which is no group of it",
                file=path,
                remedy=f"the groups are {', '.join(attribute.groups)}",
            )
        last = len(attribute.groups)
        to_code = np.array([*(place[value] for value in values), last], dtype=np.int64)
        codes = to_code[coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
        groups.append(Groups(attribute, names, codes))
    return groups


def read_splits(path: Path) -> np.ndarray:
    """Return the split of each case, "" where it has none: array of str, shape (n,)."""
    column = read_cases_table(path, ["split"])["split"].fill_null("")
    return np.array(column.to_pylist(), dtype=str)


def parts_of(splits: np.ndarray) -> dict[str, np.ndarray]:
    """Return which cases belong to train, dev, test, and all: arrays of bool, shape (n,)."""
    return {split: splits == split for split in SPLITS} | {"all": np.ones(len(splits), bool)}


def read_labels(path: Path, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Read the labels of each case.

    Returns
    -------
    known : array of bool, shape (n,)
        Whether the source states them.
    hot : array of int64, shape (n, labels)
        1 where a label applies; zeros where nothing is known.

    Raises
    ------
    InputError
        A label is none of the data set's, or a case of a task with single labels has not one.
    """
    table = read_cases_table(path, ["label_known", "labels"])
    known = table["label_known"].to_numpy().astype(bool)
    return known, hot_labels(path, table["labels"].combine_chunks(), known, dataset)


def hot_labels(path: Path, labels: pa.ListArray, known: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Return the column `labels` in the form of `read_labels`."""
    labels = labels.fill_null([])
    rows = labels.value_parent_indices().to_numpy()
    numbers = labels.flatten().to_numpy()
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(dataset.labels):
        raise InputError(f"has a label that is none of the {len(dataset.labels)}", file=path)
    hot = np.zeros((len(known), len(dataset.labels)), dtype=np.int64)
    hot[rows, numbers] = 1
    hot[~known] = 0
    if dataset.task == "multi_class" and (hot[known].sum(axis=1) != 1).any():
        raise InputError("has a case without a label of its own, or with several", file=path)
    return hot


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


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    with opened(path) as file:
        if missing := [name for name in FIXED if name not in file.schema_arrow.names]:
            raise InputError(
                f"lacks the column {missing[0]}, which build_cases writes",
                file=path,
                remedy="give the data set that build_cases made",
            )
        yield file
