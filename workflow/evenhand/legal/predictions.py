"""Predictions of classifiers for legal cases, in one format for all classifiers.

The rows are seed by seed, and within a seed in the order of the data set's cases: those with a
known label and a split (`evenhand.legal.built.BuiltCases.labelled`).
"""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.files import atomic
from evenhand.io.tables import FORM, read_columns, schema_of

#: One row per seed and case.
PREDICTIONS = schema_of(
    classifier="string",  # linear, or the name of an encoder
    objective="string",  # a module of evenhand.learning.objectives
    attribute="string",  # whose groups it was trained with, or none
    seed="int32",
    case_id="string",
    split="string",
    logits=pa.list_(pa.float32()),  # one a label, in the data set's order
    twin_logits=pa.list_(pa.float32()),  # of its counterfactual; null where it has none
    features=pa.list_(pa.float16()),  # what the last layer reads; null but for some cases
)


class Predictions(NamedTuple):
    """The predictions of one training.

    Attributes
    ----------
    classifier, objective : str
    attribute : str
        `NO_ATTRIBUTE` if the objective uses no groups.
    seed : int
    case_ids, splits : array of str, shape (n,)
    logits : array of float32, shape (n, labels)
    counterfactual_logits : array of float32, shape (n, labels), or None
        Of each case's counterfactual (`evenhand.legal.make_counterfactuals`), NaN where a case
        has none that differs; None if no case has one, or they were not predicted.
    features : array of float16, shape (n, d), or None
        For `evenhand.learning.probes`: the last layer's inputs for some cases, NaN elsewhere;
        None unless requested.
    """

    classifier: str
    objective: str
    attribute: str
    seed: int
    case_ids: np.ndarray
    splits: np.ndarray
    logits: np.ndarray
    counterfactual_logits: np.ndarray | None = None
    features: np.ndarray | None = None

    @property
    def training(self) -> tuple[str, str, str, int]:
        """Return the key of the training."""
        return self.classifier, self.objective, self.attribute, self.seed


def write_predictions(path: Path, trainings: Iterable[Predictions]) -> int:
    """Write trainings in their order, and return the number of rows.

    Raises
    ------
    ValueError
        A logit is not finite.
    """
    written = 0
    with atomic(path) as partial, pq.ParquetWriter(partial, PREDICTIONS, **FORM) as out:
        for run in trainings:
            count = len(run.logits)
            if not np.isfinite(run.logits).all():
                raise ValueError(f"{run.training} has logits that are not finite")
            columns = [
                pa.repeat(pa.scalar(value, field.type), count)
                for value, field in zip(run.training, PREDICTIONS, strict=False)
            ]
            columns += [pa.array(values.tolist(), pa.string()) for values in run[4:6]]
            columns += [
                _lists(values, field.type, count)
                for values, field in zip(run[6:], list(PREDICTIONS)[6:], strict=True)
            ]
            out.write_table(pa.Table.from_arrays(columns, schema=PREDICTIONS))
            written += count
    return written


def _lists(values: np.ndarray | None, type: pa.ListType, count: int) -> pa.Array:
    """Return rows as a column of lists, null for rows of NaN and without any rows."""
    if values is None:
        return pa.nulls(count, type)
    valid = ~np.isnan(values).all(axis=1)
    if not np.isfinite(values[valid]).all():
        raise ValueError("the logits of a counterfactual, or features, are not finite")
    ends = np.concatenate([[0], np.cumsum(valid * values.shape[1])]).astype(np.int32)
    flat = pa.array(values[valid].ravel().astype(type.value_type.to_pandas_dtype()))
    return pa.ListArray.from_arrays(pa.array(ends), flat, mask=pa.array(~valid))


def read_predictions(path: Path, *, features: bool = False) -> list[Predictions]:
    """Return the trainings of a file, in its order; with their `features` on request.

    Raises
    ------
    InputError
        It is damaged, or lacks a column.
    """
    schema = PREDICTIONS if features else PREDICTIONS.remove(len(PREDICTIONS) - 1)
    table = read_columns(path, schema.names).cast(schema).combine_chunks()
    keys = list(zip(*(table[name].to_pylist() for name in schema.names[:4]), strict=True))
    starts = [row for row, key in enumerate(keys) if not row or key != keys[row - 1]]
    trainings = []
    for first, end in pairwise([*starts, len(keys)]):
        part = table.slice(first, end - first).combine_chunks()
        case_ids, splits = (np.array(part[n].to_pylist(), dtype=str) for n in ("case_id", "split"))
        lists = (_read_lists(part[name].combine_chunks()) for name in schema.names[6:])
        trainings.append(Predictions(*keys[first], case_ids, splits, *lists))
    return trainings


def _read_lists(column: pa.ListArray) -> np.ndarray | None:
    """Return the lists of a column as rows, of NaN where it is null; None without any."""
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if not valid.any():
        return None
    numbers = column.flatten().to_numpy(zero_copy_only=False).reshape(int(valid.sum()), -1)
    rows = np.full((len(column), numbers.shape[1]), np.nan, dtype=numbers.dtype)
    rows[valid] = numbers
    return rows
