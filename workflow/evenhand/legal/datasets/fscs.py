"""FSCS: whether the Federal Supreme Court of Switzerland dismisses or approves an appeal."""

from evenhand.legal.dataset import Attribute, Dataset

DATASET = Dataset(
    kind="fscs",
    title="FSCS",
    languages=("de", "fr", "it"),
    task="multi_class",
    labels=("dismissal", "approval"),
    attributes=(
        Attribute(
            name="decision_language",
            module="decision_language",
            title="Language",
            groups=("de", "fr", "it"),
        ),
        Attribute(
            name="legal_area",
            module="legal_area",
            title="Legal area",
            groups=("public law", "penal law", "civil law", "social law", "insurance law"),
            unknown="other",
        ),
        Attribute(
            name="court_region",
            module="fscs_court_region",
            title="Region",
            groups=(
                "Région lémanique",
                "Zürich",
                "Espace Mittelland",
                "Northwestern Switzerland",
                "Eastern Switzerland",
                "Central Switzerland",
                "Ticino",
                "Federation",
            ),
            unknown="n/a",
        ),
    ),
    segments=32,
    tokens=64,
    published={"train": 59709, "dev": 8208, "test": 17357},
    years="2000-14 / 2015-16 / 2017-20",
    licence="CC BY-NC-SA 4.0 (FairLex); CC BY-SA 4.0 (Swiss-Judgment-Prediction)",
    people=(
        "The court publishes its decisions anonymised; places, dates and circumstances can "
        "still tell who somebody is. Do not try to find out."
    ),
)
