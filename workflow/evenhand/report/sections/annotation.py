"""Section: what the annotators were given, what they said, and how far they agree."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.io.tables import read_rows
from evenhand.report.read import read_csv

AGREEMENT = {
    "pair": str,
    "n": int,
    "unanimous": int,
    "percent_agreement": float,
    "fleiss_kappa": float,
    "krippendorff_alpha": float,
}


def describe_annotation(
    sample: Path | None, answers: Path | None, agreement: Path | None
) -> dict[str, Any] | None:
    """The state of the annotation; None if nothing was drawn.

    ``state`` is ``waiting`` (a sample without answers) or ``answered``.
    """
    if sample is None and answers is None:
        return None
    drawn = Counter(row["pair"] for row in read_rows(sample, ["pair"])) if sample else Counter()
    said: dict[str, Counter[str]] = {}
    sentences = set()
    for row in read_rows(answers, ["sentence_id", "annotator", "answer"]) if answers else []:
        sentences.add(row["sentence_id"])
        said.setdefault(row["annotator"], Counter())[row["answer"]] += 1
    rows = read_csv(agreement, AGREEMENT) if agreement else []
    return {
        "state": "answered" if sentences else "waiting",
        "drawn": drawn.total(),
        "answered": len(sentences),
        "annotators": [
            {"annotator": name, "total": said[name].total(), **_answers(said[name])}
            for name in sorted(said)
        ],
        "agreement": [row for row in rows if row["pair"] != "all"],
        "overall": next((row for row in rows if row["pair"] == "all"), None),
    }


def _answers(said: Counter[str]) -> dict[str, int]:
    return {answer: said[answer] for answer in ("accept", "reject", "unsure")}
