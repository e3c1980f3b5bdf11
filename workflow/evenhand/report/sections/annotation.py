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


DRAWN = {
    "surface_male": str,
    "surface_female": str,
    "gender": str,
    "wanted": int,
    "available": int,
    "drawn": int,
    "missing": int,
}


def describe_annotation(
    sample: Path | None, drawn: Path | None, answers: Path | None, agreement: Path | None
) -> dict[str, Any] | None:
    """The state of the annotation; None if nothing was drawn.

    ``state`` is ``waiting`` (a sample without answers) or ``answered``.
    """
    if sample is None and answers is None:
        return None
    handed = sum(1 for _ in read_rows(sample, ["sentence_id"])) if sample else 0
    said: dict[str, Counter[str]] = {}
    sentences = set()
    for row in read_rows(answers, ["sentence_id", "annotator", "answer"]) if answers else []:
        sentences.add(row["sentence_id"])
        said.setdefault(row["annotator"], Counter())[row["answer"]] += 1
    rows = read_csv(agreement, AGREEMENT) if agreement else []
    return {
        "state": "answered" if sentences else "waiting",
        "drawn": handed,
        "pairs": _drawn(drawn),
        "answered": len(sentences),
        "annotators": [
            {"annotator": name, "total": said[name].total(), **_answers(said[name])}
            for name in sorted(said)
        ],
        "agreement": [row for row in rows if row["pair"] != "all"],
        "overall": next((row for row in rows if row["pair"] == "all"), None),
    }


def _drawn(drawn: Path | None) -> list[dict[str, Any]]:
    """One entry per surface pair, with what was drawn of either gender."""
    pairs: dict[str, dict[str, Any]] = {}
    for row in read_csv(drawn, DRAWN) if drawn else []:
        name = f"{row['surface_male']}/{row['surface_female']}"
        pair = pairs.setdefault(name, {"pair": name, "male": None, "female": None})
        pair[row["gender"]] = row
    return list(pairs.values())


def _answers(said: Counter[str]) -> dict[str, int]:
    return {answer: said[answer] for answer in ("accept", "reject", "unsure")}
