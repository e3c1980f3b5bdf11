"""The findings on classifiers of legal cases: numbers from their tables, and a sentence of each."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output, Source
from evenhand.core.tables import read_table
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.legal.classifier_study import CHANCE, is_constant
from evenhand.legal.declaration import KIND as DECLARED
from evenhand.legal.declaration import read_declaration
from evenhand.legal.objective_titles import Titles, titles_of
from evenhand.legal.predictions import NO_ATTRIBUTE
from evenhand.legal.published import ALL, CLAIMS
from evenhand.legal.scored import BASE
from evenhand.metrics.inference import ABOVE, BELOW, INCONCLUSIVE
from evenhand.text.catalogue import read_catalogue

Row = dict[str, Any]

#: The tables that findings are computed from.
TABLES = ("table_4", "tests", "table_2", "calibration")

#: The better side of each measure.
BETTER = {"mean": ABOVE, "worst": ABOVE, "gd": BELOW}

#: The names of the measures in lists.
MEASURES = {"mean": "mean over groups", "worst": "worst group", "gd": "gap between groups (GD)"}


class Finding(NamedTuple):
    """The numbers of a finding, whether its answer is yes, and the names of those counted."""

    numbers: Row
    holds: bool
    names: Sequence[str] = ()


def write_classifier_findings(
    *,
    tables: list[Source],
    declarations: list[str],
    claims: Input,
    template: Input,
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
    template : path
        The sentences (findings.jinja): a macro per finding.
    out : path
        JSON: ``headline``, a list of sentences, and ``findings``, a list of

        - id, dataset (null for all), sentence;
        - holds: whether the answer to the question of the id is yes;
        - numbers: those of the sentence.

        A question without numbers has no finding; ``left_out`` counts them.

    objectives, objective_titles : list of str, optional
        The titles of the objectives; one that is not named has its own name.

    Raises
    ------
    InputError
        There is not one declaration for each data set, or a table is missing.
    """
    if len(declarations) != len(tables):
        raise InputError("there is not one declaration for each data set")
    columns = {"optional": tuple(CLAIMS[1:2] + CLAIMS[3:]), "unique": tuple(CLAIMS[:5])}
    claim_values = {
        row["quantity"]: row["low"]
        for row in read_resource(claims, CLAIMS, **columns)
        if row["kind"] == ALL
    }
    called, sets = titles_of(objectives, objective_titles), {}
    datasets = [read_declaration(one) for one in declarations]
    for folder, dataset in zip(tables, datasets, strict=True):
        titles = Titles({one.name: one.title for one in dataset.attributes})
        sets[folder.name] = {
            name: [
                row
                | {"dataset": folder.name, "title": titles[row["attribute"] or ""]}
                | {"for": titles[row.get("trained_for") or ""]}
                | {"called": called[row.get("objective") or ""]}
                for row in read_table(folder / f"{name}.csv")
            ]
            for name in TABLES
        }
    together = {name: [row for one in sets.values() for row in one[name]] for name in TABLES}
    of_paper = [one.kind != DECLARED for one in datasets]
    scopes = [
        (f"On {name}", name, own, paper)
        for (name, own), paper in zip(sets.items(), of_paper, strict=True)
    ]
    if len(sets) > 1:
        scopes.append((f"Over {len(sets)} data sets", None, together, all(of_paper)))
    fill = read_catalogue(template)
    findings, left_out = [], {}
    for where, name, rows, paper in scopes:
        for question, ask in QUESTIONS.items():
            if (found := ask(rows, claim_values if paper else {})) is None:
                left_out[question] = left_out.get(question, 0) + 1
                continue
            text = fill(question, where, found.numbers, found.names)
            row = {"id": question, "dataset": name, "sentence": text}
            findings.append(row | {"holds": found.holds, "numbers": found.numbers})
    whole = scopes[-1][1] if scopes else None
    headline = [
        row["sentence"] for row in findings if row["dataset"] == whole and row["id"] in HEADLINE
    ]
    document = {"headline": headline, "findings": findings}
    write_json(out, document | {"left_out": dict(sorted(left_out.items()))})
    return {"findings": len(findings), "left_out": sum(left_out.values())}


