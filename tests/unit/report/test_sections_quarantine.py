from evenhand.io.quarantine import ROWS_PER_REASON
from evenhand.report.sections.quarantine import describe_quarantine


def test_parts_that_share_a_last_row_are_counted(tmp_path):
    rows = [f"broken_json,a.jsonl,{n},line,line {n},1" for n in range(1, ROWS_PER_REASON + 1)]
    rows += ["broken_json,a.jsonl,101,line,more,50", "broken_json,b.jsonl,3,line,x,1"]
    lines = "\n".join(["reason,file,position,unit,detail,parts", *rows])
    (tmp_path / "q.csv").write_text(lines, encoding="utf-8")
    found = describe_quarantine([], tmp_path / "q.csv")
    assert [(row["file"], row["parts"]) for row in found["files"]] == [
        ("a.jsonl", ROWS_PER_REASON + 50),
        ("b.jsonl", 1),
    ]
    assert found["files"][0]["detail"] == "line 1"
    assert [(row["reason"], row["parts"]) for row in found["reasons"]] == [
        ("broken_json", ROWS_PER_REASON + 51)
    ]
