"""Stage: what the tables of legal classifiers come to, in sentences made from their numbers."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import stage
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.legal.compare_objectives import HIGHER, LOWER, NOT_SHOWN
from evenhand.legal.objective_titles import Titles, titles_of
from evenhand.legal.predictions import NO_ATTRIBUTE as NONE
from evenhand.legal.published import ALL, CLAIMS
from evenhand.legal.score_groups import ABOVE, CHANCE, TOO_FEW
from evenhand.legal.scored import BASE
from evenhand.text.phrases import listed

Row = dict[str, Any]

#: Which columns of each table are read as numbers.
NUMBERS = (
    *("ours", "low", "high", "noise_mean", "noise_border", "p", "p_labels", "difference"),
    "p_cases_adjusted",
)

#: The measure, and which side of it is the better one.
BETTER = {"mean": HIGHER, "worst": HIGHER, "gd": LOWER}

WORDS = {
    "mean": "mean over groups",
    "worst": "worst group",
    "gd": "gap between groups (GD)",
    "overall": "score over all cases",
}


def write_classifier_findings(
    *,
    table_4: list[Input],
    tests: list[Input],
    table_2: list[Input],
    calibration: list[Input],
    claims: Input,
    out: Output,
    objectives: list[str] | None = None,
    objective_titles: list[str] | None = None,
    attributes: list[str] | None = None,
    attribute_titles: list[str] | None = None,
) -> dict[str, Any]:
    """Say what was found, on each data set and over all that are given.

    Parameters
    ----------
    table_4, tests, table_2, calibration : list of path
        CSVs of `tabulate_classifiers`, `compare_objectives`, `explain_groups` and
        `measure_calibration`, one each per data set, in one order.
    claims : path
        What FairLex says (published_claims.csv); its claims over all data sets are used.
    out : path
        JSON: ``headline``, a list of sentences, and ``findings``, a list of

        - id, dataset (null for all), sentence;
        - holds: whether what the id asks is so (null where it is no yes or no);
        - numbers: what the sentence rests on.

        A question without numbers has no finding; ``left_out`` counts them.
    objectives, objective_titles : list of str, optional
        What people call the objectives; one that is not named has its own name.
    attributes, attribute_titles : list of str, optional
        The same of the attributes.

    Raises
    ------
    InputError
        There is not one table of each for each data set, or one title for each objective
        or attribute.
    """
    given = [table_4, tests, table_2, calibration]
    if len({len(paths) for paths in given}) != 1 or not table_4:
        raise InputError(
            "there must be one table of each sort for each data set", remedy="give them in order"
        )
    titles = titles_of(objectives, objective_titles)
    named = titles_of(attributes, attribute_titles, "attribute")
    said = {row["quantity"]: row for row in read_resource(
        claims, CLAIMS, optional=tuple(CLAIMS[1:2] + CLAIMS[3:]), unique=tuple(CLAIMS[:5])
    ) if row["kind"] == ALL}  # fmt: skip
    findings: list[Row] = []
    left_out: dict[str, int] = {}
    together: list[list[Row]] = [[], [], [], []]

    def add(name: str, dataset: str | None, found: Row | None) -> None:
        if found is None:
            left_out[name] = left_out.get(name, 0) + 1
        else:
            findings.append({"id": name, "dataset": dataset, **found})

    for paths in zip(*given, strict=True):
        tables = [_read(path, titles, named) for path in paths]
        for rows, own in zip(together, tables, strict=True):
            rows += own
        names = sorted({row["dataset"] for rows in tables for row in rows})
        if len(names) != 1:
            raise InputError(f"is of {listed(names) or 'no data set'}, not of one as those"
                             " given with it", file=paths[0])  # fmt: skip
        for name, ask in QUESTIONS.items():
            add(name, names[0], ask(f"On {names[0]}", *tables, said))
    several = len(table_4) > 1
    for name, ask in QUESTIONS.items() if several else ():
        add(name, None, ask(f"Over {len(table_4)} data sets", *together, said))
    whole = [row for row in findings if row["dataset"] is None or not several]
    document = {
        "headline": [row["sentence"] for row in whole if row["id"] in HEADLINE],
        "findings": findings,
        "left_out": dict(sorted(left_out.items())),
    }
    write_json(out, document)
    return {"findings": len(findings), "left_out": sum(left_out.values())}


def gaps(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """How many gaps of ERM are more than noise, and how many are gaps of labels."""
    own = [row for row in table if row["objective"] == BASE and row["measure"] == "gd"
           and row["noise_verdict"]]  # fmt: skip
    if not own:
        return None
    above = [row for row in own if row["noise_verdict"] == ABOVE]
    few = [row for row in own if row["noise_verdict"] == TOO_FEW]
    labels = [row for row in above if row["p_labels"] >= CHANCE]
    sentence = (
        f"{where}, {_of(len(above), len(own), 'gap')} between groups under ERM"
        f" {_is(len(above))} larger than what random groups of the same sizes show"
    )
    sentence += f" ({listed([_named(row) for row in above])}).{_alone(len(own))}" if above else "."
    if few:
        sentence += f" Of the rest, {len(few)} could hardly stand out: a group has too few cases."
    if labels:
        sentence += (
            f" {_of(len(labels), len(above), 'gap')} above noise"
            f" {_is(len(labels))} no larger than among random groups with the same labels."
        )
    numbers = {"gaps": len(own), "above_noise": len(above), "too_few_cases": len(few),
               "explained_by_labels": len(labels)}  # fmt: skip
    return {"sentence": sentence, "holds": bool(above), "numbers": numbers}


def objectives(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """Which objectives narrow gaps or raise the worst group, beyond chance."""
    own = [row for row in tests if row["measure"] in BETTER and row["verdict"]]
    if not own:
        return None
    numbers: Row = {}
    parts = []
    for measure, better in BETTER.items():
        some = [row for row in own if row["measure"] == measure]
        good = [row for row in some if row["verdict"] == better]
        bad = [row for row in some if row["verdict"] not in (better, "not shown")]
        numbers[measure] = {"tests": len(some), "better": len(good), "worse": len(bad)}
        if some:
            parts.append(f"the {WORDS[measure]} is better than under ERM in {len(good)} of"
                         f" {len(some)} comparisons and worse in {len(bad)}")  # fmt: skip
    holds = numbers["gd"]["better"] > 0 or numbers["worst"]["better"] > 0
    beyond = "beyond chance over seeds and over cases, corrected for how many comparisons there are"
    if any(count["better"] or count["worse"] for count in numbers.values()):
        sentence = f"{where}, {'; '.join(parts)} ({beyond})."
    else:
        measures = listed([WORDS[name] for name in BETTER if numbers[name]["tests"]])
        sentence = (
            f"{where}, {_of(0, len(own), 'comparison')} with ERM ({measures}) shows a difference"
            f" {beyond}."
        )
    cases = [row["p_cases_adjusted"] for row in own if row["verdict"] == NOT_SHOWN]
    if alone := sum(p is not None and p < CHANCE for p in cases):
        numbers["over_cases_alone"] = alone
        sentence += (
            f" Over cases alone, {alone} of those not shown would be; so few seeds cannot say"
            " whether others would agree."
        )
    if silent := sum(bool(row["reason"]) for row in own):
        numbers["silent"] = silent
        sentence += (
            f" {silent} of the {_count(len(own), 'comparison')} could show nothing: there is one"
            " seed, or all seeds differ by the same."
        )
    return {"sentence": sentence, "holds": holds, "numbers": numbers}


def losses(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """Whether the other objectives lose against ERM on average, as in FairLex."""
    numbers = {}
    for measure in ("mean", "worst"):
        some = [row["difference"] for row in tests
                if row["measure"] == measure and row["difference"] is not None]  # fmt: skip
        if not some:
            return None
        numbers[measure] = sum(some) / len(some)
    mean, worst = (f"{numbers[name]:+.2f}" for name in ("mean", "worst"))
    published = [said[name]["low"] for name in ("loss_mean", "loss_worst") if name in said]
    sentence = (
        f"{where}, objectives other than ERM change the mean over groups by {mean} points and the"
        f" worst group by {worst} on average, whatever chance has in it"
    )
    sentence += f" (FairLex: −{published[0]} and −{published[1]})." if len(published) == 2 else "."
    sentence = sentence.replace(" -", " −")
    return {"sentence": sentence, "holds": max(numbers.values()) < 0, "numbers": numbers}


def fewest(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """In how many attributes the group with the fewest training cases is the worst."""
    attributes: dict[tuple[str, str, str], list[Row]] = {}
    for row in groups:
        if row["worst"]:  # blank where there are fewer than two groups
            key = row["dataset"], row["classifier"], row["attribute"]
            attributes.setdefault(key, []).append(row)
    decided = [rows for rows in attributes.values() if any(row["worst"] == "true" for row in rows)]
    ties = len(attributes) - len(decided)
    if not decided:
        return None
    marks = {
        mark: sum(any(row["worst"] == row[mark] == "true" for row in rows) for rows in decided)
        for mark in ("fewest_train_cases", "most_drift", "most_wci")
    }
    chance = sum(1 / len(rows) for rows in decided)
    total = len(decided)
    sentence = (
        f"{where}, the worst group under ERM is that with the fewest training cases in"
        f" {marks['fewest_train_cases']} of {_count(total, 'attribute')}"
        " (an attribute counts once for each classifier), that whose labels shift most in"
        f" {marks['most_drift']}, and that with most cases of the class the classifier does worst"
        f" on in {marks['most_wci']}; by chance each would be up to {chance:.1f}."
    )
    if ties:
        sentence += f" In {_count(ties, 'other')} no single group is the worst."
    if "fewest_is_worst" in said:
        sentence += f" FairLex has the first in {said['fewest_is_worst']['low']} of 10."
    holds = marks["fewest_train_cases"] > chance
    numbers = {"attributes": total, "ties": ties, "by_chance": chance, **marks}
    return {"sentence": sentence, "holds": holds, "numbers": numbers}


def linear(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """Whether linear classifiers are worse than the others on all three measures."""
    base = [row for row in table if row["objective"] == BASE and row["ours"] is not None]
    own = {(row["dataset"], row["attribute"], row["measure"], row["classifier"]): row["ours"]
           for row in base}  # fmt: skip
    stands = {row["classifier"]: row["stands_for"] for row in base}
    numbers: Row = {}
    for dataset, attribute, measure, classifier in own:
        if measure in BETTER and stands[classifier] == "linear":
            for other in (name for name, what in stands.items() if what == "transformer"):
                theirs = own.get((dataset, attribute, measure, other))
                if theirs is not None:
                    difference = own[dataset, attribute, measure, classifier] - theirs
                    worse = difference > 0 if measure == "gd" else difference < 0
                    count = numbers.setdefault(measure, {"compared": 0, "worse": 0})
                    count["compared"] += 1
                    count["worse"] += worse
    if len(numbers) < len(BETTER):
        return None
    parts = [f"the {WORDS[name]} in {count['worse']} of {count['compared']}"
             for name, count in numbers.items()]  # fmt: skip
    sentence = (
        f"{where}, linear classifiers are worse than transformers under ERM on {listed(parts)}"
        " comparisons, whatever chance has in it"
    )
    sentence += "; FairLex has them worse on all three." if "linear_worse" in said else "."
    holds = all(count["worse"] == count["compared"] for count in numbers.values())
    return {"sentence": sentence, "holds": holds, "numbers": numbers}


def constant(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """Which classifiers say the same of every test case."""
    own: dict[tuple[str, ...], Row] = {}
    for row in table:
        if row["constant_seeds"]:
            key = tuple(row[name] for name in ("dataset", "classifier", "objective", "trained_for"))
            own.setdefault(key, row)
    if not own:
        return None
    same = [row for row in own.values() if row["constant_seeds"] != "0"]
    if same:
        parts = [
            f"{row['classifier']} with {row['called']}"
            + (f" for {row['for']}" if row["trained_for"] != NONE else "")
            + (f" ({row['constant_seeds']} of {_count(int(row['seeds']), 'seed')})")
            for row in same
        ]
        sentence = (
            f"{where}, {_of(len(same), len(own), 'training')} {'says' if len(same) == 1 else 'say'}"
            f" the same of every test case: {listed(parts)}. What differs between groups there are"
            " the labels, not what was learned."
        )
    else:
        sentence = f"{where}, no classifier says the same of every test case."
    numbers = {"trainings": len(own), "constant": len(same)}
    return {"sentence": sentence, "holds": bool(same), "numbers": numbers}


def calibrated(
    where: str, table: list[Row], tests: list[Row], groups: list[Row], ece: list[Row], said: Row
) -> Row | None:
    """In how many groups ERM's calibration is worse than in random groups."""
    own = [row for row in ece if row["objective"] == BASE and row["verdict"]]
    if not own:
        return None
    above = [row for row in own if row["verdict"] == ABOVE]
    sentence = (
        f"{where}, the confidence of ERM holds worse in {_of(len(above), len(own), 'group')}"
        " than in random groups of the same size"
    )
    sentence += f" ({listed([_group(row) for row in above])}).{_alone(len(own))}" if above else "."
    numbers = {"groups": len(own), "above_noise": len(above)}
    return {"sentence": sentence, "holds": bool(above), "numbers": numbers}


