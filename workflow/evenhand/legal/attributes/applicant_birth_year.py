"""The year in which the applicant before the Strasbourg court was born.

"The applicant was born in 1957 and lives in ..." is the first fact of most judgments. A year
counts if it is attached to "born" and if the last person mentioned before it is the applicant.
"""

import re
from collections.abc import Iterator
from datetime import date

from evenhand.legal import applicants
from evenhand.legal.applicants import (
    SENTENCE_END,
    Applicant,
    ApplicantCase,
    Lexicon,
    Passage,
    find_mentions,
)
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, Finding, metadata_evidence
from evenhand.legal.records import Record

KIND = "ecthr"
ATTRIBUTE = "applicant_birth_year"
TABLES = applicants.TABLES
prepare = applicants.read_lexicon

#: The age in the year of the judgment above which a year is another person's. It may be high, since
#: applicants who have died keep their year.
OLDEST = 110

#: The confidence in each rule.
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


def find(record: Record, attribute: Attribute, prepared: Lexicon) -> Finding:
    """Return the applicant's year of birth, as text of four digits.

    No value where several people or a legal person apply (rules ``several_applicants``,
    ``legal_person``), or where no year is attached to the applicant (``no_birth_sentence``). It is
    the first year in the facts, or else in the procedure; a flag marks that another one follows.
    """
    case = ApplicantCase(record, prepared)
    if case.applicant.kind != "one":
        return not_one_person(case.applicant)
    years = [birth for birth in _births(case) if possible(int(birth[0]), record.date)]
    if not years:
        return Finding(None, "no_birth_sentence", 0.9)
    year, rule, evidence = years[0]
    flags = ("several_years",) if any(birth[0] != year for birth in years) else ()
    return Finding(year, rule, CONFIDENCE[rule], (evidence,), flags)


def not_one_person(applicant: Applicant) -> Finding:
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
    """Return whether a person born in that year can be an applicant."""
    return 0 <= judged.year - year <= OLDEST if judged else 1850 <= year <= 2100


def _births(case: ApplicantCase) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the years of birth that are the applicant's, with rule and evidence."""
    for passage, before in case.passages(*case.facts, *case.procedure):
        text = passage.plain
        for born in _BORN.finditer(text):
            when = _date_of(text, born)
            rule = when and _attached(case, passage, born, when, before)
            if rule:
                start = _word(text, max(born.start() - 60, 0))
                start, end = min(start, when.start()), max(when.end(), born.end())
                yield when["year"], rule, passage.evidence(start, end)
        for born in _BIRTH_DATE.finditer(text):
            whose = text[: born.end("whose") if born["whose"] else born.start()]
            last = _last(case, whose, before)
            if last == "applicant" or (last == "pronoun" and not born["whose"]):
                yield born["year"], "date_of_birth", passage.evidence(*born.span())


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
    """Return the beginning of the text, or of the next word after `start`."""
    return text.index(" ", start) + 1 if start else 0


def _attached(
    case: ApplicantCase, passage: Passage, born: re.Match[str], when: re.Match[str], before: bool
) -> str | None:
    """Return the rule by which a year of birth is the applicant's, or None."""
    text = passage.plain
    if _introduced(case, passage, born):
        return "introduced_born"
    if _WITH_RELATIVE.search(text, max(0, born.start() - 120), born.start()):
        return "applicant_and_relative_born"
    last = _subject(case, text, born.start(), before)
    if last is None and _AFTER.match(text, when.end()):
        return "born_before_applicant"
    return f"{last}_born" if last in ("applicant", "pronoun") else None


def _subject(case: ApplicantCase, text: str, start: int, before: bool) -> str | None:
    """Return who is born: the subject of "was born", or the noun before "(who was) born"."""
    finite = _FINITE.search(text, max(0, start - 30), start)
    named = _NAMED.search(text, max(0, start - 80), start)
    aside = finite is not None and finite["comma"] and not finite["who"]
    if named and named["word"] not in _NO_NAME and not aside:
        mentions = find_mentions(text[:start], case.lexicon)
        if not any(mention.end > named.start("name") for mention in mentions):
            return "other"
    if finite is None or finite["who"]:
        return _last(case, text[:start], before, representatives=True)
    if finite["comma"]:
        begins = [match.end() for match in SENTENCE_END.finditer(text, 0, start)]
        begins += [match.end() for match in _CLAUSE_BEGINS.finditer(text, 0, finite.start())]
        first = next(case.mentions(text[max(begins, default=0) : start]), None)
        if first and first.kind != "pronoun":
            return first.kind
    return _last(case, text[:start], before)


def _introduced(case: ApplicantCase, passage: Passage, born: re.Match[str]) -> bool:
    """Return whether it is: by Mrs Smith, a Briton who was born in 1969 ("the applicant")."""
    introduced, start, end = case.applicant.introduction or (None, 0, 0)
    if introduced is not passage or not start <= born.start() < end:
        return False
    mentions = find_mentions(passage.plain[start : born.start()], case.lexicon)
    return sum(mention.kind != "pronoun" for mention in mentions) <= 1


def _last(
    case: ApplicantCase, text: str, before: bool, *, representatives: bool = False
) -> str | None:
    """Return who was mentioned last in a text: applicant, pronoun (for the applicant) or other.

    Representatives count as others only if requested.
    """
    last = None
    for mention, person in case.resolved(text, before):
        if mention.kind != "representative" or representatives:
            pronoun = mention.kind == "pronoun" and person == "applicant"
            last = "pronoun" if pronoun else person or last
    return last
