"""The year in which the applicant before the Strasbourg court was born.

"The applicant was born in 1957 and lives in ..." is the first fact of most judgments. A year
counts if it is attached to "born" and if the last person mentioned before it is the applicant.
"""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from evenhand.legal import applicants
from evenhand.legal.applicants import (
    Applicant,
    Lexicon,
    Passage,
    Passages,
    find_applicant,
    find_mentions,
    read_lexicon,
    read_passages,
)
from evenhand.legal.findings import Evidence, Finding, given_evidence
from evenhand.legal.records import Record

KIND = "ecthr"
ATTRIBUTE = "applicant_birth_year"
TABLES = applicants.TABLES

#: The age in the year of the judgment above which a year is somebody else's. An applicant who
#: has died keeps the own year, so that it may be high.
OLDEST = 110

#: What each rule is worth.
CONFIDENCE = {
    "given_by_source": 1.0,
    "applicant_born": 0.99,
    "introduced_born": 0.97,
    "applicant_and_relative_born": 0.95,
    "pronoun_born": 0.95,
    "born_before_applicant": 0.95,
    "date_of_birth": 0.9,
}

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_YEAR = r"(?P<year>(?:18|19|20)\d\d)\b"
# Between "born" and the year: a name, a place, a state of health, but no second statement.
_BORN = re.compile(
    r"\b[Bb]orn\b(?!-)(?! (?:to|of|out|into)\b)"
    r"(?:(?!\b(?:who|which|lives?|lived|is|was|are|were|has|had|since|resid\w+|moved|arrived"
    r"|came|married|left)\b)(?:[^.;:\d]|(?<=\bSt)\.|(?<=\b[A-Z])\.)){0,110}?"
    rf"\b(?:(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?,? (?:of )?{_MONTH},? "
    rf"|(?:on |in )?{_MONTH},? (?:\d{{1,2}},? )?|on \d{{1,2}}[./]\d{{1,2}}[./]"
    r"|(?:in|around|circa|about|early|late|born),? )" + _YEAR
)
_BIRTH_DATE = re.compile(
    rf"\b(?:date|year) of birth\b[^.;]{{0,20}}?(?:\d{{1,2}}[./ ](?:\d{{1,2}}[./ ]|{_MONTH} )?)?"
    + _YEAR,
    re.IGNORECASE,
)
_WITH_RELATIVE = re.compile(r"[Aa]pplicant and (?:his|her) [\w-]+,? (?:[^.;]{0,60}? )?(?:were )?$")
# The applicant, who is the daughter of Mr Smith, was born ...
_APPOSITION = re.compile(r"\b[Tt]he applicant, [^.;]{1,160}, (?:who )?(?:was|is) $")
_AFTER = re.compile(r"[^.;]{0,60}?,? (?:the applicant\b(?!')|(?P<pronoun>s?he)\b)")


def prepare(tables: dict[str, Path]) -> Lexicon:
    """Read the word lists."""
    return read_lexicon(tables)


def find(record: Record, prepared: Lexicon) -> Finding:
    """The applicant's year of birth, as text of four digits.

    No value where several people or a legal person apply (rules ``several_applicants``,
    ``legal_person``), or where no year is attached to the applicant (``no_birth_sentence``).
    """
    if ATTRIBUTE in record.given:
        return _given(record)
    passages = read_passages(record)
    applicant = find_applicant(record, passages, prepared)
    if applicant.kind != "one":
        return nobody(applicant)
    return _first(record, passages, applicant, prepared)


def nobody(applicant: Applicant) -> Finding:
    """What all attributes of a person say where not one person applies."""
    rule = "several_applicants" if applicant.kind == "several" else applicant.kind
    return Finding(None, rule, 0.95, applicant.evidence)


def _given(record: Record) -> Finding:
    """The source's year; one that cannot be (FairLex has ages above 100) is none."""
    value = record.given[ATTRIBUTE].strip().removesuffix(".0")
    evidence = (given_evidence(record, ATTRIBUTE),)
    if not (value.isdecimal() and int(value)):
        return Finding(None, "given_by_source", 1.0, evidence)
    if not possible(int(value), record.date):
        return Finding(None, "given_impossible", 1.0, evidence)
    return Finding(value, "given_by_source", 1.0, evidence)


def possible(year: int, judged: date | None) -> bool:
    """Whether somebody born in that year can be an applicant."""
    return 0 <= judged.year - year <= OLDEST if judged else 1850 <= year <= 2100


def _first(record: Record, passages: Passages, applicant: Applicant, lexicon: Lexicon) -> Finding:
    """The first year in the facts, or else in the procedure; a flag if another one follows."""
    found = [
        one for one in _all(passages, applicant, lexicon) if possible(int(one[0]), record.date)
    ]
    if not found:
        return Finding(None, "no_birth_sentence", 0.9)
    year, rule, evidence = found[0]
    flags = ("several_years",) if any(one[0] != year for one in found) else ()
    return Finding(year, rule, CONFIDENCE[rule], (evidence,), flags)


def _all(
    passages: Passages, applicant: Applicant, lexicon: Lexicon
) -> Iterator[tuple[str, str, Evidence]]:
    for passage in (*passages.facts, *passages.procedure):
        text = passage.plain
        if "orn" in text:
            for born in _BORN.finditer(text):
                rule = _attached(passage, born, applicant, lexicon)
                if rule:
                    start = max(born.start() - 60, 0)
                    yield born["year"], rule, passage.evidence(_word(text, start), born.end())
        if "of birth" in text:
            for born in _BIRTH_DATE.finditer(text):
                if _last(text, born.start(), applicant, lexicon) == "applicant":
                    yield born["year"], "date_of_birth", passage.evidence(*born.span())


def _word(text: str, start: int) -> int:
    """The beginning of the sentence or else of the next word at or after `start`."""
    if start == 0:
        return 0
    return text.index(" ", start) + 1


def _attached(
    passage: Passage, born: re.Match[str], applicant: Applicant, lexicon: Lexicon
) -> str | None:
    """The rule by which a year of birth is the applicant's, or None."""
    text = passage.plain
    if _introduced(passage, born, applicant, lexicon):
        return "introduced_born"
    if _WITH_RELATIVE.search(text, max(0, born.start() - 120), born.start()):
        return "applicant_and_relative_born"
    last = _last(text, born.start(), applicant, lexicon)
    before = max(0, born.start() - 200)
    if last == "applicant" or _APPOSITION.search(text, before, born.start()):
        return "applicant_born"
    if last == "pronoun":
        return "pronoun_born"
    if last is None and _AFTER.match(text, born.end()):
        return "born_before_applicant"
    return None


def _introduced(
    passage: Passage, born: re.Match[str], applicant: Applicant, lexicon: Lexicon
) -> bool:
    """By Mrs Smith, a British national who was born in 1969 ("the applicant")."""
    if applicant.introduction is None or applicant.introduction[0] is not passage:
        return False
    _, start, end = applicant.introduction
    between = [
        mention
        for mention in find_mentions(passage.plain[start : born.start()], lexicon)
        if mention.kind != "pronoun"
    ]
    return start <= born.start() < end and len(between) <= 1


def _last(text: str, end: int, applicant: Applicant, lexicon: Lexicon) -> str | None:
    """Who was mentioned last before `end`: applicant, pronoun (for the applicant) or other."""
    last = None
    for mention in find_mentions(text[:end], lexicon, applicant.names):
        if mention.kind != "pronoun":
            last = mention.kind
        elif last in ("applicant", "pronoun"):
            last = "pronoun"
    return last
