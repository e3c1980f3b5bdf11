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
    SENTENCE_END,
    Applicant,
    Lexicon,
    Passage,
    Passages,
    carried,
    find_applicant,
    find_mentions,
    read_lexicon,
    read_passages,
    resolved,
)
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Evidence, Finding, metadata_evidence
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
_BORN = re.compile(r"\b[Bb]orn\b(?!-)")
_WHEN = re.compile(
    r"(?:(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)?,? (?:of )?" + _MONTH + r",? (?:of )?"
    r"|(?:on |in )?" + _MONTH + r",? (?:\d{1,2},? )?|on \d{1,2}[./]\d{1,2}[./]"
    r"|(?:in |of )?the (?:spring|summer|autumn|winter|year) (?:of )?"
    r"|(?:in|around|circa|about|early|late|(?<=born)),? )" + _YEAR
)
#: Characters from "born" to the year.
_FARTHEST = 140
_SENTENCE = re.compile(r"[;:]|(?<!\bSt)(?<!\b[A-Z])\.(?= |$)")
# Where a place, a family or a name goes on, and no second statement begins: after a comma, and
# after "and". A participle or a verb cannot stand there.
_NEXT_PLACE = r"(?=[^\W\d_a-zà-öø-ÿ])"
_GOES_ON = re.compile(
    rf"{_NEXT_PLACE}|(?:in|at|near|on|of|the|an?|his|her|now|then|formerly|today|currently"
    r"|present-day|part|as|to|into|under|outside|within|what|daughter|son|(?:eld|young)est)\b"
)
_JOINED_ON = re.compile(
    rf"{_NEXT_PLACE}|(?:an?|the) [\w-]+ (?:[\w-]+ )?(?:father|mother|family)\b"
    r"|(?:\w+ly )?(?:blind|deaf|mute|dumb|ill|weak|disabled|premature(?:ly)?)\b"
)
_CLAUSE = re.compile(
    r"\b(?:who(?:m|se)?|which|whe(?:re|n(?:ce)?)|while|whilst|that|after|before|until|till|since"
    r"|because|although|but|or|he|she|they|it|(?<!what )(?:is|was|are|were)|has|had|have|been"
    r"|lives?|lived|resid\w+)\b"
)
_LEADS_ON = re.compile(
    r",? (?:he|she|they|the applicants?|his|her|their)\b"
    r"| (?!(?:and|to|at|in|into|of|as|near|on|under|by|with|according|or|but)\b)[a-z]"
)
_BIRTH_DATE = re.compile(
    rf"\b(?:date|year) of birth\b(?P<whose> of [^.;:,\d]{{1,60}})?[^.;\d]{{0,20}}?"
    rf"(?:\d{{1,2}}[./ ](?:\d{{1,2}}[./ ]|{_MONTH} )?)?" + _YEAR,
    re.IGNORECASE,
)
_WITH_RELATIVE = re.compile(r"[Aa]pplicant and (?:his|her) [\w-]+,? (?:[^.;]{0,60}? )?(?:were )?$")
# X, with a remark between commas, was born ...
_FINITE = re.compile(r"(?P<comma>,)? (?P<who>who |which )?(?:was|were|is|had been) (?:\w+ly )?$")
_CLAUSE_BEGINS = re.compile(r"[;:] |, (?:and|but|while|whereas|although|as) |\bthat ")
# A name without a title, which is no place: met Olha, who was born; Olha was born
_NAMED = re.compile(
    r"(?:[.;] |(?P<word>[a-zà-öø-ÿ]+) )"
    r"(?P<name>(?:(?!The |She |He |They |It )[^\W\d_a-zà-öø-ÿ][\w'-]+ ?)+)"
    r"(?:,? ?\(?(?:who )?(?:was |is )?)$"
)
_NO_NAME = frozenset({"applicant", "in", "at", "of", "near", "from", "to", "the", "a", "an", "by"})
_BEFORE = re.compile(
    rf"(?:^(?:\d+\. ?)?|\. )(?:In|On|It was in|It was on) (?:\d{{1,2}} )?(?:{_MONTH} )?{_YEAR},?"
    r" (?:that )?(?:the applicant|he|she) was born\b"
)
_AFTER = re.compile(r"[^.;]{0,60}?,? (?:the applicant\b(?!')|(?P<pronoun>s?he)\b)")


def prepare(tables: dict[str, Path], attribute: Attribute) -> Lexicon:
    """Read the word lists."""
    return read_lexicon(tables)


def find(record: Record, attribute: Attribute, prepared: Lexicon) -> Finding:
    """The applicant's year of birth, as text of four digits.

    No value where several people or a legal person apply (rules ``several_applicants``,
    ``legal_person``), or where no year is attached to the applicant (``no_birth_sentence``).
    """
    passages = read_passages(record)
    applicant = find_applicant(record, passages, prepared)
    if applicant.kind != "one":
        return nobody(applicant)
    return _first(record, passages, applicant, prepared)


def nobody(applicant: Applicant) -> Finding:
    """Return the finding of all attributes of a person where not exactly one person applies."""
    rule = "several_applicants" if applicant.kind == "several" else applicant.kind
    return Finding(None, rule, 0.95, applicant.evidence)


