import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.dataset import SCHEMA, dataset_row
from evenhand.slguset.describe_dataset import describe_dataset
from made_sentences import candidate_row, write_keywords_csv
from unit.cases import read_csv

SENTENCES = ["他在家。", "她在家里，大家都来了。", "男人走了又走了很久，天黑了。", "男人。"]


def describe(folder, sentences=SENTENCES, **options):
    rows = [dataset_row(candidate_row(s)) for s in sentences]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder / "slguset.parquet")
    counts = describe_dataset(
        dataset=folder / "slguset.parquet",
        keywords=write_keywords_csv(folder / "keywords.csv"),
        table=folder / "tables",
        statistics=folder / "statistics.json",
        **options,
    )
    table = [list(row.values()) for row in read_csv(folder / "tables/table_1.csv")]
    return table, json.loads((folder / "statistics.json").read_text(encoding="utf-8")), counts


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_table_1(tmp_path):
    published = write(tmp_path / "p.csv", "surface_male,surface_female,sentences\n他,她,3000\n")
    table, statistics, _ = describe(tmp_path, published=published)
    assert table == [
        ["男/女", "男人/女人", "2", "0", "2", "", ""],
        ["他/她", "他/她", "1", "1", "2", "3000", "3000"],
        ["爷爷/奶奶", "爷爷/奶奶", "0", "0", "0", "", ""],
    ]
    assert statistics["pairs"][1] == {
        "pair": "他/她",
        "male": 1,
        "female": 1,
        "total": 2,
        "published_male": 3000,
        "published_female": 3000,
    }
    assert statistics["pairs"][0]["published_male"] is None


def test_statistics(tmp_path):
    _, statistics, counts = describe(tmp_path)
    assert statistics["sentences"] == 4
    assert statistics["length"] == {
        "mean": 8.0,
        "median": 7.5,
        "min": 3,
        "max": 14,
        "histogram": [{"from": 0, "to": 9, "sentences": 2}, {"from": 10, "to": 19, "sentences": 2}],
    }
    distinct = len(set("".join(SENTENCES)))
    assert statistics["distinct_characters"] == distinct
    assert counts == {"sentences": 4, "distinct_characters": distinct}
    assert statistics["vocabulary"] is None


def test_coverage_of_a_vocabulary(tmp_path):
    vocabulary = write(tmp_path / "vocab.txt", "[PAD]\n他\n她\r\n在家\n##家\n。\n\u2028\n猫\n狗\n")
    _, statistics, _ = describe(tmp_path, ["他在家。", "她在家。"], vocabulary=vocabulary)
    assert statistics["vocabulary"] == {
        "entries": 9,
        "characters_covered": 3,
        "characters_missing": 2,
        "share_of_characters": 0.6,
        "share_of_entries": 0.333333,
        "distinct_characters_per_entry": 0.555556,
        "most_frequent_missing": [
            {"character": "在", "occurrences": 2},
            {"character": "家", "occurrences": 2},
        ],
    }


def test_an_empty_data_set_has_no_lengths(tmp_path):
    table, statistics, _ = describe(tmp_path, [], vocabulary=write(tmp_path / "v.txt", "他\n"))
    assert [row[4] for row in table] == ["0", "0", "0"]
    assert statistics["length"]["mean"] is None and statistics["length"]["histogram"] == []
    assert statistics["vocabulary"]["share_of_characters"] is None


@pytest.mark.parametrize(
    ("rows", "problem"),
    [("男孩,女孩,5", r"p\.csv:2: there is no surface pair"), ("他,她,many", "'many' is no number")],
)
def test_wrong_published_counts_are_named(tmp_path, rows, problem):
    path = write(tmp_path / "p.csv", f"surface_male,surface_female,sentences\n{rows}\n")
    with pytest.raises(InputError, match=problem):
        describe(tmp_path, published=path)
