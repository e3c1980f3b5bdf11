"""Rows of a keywords table, as the name filters read them."""

from pathlib import Path

import pyarrow as pa

from evenhand.io.tables import read_rows, write_table

SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        ("sentence", pa.string()),
        ("surface_start", pa.int32()),
        ("surface_end", pa.int32()),
        ("verdict", pa.string()),
    ]
)


def write_keywords(path: Path, sentences: list[tuple[str, str]]) -> Path:
    """A table of accepted sentences, given as (sentence, surface), and a rejected one."""
    rows = [
        {
            "sentence_id": f"{number:016x}",
            "sentence": sentence,
            "surface_start": sentence.index(surface),
            "surface_end": sentence.index(surface) + len(surface),
            "verdict": "accepted",
        }
        for number, (sentence, surface) in enumerate(sentences)
    ]
    rejected = dict.fromkeys(SCHEMA.names) | {
        "sentence_id": "f" * 16,
        "sentence": "李明和王小丫来了。",
        "verdict": "no_keyword",
    }
    write_table(path, SCHEMA, [*rows, rejected])
    return path


def read_reasons(path: Path) -> list[tuple[str | None, str | None]]:
    return [(row["reason"], row["evidence"]) for row in read_rows(path)]
