"""ECtHR: which articles of the Convention a judgment of the Strasbourg court finds violated."""

from evenhand.legal.dataset import Attribute, Dataset

DATASET = Dataset(
    kind="ecthr",
    title="ECtHR",
    languages=("en",),
    task="multi_label",
    labels=("2", "3", "5", "6", "8", "9", "10", "11", "14", "P1-1"),
    attributes=(
        Attribute(
            name="defendant_state",
            module="defendant_state",
            title="Respondent state",
            groups=("C.E. European", "Rest of Europe"),
        ),
        Attribute(
            name="defendant_state_eurovoc",
            module="defendant_state_eurovoc",
            title="Respondent state (EuroVoc)",
            groups=("C.E. European", "Rest of Europe"),
        ),
        Attribute(
            name="applicant_gender",
            module="applicant_gender",
            title="Applicant's gender",
            groups=("male", "female"),
            unknown="n/a",
        ),
        Attribute(
            name="applicant_age",
            module="applicant_age",
            title="Applicant's age",
            groups=("<=35", "<=65", ">65"),
            unknown="n/a",
        ),
        Attribute(
            name="applicant_birth_year",
            module="applicant_birth_year",
            title="Applicant's year of birth",
        ),
    ),
    segments=32,
    tokens=128,
    published={"train": 9000, "dev": 1000, "test": 1000},
    years="2001-16 / 2016-17 / 2017-19",
    licence="CC BY-NC-SA 4.0 (FairLex); HUDOC's terms for judgments read from there",
    people=(
        "Judgments name applicants, relatives, witnesses and judges, and tell of crimes, "
        "illness, religion and ethnic origin. Gender and age were drawn from the words of the "
        "judgment; they are not self-reported. Gender is the Court's choice of words, in two "
        "values. Do not publish lists of persons made from this set, and do not use what is "
        "learned from it to decide about people."
    ),
)
