"""Stage: a sheet on which people check what was found about the parties of cases."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.io.sheets import Marked, write_csv, write_workbook
from evenhand.legal.audit import (
    HANDED_OUT,
    NOTES,
    TABLE,
    columns,
    read_handed_out,
    unknown_name,
)
from evenhand.legal.built import load_dataset
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import read_findings
from evenhand.legal.records import Record, read_records

#: Characters of the paragraph that are shown before and after the words.
AROUND = 400

#: Further pieces of evidence that are shown, and characters of each.
MORE, MORE_CHARACTERS = 5, 200

#: What no cell of a workbook can hold.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")

#: What parts of a record are called in the sheet.
PARTS = {"text": "facts", "context": "context", "given": "metadata"}


def draw_audit(
    *,
    records: list[Input],
    findings: list[Input],
    instructions: Input,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.legal.datasets")],
    dataset: str,
    attribute: str,
    per_rule: int = 20,
    seed: int = 1,
    handed_out: Input | None = None,
) -> dict[str, Any]:
    """Draw cases for each rule of an attribute, and write the sheet that people fill in.

    Which cases is settled by a digest of seed and case_id, so that a new case takes the place of
    one at most, and the sheets of several attributes hold many of the same cases.

    Parameters
    ----------
    records, findings : list of path
        The records, and what was found of the attribute in each of these files, in the same
        order; of a case that stands in several files the first counts.
    instructions : path
        The template of what auditors are told (audit.md.jinja).
    out : path
        The folder to write: ``{attribute}.xlsx`` (instructions, and a table with drop-down
        answers in which the words are red), ``{attribute}.csv`` (the same table), and
        ``handed_out.csv``: put a copy of it aside when the sheets are given away.
    kind : str
        ecthr, scotus, fscs or cail.
    dataset : str
        What the data set is called.
    attribute : str
        The attribute's name.
    per_rule : int
        Cases for each rule, those that say why nothing is known too.
    seed : int
        Of the draw.
    handed_out : path, optional
        The handed_out.csv of sheets that people have in their hands: the sheet is written from
        it again, whatever was found since.

    Returns
    -------
    dict
        drawn, by rule; frozen (whether it was handed out).

    Raises
    ------
    InputError
        The kind has no such attribute, the files do not belong together, or `handed_out` is of
        another attribute.
    """
    fixed = load_dataset(kind)
    try:
        what = fixed.attribute(attribute)
    except KeyError as error:
        raise InputError(f"{fixed.title} has no attribute {attribute!r}") from error
    if len(records) != len(findings):
        raise InputError(
            f"there are {len(records)} files of records and {len(findings)} of findings"
        )
    if per_rule < 1:
        raise InputError(f"{per_rule} cases for each rule are none", remedy="give at least 1")
    if handed_out:
        rows = list(read_handed_out(handed_out).values())
        if rows and rows[0]["attribute"] != attribute:
            raise InputError(f"is of the attribute {rows[0]['attribute']}", file=handed_out)
    else:
        chosen = _choose(findings, per_rule, seed)
        rows = list(_drawn(records, chosen, what))
    out.mkdir()
    facts = {
        "dataset": dataset,
        "attribute": attribute,
        "title": what.title,
        "groups": what.groups,
        "unknown": unknown_name(what),
        "per_rule": per_rule,
        "cases": len(rows),
    }
    sheet = columns(what)
    write_workbook(
        out / f"{attribute}.xlsx",
        notes=(NOTES, _rendered(instructions, facts)),
        table=TABLE,
        columns=sheet,
        rows=([_cell(row, column.name, marked=True) for column in sheet] for row in rows),
    )
    write_csv(
        out / f"{attribute}.csv",
        [column.name for column in sheet],
        ([_cell(row, column.name, marked=False) for column in sheet] for row in rows),
    )
    write_csv(
        out / "handed_out.csv", HANDED_OUT, ([row[name] for name in HANDED_OUT] for row in rows)
    )
    drawn: dict[str, int] = defaultdict(int)
    for row in rows:
        drawn[row["rule"]] += 1
    return {"drawn": dict(sorted(drawn.items())), "frozen": handed_out is not None}


def _choose(
    findings: list[Path], per_rule: int, seed: int
) -> dict[tuple[int, str], dict[str, Any]]:
    """The findings with the smallest digests of each rule, by file and case."""
    smallest: dict[str, list[tuple[bytes, int, str]]] = defaultdict(list)
    seen: set[str] = set()
    for number, path in enumerate(findings):
        for row in read_findings(path):
            case = row["case_id"]
            if case not in seen:
                seen.add(case)
                of_rule = smallest[row["rule"]]
                of_rule.append((_digest(seed, case), number, case))
                if len(of_rule) > 2 * per_rule + 1000:
                    smallest[row["rule"]] = sorted(of_rule)[:per_rule]
    kept = {
        (number, case)
        for of_rule in smallest.values()
        for _, number, case in sorted(of_rule)[:per_rule]
    }
    return {
        (number, row["case_id"]): row | {"digest": _digest(seed, row["case_id"])}
        for number, path in enumerate(findings)
        for row in read_findings(path)
        if (number, row["case_id"]) in kept
    }


def _digest(seed: int, case_id: str) -> bytes:
    """A number that looks random and belongs to the case."""
    return hashlib.blake2b(f"{seed} {case_id}".encode(), digest_size=8).digest()


def _drawn(
    records: list[Path], chosen: dict[tuple[int, str], dict[str, Any]], what: Attribute
) -> Iterator[dict[str, Any]]:
    """The rows of the sheet: by rule, within it in the order of the digests."""
    rows = []
    for number, path in enumerate(records):
        for record in read_records(path):
            finding = chosen.pop((number, record.case_id), None)
            if finding is not None:
                rows.append((finding["rule"], finding["digest"], record.case_id,
                             _row(record, finding, what)))  # fmt: skip
    if chosen:
        number, case = min(chosen)
        raise InputError(
            f"lacks the case {case}, of which something was found",
            file=records[number],
            remedy="give the records that the attribute was looked for in",
        )
    for rank, (*_, row) in enumerate(sorted(rows, key=lambda one: one[:3]), start=1):
        yield row | {"rank": rank}


def _row(record: Record, finding: dict[str, Any], what: Attribute) -> dict[str, Any]:
    evidence = finding["evidence"]
    if evidence:
        shown = _around(record, evidence[0])
        where = _where(evidence[0])
    else:  # why nothing was found is to be seen where it should stand
        shown = Marked(_plain(" ¶ ".join(record.text))[: 2 * AROUND].strip(), 0, 0)
        where = "facts, beginning"
    value = finding["value"]
    more = [
        f"{_where(one)}: {_plain(one['words'])[:MORE_CHARACTERS].strip()}"
        for one in evidence[1 : 1 + MORE]
    ]
    more += [f"flag: {flag}" for flag in finding["flags"]]
    return {
        "attribute": what.name,
        "case_id": _plain(record.case_id),
        "title": _plain(record.title or "")[:MORE_CHARACTERS].strip(),
        "value": unknown_name(what) if value is None else value,
        "rule": finding["rule"],
        "confidence": f"{finding['confidence']:.2f}",
        "where": where,
        "evidence": shown.text,
        "mark_start": shown.start,
        "mark_end": shown.end,
        "more": " | ".join(more),
    }


def _around(record: Record, evidence: dict[str, Any]) -> Marked:
    """The words of a piece of evidence in their paragraph, of which a part is shown."""
    if evidence["part"] == "given":
        words = _plain(evidence["words"])
        return Marked(words.strip(), 0, len(words.strip()))
    paragraphs = record.text if evidence["part"] == "text" else record.context
    paragraph = _plain(paragraphs[evidence["paragraph"]])
    first = max(0, evidence["start"] - AROUND)
    last = min(len(paragraph), evidence["end"] + AROUND)
    before = "… " if first else ""
    after = " …" if last < len(paragraph) else ""
    inside = paragraph[first:last]
    cut = len(inside) - len(inside.lstrip()) if not before else 0  # a sheet strips its cells
    start = len(before) + evidence["start"] - first - cut
    text = before + inside[cut:] + after
    return Marked(text.rstrip(), start, start + evidence["end"] - evidence["start"])


def _where(evidence: dict[str, Any]) -> str:
    part = PARTS[evidence["part"]]
    return part if evidence["part"] == "given" else f"{part} {evidence['paragraph'] + 1}"


def _plain(text: str) -> str:
    """Text without what a workbook cannot hold, as long as before."""
    return _CONTROL.sub(" ", text)


def _cell(row: dict[str, Any], name: str, *, marked: bool) -> Any:
    if name in ("right", "should_be", "comment"):
        return None
    if name == "evidence" and marked and row["mark_end"] > row["mark_start"]:
        return Marked(row["evidence"], row["mark_start"], row["mark_end"])
    return row[name]


def _rendered(template: Path, facts: dict[str, Any]) -> str:
    import jinja2

    text = template.read_text(encoding="utf-8")
    return jinja2.Template(text, undefined=jinja2.StrictUndefined).render(facts)


if __name__ == "__main__":
    stage.run(draw_audit)
