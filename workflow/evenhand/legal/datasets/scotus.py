"""SCOTUS: which issue area a decision of the Supreme Court of the United States belongs to."""

from evenhand.legal.dataset import Attribute, Dataset

DATASET = Dataset(
    kind="scotus",
    title="SCOTUS",
    languages=("en",),
    task="multi_class",
    labels=(
        "Criminal Procedure",
        "Civil Rights",
        "First Amendment",
        "Due Process",
        "Privacy",
        "Attorneys",
        "Unions",
        "Economic Activity",
        "Judicial Power",
        "Federalism",
        "Federal Taxation",
    ),
    attributes=(
        Attribute(
            name="respondent_type",
            module="respondent_type",
            title="Type of respondent",
            groups=("person", "organization", "public entity", "facility"),
            unknown="other",
        ),
        Attribute(
            name="decision_direction",
            module="decision_direction",
            title="Direction of the decision",
            groups=("conservative", "liberal"),
        ),
    ),
    segments=32,
    tokens=128,
    published={"train": 7417, "dev": 914, "test": 931},
    years="1946-82 / 1982-91 / 1991-2016",
    licence="CC BY-NC-SA 4.0 (FairLex); SCDB and the opinions' source have their own terms",
    people=(
        "Opinions are public records and name the parties. The direction of a decision is a "
        "judgment of the coders of the Supreme Court Database, not a fact of the case."
    ),
)
