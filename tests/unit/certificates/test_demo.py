"""The planted text and pairs of the demo are those of the maker."""

import json
from datetime import date, timedelta

import pytest

from evenhand.certificates.planted_text import planted_pairs, planted_sentences, read_vocabulary
from evenhand.learning.planted import plant_cases
from unit.cases import read_csv


@pytest.mark.parametrize(("name", "dose"), [("balanced", 0), ("biased", 1)])
def test_texts(repository, name, dose):
    words = read_vocabulary(repository / "resources/planted/english.json")
    text = (repository / f"resources/demo/planted/{name}.txt").read_text(encoding="utf-8")
    assert text.splitlines() == planted_sentences(words, dose, seed=0)


def test_pairs(repository):
    words = read_vocabulary(repository / "resources/planted/english.json")
    rows = read_csv(repository / "resources/demo/planted/pairs.csv")
    pairs = [(row["sent_more"], row["sent_less"]) for row in rows]
    assert pairs == [(pair["more"], pair["less"]) for pair in planted_pairs(words)]


def word(number):
    """A word of five letters without digits, such as baban, that a tokenizer keeps whole."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    first, second = divmod(number, len(syllables))
    return syllables[first] + syllables[second] + "n"


def test_cases(repository):
    """Decisions in the format of Swiss-Judgment-Prediction, the oldest first.

    In training and development cases, split by date, the outcome agrees with the legal area in a
    share of 0.95; in test cases the two are unrelated. The words are invented.
    """
    sizes = {"sizes": (480, 80, 240), "paragraphs": 1, "words": 30, "terms": 200}
    planted = plant_cases(0, 0.95, **sizes)
    areas, outcomes = ("civil law", "penal law"), ("dismissal", "approval")
    some = planted.examples
    made = [
        {
            "id": 800_001 + row,
            "date": str(date(2000, 1, 1) + timedelta(days=7 * row)),
            "language": "de",
            "region": "Zürich",
            "canton": "zh",
            "legal area": areas[some.groups[row]],
            "label": outcomes[some.labels[row]],
            "text": f"Sachverhalt: {' '.join(map(word, case)).capitalize()}.",
        }
        for row, (case,) in enumerate(planted.words)
    ]
    lines = (repository / "resources/demo/planted/cases.jsonl").read_text(encoding="utf-8")
    assert list(map(json.loads, lines.splitlines())) == made
