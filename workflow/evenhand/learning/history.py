"""What a training leaves of its way: a row per epoch, and the batch that it broke at."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.core.files import atomic
from evenhand.io.tables import write_table

#: One row per training and epoch, in order. Scores are of the development split.
HISTORY = pa.schema(
    [
        ("classifier", pa.string()),
        ("objective", pa.string()),
        ("attribute", pa.string()),
        ("seed", pa.int32()),
        ("epoch", pa.int32()),  # from 1
        ("steps", pa.int32()),  # optimiser steps so far
        ("learning_rate", pa.float64()),  # of the epoch's last step
        ("losses", pa.list_(pa.float32())),  # the objective's loss of each step of the epoch
        ("gradient_norm", pa.float64()),  # mean over the epoch's steps, before clipping
        ("dev_loss", pa.float64()),  # mean loss of a case, without weights or penalties
        ("dev_macro_f1", pa.float64()),  # over all cases and classes; 0 for a class that is absent
        ("dev_mean_group_f1", pa.float64()),  # over known groups; null without groups
        ("dev_worst_group_f1", pa.float64()),
        ("dev_group_f1", pa.list_(pa.float64())),  # by code; null for a group without cases
        ("state", pa.map_(pa.string(), pa.list_(pa.float64()))),  # what the objective remembers
        ("best", pa.bool_()),  # whether this epoch's weights are the ones that were kept
    ]
)

#: What a development score can be selected by.
SELECTIONS = ("macro_f1", "mean_group_f1", "worst_group_f1")

#: Where the cases of a batch with a loss that is no number are noted.
BROKEN_BATCH = "broken_batch.json"


def write_history(
    path: Path, trainings: Iterable[tuple[Mapping[str, Any], Iterable[Mapping[str, Any]]]]
) -> int:
    """Write trainings, each as its first four columns and its epochs' other ones."""
    return write_table(
        path, HISTORY, ({**named, **epoch} for named, epochs in trainings for epoch in epochs)
    )


def save_broken_batch(folder: Path | None, note: dict[str, Any]) -> str:
    """Note the batch of a loss or gradient that is no number; where its cases are named."""
    print(f"broken batch: {json.dumps(note)}", file=sys.stderr)
    if folder is None:
        return "the log names its cases"
    with atomic(folder / BROKEN_BATCH) as path:
        path.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return f"{folder / BROKEN_BATCH} names its cases"
