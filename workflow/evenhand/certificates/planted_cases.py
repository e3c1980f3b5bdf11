"""Planted cases as a file of decisions: see `evenhand.learning.planted.plant_cases`."""

from datetime import date, timedelta
from typing import Any

from evenhand.learning.planted import plant_cases

#: Legal areas and outcomes, by the planted attribute and label.
AREAS, OUTCOMES = ("civil law", "penal law"), ("dismissal", "approval")

#: Cases of training, development and test, as in a split by date with the shares 0.6, 0.1 and 0.3.
SIZES = (480, 80, 240)


def planted_decisions(seed: int, agreement: float) -> list[dict[str, Any]]:
    """Return decisions in the format of Swiss-Judgment-Prediction, the oldest first.

    In training and development cases, the outcome agrees with the legal area in a share of
    `agreement`; in test cases the two are unrelated. The words are invented.
    """
    planted = plant_cases(seed, agreement, sizes=SIZES, paragraphs=1, words=30, terms=200)
    examples = planted.examples
    return [
        {
            "id": 800_001 + row,
            "date": str(date(2000, 1, 1) + timedelta(days=7 * row)),
            "language": "de",
            "region": "Zürich",
            "canton": "zh",
            "legal area": AREAS[examples.groups[row]],
            "label": OUTCOMES[examples.labels[row]],
            "text": f"Sachverhalt: {text.capitalize()}.",
        }
        for row, (text,) in enumerate(planted.texts())
    ]
