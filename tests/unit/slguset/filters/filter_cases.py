"""One sentence through a filter with the repository's table for it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.io.tables import read_rows
from evenhand.slguset.keyword_tables import SCHEMA
from evenhand.slguset.keywords import read_keywords

TABLES = Path(__file__).resolve().parents[4] / "resources/slguset"


def judge(folder, stage, sentence, only=None):
    """(reason, evidence) for the sentence's first keyword, or for the one that is `only`."""
    keywords = read_keywords(TABLES / "keywords.csv")
    found = next(
        m for m in keywords.pattern.finditer(sentence) if only is None or m.group() == only
    )
    surface = keywords.surfaces[found.group()]
    start = found.start() + surface.offset
    row = surface._asdict() | {
        "sentence_id": "a",
        "sentence": sentence,
        "source": "a.txt",
        "source_position": 1,
        "copies": 1,
        "start": start,
        "end": start + len(surface.keyword),
        "surface_start": found.start(),
        "surface_end": found.end(),
        "word": found.group(),
        "verdict": "accepted",
    }
    row.pop("offset")
    pq.write_table(pa.Table.from_pylist([row], SCHEMA), folder / "keywords.parquet")
    out = folder / "out.parquet"
    name = stage.__name__
    counts = stage(keywords=folder / "keywords.parquet", words=TABLES / f"{name}.csv", out=out)
    (verdict,) = read_rows(out)
    assert counts["passed"] == (verdict["reason"] is None)
    return verdict["reason"], verdict["evidence"]
