import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.io.tables import read_rows
from evenhand.slguset.verdicts import Finding, write_verdicts, write_verdicts_in_batches

ROWS = [
    {"sentence_id": "a", "sentence": "她来了。", "start": 0, "verdict": "accepted"},
    {"sentence_id": "b", "sentence": "他和她。", "start": None, "verdict": "several_keywords"},
    {"sentence_id": "c", "sentence": "说她怀孕又怀孕。", "start": 1, "verdict": "accepted"},
]


@pytest.fixture
def keywords(tmp_path):
    path = tmp_path / "keywords.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def test_only_accepted_rows_are_judged_in_order(keywords, tmp_path):
    seen = []

    def check(start, sentence):
        seen.append((start, sentence))
        return Finding("biology", ["怀孕", "怀孕", "孕"]) if "怀孕" in sentence else None

    counts = write_verdicts(keywords, tmp_path / "out.parquet", check, ("start", "sentence"))
    assert seen == [(0, "她来了。"), (1, "说她怀孕又怀孕。")]
    assert list(read_rows(tmp_path / "out.parquet")) == [
        {"sentence_id": "a", "reason": None, "evidence": None},
        {"sentence_id": "c", "reason": "biology", "evidence": "怀孕、孕"},
    ]
    assert counts == {"sentences": 2, "passed": 1, "reasons": {"biology": 1}}


def test_batches_get_lists_and_no_evidence_is_null(keywords, tmp_path):
    counts = write_verdicts_in_batches(
        keywords,
        tmp_path / "out.parquet",
        lambda s: [Finding("x") if "说" in t else None for t in s],
    )
    assert [r["evidence"] for r in read_rows(tmp_path / "out.parquet")] == [None, None]
    assert counts == {"sentences": 2, "passed": 1, "reasons": {"x": 1}}


def test_a_filter_that_skips_rows_is_a_defect(keywords, tmp_path):
    with pytest.raises(ValueError, match="0 findings for 2 sentences"):
        write_verdicts_in_batches(keywords, tmp_path / "out.parquet", lambda s: [])


def test_a_table_without_accepted_rows_gives_an_empty_table(tmp_path):
    path = tmp_path / "keywords.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS[1:2]), path)
    counts = write_verdicts(path, tmp_path / "out.parquet", lambda s: None)
    assert counts == {"sentences": 0, "passed": 0, "reasons": {}}
    assert list(read_rows(tmp_path / "out.parquet")) == []
