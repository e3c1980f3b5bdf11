"""Section: the annotators' sentences, their answers, and their agreement."""

from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core.tables import read_table
from evenhand.io.tables import read_rows
from evenhand.report.read import read_csv

#: The columns of drawn.csv that are counts.
DRAWN = ("wanted", "available", "drawn", "missing")


def describe_annotation(
    samples: list[Path],
    drawn: Path | None,
    answers: list[Path],
    tables: Path | None,
) -> dict[str, Any] | None:
    """Return the state of the annotation; None if nothing was drawn.

    Parameters
    ----------
    samples, answers : list of Path
        ``sample.parquet`` and ``answers.parquet`` of each round; a round without returned sheets
        has no answers.
    drawn : Path, optional
        ``drawn.csv`` of the latest round.
    tables : Path, optional
        The folder of tables of `evenhand.slguset.build_dataset`.

    Returns
    -------
    dict or None
        `waiting` lists the rounds without an answer.
    """
    if not samples:
        return None
    answered = {row["sentence_id"] for path in answers for row in read_rows(path, ["sentence_id"])}
    rounds: dict[str, Counter[bool]] = {}
    lost = 0
    for path in samples:
        for row in read_rows(path, ["sentence_id", "round", "lost"]):
            lost += row["lost"]
            rounds.setdefault(row["round"], Counter())[row["sentence_id"] in answered] += 1
    rows = read_table(tables / "agreement.csv") if tables else []
    return {
        "waiting": [name for name, sentences in rounds.items() if not sentences[True]],
        "drawn": sum(sentences.total() for sentences in rounds.values()),
        "lost": lost,
        "answered": sum(sentences[True] for sentences in rounds.values()),
        "pairs": (pairs := _drawn(drawn)),
        "values": list(dict.fromkeys(value for row in pairs for value in row["sides"])),
        "drawn_file": f"slguset/annotation/{drawn.parent.name}/{drawn.name}" if drawn else None,
        "annotators": read_table(tables / "annotators.csv") if tables else [],
        "agreement": [row for row in rows if row["pair"] != "all"],
        "overall": next((row for row in rows if row["pair"] == "all"), None),
    }


def _drawn(drawn: Path | None) -> list[dict[str, Any]]:
    """Return one entry per surface pair, with the numbers drawn for each value."""
    pairs: dict[str, dict[str, Any]] = {}
    if drawn is None:
        return []
    header = drawn.read_text(encoding="utf-8").partition("\n")[0].split(",")
    for cells in read_csv(drawn, {name: int if name in DRAWN else str for name in header}):
        _, first, second, value, *_ = cells.values()
        name = f"{first}/{second}"
        pair = pairs.setdefault(name, {"pair": name, "sides": {}})
        pair["sides"][value] = cells
    return list(pairs.values())
