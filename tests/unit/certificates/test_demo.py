"""The planted text and pairs of the demo are those of the maker."""

import csv
import json

import pytest

from evenhand.certificates.planted_cases import planted_decisions
from evenhand.certificates.planted_text import planted_pairs, planted_sentences, read_vocabulary


@pytest.mark.parametrize(("name", "dose"), [("balanced", 0), ("biased", 1)])
def test_texts(repository, name, dose):
    words = read_vocabulary(repository / "resources/planted/english.json")
    text = (repository / f"resources/demo/planted/{name}.txt").read_text(encoding="utf-8")
    assert text.splitlines() == planted_sentences(words, dose, seed=0)


def test_pairs(repository):
    words = read_vocabulary(repository / "resources/planted/english.json")
    with (repository / "resources/demo/planted/pairs.csv").open(newline="") as stream:
        pairs = [(row["sent_more"], row["sent_less"]) for row in csv.DictReader(stream)]
    assert pairs == [(pair["more"], pair["less"]) for pair in planted_pairs(words, seed=0)]


def test_cases(repository):
    lines = (repository / "resources/demo/planted/cases.jsonl").read_text(encoding="utf-8")
    assert list(map(json.loads, lines.splitlines())) == planted_decisions(0, 0.95)
