"""Stage: how often each rule is right, by the sheets that people have filled in."""

import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.sheets import read_csv, read_workbook
from evenhand.legal.audit import ANSWERS, NEEDED, TABLE, read_handed_out, unknown_name
from evenhand.legal.built import load_dataset
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import read_findings
from evenhand.metrics.proportions import stratified_share, wilson_share

HEADER = [
    *("dataset", "attribute", "scope", "rule", "cases", "drawn", "answered", "right", "wrong"),
    *("cannot_tell", "unanswered", "contradicted", "changed_since"),
    *("precision", "low", "high", "recall"),
]

#: What a row of the table is about: one rule, all that give a value, all that give none.
RULE, KNOWN, NOTHING_KNOWN = "rule", "values", "no_values"

RIGHT, WRONG, CANNOT_TELL = ANSWERS

RIGHTS = "write right, wrong or cannot_tell, or leave it blank"


class Answer(NamedTuple):
    """What a sheet says of a case."""

    right: str
    should_be: str | None


@dataclass
class Stratum:
    """The cases of one rule that have a value, or those that have none."""

    cases: int = 0
    counts: Counter = field(default_factory=Counter)
    #: wrong ones that have another value in truth
    misplaced: int = 0

    @property
    def judged(self) -> int:
        """Cases of which it was said whether they are right."""
        return self.counts[RIGHT] + self.counts[WRONG]


def read_audit(
    *,
    drawn: list[Input],
    sheets: list[Input],
    findings: list[Input],
    attributes: list[str],
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
) -> dict[str, Any]:
    """Measure how often each rule is right, by the sheets that people have filled in.

    Parameters
    ----------
    drawn : list of path
        The handed_out.csv that `draw_audit` wrote, one an attribute.
    sheets : list of path
        The filled sheets (xlsx or csv), in any number and order: a sheet may hold a part of the
        cases, and a case may stand in several sheets.
    findings : list of path
        What is found now, for the number of cases of each rule.
    attributes : list of str
        The attribute of each file of findings, in the same order.
    out : path
        CSV: attribute, scope and rule; cases (of the rule, now), drawn, answered (of the drawn:
        right + wrong + cannot_tell), unanswered, contradicted (two sheets differ), changed_since
        (value or rule are others now): drawn is the sum of these four; precision: right of right
        and wrong, with Wilson's interval. A row with the scope ``values`` joins the rules that
        give a value, one with ``no_values`` those that say why there is none, each rule weighted
        by its cases (blank where a rule has no answer); recall: of the cases that have a value in
        truth, the share that got it.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called in the table.

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
    fixed = load_dataset(kind)
    if len(findings) != len(attributes):
        raise InputError(
            f"there are {len(findings)} files of findings and {len(attributes)} attributes",
            remedy="name the attribute of each file",
        )
    handed: dict[str, dict[str, dict[str, Any]]] = {}
    for path in drawn:
        rows = read_handed_out(path)
        if rows:
            name = next(iter(rows.values()))["attribute"]
            if name in handed or name not in {one.name for one in fixed.attributes}:
                raise InputError(f"is a second file of {name}, or of another kind", file=path)
            handed[name] = rows
    said: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for path in sheets:
        for name, case, answer in _answers(path, handed, fixed.attribute):
            said[name, case].append(answer)
    table = []
    for name, rows in handed.items():
        files = [path for path, of in zip(findings, attributes, strict=True) if of == name]
        strata = _strata(fixed.attribute(name), rows, said, files)
        table += [{"dataset": dataset, "attribute": name} | row for row in _rows(strata)]
    order = [one.name for one in fixed.attributes]
    table.sort(key=lambda row: order.index(row["attribute"]))
    write_rows(out, HEADER, table)
    names = ("drawn", "answered", "unanswered", "contradicted", "changed_since")
    return {name: sum(row[name] for row in table if row["scope"] == RULE) for name in names}


def _answers(
    path: Path, handed: dict[str, dict[str, dict[str, Any]]], attribute_of: Any
) -> list[tuple[str, str, Answer]]:
    """Attribute, case and answer of each row of a sheet that has one."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        numbered = read_workbook(path, TABLE, NEEDED)
    elif suffix == ".csv":
        numbered = read_csv(path, NEEDED)
    else:
        raise InputError("is no sheet", file=path, remedy="hand in xlsx or csv")
    found, seen = [], set()
    for line, cells in numbered:
        name, case = cells["attribute"], cells["case_id"]
        row = handed.get(name, {}).get(case)
        if row is None:
            raise InputError(
                f"the case {case!r} of the attribute {name!r} was not handed out",
                file=path,
                line=line,
                remedy="remove rows that were added, and put changed cells back",
            )
        if (cells["value"], cells["rule"]) != (row["value"], row["rule"]):
            raise InputError(
                f"the case {case} was handed out with the value {row['value']} by the rule"
                f" {row['rule']}",
                file=path,
                line=line,
                remedy="put the cells back, and write what is right into should_be",
            )
        if (name, case) in seen:
            raise InputError(
                f"the case {case} stands there a second time",
                file=path,
                line=line,
                remedy="keep one of the rows",
            )
        seen.add((name, case))
        answer = _answer(path, line, cells, attribute_of(name))
        if answer:
            found.append((name, case, answer))
    return found


