from pathlib import Path

import pyarrow.parquet as pq

from evenhand.io.quarantine import ROWS_PER_REASON, SCHEMA, Quarantine
from evenhand.io.tables import read_rows


def test_rows_stand_in_the_order_of_reading_and_reasons_are_counted(tmp_path: Path) -> None:
    quarantine = Quarantine()
    quarantine.add("b.txt", 7, "byte", "nul_bytes", "2 bytes")
    quarantine.add("a.txt", None, "file", "empty_file", "0 bytes")
    quarantine.write(tmp_path / "q.parquet")
    rows = list(read_rows(tmp_path / "q.parquet"))
    assert [tuple(row.values()) for row in rows] == [
        ("b.txt", 7, "byte", "nul_bytes", "2 bytes", 1),
        ("a.txt", None, "file", "empty_file", "0 bytes", 1),
    ]
    assert list(rows[0]) == SCHEMA.names
    assert quarantine.counts == {"nul_bytes": 1, "empty_file": 1}


def test_many_cases_of_a_file_end_in_one_row_that_counts_them(tmp_path: Path) -> None:
    quarantine = Quarantine()
    for line in range(1, ROWS_PER_REASON + 51):
        quarantine.add("a.jsonl", line, "line", "broken_json", "x")
        if line > ROWS_PER_REASON + 48:
            quarantine.add("a.jsonl", line, "line", "missing_field", "x")
    quarantine.add("b.jsonl", 1, "line", "broken_json", "x")
    quarantine.write(tmp_path / "q.parquet")
    rows = list(read_rows(tmp_path / "q.parquet"))
    assert len(rows) == ROWS_PER_REASON + 4
    assert rows[-4]["position"] == ROWS_PER_REASON + 1
    assert rows[-4]["detail"] == f"50 more, the last at {ROWS_PER_REASON + 50}"
    assert [row["reason"] for row in rows[-3:-1]] == ["missing_field"] * 2
    assert rows[-1]["file"] == "b.jsonl"
    assert [row["parts"] for row in rows[-5:]] == [1, 50, 1, 1, 1]
    assert sum(row["parts"] for row in rows) == quarantine.counts.total()
    assert quarantine.counts["broken_json"] == ROWS_PER_REASON + 51


def test_every_file_can_hold_what_a_row_says(tmp_path: Path) -> None:
    quarantine = Quarantine()
    quarantine.add("\udcff.txt", 1, "line", "broken_json", "a\ud800\0\n" + "x" * 9000)
    quarantine.write(tmp_path / "q.parquet")
    (row,) = pq.read_table(tmp_path / "q.parquet").to_pylist()
    assert row["file"] == "\\xff.txt"
    assert row["detail"].startswith("a xxx") and len(row["detail"]) < 600
