"""JuDGE (Su et al. 2025): criminal judgments, whole, with their facts apart.

A line has ``text_id``, ``text`` (the facts), ``la`` (numbers of articles) and ``fd`` (the whole
judgment). The label is read off the operative part of ``fd``, the date off the signatures
below it. ``fd`` stays context: the header in it has the court and the defendants' sex, and it
never becomes text.
"""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from evenhand.io.encodings import DAMAGE
from evenhand.io.quarantine import Quarantine
from evenhand.legal.chinese import dates_of, facts_of, paragraphs
from evenhand.legal.objects import Found, Note, RejectedError, read_objects, records_of
from evenhand.legal.records import Record
from evenhand.legal.severity import sentence_of, severity

KIND = "cail"
NEEDS = "JSON lines with text_id, text (the facts), la and fd (the whole judgment)"
TABLES: tuple[str, ...] = ()
OPTIONS: dict[str, object] = {}

_OPERATIVE = "判决如下"
_SIGNATURE = re.compile("审判[长员]|审判组织")
_APPENDIX = re.compile(r"\s附[：:]?|相关法律条文")


def read(
    files: list[Path], options: dict[str, Any], quarantine: Quarantine, tables: dict[str, Path]
) -> Iterator[Record]:
    """Read cases; there are no options.

    A judgment whose operative part names no punishment becomes a case without a label. The
    quarantine gets lines without id, facts or judgment (``missing_field``), lines with invalid
    UTF-8 (``damaged_case``), and invalid dates of cases that stay (``bad_date``).
    """
    return records_of(read_objects(files, quarantine), quarantine, _record)


def _record(found: Found, note: Note) -> Record:
    fields = [found.value.get(name) for name in ("text_id", "text", "fd")]
    if not all(isinstance(one, str) for one in fields) or not fields[0]:
        raise RejectedError("missing_field", "no text_id, text or fd")
    if any(DAMAGE in one for one in fields):
        raise RejectedError("damaged_case", "bytes that cannot be decoded")
    case_id, facts, judgment = fields
    sentence = sentence_of(judgment)
    given = {}
    articles = found.value.get("la")
    if isinstance(articles, list) and articles:
        given["articles"] = ";".join(map(str, articles))
    if sentence:
        given |= {"sentence": sentence.kind, "months": f"{sentence.months:g}"}
    return found.record(
        case_id=case_id,
        language="zh",
        date=_date(judgment, note),
        text=facts_of(facts),
        context=paragraphs(judgment),
        labels=None if sentence is None else (severity(sentence),),
        given=given,
    )


def _date(judgment: str, note: Note) -> date | None:
    """The first date below the signatures; None if there is none."""
    begin = judgment.rfind(_OPERATIVE)
    signed = _SIGNATURE.search(judgment, max(begin, 0))
    if not signed:
        return None
    end = _APPENDIX.search(judgment, signed.end())
    found = dates_of(judgment[signed.end() : end.start() if end else None])
    if not found:
        return None
    if found[0][1] is None:
        note("bad_date", "the date below the signatures is in no calendar")
    return found[0][1]
