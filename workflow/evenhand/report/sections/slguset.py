"""Sections of the SlguSet report: headline, data set, annotation, published file, quarantine."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

from evenhand.core.rows import grouped
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.report.figures import histogram
from evenhand.report.headline import SourcedStatement, plain, say
from evenhand.report.study import Study
from evenhand.report.words import Reasons, reason_name

#: Below this, coders agree too little even for tentative conclusions (Krippendorff 2004).
LEAST_ALPHA = 0.667

#: The sentences of the authors' file (Zhao et al. 2021); a file with others is a stand-in.
AUTHORS = 20_000


def judge(
    sentences: int | None, overall: dict[str, Any] | None, files: tuple[str, ...] = ()
) -> list[SourcedStatement]:
    """Return whether the data set can be used, and how many answers would agree by chance.

    Parameters
    ----------
    sentences : int, optional
        The number of sentences of the data set; None while there is none.
    overall : dict, optional
        The row of all pairs in the table ``agreement``.
    files : tuple of str
        The results with these numbers.
    """
    facts = {"sentences": sentences, "row": overall, "least": LEAST_ALPHA}
    words = [say(f"slguset_{name}", files, **facts) for name in ("usable", "chance")]
    return [statement for statement in words if statement]


def describe_headline(
    funnel: dict[str, Any] | None,
    annotation: dict[str, Any] | None,
    sentences: int | None,
    published: int | None,
    sums: dict[str, int] | None = None,
) -> list[str]:
    """Return the sentences at the top of the page.

    Parameters
    ----------
    funnel, annotation : dict, optional
        The content of those sections.
    sentences : int, optional
        The number of sentences of the data set; None while there is none.
    published : int, optional
        The number of sentences of the published file; None if it was not read.
    sums : dict, optional
        The numbers of sentences of the data set with a male and with a female word.
    """
    totals = funnel["totals"] if funnel else {}
    text = say(
        "slguset_lead",
        totals={step: total["sentences"] for step, total in totals.items()},
        annotation=annotation,
        sentences=sentences,
        published=published,
        authors=published == AUTHORS,
        sums=[(value, n) for value, n in (sums or {}).items() if value != "total"],
    )
    verdict = judge(sentences, (annotation or {}).get("overall")) if funnel or annotation else []
    return [words for words in (*verdict, text) if words] or [say("nothing")]


def count_rows(path: Path | None) -> int | None:
    """Return the number of rows of a Parquet file; None without a file."""
    import pyarrow.parquet as pq

    return pq.read_metadata(path).num_rows if path else None


#: The data sets by their folders, as the page calls them.
SIDES = {"slguset": "This run", "slguset_published": "The published file"}


def describe_dataset(study: Study) -> dict[str, Any] | None:
    """Return counts per pair, lengths and characters, of our data set and the published file.

    Returns
    -------
    dict or None
        None without either. `sides` are the data sets in Table 1.
    """
    tables = {side: study.tables(f"tables/sentences/{side}").get("table_1") for side in SIDES}
    tables = {side: rows for side, rows in tables.items() if rows is not None}
    documents = {side: study.document(f"{side}/statistics.json") for side in SIDES}
    documents = {side: document for side, document in documents.items() if document}
    if not tables and not documents:
        return None
    values = _values(next(iter(tables.values()), []))
    pairs = _pairs(tables, values)
    return {
        "values": values,
        "has_own": "slguset" in tables,
        "sides": [(side, SIDES[side]) for side in tables],
        "tables": [f"tables/sentences/{side}/table_1.csv" for side in tables],
        "statistics": [f"{side}/statistics.json" for side in documents],
        "pairs": pairs,
        "stated": any(row["stated"] for row in pairs),
        "sums": {
            side: {name: sum(row[name] for row in rows) for name in (*values, "total")}
            for side, rows in tables.items()
        },
        "columns": [SIDES[side] for side in documents],
        "documents": list(documents.values()),
        "lengths": _lengths(documents),
    }


def _values(rows: list[dict[str, Any]]) -> list[str]:
    """Return the values of the attribute: the columns of Table 1 before the total."""
    names = [*rows[0]] if rows else ["pair", "surface", "male", "female", "total"]
    return names[2 : names.index("total")]


def _pairs(tables: dict[str, list[dict[str, Any]]], values: list[str]) -> list[dict[str, Any]]:
    """Return the rows of all tables by surface pair, in the first table's order."""
    pairs: dict[str, dict[str, Any]] = {}
    for side, rows in tables.items():
        for row in rows:
            start = {"pair": row["pair"], "surface": row["surface"], "stated": None}
            pair = pairs.setdefault(row["surface"], start | dict.fromkeys(tables))
            pair[side] = row
            if row[f"published_{values[0]}"] is not None:
                pair["stated"] = {value: row[f"published_{value}"] for value in values}
    return list(pairs.values())


