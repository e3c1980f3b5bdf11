import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.slguset.dataset import SCHEMA
from evenhand.slguset.describe_dataset import describe_dataset
from evenhand.slguset.import_published import check_text, import_published
from unit.cases import read_csv

KEYWORDS = Path(__file__).resolve().parents[3] / "resources/packs/zh_gender/keywords.csv"
HEADER = "句子,关键词位置,原始关键词,对立关键词"


def run(folder, *lines, header=HEADER, encoding="utf-8"):
    file = folder / "published.csv"
    file.write_text("\n".join([header, *lines]) + "\n", encoding=encoding)
    counts = import_published(
        file=file,
        keywords=KEYWORDS,
        sentences=folder / "sentences.parquet",
        dataset=folder / "dataset.parquet",
        problems=folder / "problems.csv",
    )
    problems = [[*row.values()] for row in read_csv(folder / "problems.csv")]
    rows = list(read_rows(folder / "dataset.parquet"))
    for row in rows:
        assert row["sentence"][row["start"] : row["end"]] == row["keyword"]
        assert row["sentence"][row["surface_start"] : row["surface_end"]] == row["surface"]
    return counts, rows, problems


def test_right_rows_have_no_problems(tmp_path):
    lines = [
        '姥姥家有一棵大枣树。,"[1, 2]",姥,爷',
        '我的爸爸在上班。,"[2, 4]",爸爸,妈妈',
        '一名女教师走进教室。,"[2, 3]",女,男',
    ]
    counts, rows, problems = run(tmp_path, *lines)
    assert problems == []
    assert counts == {"rows": 3, "sentences": 3, "dataset": 3, "left_out": 0, "problems": {}}
    assert [row["keyword"] for row in rows] == ["女", "爸爸", "姥"]
    assert [row["source_position"] for row in rows] == [3, 2, 1]
    assert rows[2]["swapped_sentence"] == "姥爷家有一棵大枣树。"
    assert rows[2]["masked_sentence"] == "姥[MASK]家有一棵大枣树。"
    assert pq.read_schema(tmp_path / "dataset.parquet").equals(SCHEMA)


@pytest.mark.parametrize(
    ("position", "kind"),
    [
        ("[6, 8]", "whole_word"),
        ("[7, 8]", "counts_from_1"),
        ("[7, 9]", "whole_word_counts_from_1"),
        ("[0, 1]", "shifted"),
        ("[0, 2]", "shifted"),
        ("[90, 91]", "outside"),
        ("[0, 5]", "other"),
    ],
)
def test_wrong_slices_are_repaired_and_listed(tmp_path, position, kind):
    _, rows, problems = run(tmp_path, f'路边有一位老女人在卖花。,"{position}",女,男')
    assert problems == [["1", "wrong_slice", f"{kind}: {position}, the keyword is at [6, 7]"]]
    assert (rows[0]["start"], rows[0]["surface"]) == (6, "女人")


def test_duplicates_are_kept_with_ids_of_their_own(tmp_path):
    line = '她每天都去公园跑步。,"[0, 1]",她,他'
    counts, rows, problems = run(tmp_path, line, line, line)
    assert problems == [
        ["2", "duplicate", "the same sentence as row 1"],
        ["3", "duplicate", "the same sentence as row 1"],
    ]
    assert counts["sentences"] == 1
    assert len({row["sentence_id"] for row in rows}) == 3
    (sentence,) = read_rows(tmp_path / "sentences.parquet")
    assert sentence["copies"] == 3
    first = next(row for row in rows if row["source_position"] == 1)
    assert first["sentence_id"] == sentence["sentence_id"]
    assert (sentence["source"], sentence["source_position"]) == (first["source"], 1)


def test_what_cannot_be_located_is_left_out_of_the_dataset_only(tmp_path):
    counts, rows, problems = run(
        tmp_path,
        '公主来了。,"[0, 2]",公主,王子',
        '天气很好。,"[0, 1]",女,男',
        '他和她都来了。,"[5, 6]",她,他',
        '他和她都来了！,"[2, 3]",她,他',
        '妇女和女人。,"[4, 5]",女,男',
    )
    assert [row["sentence"] for row in rows] == ["他和她都来了！"]
    assert counts["left_out"] == 4
    assert [problem[:2] for problem in problems] == [
        ["1", "not_a_pair"],
        ["2", "keyword_count"],
        ["3", "keyword_count"],
        ["4", "keyword_count"],
        ["5", "keyword_count"],
    ]
    assert problems[1][2] == "女 in: no surface of the table"
    assert problems[2][2] == "她 in: 他、她"
    assert pq.read_metadata(tmp_path / "sentences.parquet").num_rows == 5


