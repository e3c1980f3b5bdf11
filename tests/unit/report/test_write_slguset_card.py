import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from evenhand.core.tables import write_tables
from evenhand.report.write_slguset_card import write_slguset_card
from evenhand.slguset.build_dataset import AGREEMENT
from evenhand.slguset.count_funnel import FUNNEL
from evenhand.slguset.dataset import SCHEMA
from evenhand.slguset.describe_dataset import TABLE
from expected import check_expected
from made_sentences import write_answers

WORDS = {"pair": "男/女", "surface": "男人/女人", "male": 700, "female": 800, "total": 1500}
NONE = {"pair": "他/她", "surface": "他/她", "male": 0, "female": 0, "total": 0}
AGREED = {"pair": "男人/女人", "n": 1800, "unanimous": 1650, "percent_agreement": 0.9212}
MEASURES = {"pair": "all", "fleiss_kappa": 0.7123, "krippendorff_alpha": 0.7124}
STEPS = [("read", None, 123456, 1.0), ("keyword", None, 20000, 0.162001)]
STEPS += [("rejected", "several_keywords", 15000, 0.121501), ("accepted", None, 5000, 0.0405)]
STATISTICS = {
    "sentences": 1500,
    "length": {"mean": 31.27, "median": 30.0, "min": 9, "max": 80, "histogram": []},
    "distinct_characters": 2345,
    "vocabulary": {"entries": 21128, "characters_covered": 2300, "share_of_entries": 0.10886},
    "pairs": [],
}


@pytest.fixture
def arguments(tmp_path, repository):
    (tmp_path / "statistics").write_text(json.dumps(STATISTICS), encoding="utf-8")
    write_tables(tmp_path / "table", [(TABLE, [WORDS, NONE])])
    write_tables(tmp_path / "annotation", [(AGREEMENT, [AGREED, AGREED | MEASURES])])
    steps = [dict(zip(FUNNEL.header, step, strict=True)) for step in STEPS]
    write_tables(tmp_path / "corpus", [(FUNNEL, steps)])
    names = ("statistics", "table", "annotation", "corpus")
    return {name: tmp_path / name for name in names} | {
        "answers": [
            write_answers(tmp_path / "answers.parquet", {"他。": "aaa", "她。": "aar"}),
            write_answers(tmp_path / "more.parquet", {"男人。": "aar"}),
        ],
        "template": repository / "workflow/evenhand/report/cards/slguset_card.md.jinja",
        "out": tmp_path / "README.md",
    }


def test_the_header_is_the_hubs(arguments):
    write_slguset_card(**arguments, name='Our "set": one', licence="cc-by-4.0")
    data = DatasetCard.load(arguments["out"]).data.to_dict()
    assert data["language"] == ["zh"]
    assert data["license"] == "cc-by-4.0"
    assert data["pretty_name"] == 'Our "set": one'
    assert data["size_categories"] == ["1K<n<10K"]
    files = [{"split": "test", "path": "slguset.parquet"}]
    assert data["configs"] == [{"config_name": "default", "data_files": files}]


def test_the_numbers_are_the_runs(arguments):
    counts = write_slguset_card(
        **arguments,
        corpora=["morning", "evening"],
        filters=["names_jieba", "biology"],
        notice="For show.",
    )
    assert counts == {"sentences": 1500}
    check_expected("cards/slguset.md", arguments["out"].read_text(encoding="utf-8"))


def test_every_table_is_whole(arguments):
    write_slguset_card(**arguments)
    lines = arguments["out"].read_text(encoding="utf-8").split("\n")
    for line, before in zip(lines[1:], lines, strict=False):
        if line.startswith("|") and before.startswith("|"):
            assert line.count("|") == before.count("|"), line
        if line.startswith("|") and not before.startswith("|"):
            assert before == ""


def test_a_small_data_set_without_a_vocabulary(arguments):
    empty = STATISTICS | {
        "sentences": 0,
        "vocabulary": None,
        "length": dict.fromkeys(("mean", "median", "min", "max")),
    }
    arguments["statistics"].write_text(json.dumps(empty), encoding="utf-8")
    write_tables(arguments["table"], [(TABLE, [])])
    write_slguset_card(**arguments)
    text = arguments["out"].read_text(encoding="utf-8")
    assert "# SlguSet: 0 gender-neutral" in text
    assert "characters, on average" not in text
    assert "were compared with" not in text


def test_the_folder_opens_with_datasets_beside_tables_of_other_kinds(
    arguments, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets  # reads the environment when it is imported

    write_slguset_card(**arguments)
    rows = [dict.fromkeys(SCHEMA.names) | {"sentence_id": "a" * 16, "sentence": "他。"}]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / "slguset.parquet")
    cache = str(tmp_path / "cache")
    found = datasets.load_dataset(str(tmp_path), cache_dir=cache)
    assert list(found) == ["test"]
    assert found["test"].column_names == SCHEMA.names
    assert found["test"]["sentence"][0] == "他。"