def _lengths(documents: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the histogram of lengths of each data set, on one scale."""
    bars = {side: document["length"]["histogram"] for side, document in documents.items()}
    counts = {side: [bar["sentences"] for bar in bins] for side, bins in bars.items() if bins}
    end = max((bars[side][-1]["to"] + 1 for side in counts), default=None)
    top = max((max(numbers) / sum(numbers) for numbers in counts.values()), default=None)
    look = {"title": "Characters in a sentence", "thing": "sentence", "end": end, "top": top}
    figures = []
    for side, numbers in counts.items():
        name, n = SIDES[side], sum(numbers)
        edges = [bar["from"] for bar in bars[side]] + [bars[side][-1]["to"] + 1]
        label = plain("figure_lengths", name=name, sentences=n)
        figure = histogram(numbers, edges, label, **look)
        figures.append({"name": name, "n": n, "file": f"{side}/statistics.json", "figure": figure})
    return figures


def describe_annotation(study: Study) -> dict[str, Any] | None:
    """Return the state of the annotation; None if nothing was drawn.

    Returns
    -------
    dict or None
        `waiting` lists the rounds without an answer.
    """
    samples = [
        row
        for path in study.paths("sample.parquet")
        for row in read_rows(path, ["sentence_id", "round", "lost"])
    ]
    if not study.paths("sample.parquet"):
        return None
    answers = study.paths("answers.parquet")
    answered = {row["sentence_id"] for path in answers for row in read_rows(path, ["sentence_id"])}
    rounds = {
        name: sum(row["sentence_id"] in answered for row in rows)
        for name, rows in grouped(samples, "round").items()
    }
    tables = study.tables("tables/annotation")
    agreement = tables.get("agreement", [])
    drawn = study.path("drawn.csv")
    pairs = _drawn(drawn) if drawn else []
    return {
        "waiting": [name for name, answers in rounds.items() if not answers],
        "drawn": len(samples),
        "lost": sum(row["lost"] for row in samples),
        "answered": sum(rounds.values()),
        "pairs": pairs,
        "values": list(dict.fromkeys(value for row in pairs for value in row["sides"])),
        "drawn_file": f"slguset/annotation/{drawn.parent.name}/{drawn.name}" if drawn else None,
        "annotators": tables.get("annotators", []),
        "agreement": [row for row in agreement if row["pair"] != "all"],
        "overall": next((row for row in agreement if row["pair"] == "all"), None),
    }


#: The columns of drawn.csv that are counts.
DRAWN = ("wanted", "available", "drawn", "missing")


def _drawn(path: Path) -> list[dict[str, Any]]:
    """Return one entry per surface pair, with the numbers drawn for each value."""
    pairs: dict[str, dict[str, Any]] = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        _, first, second, value, *_ = row.values()
        pair = pairs.setdefault(f"{first}/{second}", {"pair": f"{first}/{second}", "sides": {}})
        pair["sides"][value] = row | {name: int(row[name]) for name in DRAWN}
    return list(pairs.values())


def describe_published(study: Study, reasons: Reasons) -> dict[str, Any] | None:
    """Return the sentences that each filter would drop, and the problems; None without either."""
    rows = study.tables("tables/published").get("filters", [])
    report = study.document("slguset_published/report.json")
    if not rows and report is None:
        return None
    for row in rows:
        row["name"] = reason_name(row["reason"], reasons) if row["reason"] else None
    authors = report is not None and report["sentences"] == AUTHORS
    return {"filters": rows, "report": report, "authors": authors}


#: Files listed in the table of quarantined parts; of the others only the number is shown.
MOST_FILES = 100


def describe_quarantine(study: Study) -> dict[str, Any] | None:
    """Return totals of the inputs read, encodings, and quarantined parts by reason and file.

    None if there are neither counts nor a quarantine.
    """
    documents = study.documents("*/sentences/*.counts.json")
    if not documents and not study.path("tables/corpus"):
        return None
    totals: Counter[str] = Counter()
    encodings: Counter[str] = Counter()
    for document in documents:
        totals.update({name: n for name, n in document.items() if isinstance(n, int)})
        encodings.update(document.get("encodings", {}))
    rows = study.tables("tables/corpus").get("quarantine", [])
    files = [
        group[0] | {"parts": sum(row["parts"] for row in group)}
        for _, group in sorted(grouped(rows, "file", "reason").items())
    ]
    reasons = []
    for reason, group in sorted(grouped(rows, "reason").items()):
        words = REASONS.get(reason)
        meaning = f"{words[0].upper()}{words[1:]}." if words else None
        parts = sum(row["parts"] for row in group)
        reasons.append({"reason": reason, "meaning": meaning, "parts": parts})
    return {
        "totals": dict(totals),
        "encodings": sorted(encodings.items()),
        "reasons": reasons,
        "files": files[:MOST_FILES],
        "more_files": max(len(files) - MOST_FILES, 0),
    }
