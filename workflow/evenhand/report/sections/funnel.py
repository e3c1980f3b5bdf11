"""Section: the sentences removed by each filter and reason, with examples."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.io.tables import read_batches
from evenhand.report.figures import bars
from evenhand.report.headline import plain
from evenhand.report.sentences import marked
from evenhand.report.words import Reasons, reason_meaning, reason_name

#: The steps that are no reason to drop a sentence.
WHOLES = ("read", "keyword", "accepted")

#: Reasons whose evidence is the id of another sentence, not words of this one.
OF_ANOTHER = ("near_duplicate",)

#: Sentences shown per verdict, the first by sentence_id.
EXAMPLES = 3

#: The columns of a candidate that an example shows.
COLUMNS = [
    *("sentence_id", "sentence", "source", "source_position", "gender", "start", "end"),
    *("surface_start", "surface_end", "word", "verdict", "reasons", "evidence"),
]


def describe_funnel(
    tables: Mapping[str, list[dict[str, Any]]], candidates: Path | None, known: Reasons
) -> dict[str, Any] | None:
    """Return the funnel's totals, reasons, figure and examples; None without a funnel.

    Parameters
    ----------
    tables : mapping
        The tables of `evenhand.slguset.count_funnel`.
    candidates : Path, optional
        ``candidates.parquet``; without it no examples are shown, and a sentence counts only for
        its first reason.
    known : dict
        The words for the reasons.

    Returns
    -------
    dict or None
        totals, reasons (rows of the funnel with name, meaning, applies, alone and examples;
        reasons that are never the first come last), accepted_examples, has_examples, has_all
        (whether applies and alone are known), figure.
    """
    if not tables:
        return None
    rows = tables["funnel"]
    totals = {row["step"]: row for row in rows if row["step"] in WHOLES}
    reasons = [
        row | {"reason": row["reason"] or row["step"]} for row in rows if row["step"] not in WHOLES
    ]
    applies, alone = count_reasons(candidates) if candidates else (Counter(), Counter())
    never_first = sorted(applies.keys() - {row["reason"] for row in reasons})
    reasons += [
        {"step": "rejected", "reason": reason, "sentences": 0, "share": 0.0}
        for reason in never_first
    ]
    examples = first_of_each(candidates, EXAMPLES, known) if candidates else {}
    for row in reasons:
        reason = row["reason"]
        # an exact duplicate is folded into the sentence it repeats: the table has no row of it
        counted = candidates is not None and row["step"] == "rejected"
        row |= {
            "name": reason_name(reason, known),
            "meaning": reason_meaning(reason, known),
            "applies": applies[reason] if counted else None,
            "alone": alone[reason] if counted else None,
            "examples": examples.get(reason, []),
        }
    return {
        "totals": totals,
        "reasons": reasons,
        "accepted_examples": examples.get("accepted", []),
        "has_examples": bool(examples),
        "has_all": candidates is not None,
        "figure": _figure(totals, [row for row in reasons if row["reason"] not in never_first]),
    }


def count_reasons(candidates: Path) -> tuple[Counter[str], Counter[str]]:
    """Count the distinct sentences to which each reason applies, and those with no other reason."""
    import pyarrow.compute as pc

    applies: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for batch in read_batches(candidates, ["reasons"]):
        reasons = batch.column("reasons")
        single = reasons.filter(pc.equal(pc.list_value_length(reasons), 1))
        for counter, lists in ((applies, reasons), (alone, single)):
            for entry in pc.value_counts(pc.list_flatten(lists)).to_pylist():
                counter[entry["values"]] += entry["counts"]
    return applies, alone


def first_of_each(
    candidates: Path, examples: int, known: Reasons
) -> dict[str, list[dict[str, Any]]]:
    """Return the first sentences of each reason and of the accepted, with their marks.

    Sentences with it as first reason come first; each group is in the table's order. Only these
    have evidence. `others` of an example lists its further reasons.
    """
    first, further = _first_rows(candidates, examples)
    rows_of: dict[str, list[dict[str, Any]]] = {}
    for reason in sorted({*first, *further}):
        rows = first.get(reason, [])
        rows += further.get(reason, [])[: examples - len(rows)]
        rows_of[reason] = [_example(row, reason, known) for row in rows]
    return rows_of


def _example(row: dict[str, Any], reason: str, known: Reasons) -> dict[str, Any]:
    evidence = row["evidence"] if row["verdict"] == reason else None
    others = [other for other in row["reasons"] or () if other != reason]
    marks = row | {"evidence": None if reason in OF_ANOTHER else evidence}
    return row | {
        "evidence": evidence,
        "others": [reason_name(other, known) for other in others],
        "pieces": marked(marks),
    }


def _first_rows(
    candidates: Path, examples: int
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, list[dict[str, Any]]]]:
    """Return the first rows by verdict, and the first rows by further reason.

    Only rows that are shown become Python objects: the table may have millions.
    """
    import pyarrow.compute as pc

    first: dict[str, list[dict[str, Any]]] = {}
    further: dict[str, list[dict[str, Any]]] = {}
    for batch in read_batches(candidates, COLUMNS):
        verdicts = batch.column("verdict")
        for verdict in pc.unique(verdicts).to_pylist():
            rows = first.setdefault(verdict, [])
            if (missing := examples - len(rows)) > 0:
                rows += batch.filter(pc.equal(verdicts, verdict)).slice(0, missing).to_pylist()
        several = batch.filter(pc.greater(pc.list_value_length(batch.column("reasons")), 1))
        reasons = several.column("reasons")
        parents, flat = pc.list_parent_indices(reasons), pc.list_flatten(reasons)
        for reason in pc.unique(flat).to_pylist():
            rows = further.setdefault(reason, [])
            if len(rows) >= examples:
                continue
            behind = several.take(parents.filter(pc.equal(flat, reason)))
            behind = behind.filter(pc.not_equal(behind.column("verdict"), reason))
            rows += behind.slice(0, examples - len(rows)).to_pylist()
    return first, further


def _figure(totals: dict[str, Any], reasons: list[dict[str, Any]]) -> Any:
    """Draw the sentences with a keyword that each reason removes."""
    if "keyword" not in totals:
        return None
    whole = left = totals["keyword"]["sentences"]
    steps = [{"name": "Sentences with a gender keyword", "amount": left, "kind": "rest"}]
    for row in reasons:
        left -= row["sentences"]
        entry = {"name": row["name"], "amount": left, "removed": row["sentences"], "kind": "rest"}
        steps.append(entry)
    steps.append({"name": "Passed every filter", "amount": left, "kind": "kept"})
    return bars(steps, plain("figure_filters"), unit="Sentences", whole=whole)
