"""FSCS: the records of Swiss-Judgment-Prediction (Niklaus, Chalkidis and Stürmer 2021).

A record has id, year, text (the facts), label (dismissal or approval), language, region, canton and
legal area; later editions call them otherwise and add translations by machine, which are no cases
of their own. Only the year of a decision is given: its date is the first of January.
"""

from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow, plain, split_of
from evenhand.legal.swiss import Headings, checked_language, find_facts, read_headings

KIND = "fscs"
NEEDS = (
    "Swiss-Judgment-Prediction as jsonl, csv or parquet: id, year, text, label, language, region,"
    " canton, legal area"
)
TABLES = ("swiss_headings", "swiss_outcomes")

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


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the records; a file called train, validation or test gives its cases that split.

    The quarantine gets records without text (``missing_field``), translations and other languages
    (``other_language``), outcomes that are neither label (``outside_labels``), unknown or missing
    ones (``bad_label``), invalid years (``bad_date``), and facts that are not separate from the
    reasons (``no_facts``).
    """
    headings = read_headings(cases.tables["swiss_headings"])
    outcomes = read_outcomes(cases.tables["swiss_outcomes"])
    return cases.records(cases.rows(), partial(_record, headings=headings, outcomes=outcomes))


def read_outcomes(path: Path) -> dict[str, str]:
    """Return the label of each outcome; "" for one that is neither."""
    rows = read_resource(path, ["outcome", "label"], optional=("label",), unique=("outcome",))
    return {row["outcome"].casefold(): row["label"] for row in rows}


def _record(row: SourceRow, note: Note, *, headings: Headings, outcomes: dict[str, str]) -> Record:
    fields = {
        field: plain(next((row.fields[name] for name in names if name in row.fields), None))
        for field, names in _FIELDS.items()
    }
    if not fields["text"]:
        names = ", ".join(row.fields)
        raise RejectedError("missing_field", f"no text; the fields are {names}"[:200])
    origin = fields["translated_from"].casefold()
    if origin not in ("", "n/a", fields["language"].casefold()):
        raise RejectedError("other_language", f"a translation from {origin}")
    language = checked_language(fields["language"])
    label = outcomes.get(fields["label"].casefold())
    if not label:
        reason = "bad_label" if label is None else "outside_labels"
        detail = f"outcome {fields['label']}" if fields["label"] else "no outcome stated"
        raise RejectedError(reason, detail[:100])
    text, context = find_facts(fields["text"], headings)
    day, precision = parse_year(fields["year"])
    if fields["year"] and day is None:
        note("bad_date", f"year {fields['year']}"[:100])
    return row.record(
        case_id=fields["id"] or row.place_id(),
        date=day,
        language=language,
        split=split_of(row.source),
        text=text,
        context=context,
        labels=(label,),
        metadata={
            "swiss_language": language,
            "swiss_region": fields["region"],
            "swiss_canton": fields["canton"],
            "swiss_legal_area": fields["legal_area"],
            "date_precision": precision,
        },
    )


def parse_year(text: str) -> tuple[date | None, str]:
    """Return a year, or a day in ISO 8601, as a date and its precision (``year`` or ``day``)."""
    try:
        if len(text) == 4:
            return date(int(text), 1, 1), "year"
        return date.fromisoformat(text[:10]), "day"
    except ValueError:
        return None, ""
