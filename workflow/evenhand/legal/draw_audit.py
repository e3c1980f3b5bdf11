"""Write the sheets on which people check the attributes found for cases."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core.stage import Count, Input, Natural, Output, checked
from evenhand.errors import InputError
from evenhand.io.sheets import Column, Marked
from evenhand.io.tables import read_rows
from evenhand.legal.built import group_names
from evenhand.legal.declaration import COLUMN, Attribute
from evenhand.legal.findings import findings_files
from evenhand.legal.records import Record, read_distinct
from evenhand.sheets.tasks import (
    Task,
    digest,
    draw,
    group_of,
    render,
    write_handed_out,
    write_sheet,
)

#: The possible answers.
ANSWERS = ("right", "wrong", "cannot_tell")


def task(attribute: Attribute) -> Task:
    """Return the audit of an attribute."""
    groups = group_names(attribute) if attribute.groups else ()
    return Task(
        item="case",
        group="attribute",
        key="case_id",
        columns=(
            Column("rank", "", 6),
            Column("case_id", "", 16),
            Column("title", "", 28),
            Column("value", "", 14),
            Column("rule", "", 20),
            Column("confidence", "", 11),
            Column("where", "", 16),
            Column("evidence", "", 80),
            Column("more", "evidence", 32),
            Column("right", "?", 13, choices=ANSWERS, fill_in=True),
            Column("should_be", "", 15, choices=groups, fill_in=True),
            Column("comment", "", 32, fill_in=True),
            Column("attribute", "", 18, hidden=True),
        ),
        fixed=("value", "rule"),
        handed_out=(
            *("attribute", "rank", "case_id", "title", "value", "rule", "confidence", "where"),
            *("evidence", "mark_start", "mark_end", "more"),
        ),
        numbers=("rank", "mark_start", "mark_end"),
        table="findings",
    )


def read_drawn(
    paths: list[Path], attributes: dict[str, Attribute]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the handed-out rows of audits by attribute and case; empty lists are left out.

    Raises
    ------
    InputError
        A list is of another attribute, or a second one of an attribute.
    """
    drawn: dict[str, dict[str, dict[str, Any]]] = {}
    for path in paths:
        name, cases = group_of(path, task(next(iter(attributes.values()))))
        if cases and (name in drawn or name not in attributes):
            raise InputError(f"is a second file of {name}, or of another kind", file=path)
        drawn |= {name: cases} if cases else {}
    return drawn


#: Characters of the paragraph before and after the words.
AROUND = 400

#: Further pieces of evidence, and characters of each.
MORE, MORE_CHARACTERS = 5, 200

#: Characters that no cell of a workbook can hold.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")

#: The names of a record's parts in the sheet.
PARTS = {"text": "facts", "context": "context", "given": "metadata"}


@checked
def draw_audit(
    *,
    records: list[Input],
    findings: Input,
    instructions: Input,
    out: Output,
    dataset: str,
    per_rule: Count = 20,
    seed: Natural = 1,
    handed_out: list[Input] | None = None,
) -> dict[str, Any]:
    """Draw cases for each rule of each attribute, and write the sheets that people fill in.

    An attribute that is a column of the data has none, as nothing was found.
    Cases are drawn by a digest of seed and case_id, so that a new case replaces one at most, and
    the sheets of several attributes share many cases.

    Parameters
    ----------
    records : list of path
        The records, a file per part of the data set.
    findings : path
        The folder of `find_attributes`.
    instructions : path
        The template of the auditors' instructions (its sentences).
    out : path
        The folder to write, with a folder per attribute: ``{attribute}.xlsx`` (instructions, and a
        table with drop-down answers in which the words are red), ``{attribute}.csv`` (the same
        table), and ``handed_out.csv``: its copy beside the filled sheets freezes the draw.
    dataset : str
        The data set's name.
    per_rule : int
        Cases for each rule, also for rules that give no value.
    seed : int
        Seed of the draw.
    handed_out : list of path, optional
        The handed_out.csv of sheets that people already have: these sheets are written from it
        again, whatever was found since.

    Returns
    -------
    dict
        drawn (cases by attribute and rule), frozen (the attributes that were handed out).

    Raises
    ------
    InputError
        The kind has no such attribute, the files do not belong together, or `handed_out` is of
        another attribute.
    """
    described, files = findings_files(findings)
    attributes = {name: described.attribute(name) for name in files}
    attributes = {name: each for name, each in attributes.items() if each.module != COLUMN}
    drawn = read_drawn(handed_out or [], attributes)
    rows = {name: list(by_case.values()) for name, by_case in drawn.items()}
    frozen = sorted(rows)
    chosen = {name: _choose(files[name], per_rule, seed) for name in attributes if name not in rows}
    rows |= _drawn(records, chosen, attributes, seed)
    out.mkdir()
    for name, attribute in attributes.items():
        facts = {
            "dataset": dataset,
            "attribute": name,
            "title": attribute.title,
            "groups": attribute.groups,
            "unknown": group_names(attribute)[-1],
            "per_rule": per_rule,
            "cases": len(rows[name]),
        }
        (out / name).mkdir()
        marked = [row | {"evidence": _marked(row)} for row in rows[name]]
        write_sheet(out / name, name, task(attribute), render(instructions, facts), marked)
        write_handed_out(out / name, task(attribute), rows[name])
    rules = {name: Counter(row["rule"] for row in rows[name]) for name in attributes}
    return {
        "drawn": {name: dict(sorted(counts.items())) for name, counts in rules.items()},
        "frozen": frozen,
    }


