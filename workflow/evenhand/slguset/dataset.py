"""The data set's columns and the order of its rows, for every source of sentences."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from evenhand.slguset.keyword_tables import KEYWORD
from evenhand.slguset.swap import mask, swap

#: Columns of slguset.parquet.
SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("sentence", pa.string()),
        ("masked_sentence", pa.string()),
        ("swapped_sentence", pa.string()),
        *KEYWORD,
        ("source", pa.string()),
        ("source_position", pa.int64()),
    ]
)


def dataset_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the data set from one that has its other columns (a keywords table, a sample)."""
    start, end = row["start"], row["end"]
    made = {
        "masked_sentence": mask(row["sentence"], start, end),
        "swapped_sentence": swap(row["sentence"], start, end, row["opposite"]),
    }
    return {name: made[name] if name in made else row[name] for name in SCHEMA.names}


def in_order(rows: Iterable[dict[str, Any]], pairs: list[str]) -> list[dict[str, Any]]:
    """Rows by pair (in the order given), then gender (female before male), then sentence_id."""
    rank = {pair: index for index, pair in enumerate(pairs)}
    return sorted(rows, key=lambda row: (rank[row["pair"]], row["gender"], row["sentence_id"]))
