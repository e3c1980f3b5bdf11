"""Measure the precision of each rule, by the sheets that people have filled in."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.core.tables import Table, integer, share, text, write_tables
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.audit import ANSWERS, task, unknown_name, values
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import findings_files
from evenhand.metrics.proportions import stratified_share, wilson_share
from evenhand.sheets.filled import Row, check_rows, chosen, read_filled, refuse
from evenhand.sheets.tasks import group_of

TABLE = Table(
    "audit",
    title="Precision of the rules, checked by people",
    key=("dataset", "attribute", "scope", "rule"),
    columns=(
        *map(text, ("dataset", "attribute")),
        text("scope", "rule; values: the rules that give a value; no_values: those that give none"),
        text("rule"),
        integer("cases", "Cases of the rule, now"),
        integer("drawn", "answered + unanswered + contradicted + changed_since"),
        integer("answered", "right + wrong + cannot_tell"),
        *map(integer, ("right", "wrong", "cannot_tell", "unanswered")),
        integer("contradicted", "Cases on which two sheets differ"),
        integer("changed_since", "Cases whose value or rule has changed since they were drawn"),
        share(
            "precision",
            "right of right and wrong; of several rules: each weighted by its cases",
            interval=("low", "high"),
        ),
        share("recall", "Of the cases that have a value in truth, those that got it"),
    ),
)

#: What a row of the table is about: one rule, all that give a value, all that give none.
RULE, KNOWN, NOTHING_KNOWN = "rule", "values", "no_values"

RIGHT, WRONG, CANNOT_TELL = ANSWERS


class Answer(NamedTuple):
    """An auditor's answer for a case."""

    right: str
    should_be: str | None


@dataclass
class Stratum:
    """The cases of one rule that have a value, or those that have none."""

    cases: int = 0
    counts: Counter = field(default_factory=Counter)
    #: wrong ones whose true value is another one
    misplaced: int = 0

    @property
    def judged(self) -> int:
        """Cases that were answered with right or wrong."""
        return self.counts[RIGHT] + self.counts[WRONG]


def read_audit(
    *,
    drawn: list[Input],
    sheets: list[Input],
    findings: Input,
    out: Output,
    dataset: str,
) -> dict[str, Any]:
    """Measure the precision of each rule, by the sheets that people have filled in.

    Parameters
    ----------
    drawn : list of path
        The handed_out.csv that `draw_audit` wrote, one an attribute.
    sheets : list of path
        The filled sheets (xlsx or csv), in any number and order: a sheet may hold a part of the
        cases, and a case may be in several sheets.
    findings : path
        The present findings (the folder of `find_attributes`), for the number of cases of each
        rule.
    out : path
        The folder of the table; see `evenhand.core.tables`. Intervals are Wilson's; a precision
        is blank where a rule has no answer.
    dataset : str
        The data set's name in the table.

    Returns
    -------
    dict
        drawn, answered, unanswered, contradicted, changed_since.

    Raises
    ------
    InputError
        A sheet cannot be read, has a case or finding that was not handed out, an unknown answer
        or value, or an answer that contradicts itself. File and row are named.
    """
    fixed, files = findings_files(findings)
    attributes_of = {one.name: one for one in fixed.attributes}
    handed: dict[str, dict[str, dict[str, Any]]] = {}
    for path in drawn:
        name, rows = group_of(path, task(fixed.attributes[0]))
        if rows:
            if name in handed or name not in files:
                raise InputError(f"is a second file of {name}, or of another kind", file=path)
            handed[name] = rows
    answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for path in sheets:
        for key, answer in _answers(path, handed, attributes_of):
            answers[key].append(answer)
    table = []
    for name, rows in handed.items():
        strata = _strata(attributes_of[name], rows, answers, files[name])
        table += [{"dataset": dataset, "attribute": name} | row for row in _rows(strata)]
    order = list(attributes_of)
    table.sort(key=lambda row: order.index(row["attribute"]))
    write_tables(out, [(TABLE, table)])
    names = ("drawn", "answered", "unanswered", "contradicted", "changed_since")
    return {name: sum(row[name] for row in table if row["scope"] == RULE) for name in names}


def _answers(
    path: Path,
    handed: dict[str, dict[str, dict[str, Any]]],
    attributes: dict[str, Attribute],
) -> Iterator[tuple[tuple[str, str], Answer]]:
    """Attribute and case, and the answer, of each row of a sheet that has one."""
    declared = task(next(iter(attributes.values())))
    rows = read_filled(path, declared)
    expected = {(name, case): row for name, some in handed.items() for case, row in some.items()}
    check_rows(path, rows, expected, declared)
    for name in handed:
        own = [row for row in rows if row.cells["attribute"] == name]
        for row, answer in zip(own, _answers_of(path, own, attributes[name]), strict=True):
            if answer:
                yield (name, row.cells["case_id"]), answer


