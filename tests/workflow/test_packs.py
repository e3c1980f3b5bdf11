"""A second language takes the same way through Snakemake as the first."""

import csv

import pandas as pd
import pytest

from harness import checkout

CONFIG = """\
offline: true
models:
  tiny-gpt-en:
    language: en
    train: {kind: causal, files: [resources/demo/english/town_and_travel.txt], steps: 30}
slguset:
  pack: resources/packs/en_gender
  corpora:
    town: {files: [resources/demo/english/town_and_travel.txt]}
  annotation: {round: one, sentences_per_pair: 4, annotators: [a, b]}
"""


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    made = checkout(tmp_path_factory.mktemp("english"), ("--configfile", "english.yaml"))
    made.write("english.yaml", CONFIG)
    made.run("results/slguset/annotation/one/sheets")
    for name in "ab":
        sheet = made.root / f"results/slguset/annotation/one/sheets/{name}.csv"
        rows = list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines()))
        filled = pd.DataFrame(rows).assign(answer="accept").to_csv(index=False)
        made.write(f"annotation/filled/one/{name}.csv", filled)
    made.run("results/tables/bias/slguset")
    return made.root / "results"


def test_english_sentences_are_scored(english):
    data = pd.read_parquet(english / "slguset/slguset.parquet")
    models = pd.read_csv(english / "tables/bias/slguset/models.csv")
    assert models["sentences"].tolist() == models["scored"].tolist() == [len(data)]
    assert set(data["gender"]) == {"male", "female"}
    several = data[data["spans"].map(len) > 1]
    assert len(several)
    assert all("[MASK]" in one for one in several["masked_sentence"])


def test_the_counterpart_has_the_other_words(english):
    data = pd.read_parquet(english / "slguset/slguset.parquet")
    for row in data.to_dict("records"):
        assert row["sentence"][row["start"] : row["end"]] == row["keyword"]
        assert row["opposite"] in row["swapped_sentence"]
