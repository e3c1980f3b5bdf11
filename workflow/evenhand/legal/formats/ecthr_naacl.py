"""The ECtHR cases of Chalkidis et al. (NAACL 2021), from which FairLex's are made.

JSON lines with facts (a list of numbered paragraphs), violated_articles, case_id, case_no,
title, judgment_date, defendants and applicants, in ``train``, ``dev`` and ``test.jsonl`` or a zip;
LexGLUE's single file has the part in data_type. FairLex's later fields applicant_gender and
applicant_birth_year are taken where they are.
"""

from collections.abc import Iterator
from typing import Any

from evenhand.legal.judgments import clean
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow, plain, split_of
from evenhand.legal.strasbourg import as_labels, judged_on, split_articles

KIND = "ecthr"
NEEDS = (
    "JSON lines with facts, violated_articles and case_id (ECtHR-NAACL 2021, or LexGLUE's ecthr)"
)
OPTIONS = {"encoding": "utf-8"}

#: Fields that are kept, under the names on the left.
_METADATA = {
    "respondent": "defendants",
    "applicants": "applicants",
    "application_number": "case_no",
    "alleged_violations": "allegedly_violated_articles",
    "applicant_gender": "applicant_gender",
    "applicant_birth_year": "applicant_birth_year",
}


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the cases.

    The quarantine gets cases without facts or outcome (``missing_field``), or with an article that
    is none (``bad_label``).
    """
    return cases.records(cases.rows(), _record)


def _record(row: SourceRow, note: Note) -> Record:
    fields = row.fields
    item = plain(fields.get("case_id"))
    facts, articles = fields.get("facts"), fields.get("violated_articles")
    if not item or not isinstance(facts, list) or not isinstance(articles, list):
        detail = f"case_id, facts or violated_articles (it has {', '.join(fields)})"
        raise RejectedError("missing_field", detail[:500])
    violated, unknown = split_articles(";".join(map(str, articles)))
    if unknown:
        raise RejectedError("bad_label", f"{item}: no article: {', '.join(unknown)}")
    labels, others = as_labels(violated)
    metadata = {name: _joined(fields.get(key)) for name, key in _METADATA.items()}
    return row.record(
        case_id=item,
        date=judged_on(plain(fields.get("judgment_date")), item, note),
        title=plain(fields.get("title")) or None,
        language="en",
        split=split_of(plain(fields.get("data_type")) or row.source),
        text=tuple(filter(None, (clean(str(fact)) for fact in facts))),
        labels=labels,
        metadata=metadata | {"other_violations": ";".join(others)},
    )


def _joined(value: Any) -> str:
    """Return a field as text; several values are joined by semicolons."""
    if isinstance(value, list):
        return ";".join(filter(None, map(plain, value)))
    return plain(value)
