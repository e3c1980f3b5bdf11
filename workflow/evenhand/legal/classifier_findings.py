"""Findings on classifiers of legal cases: numbers from their tables, and a sentence of each."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from evenhand.core.rows import grouped
from evenhand.legal.classifier_study import BASE
from evenhand.legal.classifier_tables.tests import CONSTANT, ONE_CONSTANT
from evenhand.legal.declaration import KIND as DECLARED
from evenhand.legal.declaration import Dataset
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.metrics.inference import ABOVE
from evenhand.text.catalogue import read_catalogue
from evenhand.text.phrases import Titles

Row = dict[str, Any]

#: The rows of each table of `TABLES`.
Tables = Mapping[str, Sequence[Row]]

#: FairLex's claims over all data sets, by quantity.
Claims = Mapping[str, float | None]

#: The numbers of a finding, and the names of those counted.
Finding = tuple[Row, Sequence[Any]]

#: The tables that findings are computed from.
TABLES = ("table_4", "tests", "table_2", "calibration")

#: The measures on which linear classifiers are compared with transformers.
MEASURES = ("mean", "worst", "gd")

_say = read_catalogue(__file__)


def classifier_findings(
    datasets: Sequence[tuple[Dataset, Tables]], objectives: Titles, claims: Sequence[Row]
) -> list[str]:
    """Return the findings on one data set, or on several together, as sentences.

    Parameters
    ----------
    datasets : sequence of (Dataset, mapping)
        The declaration of each, and the tables of its classifiers.
    objectives : Titles
        The titles of the objectives.
    claims : sequence of dict
        FairLex's claims over all data sets, which are about courts alone.
    """
    rows_by_table: dict[str, list[Row]] = {name: [] for name in TABLES}
    for dataset, tables in datasets:
        titles = Titles({attribute.name: attribute.title for attribute in dataset.attributes})
        for name in TABLES:
            rows_by_table[name] += [
                row
                | {"title": titles[row["attribute"] or ""]}
                | {"for": titles[row.get("trained_for") or ""]}
                | {"called": objectives[row.get("objective") or ""]}
                for row in tables[name]
            ]
    of_courts = all(dataset.kind != DECLARED for dataset, _ in datasets)
    published = {row["quantity"]: row["low"] for row in claims if of_courts}
    findings = {question: ask(rows_by_table, published) for question, ask in QUESTIONS.items()}
    return [_say(question, *finding) for question, finding in findings.items() if finding]


def losses(tables: Tables, claims: Claims) -> Finding | None:
    """Return the mean change of two measures against ERM, without constant classifiers."""
    numbers = {}
    for measure in ("mean", "worst"):
        rows = [row for row in tables["tests"] if row["measure"] == measure]
        rows = [row for row in rows if row["reason"] not in (CONSTANT, ONE_CONSTANT)]
        differences = [row["difference"] for row in rows if row["difference"] is not None]
        if not differences:
            return None
        numbers[measure] = sum(differences) / len(differences)
    return numbers, [claims[name] for name in ("loss_mean", "loss_worst") if name in claims]


def fewest(tables: Tables, claims: Claims) -> Finding | None:
    """Return in how many attributes the group with the fewest training cases is the worst."""
    # "worst" is blank where there are fewer than two groups
    ranked = (row for row in tables["table_2"] if row["worst"] is not None)
    attributes = grouped(ranked, "dataset", "classifier", "attribute")
    worst = [(row, len(rows)) for rows in attributes.values() for row in rows if row["worst"]]
    numbers = {
        "attributes": len(worst),
        "ties": len(attributes) - len(worst),
        "by_chance": sum(1 / groups for _, groups in worst),
        **{
            mark: sum(bool(row[mark]) for row, _ in worst)
            for mark in ("fewest_train_cases", "most_drift", "most_wci")
        },
    }
    names = [claims["fewest_is_worst"]] if "fewest_is_worst" in claims else []
    return (numbers, names) if worst else None


def linear(tables: Tables, claims: Claims) -> Finding | None:
    """Return how often linear classifiers are worse than transformers, by measure."""
    scores: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in tables["table_4"]:
        if row["objective"] == BASE and row["ours"] is not None and row["measure"] in MEASURES:
            key = row["measure"], row["dataset"], row["attribute"]
            scores.setdefault(key, {}).setdefault(row["stands_for"], []).append(row["ours"])
    numbers: Row = {}
    for (measure, *_), by_kind in scores.items():
        for pair in product(by_kind.get("linear", ()), by_kind.get("transformer", ())):
            count = numbers.setdefault(measure, {"compared": 0, "worse": 0})
            count["compared"] += 1
            count["worse"] += pair[0] > pair[1] if measure == "gd" else pair[0] < pair[1]
    names = ["linear_worse"] if "linear_worse" in claims else []
    return (numbers, names) if len(numbers) == len(MEASURES) else None


def constant(tables: Tables, claims: Claims) -> Finding | None:
    """Return which classifiers predict the same labels for every test case."""
    trainings: dict[tuple[str, ...], Row] = {}
    for row in tables["table_4"]:
        if row["constant_seeds"] is not None:
            key = tuple(row[name] for name in ("dataset", "classifier", "objective", "trained_for"))
            trainings.setdefault(key, row)
    names = [
        f"{row['classifier']} with {row['called']}"
        + (f" for {row['for']}" if row["trained_for"] != NO_ATTRIBUTE else "")
        + f" ({row['constant_seeds']} of {row['seeds']} seed{'' if row['seeds'] == 1 else 's'})"
        for row in trainings.values()
        if row["constant_seeds"]
    ]
    numbers = {"trainings": len(trainings), "constant": len(names)}
    return (numbers, names) if trainings else None


def calibrated(tables: Tables, claims: Claims) -> Finding | None:
    """Return in how many groups ERM's calibration error is above that of random groups."""
    rows = [row for row in tables["calibration"] if row["objective"] == BASE and row["verdict"]]
    names = [
        f"{row['classifier']}, {row['title']}: {row['group']}"
        for row in rows
        if row["verdict"] == ABOVE
    ]
    return ({"groups": len(rows), "above_noise": len(names)}, names) if rows else None


#: The questions about each data set, and about all.
QUESTIONS: dict[str, Callable[[Tables, Claims], Finding | None]] = {
    "says_always_the_same": constant,
    "average_loss_against_erm": losses,
    "worst_group_explained": fewest,
    "linear_worse": linear,
    "calibration_by_group": calibrated,
}