def gaps(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return how many gaps of ERM are above noise, and how many of these come from labels."""
    own = [
        row
        for row in tables["table_4"]
        if row["objective"] == BASE and row["measure"] == "gd" and row["noise_verdict"]
    ]
    above = [row for row in own if row["noise_verdict"] == ABOVE]
    numbers = {
        "gaps": len(own),
        "above_noise": len(above),
        "constant": sum(is_constant(row) for row in own),
        "too_few_cases": sum(
            row["noise_verdict"] == INCONCLUSIVE and not is_constant(row) for row in own
        ),
        "explained_by_labels": sum(row["p_labels"] >= CHANCE for row in above),
    }
    names = [
        f"{row['classifier']}, {row['title']}: GD {row['ours']:.1f}, by chance up to"
        f" {row['noise_border']:.1f}"
        for row in above
    ]
    return Finding(numbers, bool(above), names) if own else None


def comparisons(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return which objectives narrow gaps or raise the worst group significantly."""
    own = [row for row in tables["tests"] if row["measure"] in BETTER and row["verdict"]]
    numbers: Row = {}
    for measure, better in BETTER.items():
        verdicts = [row["verdict"] for row in own if row["measure"] == measure]
        good = verdicts.count(better)
        worse = verdicts.count(BELOW if better == ABOVE else ABOVE)
        numbers[measure] = {"tests": len(verdicts), "better": good, "worse": worse}
    over_cases = [row["p_cases_adjusted"] for row in own if row["verdict"] not in BETTER.values()]
    alone = sum(p is not None and p < CHANCE for p in over_cases)
    silent = sum(bool(row["reason"]) for row in own)
    holds = numbers["gd"]["better"] > 0 or numbers["worst"]["better"] > 0
    names = [title for name, title in MEASURES.items() if numbers[name]["tests"]]
    numbers |= {"over_cases_alone": alone} if alone else {}
    numbers |= {"silent": silent} if silent else {}
    return Finding(numbers, holds, names) if own else None


def losses(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return the mean change against ERM, and whether both measures fall, as in FairLex."""
    numbers = {}
    for measure in ("mean", "worst"):
        some = [row["difference"] for row in tables["tests"] if row["measure"] == measure]
        some = [difference for difference in some if difference is not None]
        if not some:
            return None
        numbers[measure] = sum(some) / len(some)
    published = [claim_values[name] for name in ("loss_mean", "loss_worst") if name in claim_values]
    return Finding(numbers, max(numbers.values()) < 0, published if len(published) == 2 else ())


def fewest(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return in how many attributes the group with the fewest training cases is the worst."""
    attributes: dict[tuple[str, str, str], list[Row]] = {}
    for row in tables["table_2"]:
        if row["worst"] is not None:  # blank where there are fewer than two groups
            key = row["dataset"], row["classifier"], row["attribute"]
            attributes.setdefault(key, []).append(row)
    worst = {key: row for key, rows in attributes.items() for row in rows if row["worst"]}
    chance = sum(1 / len(attributes[key]) for key in worst)
    numbers = {
        "attributes": len(worst),
        "ties": len(attributes) - len(worst),
        "by_chance": chance,
        **{
            mark: sum(bool(row[mark]) for row in worst.values())
            for mark in ("fewest_train_cases", "most_drift", "most_wci")
        },
    }
    published = [claim_values["fewest_is_worst"]] if "fewest_is_worst" in claim_values else []
    return Finding(numbers, numbers["fewest_train_cases"] > chance, published) if worst else None


def linear(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return whether linear classifiers are worse than transformers on all three measures."""
    own: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in tables["table_4"]:
        if row["objective"] == BASE and row["ours"] is not None and row["measure"] in BETTER:
            key = row["measure"], row["dataset"], row["attribute"]
            own.setdefault(key, {}).setdefault(row["stands_for"], []).append(row["ours"])
    numbers: Row = {}
    for (measure, *_), scores in own.items():
        for ours in scores.get("linear", ()):
            for other in scores.get("transformer", ()):
                count = numbers.setdefault(measure, {"compared": 0, "worse": 0})
                count["compared"] += 1
                count["worse"] += ours > other if measure == "gd" else ours < other
    holds = all(count["worse"] == count["compared"] for count in numbers.values())
    published = ["linear_worse"] if "linear_worse" in claim_values else []
    return Finding(numbers, holds, published) if len(numbers) == len(BETTER) else None


def constant(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return which classifiers predict the same labels for every test case."""
    own: dict[tuple[str, ...], Row] = {}
    for row in tables["table_4"]:
        if row["constant_seeds"] is not None:
            key = tuple(row[name] for name in ("dataset", "classifier", "objective", "trained_for"))
            own.setdefault(key, row)
    same = [row for row in own.values() if row["constant_seeds"]]
    names = [
        f"{row['classifier']} with {row['called']}"
        + (f" for {row['for']}" if row["trained_for"] != NO_ATTRIBUTE else "")
        + f" ({row['constant_seeds']} of {row['seeds']} seed{'' if row['seeds'] == 1 else 's'})"
        for row in same
    ]
    numbers = {"trainings": len(own), "constant": len(same)}
    return Finding(numbers, bool(same), names) if own else None


def calibrated(tables: dict[str, list[Row]], claim_values: Row) -> Finding | None:
    """Return in how many groups ERM's calibration error is above that of random groups."""
    own = [row for row in tables["calibration"] if row["objective"] == BASE and row["verdict"]]
    above = [row for row in own if row["verdict"] == ABOVE]
    names = [f"{row['classifier']}, {row['title']}: {row['group']}" for row in above]
    numbers = {"groups": len(own), "above_noise": len(above)}
    return Finding(numbers, bool(above), names) if own else None


#: The questions about each data set, and about all.
QUESTIONS: dict[str, Callable[[dict[str, list[Row]], Row], Finding | None]] = {
    "gaps_above_noise": gaps,
    "says_always_the_same": constant,
    "objectives_against_erm": comparisons,
    "average_loss_against_erm": losses,
    "worst_group_explained": fewest,
    "linear_worse": linear,
    "calibration_by_group": calibrated,
}

#: The findings whose sentences stand first on the page.
HEADLINE = ("gaps_above_noise", "objectives_against_erm")


if __name__ == "__main__":
    stage.run(write_classifier_findings)
