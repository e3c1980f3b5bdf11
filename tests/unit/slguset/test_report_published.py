import csv
import json

import pytest

from evenhand.slguset.report_published import report_published
from made_sentences import keyword_row, write_judged

SENTENCES = ["她来了。", "他走了。", "奶奶笑了。", "爷爷哭了。"]


@pytest.fixture
def folder(tmp_path):
    rows = [keyword_row(s) for s in SENTENCES]
    rows[0]["copies"] = 3
    rows[3] |= {"verdict": "deny_listed", "word": "爷爷"}
    names = {SENTENCES[0]: ("name", "她"), SENTENCES[2]: ("name", None)}
    both = {"names_crf": names, "biology": {SENTENCES[0]: ("biology", "来")}}
    write_judged(tmp_path / "both.parquet", rows, both)
    (tmp_path / "problems.csv").write_text(
        'row,problem,detail\n1,wrong_slice,"whole_word: [0, 2], the keyword is at [0, 1]"\n'
        "2,duplicate,the same sentence as row 1\n3,not_a_pair,a and b\n",
        encoding="utf-8",
    )
    return tmp_path


def run(folder, judged, *names, **options):
    counts = report_published(
        judged=folder / f"{judged}.parquet",
        problems=folder / "problems.csv",
        filters=list(names),
        table=folder / "tables",
        report=folder / "report.json",
        **options,
    )
    with (folder / "tables/filters.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    return counts, rows, json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_sentences_count_as_often_as_they_stand_in_the_file(folder):
    counts, rows, report = run(folder, "both", "names_crf", "biology")
    assert rows == [
        ["filter", "reason", "sentences", "share", "examples"],
        ["find_keywords", "", "1", "0.166667", ""],
        ["find_keywords", "deny_listed", "1", "0.166667", "爷爷哭了。[爷爷]"],
        ["names_crf", "", "4", "0.666667", ""],
        ["names_crf", "name", "4", "0.666667", "她来了。[她] · 奶奶笑了。"],
        ["biology", "", "3", "0.5", ""],
        ["biology", "biology", "3", "0.5", "她来了。[来]"],
    ]
    assert report == {
        "sentences": 6,
        "distinct_sentences": 4,
        "positions": {"right": 4, "wrong": 1, "whole_word": 1},
        "problems": {"duplicate": 1, "not_a_pair": 1, "wrong_slice": 1},
        "keywords": {"accepted": 5, "deny_listed": 1},
        "dropped": {"names_crf": 4, "biology": 3},
        "pass_every_filter": 1,
    }
    assert counts == {"sentences": 6, "problems": 3, "dropped": {"names_crf": 4, "biology": 3}}
