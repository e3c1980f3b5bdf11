"""The data set's columns and the order of its rows, for every source of sentences."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from evenhand.slguset.keyword_tables import columns_in, keyword_columns
from evenhand.slguset.surface_pairs import attribute_of
from evenhand.slguset.swap import mask, spans_of, swap


def schema(keywords: pa.Schema | None = None) -> pa.Schema:
    """Return the columns of slguset.parquet, for a table with the columns of keywords."""
    return pa.schema(
        [
            ("sentence_id", pa.string()),
            ("sentence", pa.string()),
            ("masked_sentence", pa.string()),
            ("swapped_sentence", pa.string()),
            *(keyword_columns() if keywords is None else columns_in(keywords)),
            ("source", pa.string()),
            ("source_position", pa.int64()),
        ]
    )


#: The authors' columns: sentence, position of the keyword, keyword, opposite keyword.
AUTHORS_COLUMNS = ["句子", "关键词位置", "原始关键词", "对立关键词"]

#: The columns for gender, one keyword a sentence.
SCHEMA = schema()


def dataset_row(row: dict[str, Any], columns: pa.Schema = SCHEMA) -> dict[str, Any]:
    """A row of the data set from one that has its other columns (a keywords table, a sample)."""
    made = {
        "masked_sentence": mask(row["sentence"], spans_of(row)),
        "swapped_sentence": swap(row["sentence"], spans_of(row)),
    }
    return {name: made[name] if name in made else row[name] for name in columns.names}


def in_order(rows: Iterable[dict[str, Any]], pairs: list[str]) -> list[dict[str, Any]]:
    """Rows by pair (in the order given), then value (by the alphabet), then sentence_id."""
    rank = {pair: index for index, pair in enumerate(pairs)}
    listed = list(rows)
    value = attribute_of([*listed[0]]) if listed else ""
    return sorted(listed, key=lambda row: (rank[row["pair"]], row[value], row["sentence_id"]))
