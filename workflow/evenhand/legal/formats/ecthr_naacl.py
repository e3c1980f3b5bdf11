"""The ECtHR cases of Chalkidis et al. (NAACL 2021), from which FairLex's are made.

JSON lines with facts (a list of numbered paragraphs), violated_articles, case_id, case_no,
title, judgment_date, defendants and applicants, in ``train``, ``dev`` and ``test.jsonl`` or a zip;
LexGLUE's single file has the part in data_type. FairLex's later fields applicant_gender and
applicant_birth_year are taken where they are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.io.quarantine import Quarantine
from evenhand.legal.judgments import clean
from evenhand.legal.objects import Found, Note, RejectedError, records_of
from evenhand.legal.records import Record
from evenhand.legal.rows import plain, read_rows, split_of
from evenhand.legal.strasbourg import as_labels, judged_on, split_articles

KIND = "ecthr"
NEEDS = (
    "JSON lines with facts, violated_articles and case_id (ECtHR-NAACL 2021, or LexGLUE's ecthr)"
)
TABLES = ()
OPTIONS = {"encoding": "utf-8"}

#: Fields that are kept as they are, under the names on the left.
_GIVEN = {
    "respondent": "defendants",
    "applicants": "applicants",
    "application_number": "case_no",
    "alleged_violations": "allegedly_violated_articles",
    "applicant_gender": "applicant_gender",
    "applicant_birth_year": "applicant_birth_year",
}


def read(
    files: list[Path], options: dict[str, Any], quarantine: Quarantine, tables: dict[str, Path]
) -> Iterator[Record]:
    """The cases, one after another.

    Parameters
    ----------
    files : list of Path
        jsonl files, folders or archives of them.
    options : dict
        encoding.
    quarantine : Quarantine
        Gets cases without facts or outcome (``missing_field``), or with an article that is none
        (``bad_label``).
    tables : dict
        None are read.
    """
    rows = read_rows(files, quarantine, (OPTIONS | options)["encoding"])
    return records_of(rows, quarantine, _record)


def _record(found: Found, note: Note) -> Record:
    value = found.value
    item = plain(value.get("case_id"))
    facts, articles = value.get("facts"), value.get("violated_articles")
    if not item or not isinstance(facts, list) or not isinstance(articles, list):
        detail = f"case_id, facts or violated_articles (it has {', '.join(value)})"
        raise RejectedError("missing_field", detail[:500])
    violated, unknown = split_articles(";".join(map(str, articles)))
    if unknown:
        raise RejectedError("bad_label", f"{item}: no article: {', '.join(unknown)}")
    labels, others = as_labels(violated)
    given = {name: _joined(value.get(key)) for name, key in _GIVEN.items()}
    given |= {"other_violations": ";".join(others)}
    return found.record(
        case_id=item,
        date=judged_on(plain(value.get("judgment_date")), item, note),
        title=plain(value.get("title")) or None,
        language="en",
        split=split_of(plain(value.get("data_type")) or found.source),
        text=tuple(line for line in (clean(str(one)) for one in facts) if line),
        labels=labels,
        given=given,
    )


def _joined(value: Any) -> str:
    """A field as text; several values joined by semicolons."""
    if isinstance(value, list):
        return ";".join(filter(None, map(plain, value)))
    return plain(value)
