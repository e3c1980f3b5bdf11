"""Judgments as plain text, one a file: all metadata are read from the header and the end.

The file's name is HUDOC's item id (``001-58068.txt``). The respondent comes from the title, or
from "against ..." in the first paragraph; the date and the application numbers from the header;
the violations from the operative part.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import PurePosixPath

from evenhand.legal.judgments import Judgment, conclusions, findings, lines_of, parse
from evenhand.legal.records import Record
from evenhand.legal.rows import CaseFiles, Note, RejectedError, SourceRow, joined_text
from evenhand.legal.strasbourg import as_labels, language_of

KIND = "ecthr"
NEEDS = "judgments as .txt files named by HUDOC's item id, or an archive of them"
OPTIONS = {"no_finding": "unknown", "encoding": "utf-8"}

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DATE = re.compile(rf"\b(\d{{1,2}})\s+({'|'.join(_MONTHS)})\s+(\d{{4}})\b", re.IGNORECASE)
_DONE = re.compile(r"\bDone (?:in|at)\b", re.IGNORECASE)
_TITLE = re.compile(r"\bCASE OF\s+\S|^(?i:case of)\s+\S")
_IN_THE_CASE = re.compile(r"\bIn the (case of\s+\S)")
_TITLE_END = re.compile(
    r"\s*\((?:Applications?|nos?\.|Requête|as regards)\b|,?\s+(?:JUDGMENT|STRASBOURG|FINAL)\b|"
    r",\s*The European (?:[Cc]ourt|Commission)\b|\s*[\[(]\d+[\])]|\s*,\s*$"
)
_VERSUS = re.compile(r"\s+(?:[vV]\.?|against|AGAINST)\s+(?=\S)")
_SUFFIX = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$|\s*\[?\d{1,2}\]?\s*$")
_NUMBER = re.compile(r"(?<![\d/])\d{1,5}/\d{2}(?![\d/])")
_AGAINST = re.compile(
    r"\bagainst (?:the )?(?:(?:Government|Kingdom|Republic|State|Grand Duchy|Principality) of )?"
    r"(?:the )?([A-Z][\w’'-]+(?: (?:and|of|the) [A-Z][\w’'-]+| [A-Z][\w’'-]+)*)"
)
_SPLIT = re.compile(r"\s*,\s*(?:AND\s+)?|\s+AND\s+")
_WITH_AND = re.compile(r"\b(BOSNIA|SERBIA) AND (HERZEGOVINA|MONTENEGRO)\b")

_DOCUMENTS = {
    "GRANDCHAMBER": "Grand Chamber|GRAND CHAMBER",
    "COMMITTEE": "sitting as a Committee",
    "PLENARY": "PLENARY|plenary",
    "CHAMBER": "Chamber|CHAMBER",
}

#: Characters of the longest title.
_LONGEST_TITLE = 500

#: Lines of the header that are looked at for title and date.
_TITLE_LINES = 40


def read(cases: CaseFiles) -> Iterator[Record]:
    """Read the judgments in English.

    Options: no_finding (``unknown``: a judgment without a finding has no label;
    ``no_violation``: it counts as one that finds no violation), encoding. The quarantine gets
    texts other than judgments in English.
    """
    no_finding = cases.options.get("no_finding", "unknown")
    return cases.records(_texts(cases), partial(_record, no_finding=no_finding))


def _texts(cases: CaseFiles) -> Iterator[SourceRow]:
    for member in cases.members("txt"):
        with cases.quarantine.beyond_limits(member.name, 1, "record"):
            text = joined_text((piece for _, piece in cases.text(member)), "characters")
            if text:  # `open_members` reports files of 0 bytes
                stem = PurePosixPath(member.file_name).stem
                yield SourceRow(member.name, 1, "record", {"itemid": stem, "text": text})


def _record(row: SourceRow, note: Note, *, no_finding: str) -> Record:
    if not row.fields["text"].strip():
        raise RejectedError("no_facts", "blanks only")
    lines = lines_of(row.fields["text"])
    if language_of(lines) != "en":
        raise RejectedError("other_language", "the text is French")
    judgment = parse(lines)
    if not judgment.operative and _is_decision(judgment):
        raise RejectedError("not_a_judgment", "a decision, without JUDGMENT in its header")
    title = _title(judgment.header)
    violated, cleared, outcome_source = _outcome(judgment)
    labels, others = as_labels(violated)
    day = _date(judgment.header, lines)
    if day is None:
        note("bad_date", "neither the header nor the end has a date")
    return row.record(
        case_id=row.fields["itemid"],
        date=day,
        title=title,
        language="en",
        text=tuple(judgment.facts),
        context=(*judgment.header, *judgment.procedure),
        labels=labels if violated or cleared or no_finding == "no_violation" else None,
        metadata={
            "respondent": ";".join(_respondents(title, judgment)),
            "application_number": ";".join(_applications(judgment.header)),
            "document": _document(judgment.header),
            "violation": ";".join(violated),
            "nonviolation": ";".join(cleared),
            "other_violations": ";".join(others),
            "outcome_from": outcome_source,
        },
    )


def _outcome(judgment: Judgment) -> tuple[list[str], list[str], str]:
    """Return articles violated, not violated, and the source: operative part or conclusions."""
    violated, cleared = findings(judgment.operative)
    if violated or cleared:
        return violated, cleared, "operative_part"
    violated, cleared = conclusions(judgment.rest)
    return violated, cleared, "conclusions" if violated or cleared else ""


def _is_decision(judgment: Judgment) -> bool:
    head = judgment.header[:_TITLE_LINES]
    return not any("JUDGMENT" in line for line in head) and any(
        "DECISION" in line or "ADMISSIBILITY" in line for line in head
    )


def _title(header: list[str]) -> str | None:
    """Return ``CASE OF X v. Y``, on one or several lines, or else "In the case of X v. Y"."""
    for pattern in (_TITLE, _IN_THE_CASE):
        for place, line in enumerate(header[:_TITLE_LINES]):
            if match := pattern.search(line):
                title = line[match.start(match.re.groups) :]
                for more in header[place + 1 : place + 4]:
                    if _TITLE_END.search(title) or _VERSUS.search(title) or more[0] == "(":
                        break
                    title = f"{title} {more}"
                end = _TITLE_END.search(title)
                return (title[: end.start()] if end else title)[:_LONGEST_TITLE].strip()
    return None


def _respondents(title: str | None, judgment: Judgment) -> list[str]:
    """Return the States of the title, or else that of the first paragraphs, in capitals."""
    if title and (versus := list(_VERSUS.finditer(title))):
        names = title[versus[-1].end() :].upper()
        while (shorter := _SUFFIX.sub("", names)) != names:
            names = shorter
        names = _WITH_AND.sub(r"\1 & \2", names)
        parts = [part.replace(" & ", " AND ").strip(" .,") for part in _SPLIT.split(names)]
        return [part for part in parts if part]
    for paragraph in judgment.procedure[:3]:
        if match := _AGAINST.search(paragraph):
            return [match[1].upper()]
    return []


def _applications(header: list[str]) -> list[str]:
    """The numbers after "Application no.", up to the date."""
    numbers: list[str] = []
    for line in header[:_TITLE_LINES]:
        begin = re.search(r"\bApplications?\b", line)
        end = re.search(r"\bSTRASBOURG\b|\bFINAL\b|\bHaving\b", line)
        if begin and (end is None or begin.start() < end.start()):
            numbers += _NUMBER.findall(line[begin.start() : end.start() if end else None])
        if end or (numbers and "JUDGMENT" in line):
            break
    return list(dict.fromkeys(numbers))


def _document(header: list[str]) -> str:
    """Return HUDOC's type of the document."""
    text = " ".join(header)
    return next((kind for kind, words in _DOCUMENTS.items() if re.search(words, text)), "")


def _date(header: list[str], lines: list[str]) -> date | None:
    """The date after STRASBOURG, else the first of the header, else the one of the end."""
    head = header[:_TITLE_LINES]
    after = next((i for i, line in enumerate(head) if "STRASBOURG" in line), None)
    candidates = [*(head[after : after + 3] if after is not None else []), *head]
    candidates += [line for line in lines if _DONE.search(line)]
    for line in candidates:
        at = max(0, line.find("STRASBOURG"))
        if match := _DATE.search(line, at):
            try:
                return date(int(match[3]), _MONTHS.index(match[2].lower()) + 1, int(match[1]))
            except ValueError:
                continue
    return None