#: What is asked of each data set, and of all.
QUESTIONS: dict[str, Callable[..., Row | None]] = {
    "gaps_above_noise": gaps,
    "says_always_the_same": constant,
    "objectives_against_erm": objectives,
    "average_loss_against_erm": losses,
    "worst_group_explained": fewest,
    "linear_worse": linear,
    "calibration_by_group": calibrated,
}

#: The findings whose sentences stand first on the page.
HEADLINE = ("gaps_above_noise", "objectives_against_erm")


def _read(path: Path, titles: Titles, attributes: Titles) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if "dataset" not in (reader.fieldnames or []):
            raise InputError("is no table of legal classifiers", file=path)
        rows = []
        for row in reader:
            try:
                rows.append({name: (float(cell) if cell else None) if name in NUMBERS else cell
                             for name, cell in row.items()})  # fmt: skip
                if objective := row.get("objective"):
                    rows[-1]["called"] = titles[objective]
                rows[-1]["about"] = attributes[row.get("attribute") or ""]
                rows[-1]["for"] = attributes[row.get("trained_for") or ""]
            except ValueError as error:
                raise InputError(str(error), file=path, line=reader.line_num) from error
        return rows


def _named(row: Row) -> str:
    return (
        f"{row['classifier']}, {row['about']}: GD {row['ours']:.1f}, by chance up to"
        f" {row['noise_border']:.1f}"
    )


def _group(row: Row) -> str:
    return f"{row['classifier']}, {row['about']}: {row['group']}"


def _of(some: int, of: int, word: str) -> str:
    return f"{some or 'none'} of {_count(of, word)}"


def _alone(tested: int) -> str:
    """How many of so many chance alone would bring: their p-values are not corrected."""
    return (
        f" If groups did not differ at all, chance would still bring about {CHANCE * tested:.1f}."
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _is(number: int | Sequence[Any]) -> str:
    return "is" if number == 1 else "are"


if __name__ == "__main__":
    stage.run(write_classifier_findings)
