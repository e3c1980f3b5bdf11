"""CAIL: how severe a punishment a Chinese criminal court imposed, in six classes."""

from evenhand.legal.dataset import Attribute, Dataset

DATASET = Dataset(
    kind="cail",
    title="CAIL",
    languages=("zh",),
    task="multi_class",
    labels=("0", "<=12", "<=36", "<=60", "<=120", ">120"),
    attributes=(
        Attribute(
            name="defendant_gender",
            module="defendant_gender",
            title="Defendant's gender",
            groups=("male", "female"),
        ),
        Attribute(
            name="court_region",
            module="cail_court_region",
            title="Region",
            groups=(
                "Beijing",
                "Liaoning",
                "Hunan",
                "Guangdong",
                "Sichuan",
                "Guangxi",
                "Zhejiang",
            ),
        ),
    ),
    segments=32,
    tokens=128,
    published={"train": 80000, "dev": 12000, "test": 12000},
    years="2013-17 / 2017-18 / 2018",
    licence="CC BY-NC-SA 4.0 (FairLex); the terms of CAIL2018 for what is read from there",
    people=(
        "Judgments of criminal courts tell of defendants and victims by names that are only "
        "partly masked. Gender and place are those of the judgment. A severity is what a court "
        "decided, not what anybody deserved: do not predict punishments with it."
    ),
)