def _answer(path: Path, line: int, cells: dict[str, str], attribute: Attribute) -> Answer | None:
    right, should_be = (_word(cells[name]) for name in ("right", "should_be"))
    if right and right not in ANSWERS:
        raise InputError(f"{cells['right']!r} is no answer", file=path, line=line, remedy=RIGHTS)
    names = (*attribute.groups, unknown_name(attribute))
    if attribute.groups:
        value = {name.casefold(): name for name in names}.get(should_be)
    else:
        value = should_be if should_be.isdecimal() or should_be == names[-1] else None
    if should_be and value is None:
        wanted = ", ".join(names) if attribute.groups else f"a number, or {names[-1]}"
        raise InputError(
            f"should_be is {cells['should_be']!r}", file=path, line=line, remedy=f"write {wanted}"
        )
    if not right:
        if value:
            raise InputError(
                "should_be is filled in, and right is blank", file=path, line=line, remedy=RIGHTS
            )
        return None
    if value and (value == cells["value"]) == (right == WRONG):
        raise InputError(
            f"the value {cells['value']} is {right}, and should be {value}",
            file=path,
            line=line,
            remedy="ask the auditor which of both is meant",
        )
    return Answer(right, value)


def _word(text: str) -> str:
    """A cell as it is meant: wide letters and capitals do not matter."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _strata(
    attribute: Attribute,
    rows: dict[str, dict[str, Any]],
    said: dict[tuple[str, str], list[Answer]],
    files: list[Path],
) -> dict[tuple[str, bool], Stratum]:
    """By rule and whether it gives a value: how many cases there are, and what was said."""
    unknown = unknown_name(attribute)
    strata: dict[tuple[str, bool], Stratum] = defaultdict(Stratum)
    now: dict[str, tuple[str, str]] = {}
    seen: set[str] = set()
    for path in files:
        for finding in read_findings(path):
            if finding["case_id"] in seen:
                continue
            seen.add(finding["case_id"])
            value = unknown if finding["value"] is None else finding["value"]
            strata[finding["rule"], value != unknown].cases += 1
            if finding["case_id"] in rows:
                now[finding["case_id"]] = value, finding["rule"]
    for case, row in rows.items():
        stratum = strata[row["rule"], row["value"] != unknown]
        answers = set(said.get((attribute.name, case), ()))
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
        share = wilson_share(row[RIGHT], row[RIGHT] + row[WRONG])
        rows.append(row | {"precision": share.share, "low": share.low, "high": share.high})
    for scope, has_value in ((KNOWN, True), (NOTHING_KNOWN, False)):
        own = [stratum for (_, known), stratum in strata.items() if known == has_value]
        share = stratified_share([(one.counts[RIGHT], one.judged, one.cases) for one in own])
        row = {"scope": scope, "rule": ""} | _sums(own)
        row |= {"precision": share.share, "low": share.low, "high": share.high}
        rows.append(row | ({"recall": _recall(strata)} if has_value else {}))
    return rows


def _sums(strata: list[Stratum]) -> dict[str, int]:
    names = ("drawn", "answered", *ANSWERS, "unanswered", "contradicted", "changed_since")
    sums = {name: sum(one.counts[name] for one in strata) for name in names}
    return {"cases": sum(one.cases for one in strata)} | sums


def _recall(strata: dict[tuple[str, bool], Stratum]) -> float | None:
    """Of the cases that have a value in truth the share that got it; None if it is unknown."""
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
