"""The findings on classifiers of legal cases: numbers from their tables, and a sentence of each."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table
from evenhand.io.documents import write_json
from evenhand.legal.classifier_study import BASE
from evenhand.legal.declaration import KIND as DECLARED
from evenhand.legal.declaration import read_declaration
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.published import ALL, read_claims
from evenhand.metrics.inference import ABOVE
from evenhand.text.catalogue import read_catalogue
from evenhand.text.phrases import Titles

Row = dict[str, Any]

#: The rows of each table of `TABLES`.
Tables = dict[str, list[Row]]

#: The numbers of a finding, whether its answer is yes, and the names of those counted.
Finding = tuple[Row, bool, Sequence[str]]

#: The tables that findings are computed from.
TABLES = ("table_4", "tests", "table_2", "calibration")

_say = read_catalogue(__file__)

#: The measures on which linear classifiers are compared with transformers.
MEASURES = ("mean", "worst", "gd")


def write_classifier_findings(
    *,
    tables: list[Source],
    declarations: list[str],
    claims: Input,
    out: Output,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
) -> dict[str, Any]:
    """Write the findings on each data set and, if there are several, on all of them.

    Parameters
    ----------
    tables : list of path
        The folders that `tabulate_classifiers` wrote, each named after its data set.
    declarations : list of str
        That of each of these data sets, as JSON.
    claims : path
        FairLex's claims (published_claims.csv); those over all data sets are used.
    out : path
        JSON: ``findings``, a list of

        - id, dataset (null for all), sentence;
        - holds: whether the answer to the question of the id is yes;
        - numbers: those of the sentence.

        A question without numbers has no finding; ``left_out`` counts them.

    objectives, objective_titles : list of str, optional
        The titles of the objectives; one that is not named has its own name.

    Raises
    ------
    InputError
        A table is missing.
    """
    claim_values = {
        row["quantity"]: "" if row["low"] is None else f"{row['low']:g}"
        for row in read_claims(claims, ALL)
    }
    called = Titles(zip(objectives or [], objective_titles or [], strict=True))
    scopes = []
    for folder, declaration in zip(tables, declarations, strict=True):
        dataset = read_declaration(declaration)
        titles = Titles({attribute.name: attribute.title for attribute in dataset.attributes})
        rows_by_table = {
            name: [
                row
                | {"dataset": folder.name, "title": titles[row["attribute"] or ""]}
                | {"for": titles[row.get("trained_for") or ""]}
                | {"called": called[row.get("objective") or ""]}
                for row in read_table(folder / f"{name}.csv")
            ]
            for name in TABLES
        }
        published = {} if dataset.kind == DECLARED else claim_values
        scopes.append((f"On {folder.name}", folder.name, rows_by_table, published))
    if len(scopes) > 1:
        together = {name: [row for scope in scopes for row in scope[2][name]] for name in TABLES}
        published = claim_values if all(scope[3] for scope in scopes) else {}
        scopes.append((f"Over {len(scopes)} data sets", None, together, published))
    findings, left_out = [], Counter()
    for where, name, rows_by_table, published in scopes:
        for question, ask in QUESTIONS.items():
            if (finding := ask(rows_by_table, published)) is None:
                left_out[question] += 1
                continue
            numbers, holds, names = finding
            sentence = _say(question, where, numbers, names)
            row = {"id": question, "dataset": name, "sentence": sentence}
            findings.append(row | {"holds": holds, "numbers": numbers})
    write_json(out, {"findings": findings, "left_out": dict(sorted(left_out.items()))})
    return {"findings": len(findings), "left_out": left_out.total()}


def losses(tables: Tables, published: Row) -> Finding | None:
    """Return the mean change against ERM, and whether both measures fall, as in FairLex."""
    numbers = {}
    for measure in ("mean", "worst"):
        rows = [row for row in tables["tests"] if row["measure"] == measure]
        differences = [row["difference"] for row in rows if row["difference"] is not None]
        if not differences:
            return None
        numbers[measure] = sum(differences) / len(differences)
    losses = [published.get(name) for name in ("loss_mean", "loss_worst")]
    return numbers, max(numbers.values()) < 0, losses if all(losses) else []


def fewest(tables: Tables, published: Row) -> Finding | None:
    """Return in how many attributes the group with the fewest training cases is the worst."""
    attributes: dict[tuple[str, str, str], list[Row]] = {}
    for row in tables["table_2"]:
        if row["worst"] is not None:  # blank where there are fewer than two groups
            key = row["dataset"], row["classifier"], row["attribute"]
            attributes.setdefault(key, []).append(row)
    worst = [(row, len(rows)) for rows in attributes.values() for row in rows if row["worst"]]
    chance = sum(1 / groups for _, groups in worst)
    numbers = {
        "attributes": len(worst),
        "ties": len(attributes) - len(worst),
        "by_chance": chance,
        **{
            mark: sum(bool(row[mark]) for row, _ in worst)
            for mark in ("fewest_train_cases", "most_drift", "most_wci")
        },
    }
    names = [published["fewest_is_worst"]] if "fewest_is_worst" in published else []
    return (numbers, numbers["fewest_train_cases"] > chance, names) if worst else None


def linear(tables: Tables, published: Row) -> Finding | None:
    """Return whether linear classifiers are worse than transformers on all three measures."""
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
    holds = all(count["worse"] == count["compared"] for count in numbers.values())
    names = ["linear_worse"] if "linear_worse" in published else []
    return (numbers, holds, names) if len(numbers) == len(MEASURES) else None


def constant(tables: Tables, published: Row) -> Finding | None:
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
    return (numbers, bool(names), names) if trainings else None


def calibrated(tables: Tables, published: Row) -> Finding | None:
    """Return in how many groups ERM's calibration error is above that of random groups."""
    rows = [row for row in tables["calibration"] if row["objective"] == BASE and row["verdict"]]
    names = [
        f"{row['classifier']}, {row['title']}: {row['group']}"
        for row in rows
        if row["verdict"] == ABOVE
    ]
    return ({"groups": len(rows), "above_noise": len(names)}, bool(names), names) if rows else None


#: The questions about each data set, and about all.
QUESTIONS: dict[str, Callable[[Tables, Row], Finding | None]] = {
    "says_always_the_same": constant,
    "average_loss_against_erm": losses,
    "worst_group_explained": fewest,
    "linear_worse": linear,
    "calibration_by_group": calibrated,
}
