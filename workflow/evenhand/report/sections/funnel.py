"""Section: how many sentences fell where, with examples of each reason."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.report.figures import Step, waterfall
from evenhand.report.read import read_csv
from evenhand.report.sentences import marked
from evenhand.report.words import reason_meaning, reason_name

#: The steps that are no reason to drop a sentence.
WHOLES = ("read", "keyword", "accepted")

#: Verdicts on the word that holds the keyword, which is their evidence.
OF_THE_WORD = ("deny_listed", "not_a_gender_term")

#: What an example shows of a candidate.
COLUMNS = [
    "sentence_id",
    "sentence",
    "source",
    "source_position",
    "gender",
    "start",
    "end",
    "surface_start",
    "surface_end",
    "word",
    "verdict",
    "evidence",
]


def describe_funnel(
    funnel: Path | None, candidates: Path | None, examples: int
) -> dict[str, Any] | None:
    """The funnel's totals, reasons, figure and examples; None without a funnel.

    Parameters
    ----------
    funnel : Path, optional
        ``funnel.csv``.
    candidates : Path, optional
        ``candidates.parquet``; without it no examples are shown.
    examples : int
        How many sentences are shown per verdict: the first by sentence_id.
    """
    if funnel is None:
        return None
    rows = read_csv(funnel, {"step": str, "reason": str, "sentences": int, "share": float})
    totals = {row["step"]: row for row in rows if row["step"] in WHOLES}
    shown = first_of_each(candidates, examples) if candidates and examples else {}
    reasons = []
    for row in rows:
        if row["step"] not in WHOLES:
            reason = row["reason"] or row["step"]
            reasons.append(
                row
                | {
                    "reason": reason,
                    "name": reason_name(reason),
                    "meaning": reason_meaning(reason),
                    "examples": shown.get(reason, []),
                }
            )
    return {
        "totals": totals,
        "reasons": reasons,
        "accepted_examples": shown.get("accepted", []),
        "has_examples": bool(shown),
        "figure": _figure(totals, reasons),
    }


def first_of_each(candidates: Path, examples: int) -> dict[str, list[dict[str, Any]]]:
    """The first sentences of each verdict, in the table's order, with their marks."""
    shown: dict[str, list[dict[str, Any]]] = {}
    for row in _first_rows(candidates, examples):
        if row["verdict"] in OF_THE_WORD:
            row["evidence"] = row["word"]
        shown.setdefault(row["verdict"], []).append(row | {"pieces": marked(row)})
    return shown


def _first_rows(candidates: Path, examples: int) -> Iterator[dict[str, Any]]:
    """Rows become Python objects only where they are shown: the table may have millions."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    seen: dict[str, int] = {}
    with pq.ParquetFile(candidates) as file:
        for batch in file.iter_batches(columns=COLUMNS):
            verdicts = batch.column("verdict")
            for verdict in pc.unique(verdicts).to_pylist():
                missing = examples - seen.get(verdict, 0)
                if missing > 0:
                    found = batch.filter(pc.equal(verdicts, verdict)).slice(0, missing)
                    seen[verdict] = seen.get(verdict, 0) + found.num_rows
                    yield from found.to_pylist()


def _figure(totals: dict[str, Any], reasons: list[dict[str, Any]]) -> Any:
    """What each reason takes of the sentences with a keyword."""
    if "keyword" not in totals:
        return None
    left = totals["keyword"]["sentences"]
    steps = [Step("Sentences with a gender keyword", left, left, "whole")]
    for row in reasons:
        steps.append(Step(row["name"], left, left - row["sentences"]))
        left -= row["sentences"]
    steps.append(Step("Accepted", left, left, "kept"))
    return waterfall(steps, "What each filter takes of the sentences with a gender keyword.")