@pytest.mark.parametrize(
    ("sentence", "problems"),
    [
        ("她说：“好”。", []),
        ("她说：“好。", [("unbalanced_quotes", "1 “ and 0 ”")]),
        ("她说好”。", [("unbalanced_quotes", "0 “ and 1 ”")]),
        ("她说：“好。”", [("ender_inside_quotes", "。”")]),
        ("她来?,我走。", [("cut_again", "into 2")]),
        ("她来了", [("unfinished", "ends in '了'")]),
        ("她买T恤 。", [("unexpected_character", "'T '")]),
        ("她说a.b。", [("unexpected_character", "'ab'")]),
        ("她说.好。", [("unexpected_character", "'.'")]),
        ("她\u200b来。", [("unexpected_character", "'\\u200b'")]),
    ],
)
def test_what_our_own_extraction_would_change(sentence, problems):
    assert [tuple(problem) for problem in check_text(sentence)] == problems


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"header": "句子,位置,原始关键词,对立关键词"}, ":1: lacks the column 关键词位置"),
        ({"lines": ['她来了。,"[0; 1]",她,他']}, ":2: the position '[0; 1]' is not two numbers"),
        ({"lines": ["她来了。,3,她,他"]}, ":2: the position '3' is not two numbers"),
        ({"lines": ['她来了。,"[0, 1]",,他']}, ":2: the cell of 原始关键词 is blank"),
        ({"lines": ['她来了。,"[0, 1]",她']}, ":2: does not have 4 cells"),
        ({"lines": ['"她来了。,"[0, 1]",她,他']}, ":2: is not a CSV file"),
        ({"encoding": "gb18030"}, "is not UTF-8 but seems to be gb18030; save it"),
    ],
)
def test_files_that_cannot_be_read_are_errors(tmp_path, arguments, message):
    lines = arguments.pop("lines", ['她来了。,"[0, 1]",她,他'])
    with pytest.raises(InputError, match=re.escape(message)):
        run(tmp_path, *lines, **arguments)


def test_a_byte_order_mark_and_further_columns_are_accepted(tmp_path):
    counts, _, problems = run(
        tmp_path, '1,她来了。,"[0, 1]",她,他', header="编号," + HEADER, encoding="utf-8-sig"
    )
    assert (counts["dataset"], problems) == (1, [])


@pytest.mark.mirror
def test_the_authors_file(mirror, tmp_path):
    """Its errors; and the published counts, and the paper's 4,220 distinct characters."""
    counts = import_published(
        file=mirror / "chinese_gender/slguset/SlguSet.csv",
        keywords=KEYWORDS,
        sentences=tmp_path / "sentences.parquet",
        dataset=tmp_path / "dataset.parquet",
        problems=tmp_path / "problems.csv",
    )
    assert counts == {
        "rows": 20_000,
        "sentences": 19_998,
        "dataset": 20_000,
        "left_out": 0,
        "problems": {
            "cut_again": 2,
            "duplicate": 2,
            "ender_inside_quotes": 37,
            "unbalanced_quotes": 55,
            "unfinished": 1,
            "wrong_slice": 20_000 - 11_465,
        },
    }
    rows = list(read_rows(tmp_path / "dataset.parquet"))
    assert len({row["sentence_id"] for row in rows}) == 20_000
    assert all(r["sentence"][r["start"] : r["end"]] == r["keyword"] for r in rows)
    describe_dataset(
        dataset=tmp_path / "dataset.parquet",
        keywords=KEYWORDS,
        published=KEYWORDS.with_name("published_counts.csv"),
        table=tmp_path / "tables",
        statistics=tmp_path / "statistics.json",
    )
    statistics = json.loads((tmp_path / "statistics.json").read_text(encoding="utf-8"))
    assert statistics["distinct_characters"] == 4220
    for row in statistics["pairs"]:
        assert row["male"] == row["female"] == row["published_male"] == row["published_female"]
