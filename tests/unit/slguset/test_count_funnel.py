import json

import pytest

from evenhand.io.quarantine import Quarantine
from evenhand.slguset.count_funnel import count_funnel
from made_sentences import candidate_row, made_sentences, write_candidates
from unit.cases import read_csv


def count(folder, verdicts=(), sentences=0, keyword=0, quarantined=None, **options):
    """Count candidates with these (verdict, copies); return the counts and both tables."""
    rows = [
        candidate_row(sentence, verdict=verdict, copies=copies)
        for sentence, (verdict, copies) in zip(made_sentences(len(verdicts)), verdicts, strict=True)
    ]
    document = {"sentences": sentences, "keyword_sentences": keyword, "quarantined": quarantined}
    (folder / "c.json").write_text(json.dumps(document | {"quarantined": quarantined or {}}))
    counts = count_funnel(
        candidates=write_candidates(folder / "candidates.parquet", rows),
        out=folder / "tables",
        **{"counts": [folder / "c.json"]} | options,
    )
    tables = (read_csv(folder / f"tables/{name}.csv") for name in ("funnel", "quarantine"))
    return counts, *([tuple(row.values()) for row in table] for table in tables)


def quarantine_of(path, *parts):
    quarantine = Quarantine()
    for part in parts:
        quarantine.add(*part)
    quarantine.write(path)
    return path


def test_the_rows_and_their_order(tmp_path):
    verdicts = [("accepted", 3), ("accepted", 1), ("length", 1), ("name", 2), ("biology", 1)]
    other = {"sentences": 10, "keyword_sentences": 4, "quarantined": {"nul_bytes": 2}}
    (tmp_path / "1.json").write_text(json.dumps(other))
    counts, funnel, _ = count(
        *(tmp_path, [*verdicts, ("a", 1)], 30, 5, {"nul_bytes": 1, "empty_file": 1}),
        counts=[tmp_path / "1.json", tmp_path / "c.json"],
        reasons=["name", "x"],
    )
    assert funnel == [
        ("read", "", "40", "1.0"),
        ("keyword", "", "9", "0.225"),
        ("duplicate", "", "3", "0.075"),
        ("rejected", "length", "1", "0.025"),
        ("rejected", "name", "1", "0.025"),
        ("rejected", "a", "1", "0.025"),
        ("rejected", "biology", "1", "0.025"),
        ("accepted", "", "2", "0.05"),
    ]
    assert counts == {
        "read": 40,
        "keyword": 9,
        "duplicates": 3,
        "rejected": 4,
        "accepted": 2,
        "quarantined": 4,
        "quarantined_by_reason": {"empty_file": 1, "nul_bytes": 3},
    }
    _, funnel, _ = count(tmp_path)
    assert funnel[-1] == ("accepted", "", "0", "")  # no share of nothing
    with pytest.raises(RuntimeError, match="has 2 sentences"):
        count(tmp_path, [("accepted", 2)], 9, 3)


def test_unread_files_are_listed_and_counted(tmp_path):
    rows = [
        {"reason": "hidden_file", "file": "n/.a", "detail": "hidden", "parts": 1},
        {"reason": "unknown_format", "file": "n/b.pdf", "detail": "no format", "parts": 7},
    ]
    read_part = ("b.txt", None, "file", "empty_file", "0 bytes")
    counts, _, quarantine = count(
        tmp_path,
        quarantined={"empty_file": 1},
        quarantine=[quarantine_of(tmp_path / "q.parquet", read_part)],
        not_read=list(map(json.dumps, rows)),
    )
    reasons = {"empty_file": 1, "hidden_file": 1, "unknown_format": 7}
    assert counts["quarantined_by_reason"] == reasons
    assert quarantine == [
        ("empty_file", "b.txt", "", "file", "0 bytes", "1"),
        ("hidden_file", "n/.a", "", "file", "hidden", "1"),
        ("unknown_format", "n/b.pdf", "", "file", "7 in all from here on", "7"),
    ]


@pytest.mark.parametrize("cut", [1, 100, 101, 149])
def test_the_quarantine_does_not_depend_on_the_shards(tmp_path, cut):
    """Of 150 bad lines the first `cut` are in one shard, the others in the next, in any order."""
    parts = [("a.txt", line, "line", "broken_json", "{") for line in range(1, 151)]
    shards = [
        quarantine_of(tmp_path / f"{number}.parquet", *some)
        for number, some in enumerate((parts, parts[cut:], parts[:cut]))
    ]
    _, _, whole = count(tmp_path, quarantine=shards[:1])
    assert [row[2] for row in whole] == list(map(str, range(1, 102)))
    assert whole[-1] == ("broken_json", "a.txt", "101", "line", "50 in all from here on", "50")
    assert count(tmp_path, quarantine=shards[1:])[2] == whole
