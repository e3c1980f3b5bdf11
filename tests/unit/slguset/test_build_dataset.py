import csv

import pyarrow.parquet as pq
import pytest

from evenhand.slguset.build_dataset import build_dataset
from evenhand.slguset.dataset import SCHEMA
from made_sentences import candidate_row, identify, write_answers, write_keywords_csv, write_sample

SAID = {
    "那天，爷爷在“家”。": "aaa",
    "他在家,等人。": "aaa",
    "她在家。": "aaa",
    "她在这里。": "aaa",
    "女人走了。": "aar",
    "他走了。": "uuu",
    "男人走了，没回来。": "aaa",
    "奶奶走了。": "rrr",
}


@pytest.fixture
def tables(tmp_path):
    rows = [candidate_row(s) for s in SAID]
    rows[1]["verdict"] = "name"  # a later filter rejects it; the annotators' word stands
    return {
        "samples": [write_sample(tmp_path / "s.parquet", rows)],
        "answers": [write_answers(tmp_path / "a.parquet", SAID)],
        "keywords": write_keywords_csv(tmp_path / "keywords.csv"),
        "out": tmp_path / "slguset.parquet",
        "table": tmp_path / "slguset.csv",
        "tables": tmp_path / "tables",
    }


def test_what_all_accept_and_nothing_else(tables):
    counts = build_dataset(**tables)
    table = pq.read_table(tables["out"])
    assert table.schema.remove_metadata().equals(SCHEMA)
    rows = table.to_pylist()
    hers = sorted(["她在家。", "她在这里。"], key=identify)
    assert [row["sentence"] for row in rows] == [
        "男人走了，没回来。",
        *hers,
        "他在家,等人。",
        "那天，爷爷在“家”。",
    ]
    assert counts == {
        "judged": 8,
        "sentences": 5,
        "left_out": {"disagreement": 1, "reject": 1, "unsure": 1},
        "by_gender": {"female": 2, "male": 3},
    }
    assert rows[0]["masked_sentence"] == "[MASK]人走了，没回来。"
    assert rows[0]["swapped_sentence"] == "女人走了，没回来。"
    assert rows[-1]["masked_sentence"] == "那天，[MASK][MASK]在“家”。"
    assert rows[-1]["swapped_sentence"] == "那天，奶奶在“家”。"
    with tables["table"].open(encoding="utf-8", newline="") as stream:
        header, *authors = csv.reader(stream)
    assert header == ["句子", "关键词位置", "原始关键词", "对立关键词"]
    assert authors == [
        [row["sentence"], f"[{row['start']}, {row['end']}]", row["keyword"], row["opposite"]]
        for row in rows
    ]


def test_a_data_set_may_be_empty(tables, tmp_path):
    tables["answers"] = [write_answers(tmp_path / "a.parquet", dict.fromkeys(SAID, "rrr"))]
    assert build_dataset(**tables)["sentences"] == 0
    assert pq.read_table(tables["out"]).num_rows == 0
    assert len(tables["table"].read_text(encoding="utf-8").splitlines()) == 1
