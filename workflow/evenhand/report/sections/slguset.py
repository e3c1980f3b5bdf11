"""Sections of the SlguSet report: headline, data set, annotation, published file, quarantine."""

from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.core.tables import read_table
from evenhand.io.quarantine import REASONS
from evenhand.io.tables import read_rows
from evenhand.report.figures import histogram
from evenhand.report.headline import SourcedStatement, say, with_sources
from evenhand.report.read import read_csv, read_json
from evenhand.report.render import plural
from evenhand.report.words import Reasons, reason_name

#: Below this, coders agree too little even for tentative conclusions (Krippendorff 2004).
LEAST_ALPHA = 0.667


def judge(
    sentences: int | None,
    overall: dict[str, Any] | None,
    files: tuple[str, ...] = (),
    *,
    explained: bool = True,
) -> SourcedStatement:
    """Return whether the data set can be used, by the agreement of its annotators.

    Parameters
    ----------
    sentences : int, optional
        The number of sentences of the data set; None while there is none.
    overall : dict, optional
        The row of all pairs in the table ``agreement``.
    files : tuple of str
        The results with these numbers.
    explained : bool
        Whether to say how many answers would agree by chance.
    """
    words = [say("slguset_usable", files, sentences=sentences, row=overall, least=LEAST_ALPHA)]
    alpha = (overall or {}).get("krippendorff_alpha")
    if explained and sentences is not None and alpha is not None and alpha < LEAST_ALPHA:
        words.append(say("slguset_chance", row=overall, least=LEAST_ALPHA))
    return with_sources(Markup(" ").join(filter(None, words)), files)


def describe_headline(
    funnel: dict[str, Any] | None,
    annotation: dict[str, Any] | None,
    sentences: int | None,
    published: int | None,
    sums: dict[str, int] | None = None,
) -> Markup:
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
        totals={step: one["sentences"] for step, one in totals.items()},
        annotation=annotation,
        sentences=sentences,
        published=published,
        sums=[(value, n) for value, n in (sums or {}).items() if value != "total"],
    )
    verdict = judge(sentences, (annotation or {}).get("overall")) if funnel or annotation else ""
    return Markup(" ").join(filter(None, [verdict, text])) or say("nothing")


def rows_of(dataset: Path | None) -> int | None:
    """Return the number of rows of a Parquet file; None without a file."""
    if dataset is None:
        return None
    import pyarrow.parquet as pq

    return pq.read_metadata(dataset).num_rows


#: The data sets by key, as the page calls them.
SIDES = {"own": "This run", "published": "The published file"}

#: Their folders below the results.
FOLDERS = {"own": "slguset", "published": "slguset_published"}


def describe_dataset(
    table_1: Path | None,
    statistics: Path | None,
    published_table_1: Path | None,
    published_statistics: Path | None,
) -> dict[str, Any] | None:
    """Return counts per pair, lengths and characters, of our data set and the published file.

    Parameters
    ----------
    table_1, statistics : Path, optional
        The folder of Table 1, and ``statistics.json``, of this run's data set.
    published_table_1, published_statistics : Path, optional
        The same of the published file.

    Returns
    -------
    dict or None
        None without any of them. `sides` are the data sets in Table 1.
    """
    tables = {"own": table_1, "published": published_table_1}
    tables = {side: read_table(path / "table_1.csv") for side, path in tables.items() if path}
    documents = {"own": statistics, "published": published_statistics}
    documents = {side: read_json(path) for side, path in documents.items() if path}
    if not tables and not documents:
        return None
    values = _values(next(iter(tables.values()), []))
    pairs = _pairs(tables, values)
    return {
        "values": values,
        "has_own": "own" in tables,
        "sides": [(side, SIDES[side]) for side in tables],
        "tables": [f"tables/sentences/{FOLDERS[side]}/table_1.csv" for side in tables],
        "statistics": [f"{FOLDERS[side]}/statistics.json" for side in documents],
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
    bars = {side: some for side, some in bars.items() if some}
    if not bars:
        return []
    end = max(some[-1]["to"] + 1 for some in bars.values())
    sums = {side: sum(bar["sentences"] for bar in some) for side, some in bars.items()}
    top = max(max(bar["sentences"] for bar in some) / sums[side] for side, some in bars.items())
    return [
        {
            "name": SIDES[side],
            "n": sums[side],
            "file": f"{FOLDERS[side]}/statistics.json",
            "figure": histogram(
                [bar["sentences"] for bar in some],
                [bar["from"] for bar in some] + [some[-1]["to"] + 1],
                f"{SIDES[side]}: lengths of {plural(sums[side], 'sentence')} in characters",
                title="Characters in a sentence",
                thing="sentence",
                end=end,
                top=top,
            ),
        }
        for side, some in bars.items()
    ]


#: The columns of drawn.csv that are counts.
DRAWN = ("wanted", "available", "drawn", "missing")


def describe_annotation(
    samples: list[Path], drawn: Path | None, answers: list[Path], tables: Path | None
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


def describe_published(
    filters: Path | None, report: Path | None, known: Reasons
) -> dict[str, Any] | None:
    """Return the sentences that each filter would drop, and the problems; None without either.

    Parameters
    ----------
    filters : Path, optional
        The folder of tables of `evenhand.slguset.report_published`.
    report : Path, optional
        Its ``report.json``.
    known : dict
        The words for the filters' reasons.
    """
    if filters is None and report is None:
        return None
    rows = read_table(filters / "filters.csv") if filters else []
    for row in rows:
        row["name"] = reason_name(row["reason"], known) if row["reason"] else None
    return {"filters": rows, "report": read_json(report) if report else None}


#: Files listed in the table of quarantined parts; of the others only the number is shown.
MOST_FILES = 100


def describe_quarantine(counts: list[Path], corpus: Path | None) -> dict[str, Any] | None:
    """Return totals of the inputs read, encodings, and quarantined parts by reason and file.

    None if there are neither counts nor a quarantine.
    """
    if not counts and not corpus:
        return None
    totals: Counter[str] = Counter()
    encodings: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for document in map(read_json, counts):
        totals.update({name: n for name, n in document.items() if isinstance(n, int)})
        encodings.update(document.get("encodings", {}))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in read_table(corpus / "quarantine.csv") if corpus else ():
        entry = found.setdefault((row["file"], row["reason"]), row | {"parts": 0})
        entry["parts"] += row["parts"]
        reasons[row["reason"]] += row["parts"]
    files = [found[key] for key in sorted(found)]
    return {
        "totals": dict(totals),
        "encodings": sorted(encodings.items()),
        "reasons": [
            {"reason": reason, "meaning": _sentence(REASONS.get(reason)), "parts": n}
            for reason, n in sorted(reasons.items())
        ],
        "files": files[:MOST_FILES],
        "more_files": max(len(files) - MOST_FILES, 0),
    }


def _sentence(words: str | None) -> str | None:
    return words and f"{words[0].upper()}{words[1:]}."
