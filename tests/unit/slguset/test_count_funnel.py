import csv
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io.quarantine import Quarantine
from evenhand.slguset.count_funnel import count_funnel
from made_sentences import candidate_row, made_sentences, write_candidates


def write_counts(path, sentences, keyword_sentences, quarantined=None):
    document = {
        "sentences": sentences,
        "keyword_sentences": keyword_sentences,
        "duplicates": 0,
        "quarantined": quarantined or {},
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read_funnel(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return [tuple(row.values()) for row in csv.DictReader(stream)]


def made(folder, verdicts):
    """Candidates with these (verdict, copies)."""
    rows = [
        candidate_row(sentence, verdict=verdict, copies=copies)
        for sentence, (verdict, copies) in zip(made_sentences(len(verdicts)), verdicts, strict=True)
    ]
    return write_candidates(folder / "candidates.parquet", rows)


def test_the_rows_and_their_order(tmp_path):
    candidates = made(
        tmp_path,
        [("accepted", 3), ("accepted", 1), ("length", 1), ("name", 2), ("biology", 1), ("a", 1)],
    )
    counts = [
        write_counts(tmp_path / "1.json", 10, 4, {"nul_bytes": 2}),
        write_counts(tmp_path / "2.json", 30, 5, {"nul_bytes": 1, "empty_file": 1}),
    ]
    out = tmp_path / "tables"
    got = count_funnel(candidates=candidates, counts=counts, out=out, reasons=["name", "x"])
    assert read_funnel(out / "funnel.csv") == [
        ("read", "", "40", "1.0"),
        ("keyword", "", "9", "0.225"),
        ("duplicate", "", "3", "0.075"),
        ("rejected", "length", "1", "0.025"),
        ("rejected", "name", "1", "0.025"),
        ("rejected", "a", "1", "0.025"),
        ("rejected", "biology", "1", "0.025"),
        ("accepted", "", "2", "0.05"),
    ]
    assert got == {
        "read": 40,
        "keyword": 9,
        "duplicates": 3,
        "rejected": 4,
        "accepted": 2,
        "quarantined": 4,
        "quarantined_by_reason": {"empty_file": 1, "nul_bytes": 3},
    }


def test_what_could_not_be_read_is_listed_by_reason(tmp_path):
    tables = []
    for name in ("b", "a"):
        parts = Quarantine()
        for line in range(1, 151):
            parts.add(f"{name}.txt", line, "line", "oversized_line", "longer than 9 bytes")
        parts.add(f"=1+{name}", None, "file", "empty_file", "0 bytes")
        parts.write(tmp_path / f"{name}.parquet")
        tables.append(tmp_path / f"{name}.parquet")
    counts = [write_counts(tmp_path / "c.json", 0, 0, {"oversized_line": 300, "empty_file": 2})]
    candidates = made(tmp_path, [])
    out = tmp_path / "tables"
    count_funnel(candidates=candidates, counts=counts, quarantine=tables, out=out)
    first = read_funnel(tmp_path / "tables/quarantine.csv")
    assert [(reason, file, place, parts) for reason, file, place, _, _, parts in first] == [
        ("empty_file", "=1+a", "", "1"),
        ("empty_file", "=1+b", "", "1"),
        *(
            ("oversized_line", file, str(line), "50" if line == 101 else "1")
            for file in ("a.txt", "b.txt")
            for line in range(1, 102)
        ),
    ]
    count_funnel(candidates=candidates, counts=counts, quarantine=tables[::-1], out=out)
    assert read_funnel(tmp_path / "tables/quarantine.csv") == first  # however the corpus is cut


def test_files_that_were_left_out_before_are_listed_and_counted(tmp_path):
    parts = Quarantine()
    parts.add("b.txt", None, "file", "empty_file", "0 bytes")
    parts.write(tmp_path / "q.parquet")
    rows = [
        {"reason": "hidden_file", "file": "n/.a", "detail": "hidden", "parts": 1},
        {"reason": "unknown_format", "file": "n/b.pdf", "detail": "no format", "parts": 7},
    ]
    got = count_funnel(
        candidates=made(tmp_path, []),
        counts=[write_counts(tmp_path / "c.json", 0, 0, {"empty_file": 1})],
        quarantine=[tmp_path / "q.parquet"],
        not_read=list(map(json.dumps, rows)),
        out=tmp_path / "tables",
    )
    assert got["quarantined_by_reason"] == {"empty_file": 1, "hidden_file": 1, "unknown_format": 7}
    assert read_funnel(tmp_path / "tables/quarantine.csv") == [
        ("empty_file", "b.txt", "", "file", "0 bytes", "1"),
        ("hidden_file", "n/.a", "", "file", "hidden", "1"),
        ("unknown_format", "n/b.pdf", "", "file", "7 in all from here on", "7"),
    ]


@pytest.mark.parametrize("cut", [1, 40, 100, 101, 130, 149])
def test_the_quarantine_does_not_depend_on_where_a_file_is_cut(tmp_path, cut):
    """Of 150 bad lines the first `cut` are in one shard, the others in the next."""

    def quarantine(name, *shards):
        tables = []
        for number, lines in enumerate(shards):
            parts = Quarantine()
            for line in lines:
                parts.add("a.txt", line, "line", "broken_json", "{")
            tables.append(tmp_path / f"{name}{number}.parquet")
            parts.write(tables[-1])
        counts = [write_counts(tmp_path / "c.json", 0, 0, {"broken_json": 150})]
        out = tmp_path / name
        count_funnel(candidates=made(tmp_path, []), counts=counts, quarantine=tables, out=out)
        return (out / "quarantine.csv").read_bytes()

    whole = quarantine("whole", range(1, 151))
    assert whole.splitlines()[-1] == b"broken_json,a.txt,101,line,50 in all from here on,50"
    assert quarantine("cut", range(1, cut + 1), range(cut + 1, 151)) == whole


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(["accepted", "length", "name"]), st.integers(1, 4))))
def test_the_sums_close(tmp_path, verdicts):
    keyword = sum(copies for _, copies in verdicts)
    counts = [write_counts(tmp_path / "c.json", keyword + 7, keyword)]
    out = tmp_path / "tables"
    count_funnel(candidates=made(tmp_path, verdicts), counts=counts, out=out)
    rows = read_funnel(out / "funnel.csv")
    assert sum(int(row[2]) for row in rows[2:]) == int(rows[1][2]) == keyword


@pytest.mark.parametrize("keyword", [1, 3])
def test_sums_that_do_not_close_stop_the_run(tmp_path, keyword):
    candidates = made(tmp_path, [("accepted", 2)])
    counts = [write_counts(tmp_path / "c.json", 9, keyword)]
    with pytest.raises(InputError, match=r"candidates\.parquet: holds 2 sentences, copies counted"):
        count_funnel(candidates=candidates, counts=counts, out=tmp_path / "tables")


def test_nothing_read_has_no_shares(tmp_path):
    counts = [write_counts(tmp_path / "c.json", 0, 0)]
    out = tmp_path / "tables"
    count_funnel(candidates=made(tmp_path, []), counts=counts, out=out)
    assert read_funnel(out / "funnel.csv")[-1] == ("accepted", "", "0", "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sentences": 1, "keyword_sentences": 1}'])
def test_a_file_without_counts_is_named(tmp_path, text):
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"c\.json: does not hold a shard's counts"):
        count_funnel(
            candidates=made(tmp_path, []), counts=[tmp_path / "c.json"], out=tmp_path / "tables"
        )