def _answers_of(path: Path, rows: list[Row], attribute: Attribute) -> list[Answer | None]:
    """The answers of rows about one attribute, None where blank."""
    rights = chosen(path, rows, "right", ANSWERS)
    numbers = not attribute.groups
    true = chosen(path, rows, "should_be", values(attribute), numbers=numbers)
    both = list(zip(rows, rights, true, strict=True))
    refuse(
        path,
        [row for row, right, value in both if value and not right],
        "should_be is filled in, and right is blank",
        f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}, or leave both blank",
        "should_be",
    )
    refuse(
        path,
        [
            row
            for row, right, value in both
            if value and (value == row.cells["value"]) == (right == WRONG)
        ],
        "right and should_be contradict each other about the value",
        "ask the auditor which of the two is meant",
        "value",
    )
    return [Answer(right, value) if right else None for _, right, value in both]


def _strata(
    attribute: Attribute,
    rows: dict[str, dict[str, Any]],
    given: dict[tuple[str, str], list[Answer]],
    findings: Path,
) -> dict[tuple[str, bool], Stratum]:
    """By rule and whether it gives a value: the number of cases, and the answers."""
    unknown = unknown_name(attribute)
    strata: dict[tuple[str, bool], Stratum] = defaultdict(Stratum)
    now: dict[str, tuple[str, str]] = {}
    for finding in read_rows(findings, ["case_id", "value", "rule"]):
        value = unknown if finding["value"] is None else finding["value"]
        strata[finding["rule"], value != unknown].cases += 1
        if finding["case_id"] in rows:
            now[finding["case_id"]] = value, finding["rule"]
    for case, row in rows.items():
        stratum = strata[row["rule"], row["value"] != unknown]
        answers = set(given.get((attribute.name, case), ()))
        stratum.counts["drawn"] += 1
        if now.get(case) != (row["value"], row["rule"]):
            stratum.counts["changed_since"] += 1
        elif not answers:
            stratum.counts["unanswered"] += 1
        elif len(answers) > 1:
            stratum.counts["contradicted"] += 1
        else:
            (answer,) = answers
            stratum.counts[answer.right] += 1
            stratum.counts["answered"] += 1
            if answer.right == WRONG and answer.should_be not in (None, unknown):
                stratum.misplaced += 1
    return strata


def _rows(strata: dict[tuple[str, bool], Stratum]) -> list[dict[str, Any]]:
    rows = []
    by_rule: dict[str, list[Stratum]] = defaultdict(list)
    for (rule, _), stratum in strata.items():
        by_rule[rule].append(stratum)
    ordered = sorted(by_rule, key=lambda rule: (-sum(one.cases for one in by_rule[rule]), rule))
    for rule in ordered:
        row = {"scope": RULE, "rule": rule} | _sums(by_rule[rule])
        found = wilson_share(row[RIGHT], row[RIGHT] + row[WRONG])
        rows.append(row | {"precision": found.share, "low": found.low, "high": found.high})
    for scope, has_value in ((KNOWN, True), (NOTHING_KNOWN, False)):
        own = [stratum for (_, known), stratum in strata.items() if known == has_value]
        found = stratified_share([(one.counts[RIGHT], one.judged, one.cases) for one in own])
        row = {"scope": scope, "rule": ""} | _sums(own)
        row |= {"precision": found.share, "low": found.low, "high": found.high}
        rows.append(row | ({"recall": _recall(strata)} if has_value else {}))
    return rows


def _sums(strata: list[Stratum]) -> dict[str, int]:
    names = ("drawn", "answered", *ANSWERS, "unanswered", "contradicted", "changed_since")
    sums = {name: sum(one.counts[name] for one in strata) for name in names}
    return {"cases": sum(one.cases for one in strata)} | sums


def _recall(strata: dict[tuple[str, bool], Stratum]) -> float | None:
    """The share of cases with a true value that got it; None if unknown."""
    got = missed = 0.0
    for (_, known), one in strata.items():
        if not one.cases:
            continue
        if not one.judged:
            return None
        weight = one.cases / one.judged
        if known:
            got += weight * one.counts[RIGHT]
            missed += weight * one.misplaced
        else:
            missed += weight * one.counts[WRONG]
    return got / (got + missed) if got + missed else None


if __name__ == "__main__":
    stage.run(read_audit)
