from evenhand.core.tables import write_tables
from evenhand.io.quarantine import ROWS_PER_REASON
from evenhand.report.sections.slguset import describe_quarantine
from evenhand.slguset.count_funnel import QUARANTINE


def test_parts_that_share_a_last_row_are_counted(tmp_path):
    numbered = [(n, f"line {n}", 1) for n in range(1, ROWS_PER_REASON + 1)]
    rows = [("a.jsonl", *one) for one in [*numbered, (101, "more", 50)]] + [("b.jsonl", 3, "x", 1)]
    table = [
        dict(zip(("file", "position", "detail", "parts"), row, strict=True))
        | {"reason": "broken_json", "unit": "line"}
        for row in rows
    ]
    write_tables(tmp_path / "corpus", [(QUARANTINE, table)])
    found = describe_quarantine([], tmp_path / "corpus")
    assert [(row["file"], row["parts"]) for row in found["files"]] == [
        ("a.jsonl", ROWS_PER_REASON + 50),
        ("b.jsonl", 1),
    ]
    assert found["files"][0]["detail"] == "line 1"
    assert [(row["reason"], row["parts"]) for row in found["reasons"]] == [
        ("broken_json", ROWS_PER_REASON + 51)
    ]
