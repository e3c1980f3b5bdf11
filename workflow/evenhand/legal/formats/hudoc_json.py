"""HUDOC's records as JSON: metadata, and the whole judgment as one string.

A record has the fields itemid, title, app_no, date (ISO), country (``GBR``, ``BEL;GRC``),
doc_type, importance, conclusion, articles, violation, nonviolation (``3;14+3;P1-1-1``),
language and full_text. Files are ``.json`` (a record, or an array) or ``.jsonl``, also in archives.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.io.quarantine import Quarantine
from evenhand.legal.judgments import lines_of, parse
from evenhand.legal.objects import Found, Note, RejectedError, read_objects, records_of
from evenhand.legal.records import Record
from evenhand.legal.strasbourg import (
    JUDGMENTS,
    as_labels,
    check_no_finding,
    concluded,
    judged_on,
    language_of,
    split_articles,
)

KIND = "ecthr"
NEEDS = "HUDOC records (.json, .jsonl or an archive) with itemid, date, violation and full_text"
TABLES = ()
OPTIONS = {"documents": list(JUDGMENTS), "no_finding": "unknown", "encoding": "utf-8"}

#: Fields that a record must have.
FIELDS = ("itemid", "date", "country", "doc_type", "violation", "nonviolation", "full_text")

#: HUDOC's codes of the languages that are read; FRE is what most others are.
_LANGUAGES = {"ENG": "en", "ENGLISH": "en", "EN": "en"}


def read(
    files: list[Path], options: dict[str, Any], quarantine: Quarantine, tables: dict[str, Path]
) -> Iterator[Record]:
    """The judgments in English, one after another.

    Parameters
    ----------
    files : list of Path
        Records, or archives of records.
    options : dict
        documents (HUDOC's types that are read; others go to the quarantine as
        not_a_judgment), no_finding (``unknown``: a judgment without a finding has no label;
        ``no_violation``: it counts as one that finds no violation), encoding.
    quarantine : Quarantine
        Gets records other than judgments in English, and fields that cannot be read.
    tables : dict
        None are read.
    """
    options = OPTIONS | options
    no_finding = check_no_finding(options["no_finding"])
    documents = set(options["documents"])
    if not documents:
        raise InputError("documents names no type of document", remedy=f"name {JUDGMENTS[0]}")
    make = partial(_record, documents=documents, no_finding=no_finding)
    return records_of(read_objects(files, quarantine, options["encoding"]), quarantine, make)


def _record(found: Found, note: Note, *, documents: set[str], no_finding: str) -> Record:
    value = {name: "" if one is None else one for name, one in found.value.items()}
    missing = [name for name in FIELDS if name not in value]
    if missing or not isinstance(value["full_text"], str) or not value["itemid"]:
        lacking = ", ".join(missing) or "itemid or full_text"
        raise RejectedError("missing_field", f"{lacking} (it has {', '.join(value)})"[:500])
    item = str(value["itemid"]).strip()
    kind = str(value["doc_type"]).strip().upper()
    if kind not in documents:
        raise RejectedError("not_a_judgment", f"{item}: {kind or 'no doc_type'}")
    language = str(value.get("language", "")).strip().upper()
    if language and language not in _LANGUAGES:
        raise RejectedError("other_language", f"{item}: {language}")
    lines = lines_of(value["full_text"])
    if language_of(lines) != "en":
        raise RejectedError("other_language", f"{item}: the text is French")
    if bad := _bad_articles(value):
        raise RejectedError("bad_label", f"{item}: no article: {', '.join(bad)}")
    judgment = parse(lines)
    labels, given, differs = _outcome(value, no_finding)
    if differs:
        note("conclusion_differs", f"{item}: {differs}")
    given |= {
        "respondent": ";".join(filter(None, map(str.strip, str(value["country"]).split(";")))),
        "application_number": str(value.get("app_no", "")),
        "importance": str(value.get("importance", "")),
        "conclusion": str(value.get("conclusion", "")),
        "document": kind,
    }
    return found.record(
        case_id=item,
        date=judged_on(str(value["date"]), item, note),
        title=str(value.get("title", "")).strip() or None,
        language="en",
        text=tuple(judgment.facts),
        context=(*judgment.header, *judgment.procedure),
        labels=labels,
        given=given,
    )


def _bad_articles(value: dict[str, Any]) -> list[str]:
    """Return the entries among the articles that are not articles."""
    fields = (str(value["violation"]), str(value["nonviolation"]))
    return [part for field in fields for part in split_articles(field)[1]]


def _outcome(
    value: dict[str, Any], no_finding: str
) -> tuple[tuple[str, ...] | None, dict[str, str], str]:
    """Return the labels, the fields about them, and where `conclusion` differs from them.

    An article that only the conclusion finds violated is a label: the field violation lacks it.
    """
    violated, _ = split_articles(str(value["violation"]))
    cleared, _ = split_articles(str(value["nonviolation"]))
    concluded_violated, concluded_cleared = concluded(str(value.get("conclusion", "")))
    added = [article for article in concluded_violated if article not in violated]
    lacking = [article for article in violated if article not in concluded_violated]
    differs = []
    if added:
        differs.append(f"its conclusion finds a violation of {', '.join(added)}, its violation not")
    if lacking and concluded_violated:
        differs.append(f"its violation has {', '.join(lacking)}, its conclusion not")
    labels, others = as_labels([*violated, *added])
    given = {
        "violation": str(value["violation"]),
        "nonviolation": str(value["nonviolation"]),
        "other_violations": ";".join(others),
        "violation_by_conclusion": ";".join(added),
    }
    known = violated or cleared or concluded_violated or concluded_cleared
    if known or no_finding == "no_violation":
        return labels, given, "; ".join(differs)
    return None, given, ""
