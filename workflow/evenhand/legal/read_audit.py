"""Measure the precision of each rule, by the sheets that people have filled in."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.stage import Input, Output
from evenhand.core.tables import Table, integer, share, text, write_tables
from evenhand.io.tables import read_rows
from evenhand.legal.built import group_names
from evenhand.legal.declaration import Attribute
from evenhand.legal.draw_audit import ANSWERS, read_drawn, task
from evenhand.legal.findings import findings_files
from evenhand.metrics.proportions import Share, stratified_share, wilson_share
from evenhand.sheets.tasks import check_rows, chosen, read_filled, refuse

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

RIGHT, WRONG, _ = ANSWERS

#: The answer for a case: one of `ANSWERS`, and the true value if it was filled in.
Answer = tuple[str, str | None]

#: Counts of the cases of a rule that have a value, or of those that have none. ``misplaced`` are
#: the wrong ones whose true value is another one.
Strata = dict[tuple[str, bool], Counter[str]]

#: The columns that state how many of the drawn cases were answered.
COUNTS = ("drawn", "answered", "unanswered", "contradicted", "changed_since")


def read_audit(
    *, drawn: list[Input], sheets: list[Input], findings: Input, out: Output, dataset: str
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
    described, files = findings_files(findings)
    attributes = {name: described.attribute(name) for name in files}
    handed_out = read_drawn(drawn, attributes)
    answers: dict[tuple[str, str], set[Answer]] = defaultdict(set)
    for path in sheets:
        for key, answer in _answers(path, handed_out, attributes):
            answers[key].add(answer)
    table = [
        {"dataset": dataset, "attribute": name} | row
        for name in sorted(handed_out, key=list(attributes).index)
        for row in _rows(_strata(attributes[name], handed_out[name], answers, files[name]))
    ]
    write_tables(out, [(TABLE, table)])
    return {name: sum(row[name] for row in table if row["scope"] == RULE) for name in COUNTS}


def _answers(
    path: Path, handed_out: dict[str, dict[str, dict[str, Any]]], attributes: dict[str, Attribute]
) -> Iterator[tuple[tuple[str, str], Answer]]:
    """Yield attribute and case, and the answer, of each row of a sheet that has one."""
    declared = task(next(iter(attributes.values())))
    rows = read_filled(path, declared)
    cases = {(name, case): row for name, some in handed_out.items() for case, row in some.items()}
    check_rows(path, rows, cases, declared)
    for name in handed_out:
        some = [row for row in rows if row.cells["attribute"] == name]
        groups = attributes[name].groups
        rights = chosen(path, some, "right", ANSWERS)
        true = chosen(path, some, "should_be", group_names(attributes[name]), numbers=not groups)
        answers = list(zip(some, rights, true, strict=True))
        half = [row for row, right, value in answers if value and not right]
        problem = "should_be is filled in, and right is blank"
        remedy = f"fill in {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}, or leave both blank"
        refuse(path, half, problem, remedy, "should_be")
        contradictory = [
            row
            for row, right, value in answers
            if value and (value == row.cells["value"]) == (right == WRONG)
        ]
        problem = "right and should_be contradict each other about the value"
        remedy = "ask the auditor which of the two is meant"
        refuse(path, contradictory, problem, remedy, "value")
        for row, right, value in answers:
            if right:
                yield (name, row.cells["case_id"]), (right, value)


def _strata(
    attribute: Attribute,
    handed_out: dict[str, dict[str, Any]],
    answers: dict[tuple[str, str], set[Answer]],
    findings: Path,
) -> Strata:
    """Return the counts of cases and answers by rule and whether it gives a value."""
    unknown = group_names(attribute)[-1]
    strata: Strata = defaultdict(Counter)
    present: dict[str, tuple[str, str]] = {}
    for finding in read_rows(findings, ["case_id", "value", "rule"]):
        value = unknown if finding["value"] is None else finding["value"]
        strata[finding["rule"], value != unknown]["cases"] += 1
        present[finding["case_id"]] = value, finding["rule"]
    for case, row in handed_out.items():
        counts = strata[row["rule"], row["value"] != unknown]
        of_case = answers.get((attribute.name, case), set())
        counts["drawn"] += 1
        if present.get(case) != (row["value"], row["rule"]):
            counts["changed_since"] += 1
        elif len(of_case) != 1:
            counts["contradicted" if of_case else "unanswered"] += 1
        else:
            [(right, should_be)] = of_case
            counts.update(["answered", right])
            counts["misplaced"] += right == WRONG and should_be not in (None, unknown)
    return strata


def _rows(strata: Strata) -> Iterator[dict[str, Any]]:
    """Yield a row per rule, the most frequent first, then those of all rules."""
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    for (rule, _), counts in strata.items():
        by_rule[rule].update(counts)
    for rule in sorted(by_rule, key=lambda rule: (-by_rule[rule]["cases"], rule)):
        counts = by_rule[rule]
        precision = wilson_share(counts[RIGHT], counts[RIGHT] + counts[WRONG])
        yield {"scope": RULE, "rule": rule} | _cells(counts, precision)
    for scope, has_value in ((KNOWN, True), (NOTHING_KNOWN, False)):
        some = [counts for (_, known), counts in strata.items() if known == has_value]
        precision = stratified_share([(c[RIGHT], c[RIGHT] + c[WRONG], c["cases"]) for c in some])
        row = {"scope": scope, "rule": ""} | _cells(sum(some, Counter()), precision)
        yield row | ({"recall": _recall(strata)} if has_value else {})


def _cells(counts: Counter[str], precision: Share) -> dict[str, Any]:
    names = ("cases", *COUNTS, *ANSWERS)
    interval = {"precision": precision.share, "low": precision.low, "high": precision.high}
    return {name: counts[name] for name in names} | interval


def _recall(strata: Strata) -> float | None:
    """Return the share of cases with a true value that got it; None if unknown."""
    got = missed = 0.0
    for (_, known), counts in strata.items():
        judged = counts[RIGHT] + counts[WRONG]
        if counts["cases"] and not judged:
            return None
        if counts["cases"]:
            weight = counts["cases"] / judged
            got += weight * counts[RIGHT] * known
            missed += weight * counts["misplaced" if known else WRONG]
    return got / (got + missed) if got + missed else None