#: Findings by case.
Findings = dict[str, dict[str, Any]]


def _choose(findings: Path, per_rule: int, seed: int) -> Findings:
    """Return the findings with the smallest digests of each rule."""
    items = ((row["rule"], row["case_id"]) for row in read_rows(findings, ["rule", "case_id"]))
    chosen = set(draw(items, lambda rule: per_rule, str(seed)))
    return {row["case_id"]: row for row in read_rows(findings) if row["case_id"] in chosen}


def _drawn(
    records: list[Path], chosen: dict[str, Findings], attributes: dict[str, Attribute], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each sheet: by rule, within it in the order of the digests."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in chosen}
    for record in read_distinct(records):
        for name, findings in chosen.items():
            if finding := findings.pop(record.case_id, None):
                order = finding["rule"], digest(str(seed), record.case_id), record.case_id
                rows[name].append({"order": order} | _row(record, finding, attributes[name]))
    for some in rows.values():
        some.sort(key=lambda row: row.pop("order"))
        for rank, row in enumerate(some, start=1):
            row["rank"] = rank
    return rows


def _row(record: Record, finding: dict[str, Any], attribute: Attribute) -> dict[str, Any]:
    evidence = finding["evidence"]
    if evidence:
        excerpt, where = _around(record, evidence[0]), _where(evidence[0])
    else:  # the auditor sees the place where the value should be
        excerpt = Marked(_plain(" ¶ ".join(record.text))[: 2 * AROUND].strip(), 0, 0)
        where = "facts, beginning"
    more = [
        f"{_where(words)}: {_plain(words['words'])[:MORE_CHARACTERS].strip()}"
        for words in evidence[1 : 1 + MORE]
    ]
    more += [f"flag: {flag}" for flag in finding["flags"]]
    return {
        "attribute": attribute.name,
        "case_id": _plain(record.case_id),
        "title": _plain(record.title or "")[:MORE_CHARACTERS].strip(),
        "value": group_names(attribute)[-1] if finding["value"] is None else finding["value"],
        "rule": finding["rule"],
        "confidence": f"{finding['confidence']:.2f}",
        "where": where,
        "evidence": excerpt.text,
        "mark_start": excerpt.start,
        "mark_end": excerpt.end,
        "more": " | ".join(more),
    }


def _around(record: Record, evidence: dict[str, Any]) -> Marked:
    """Return a piece of evidence in an excerpt of its paragraph."""
    if evidence["part"] == "given":
        words = _plain(evidence["words"]).strip()
        return Marked(words, 0, len(words))
    paragraphs = record.text if evidence["part"] == "text" else record.context
    paragraph = _plain(paragraphs[evidence["paragraph"]])
    first, last = max(0, evidence["start"] - AROUND), evidence["end"] + AROUND
    before, after = "… " if first else "", " …" if last < len(paragraph) else ""
    inside = paragraph[first:last]
    cut = len(inside) - len(inside.lstrip()) if not before else 0  # a sheet strips its cells
    start = len(before) + evidence["start"] - first - cut
    text = (before + inside[cut:] + after).rstrip()
    return Marked(text, start, start + evidence["end"] - evidence["start"])


def _where(evidence: dict[str, Any]) -> str:
    part = PARTS[evidence["part"]]
    return part if evidence["part"] == "given" else f"{part} {evidence['paragraph'] + 1}"


def _plain(text: str) -> str:
    """Return a text of the same length without characters that a workbook cannot hold."""
    return _CONTROL.sub(" ", text)


def _marked(row: dict[str, Any]) -> str | Marked:
    """Return the evidence, with the words marked if there are any."""
    if row["mark_end"] > row["mark_start"]:
        return Marked(row["evidence"], row["mark_start"], row["mark_end"])
    return row["evidence"]
