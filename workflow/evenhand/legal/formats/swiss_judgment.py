"""FSCS: the records of Swiss-Judgment-Prediction (Niklaus, Chalkidis and Stürmer 2021).

A record has id, year, text (the facts), label (dismissal or approval), language, region, canton and
legal area; later editions call them otherwise and add translations by machine, which are no cases
of their own. Only the year of a decision is given: its date is the first of January.
"""

from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.io.quarantine import Quarantine
from evenhand.legal.objects import Found, Note, RejectedError, records_of
from evenhand.legal.records import Record
from evenhand.legal.rows import plain, read_rows, split_of
from evenhand.legal.swiss import Headings, find_facts, read_headings, spoken

KIND = "fscs"
NEEDS = (
    "Swiss-Judgment-Prediction as jsonl, csv or parquet: id, year, text, label, language, region,"
    " canton, legal area"
)
TABLES = ("swiss_headings", "swiss_outcomes")
OPTIONS: dict[str, object] = {}

#: The names of a field, the usual one first.
_FIELDS = {
    "id": ("id", "decision_id", "_id"),
    "text": ("text", "facts"),
    "label": ("label", "labels"),
    "language": ("language", "lang"),
    "translated_from": ("source_language",),
    "region": ("region",),
    "canton": ("canton",),
    "legal_area": ("legal area", "legal_area", "law_area"),
    "year": ("date", "year"),
}


def read(
    files: list[Path],
    options: dict[str, Any],
    quarantine: Quarantine,
    tables: dict[str, Path],
) -> Iterator[Record]:
    """Read the records.

    Parameters
    ----------
    files : list of Path
        jsonl, csv, tsv or parquet files, compressed or in archives (not parquet), or folders of
        them. A file called train, validation or test gives its cases that split.
    options : dict
        None.
    quarantine : Quarantine
        Gets records without text (``missing_field``), translations and other languages
        (``other_language``), outcomes that are neither label (``outside_labels``), unknown or
        missing ones (``bad_label``), invalid years (``bad_date``), and facts that are not
        separate from the reasons (``no_facts``).
    tables : dict of str to Path
        Those of `TABLES`.
    """
    headings = read_headings(tables["swiss_headings"])
    make = partial(_record, headings=headings, outcomes=read_outcomes(tables["swiss_outcomes"]))
    return records_of(read_rows(files, quarantine), quarantine, make)


def read_outcomes(path: Path) -> dict[str, str]:
    """The label of each outcome; "" for one that is neither."""
    rows = read_resource(path, ["outcome", "label"], optional=("label",), unique=("outcome",))
    return {row["outcome"].casefold(): row["label"] for row in rows}


def _record(found: Found, note: Note, *, headings: Headings, outcomes: dict[str, str]) -> Record:
    fields = {
        field: plain(next((found.value[name] for name in names if name in found.value), None))
        for field, names in _FIELDS.items()
    }
    if not fields["text"]:
        names = ", ".join(found.value)
        raise RejectedError("missing_field", f"no text; the fields are {names}"[:200])
    origin = fields["translated_from"].casefold()
    if origin not in ("", "n/a", fields["language"].casefold()):
        raise RejectedError("other_language", f"a translation from {origin}")
    language = spoken(fields["language"])
    label = outcomes.get(fields["label"].casefold())
    if not label:
        reason = "bad_label" if label is None else "outside_labels"
        detail = f"outcome {fields['label']}" if fields["label"] else "no outcome stated"
        raise RejectedError(reason, detail[:100])
    text, context = find_facts(fields["text"], headings)
    day, precision = parse_year(fields["year"])
    if fields["year"] and day is None:
        note("bad_date", f"year {fields['year']}"[:100])
    given = {
        "swiss_language": language,
        "swiss_region": fields["region"],
        "swiss_canton": fields["canton"],
        "swiss_legal_area": fields["legal_area"],
        "date_precision": precision if day else "",
    }
    split = split_of(found.source)
    part = split or PurePosixPath(found.source).name.split(".")[0]
    return found.record(
        case_id=fields["id"] or f"{part}-{found.position}",
        date=day,
        language=language,
        split=split,
        text=text,
        context=context,
        labels=(label,),
        given=given,
    )


def parse_year(text: str) -> tuple[date | None, str]:
    """A year, or a day in ISO 8601, as a date and its precision (``year`` or ``day``)."""
    try:
        if len(text) == 4:
            return date(int(text), 1, 1), "year"
        return date.fromisoformat(text[:10]), "day"
    except ValueError:
        return None, ""
