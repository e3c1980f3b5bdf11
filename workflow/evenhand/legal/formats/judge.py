"""JuDGE (Su et al. 2025): criminal judgments, whole, with their facts apart.

A line has ``text_id``, ``text`` (the facts), ``la`` (numbers of articles) and ``fd`` (the whole
judgment). The label is read off the operative part of ``fd``, the date off the signatures
below it. ``fd`` stays context: the header in it has the court and the defendants' sex, and it
never becomes text.
"""

import re
from collections.abc import Iterator
from datetime import date

from evenhand.core.encodings import DAMAGE
from evenhand.legal.chinese import dates_of, facts_of, paragraphs, sentence_of
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow

KIND = "cail"
NEEDS = "JSON lines with text_id, text (the facts), la and fd (the whole judgment)"

_OPERATIVE = "判决如下"
_SIGNATURE = re.compile("审判[长员]|审判组织")
_APPENDIX = re.compile(r"\s附[：:]?|相关法律条文")


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read cases.

    A judgment whose operative part names no punishment becomes a case without a label. The
    quarantine gets lines without id, facts or judgment (``missing_field``), lines with invalid
    UTF-8 (``damaged_case``), and invalid dates of cases that stay (``bad_date``).
    """
    return cases.records(cases.objects(), _record)


def _record(row: SourceRow, note: Note) -> Record:
    values = [row.fields.get(name) for name in ("text_id", "text", "fd")]
    if not all(isinstance(value, str) for value in values) or not values[0]:
        raise RejectedError("missing_field", "no text_id, text or fd")
    if any(DAMAGE in value for value in values):
        raise RejectedError("damaged_case", "bytes that cannot be decoded")
    case_id, facts, judgment = values
    sentence = sentence_of(judgment)
    articles = row.fields.get("la")
    articles = articles if isinstance(articles, list) else []
    return row.record(
        case_id=case_id,
        language="zh",
        date=_date(judgment, note),
        text=facts_of(facts),
        context=paragraphs(judgment),
        labels=sentence and sentence.labels(),
        metadata={"articles": ";".join(map(str, articles))}
        | (sentence.metadata() if sentence else {}),
    )


def _date(judgment: str, note: Note) -> date | None:
    """The first date below the signatures; None if there is none."""
    begin = judgment.rfind(_OPERATIVE)
    signed = _SIGNATURE.search(judgment, max(begin, 0))
    if not signed:
        return None
    end = _APPENDIX.search(judgment, signed.end())
    dates = dates_of(judgment[signed.end() : end.start() if end else None])
    if not dates:
        return None
    if dates[0][1] is None:
        note("bad_date", "the date below the signatures is in no calendar")
    return dates[0][1]