def from_source(record: Record, attribute: Attribute | None = None) -> Finding | None:
    """Return the source's year; an impossible one (FairLex has ages above 100) is none."""
    if ATTRIBUTE not in record.metadata:
        return None
    year = record.metadata[ATTRIBUTE].strip().removesuffix(".0")
    stated = year.isdecimal() and int(year) > 0
    valid = stated and possible(int(year), record.date)
    rule = "given_impossible" if stated and not valid else "given_by_source"
    return Finding(year if valid else None, rule, 1.0, (metadata_evidence(record, ATTRIBUTE),))


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
    before = False
    for passage in (*passages.facts, *passages.procedure):
        text = passage.plain
        if "orn" in text:
            for born in _BORN.finditer(text):
                when = _date_of(text, born)
                if when is None:
                    continue
                rule = _attached(passage, born, when, before, applicant, lexicon)
                if rule:
                    start = _word(text, max(born.start() - 60, 0))
                    start, end = min(start, when.start()), max(when.end(), born.end())
                    yield when["year"], rule, passage.evidence(start, end)
        if "of birth" in text.lower():
            for born in _BIRTH_DATE.finditer(text):
                whose = text[: born.end("whose") if born["whose"] else born.start()]
                last = _last(whose, before, applicant, lexicon)
                if last == "applicant" or (last == "pronoun" and not born["whose"]):
                    yield born["year"], "date_of_birth", passage.evidence(*born.span())
        before = carried(text, before, applicant.names, lexicon)


def _date_of(text: str, born: re.Match[str]) -> re.Match[str] | None:
    """Return the date that belongs to "born": no other clause begins between them."""
    for start in (match.start() for match in _BEFORE.finditer(text, 0, born.end())):
        before = _BEFORE.match(text, start)
        if before and before.end() == born.end():
            return before
    when = _WHEN.search(text, born.end(), born.end() + _FARTHEST)
    if when is None:
        return None
    between = text[born.end() : when.start()]
    if re.search(r"\d", between) or _SENTENCE.search(between) or _CLAUSE.search(between):
        return None
    pieces = re.split(r"(,|\band\b|\(|\))", between)
    for mark, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        follows = piece.strip()
        if mark == "and" and not _JOINED_ON.match(follows):
            return None
        if mark == "," and follows and not _GOES_ON.match(follows):
            return None
    if between.rstrip().endswith(",") and _LEADS_ON.match(text, when.end()):
        return None
    return when


def _word(text: str, start: int) -> int:
    """The beginning of the sentence or else of the next word at or after `start`."""
    if start == 0:
        return 0
    return text.index(" ", start) + 1


def _attached(
    passage: Passage,
    born: re.Match[str],
    when: re.Match[str],
    before: bool,
    applicant: Applicant,
    lexicon: Lexicon,
) -> str | None:
    """The rule by which a year of birth is the applicant's, or None."""
    text = passage.plain
    if _introduced(passage, born, applicant, lexicon):
        return "introduced_born"
    if _WITH_RELATIVE.search(text, max(0, born.start() - 120), born.start()):
        return "applicant_and_relative_born"
    last = _subject(text, born.start(), before, applicant, lexicon)
    if last == "applicant":
        return "applicant_born"
    if last == "pronoun":
        return "pronoun_born"
    if last is None and _AFTER.match(text, when.end()):
        return "born_before_applicant"
    return None


def _subject(
    text: str, start: int, before: bool, applicant: Applicant, lexicon: Lexicon
) -> str | None:
    """Return who is born: the subject of "was born", or the noun before "(who was) born"."""
    finite = _FINITE.search(text, max(0, start - 30), start)
    named = _NAMED.search(text, max(0, start - 80), start)
    aside = finite is not None and finite["comma"] and not finite["who"]
    if named and named["word"] not in _NO_NAME and not aside:
        inside = (one.end > named.start("name") for one in find_mentions(text[:start], lexicon))
        if not any(inside):
            return "other"
    if finite is None or finite["who"]:
        return _last(text[:start], before, applicant, lexicon, representatives=True)
    if finite["comma"]:
        begins = [found.end() for found in SENTENCE_END.finditer(text, 0, start)]
        begins += [found.end() for found in _CLAUSE_BEGINS.finditer(text, 0, finite.start())]
        clause = text[max(begins, default=0) : start]
        mentions = [*find_mentions(clause, lexicon, applicant.names)]
        if mentions and mentions[0].kind != "pronoun":
            return mentions[0].kind
    return _last(text[:start], before, applicant, lexicon)


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


def _last(
    text: str,
    before: bool,
    applicant: Applicant,
    lexicon: Lexicon,
    *,
    representatives: bool = False,
) -> str | None:
    """Return who was mentioned last in a text: applicant, pronoun (for the applicant) or other.

    Representatives count as others only if requested.
    """
    last = None
    for mention, person in resolved(text, before, applicant.names, lexicon):
        if mention.kind != "representative" or representatives:
            pronoun = mention.kind == "pronoun" and person == "applicant"
            last = "pronoun" if pronoun else person or last
    return last
