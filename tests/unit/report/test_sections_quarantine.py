from evenhand.io.quarantine import ROWS_PER_REASON, Quarantine
from evenhand.report.sections.quarantine import describe_quarantine


def test_parts_that_share_a_last_row_are_counted(tmp_path):
    quarantine = Quarantine()
    for line in range(1, ROWS_PER_REASON + 51):
        quarantine.add("a.jsonl", line, "line", "broken_json", f"line {line}")
    quarantine.add("b.jsonl", 3, "line", "broken_json", "x")
    quarantine.write(tmp_path / "q.parquet")
    found = describe_quarantine([], [tmp_path / "q.parquet"])
    assert [(row["file"], row["parts"]) for row in found["files"]] == [
        ("a.jsonl", ROWS_PER_REASON + 50),
        ("b.jsonl", 1),
    ]
    assert found["files"][0]["detail"] == "line 1"
    assert [(row["reason"], row["parts"]) for row in found["reasons"]] == [
        ("broken_json", ROWS_PER_REASON + 51)
    ]
