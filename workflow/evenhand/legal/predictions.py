"""Predictions of classifiers for legal cases, in one format for all classifiers.

The rows are seed by seed, and within a seed in the order of the data set's cases: those with a
known label and a split (see `labelled`).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.core.files import atomic
from evenhand.errors import InputError
from evenhand.io.tables import FORM, read_columns
from evenhand.legal.records import SPLITS

#: One row per seed and case.
PREDICTIONS = pa.schema(
    [
        ("classifier", pa.string()),  # linear, or the name of an encoder
        ("objective", pa.string()),  # a module of evenhand.learning.objectives
        ("attribute", pa.string()),  # whose groups it was trained with, or none
        ("seed", pa.int32()),
        ("case_id", pa.string()),
        ("split", pa.string()),
        ("logits", pa.list_(pa.float32())),  # one a label, in the data set's order
        ("twin_logits", pa.list_(pa.float32())),  # of the case's twin; null where it has none
        ("features", pa.list_(pa.float16())),  # what the last layer reads; null but for some cases
    ]
)

#: The attribute of an objective that uses no groups.
NO_ATTRIBUTE = "none"


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
    twin_logits : array of float32, shape (n, labels), or None
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
    twin_logits: np.ndarray | None = None
    features: np.ndarray | None = None

    @property
    def training(self) -> tuple[str, str, str, int]:
        """Return the key of the training."""
        return self.classifier, self.objective, self.attribute, self.seed


def labelled(known: np.ndarray, splits: np.ndarray) -> np.ndarray:
    """The places of the cases that are trained on or scored: array of int64.

    Parameters
    ----------
    known : array of bool, shape (n,)
        Whether the label is known (see `evenhand.legal.built.read_labels`).
    splits : array of str, shape (n,)
        See `evenhand.legal.built.read_splits`.
    """
    return np.flatnonzero(known & np.isin(splits, SPLITS))


def write_predictions(path: Path, trainings: Iterable[Predictions]) -> int:
    """Write trainings in the order given; return the number of rows.

    Raises
    ------
    ValueError
        A logit is no finite number: no training may end so.
    """
    written = 0
    with atomic(path) as partial, pq.ParquetWriter(partial, PREDICTIONS, **FORM) as out:
        for one in trainings:
            logits = np.ascontiguousarray(one.logits, dtype=np.float32)
            if not np.isfinite(logits).all():
                raise ValueError(f"{one.training} has logits that are no finite numbers")
            n, labels = logits.shape
            same = {
                "classifier": one.classifier,
                "objective": one.objective,
                "attribute": one.attribute,
                "seed": one.seed,
            }
            columns = [
                *(pa.repeat(pa.scalar(v, PREDICTIONS.field(k).type), n) for k, v in same.items()),
                pa.array(one.case_ids.tolist(), pa.string()),
                pa.array(one.splits.tolist(), pa.string()),
                pa.ListArray.from_arrays(
                    pa.array(np.arange(n + 1, dtype=np.int32) * np.int32(labels)),
                    pa.array(logits.ravel()),
                ),
                _twin_column(one),
                _lists(one.features, "features", np.float16, n),
            ]
            out.write_table(pa.Table.from_arrays(columns, schema=PREDICTIONS))
            written += n
    return written


def _twin_column(one: Predictions) -> pa.Array:
    if (twins := one.twin_logits) is not None:
        none = np.isnan(twins).all(axis=1)
        if twins.shape != one.logits.shape or not np.isfinite(twins[~none]).all():
            raise ValueError(f"{one.training} has logits of twins that are no finite numbers")
    return _lists(twins, "twin_logits", np.float32, len(one.logits))


def _lists(values: np.ndarray | None, name: str, dtype: type, count: int) -> pa.Array:
    """Return rows as a column of lists, null for rows of NaN and without any rows."""
    if values is None:
        return pa.nulls(count, PREDICTIONS.field(name).type)
    there = np.isfinite(values).all(axis=1)
    ends = np.concatenate([[0], np.cumsum(there * values.shape[1])]).astype(np.int32)
    flat = pa.array(values[there].astype(dtype).ravel())
    return pa.ListArray.from_arrays(pa.array(ends), flat, mask=pa.array(~there))


def read_predictions(path: Path, *, features: bool = False) -> list[Predictions]:
    """The trainings of a file, in its order; with their `features` on request.

    Raises
    ------
    InputError
        It is damaged, or has another form, rows of different lengths, logits that are no finite
        numbers, or a case twice in a training.
    """
    schema = PREDICTIONS if features else PREDICTIONS.remove(len(PREDICTIONS) - 1)
    table = read_columns(path, None if features else schema.names)
    if table.schema.names != schema.names:
        raise InputError("has other columns than predictions have", file=path)
    table = table.cast(schema).combine_chunks()
    if not len(table):
        return []
    lists = table["logits"].combine_chunks()
    labels = np.unique(np.diff(lists.offsets.to_numpy()))
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    if len(labels) != 1 or not labels[0] or not np.isfinite(flat).all():
        raise InputError("has rows without one number for each label", file=path)
    logits = flat.reshape(len(table), labels[0])
    twins = table["twin_logits"].combine_chunks()
    keys = list(zip(*(table[name].to_pylist() for name in PREDICTIONS.names[:4]), strict=True))
    case_ids, splits = (
        np.array(table[name].to_pylist(), dtype=str) for name in ("case_id", "split")
    )
    starts = [row for row, key in enumerate(keys) if not row or key != keys[row - 1]]
    found = []
    for first, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        some = slice(first, end)
        own = _read_lists(path, twins[some], "twins")
        if own is not None and own.shape[1] != labels[0]:
            raise InputError("has twins without one number for each label", file=path)
        seen = None
        if features:
            seen = _read_lists(path, table["features"].combine_chunks()[some], "features")
        found.append(
            Predictions(*keys[first], case_ids[some], splits[some], logits[some], own, seen)
        )
        if len(set(case_ids[some])) != end - first:
            raise InputError("has a case twice in one training", file=path, line=first + 1)
    if len({one.training for one in found}) != len(found):
        raise InputError("has rows of one training in several places", file=path)
    return found


def _read_lists(path: Path, column: pa.ListArray, named: str) -> np.ndarray | None:
    """Return the lists of a column as rows, of NaN where there is none; None without any."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if not there.any():
        return None
    kept = column.flatten().to_numpy(zero_copy_only=False)
    widths = np.unique(column.value_lengths().drop_null().to_numpy())
    if len(widths) != 1 or not widths[0] or not np.isfinite(kept).all():
        raise InputError(f"has {named} without one number for each label", file=path)
    found = np.full((len(column), widths[0]), np.nan, dtype=kept.dtype)
    found[there] = kept.reshape(-1, widths[0])
    return found
