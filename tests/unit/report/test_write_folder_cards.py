"""Folders of results, opened by `datasets` and pandas as they are."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from evenhand.report.write_folder_cards import write_folder_cards
from unit.report import made_stereotypes


@pytest.fixture
def card(repository):
    def write(folder, document="pairs.json", tables=None):
        found = [folder / "pairs.parquet", *sorted(folder.glob("*/*.parquet"))]
        return write_folder_cards(
            template=repository / "workflow/evenhand/report/cards/folder_card.md.jinja",
            documents=[folder / document],
            tables=found if tables is None else tables,
            out=[folder / "README.md"],
        )

    return write


@pytest.fixture
def pairs(tmp_path):
    return made_stereotypes.write_results(tmp_path / "results") / "stereotypes/crows_pairs"


@pytest.fixture
def load(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets  # reads the environment when it is imported

    def load(folder, *config, split):
        cache = str(tmp_path / "cache")
        return datasets.load_dataset(str(folder), *config, split=split, cache_dir=cache)

    return load


def test_each_table_opens_by_its_name(card, pairs, load):
    counts = card(pairs)
    assert counts["tables"] == 1 + len(made_stereotypes.MODELS)
    for config, file in (
        ("pairs", "pairs.parquet"),
        ("scores-tiny-bert-en", "scores/tiny-bert-en.parquet"),
        ("scores-tiny-gpt2-en", "scores/tiny-gpt2-en.parquet"),
    ):
        loaded = load(pairs, config, split="all_rows")
        read = pd.read_parquet(pairs / file)
        assert loaded.column_names == list(read.columns)
        assert loaded.num_rows == len(read)
        assert loaded[7]["pair_id"] == read["pair_id"][7]
    assert load(pairs, split="all_rows").column_names == list(
        pd.read_parquet(pairs / "pairs.parquet").columns
    )


def test_the_page_says_what_each_table_holds(card, pairs):
    card(pairs)
    made = DatasetCard.load(pairs / "README.md")
    assert made.data.to_dict()["pretty_name"] == "CrowS-Pairs"
    text = made.text
    assert "| scores-headless | `scores/headless.parquet` | 480 |" in text
    assert "- **pairs**: pair_id, bias_type," in text
    assert "Pairs of sentences" in text and "table of people" not in text


def test_a_table_of_people_is_told_as_one(card, tmp_path, load):
    folder = tmp_path / "loans"
    (folder / "runs/random").mkdir(parents=True)
    about = {"name": "loans", "attribute_name": "sex", "meta": {"title": "Loans <b>"}}
    (folder / "data.json").write_text(json.dumps(about), encoding="utf-8")
    pq.write_table(pa.table({"row": [0, 1], "label": [1, 0]}), folder / "data.parquet")
    pq.write_table(pa.table({"seed": [0], "acc": [0.5]}), folder / "runs/random/mlp.parquet")
    card(folder, "data.json", [folder / "data.parquet", folder / "runs/random/mlp.parquet"])
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "# Loans &lt;b&gt;\n" in text and "A table of people" in text
    assert load(folder, "runs-random-mlp", split="all_rows")[0] == {"seed": 0, "acc": 0.5}


def test_each_folder_has_its_own_tables(repository, tmp_path):
    folders = [tmp_path / name for name in ("a", "ab")]
    for folder in folders:
        folder.mkdir()
        (folder / "data.json").write_text(json.dumps({"name": folder.name}), encoding="utf-8")
        pq.write_table(pa.table({folder.name: [0]}), folder / "data.parquet")
    counts = write_folder_cards(
        template=repository / "workflow/evenhand/report/cards/folder_card.md.jinja",
        documents=[folder / "data.json" for folder in folders],
        tables=[folder / "data.parquet" for folder in folders],
        out=[folder / "README.md" for folder in folders],
    )
    assert counts == {"tables": 2, "rows": 2}
    for folder in folders:
        text = (folder / "README.md").read_text(encoding="utf-8")
        assert f"# {folder.name}\n" in text and f"- **data**: {folder.name}\n" in text


def test_the_published_edition_is_told_as_one(card, tmp_path, load):
    folder = tmp_path / "slguset_published"
    (folder / "bias").mkdir(parents=True)
    (folder / "statistics.json").write_text('{"sentences": 1}', encoding="utf-8")
    pq.write_table(pa.table({"sentence": ["她来了。"]}), folder / "slguset.parquet")
    pq.write_table(pa.table({"bias": [0.5]}), folder / "bias/tiny.parquet")
    card(folder, "statistics.json", [folder / "slguset.parquet", folder / "bias/tiny.parquet"])
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "with every offset repaired" in text and "import_published.py" in text
    assert load(folder, split="all_rows")["sentence"][0] == "她来了。"
    assert load(folder, "bias-tiny", split="all_rows")[0] == {"bias": 0.5}
