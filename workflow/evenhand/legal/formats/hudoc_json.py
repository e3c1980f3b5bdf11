"""HUDOC's records as JSON: metadata, and the whole judgment as one string.

A record has the fields itemid, title, app_no, date (ISO), country (``GBR``, ``BEL;GRC``),
doc_type, importance, conclusion, articles, violation, nonviolation (``3;14+3;P1-1-1``),
language and full_text. Files are ``.json`` (a record, or an array) or ``.jsonl``, also in archives.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.legal.judgments import lines_of, parse
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow
from evenhand.legal.strasbourg import (
    JUDGMENTS,
    as_labels,
    concluded,
    judged_on,
    language_of,
    split_articles,
)

KIND = "ecthr"
NEEDS = "HUDOC records (.json, .jsonl or an archive) with itemid, date, violation and full_text"
OPTIONS = {"documents": list(JUDGMENTS), "no_finding": "unknown", "encoding": "utf-8"}

#: Fields that a record must have.
FIELDS = ("itemid", "date", "country", "doc_type", "violation", "nonviolation", "full_text")

#: HUDOC's codes of the languages that are read; FRE is what most others are.
_LANGUAGES = ("ENG", "ENGLISH", "EN")


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the judgments in English.

    Options: documents (HUDOC's types that are read; others go to the quarantine as
    ``not_a_judgment``), no_finding (``unknown``: a judgment without a finding has no label;
    ``no_violation``: it counts as one that finds no violation), encoding.
    """
    return cases.records(cases.objects(), partial(_record, options=OPTIONS | cases.options))


def _record(row: SourceRow, note: Note, *, options: dict[str, Any]) -> Record:
    fields = {name: "" if value is None else value for name, value in row.fields.items()}
    missing = [name for name in FIELDS if name not in fields]
    if missing or not isinstance(fields["full_text"], str) or not fields["itemid"]:
        lacking = ", ".join(missing) or "itemid or full_text"
        raise RejectedError("missing_field", f"{lacking} (it has {', '.join(fields)})"[:500])
    text = fields.pop("full_text")
    fields = {name: str(value) for name, value in fields.items()}
    item = fields["itemid"].strip()
    document = fields["doc_type"].strip().upper()
    if document not in options["documents"]:
        raise RejectedError("not_a_judgment", f"{item}: {document or 'no doc_type'}")
    language = fields.get("language", "").strip().upper()
    if language and language not in _LANGUAGES:
        raise RejectedError("other_language", f"{item}: {language}")
    lines = lines_of(text)
    if language_of(lines) != "en":
        raise RejectedError("other_language", f"{item}: the text is French")
    violated, unknown = split_articles(fields["violation"])
    cleared, more = split_articles(fields["nonviolation"])
    if unknown or more:
        raise RejectedError("bad_label", f"{item}: no article: {', '.join([*unknown, *more])}")
    concluded_violated, concluded_cleared = concluded(fields.get("conclusion", ""))
    # an article that only the conclusion finds violated: the field violation lacks it
    added = [article for article in concluded_violated if article not in violated]
    lacking = [article for article in violated if article not in concluded_violated]
    differences = []
    if added:
        differences.append(
            f"its conclusion finds a violation of {', '.join(added)}, its violation not"
        )
    if lacking and concluded_violated:
        differences.append(f"its violation has {', '.join(lacking)}, its conclusion not")
    if differences:
        note("conclusion_differs", f"{item}: {'; '.join(differences)}")
    labels, others = as_labels([*violated, *added])
    known = violated or cleared or concluded_violated or concluded_cleared
    judgment = parse(lines)
    kept = ("violation", "nonviolation", "importance", "conclusion")
    return row.record(
        case_id=item,
        date=judged_on(fields["date"], item, note),
        title=fields.get("title", "").strip() or None,
        language="en",
        text=tuple(judgment.facts),
        context=(*judgment.header, *judgment.procedure),
        labels=labels if known or options["no_finding"] == "no_violation" else None,
        metadata={name: fields.get(name, "") for name in kept}
        | {
            "other_violations": ";".join(others),
            "violation_by_conclusion": ";".join(added),
            "respondent": ";".join(filter(None, map(str.strip, fields["country"].split(";")))),
            "application_number": fields.get("app_no", ""),
            "document": document,
        },
    )
