"""The data set: its columns, its order, and the masking and swapping of words by offsets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from evenhand.slguset.surface_pairs import attribute_of, columns_in, keyword_columns

#: Positions of words (start and end, exclusive), and their replacements.
Spans = Sequence[tuple[int, int, str]]


def spans_of(row: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    """Return the words to exchange of a row of the data set: its spans, or the keyword alone."""
    if spans := row.get("spans"):
        return [(span["start"], span["end"], span["text"]) for span in spans]
    return [(row["start"], row["end"], row["opposite"])]


def mask(sentence: str, spans: Spans, token: str = "[MASK]") -> str:
    """The sentence with each character of the spans replaced by a mask."""
    return _replace(sentence, [(start, end, token * (end - start)) for start, end, _ in spans])


def swap(sentence: str, spans: Spans) -> str:
    """The sentence with each span replaced by its text.

    Raises
    ------
    ValueError
        The spans are not characters of the sentence, one after the other.
    """
    return _replace(sentence, spans)


def swapped_spans(sentence: str, spans: Spans) -> list[tuple[int, int, str]]:
    """The spans of the swapped sentence, which swap it back."""
    swapped, moved = [], 0
    for start, end, text in spans:
        swapped.append((start + moved, start + moved + len(text), sentence[start:end]))
        moved += len(text) - (end - start)
    return swapped


def _replace(sentence: str, spans: Spans) -> str:
    parts, position = [], 0
    for start, end, text in spans:
        if not position <= start < end <= len(sentence):
            raise ValueError(f"no characters {start} to {end} in a text of {len(sentence)}")
        parts += [sentence[position:start], text]
        position = end
    return "".join([*parts, sentence[position:]])


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
