"""Who brought a case to the Strasbourg court: one person, several people, or a legal person.

The rules are ours; FairLex (Chalkidis et al. 2022, section 3.1) drew the same attributes with
regular expressions that were never released.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.legal.findings import Evidence, metadata_evidence
from evenhand.legal.records import Record

#: Tables of ``resources/legal`` that `read_lexicon` reads.
TABLES = ("person_titles", "people_words", "legal_persons")

#: Paragraphs of the facts in which somebody says who the applicants are.
FIRST_PARAGRAPHS = 5

#: Paragraphs of the context that are looked at: header and procedure.
CONTEXT_PARAGRAPHS = 120

# --- paragraphs ------------------------------------------------------------------------------

# Letter for letter, so that offsets stay those of the stored paragraph.
_PLAIN = str.maketrans(
    dict.fromkeys("\xa0\u2007\u2009\u202f", " ")
    | dict.fromkeys("\u2010\u2011", "-")
    | dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
)

# Letters that have no accent to lose.
_PLAIN_LETTERS = str.maketrans("ıłŁøØđĐ", "ilLoOdD")

# Where the closing mark is missing, a quotation ends at the bracket that it stands in, or before
# the next opening mark: else (“the first applicant) and Ms Smith (“the second applicant”) is one.
_QUOTATION = re.compile(
    r"(?<=\()\u201c[^\u201c\u201d()]*(?:\u201d|(?=\)))"
    r"|\u201c(?:[^\u201c\u201d]*\u201d|[^\u201c\u201d]*$)|\u00ab[^\u00bb]*(?:\u00bb|$)"
    r'|"[^"]*"'
)

#: A longer quotation is somebody else's words, a shorter one a term ("the applicant company").
LONGEST_TERM = 40

_EITHER = re.compile(
    r"\b(?:s?he or s?he|his or her|her or his|him or her|her or him|himself or herself"
    r"|herself or himself|s/he|he/she|she/he|(?:his|him)/her)\b"
)


class Passage(NamedTuple):
    """A paragraph as the rules read it, character by character at its stored position."""

    part: str
    number: int
    plain: str
    stored: str

    def evidence(self, start: int, end: int) -> Evidence:
        """The stored words from `start` to `end`."""
        return Evidence(self.part, self.number, start, end, self.stored[start:end])


def plain(paragraph: str) -> str:
    """Return a paragraph of the same length with plain quotes and blanks.

    Blanks replace long quotations and "he or she".
    """
    text = _QUOTATION.sub(_without_quotation, paragraph).translate(_PLAIN)
    if "/" in text or " or h" in text or " or s" in text:
        text = _EITHER.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _without_quotation(found: re.Match[str]) -> str:
    return _blank(found) if len(found.group()) > LONGEST_TERM else found.group()


@dataclass(frozen=True)
class Passages:
    """The paragraphs of a case that can tell who the applicant is.

    Attributes
    ----------
    facts : tuple of Passage
        All paragraphs of the text.
    procedure : tuple of Passage
        The first `CONTEXT_PARAGRAPHS` of the context.
    """

    facts: tuple[Passage, ...]
    procedure: tuple[Passage, ...]


def read_passages(record: Record) -> Passages:
    """The paragraphs of a record as the rules see them."""
    return Passages(
        tuple(Passage("text", n, plain(one), one) for n, one in enumerate(record.text)),
        tuple(
            Passage("context", n, plain(one), one)
            for n, one in enumerate(record.context[:CONTEXT_PARAGRAPHS])
        ),
    )


# --- word lists ------------------------------------------------------------------------------

_UPPER = "A-ZÀ-ÖØ-ÞĀ-Ž"

# A word of a name or its initials, which do not go on in the next sentence: Ms A. She left.
_NAME = (
    r"(?:(?:de|da|van|von|der|den|la|di|al|el|bin)\b"
    r"|(?!(?:He|She|His|Her|The|They|It|In|On|At)\b)"
    rf"(?:(?:[{_UPPER}]\.\s?)+|[{_UPPER}][^\s,;().]*))"
)


# businesswoman; but neither German nor human
_WOMAN = re.compile(r"(?<=[a-z-])(?<!\bhu)(?:wo)?man$")


@dataclass(frozen=True)
class Lexicon:
    """The word lists, and the patterns made of them.

    Attributes
    ----------
    titles : dict of str to (str or None)
        The gender that a title (without its dot) implies.
    genders : dict of str to (str or None)
        The gender that a word for a person implies.
    spouses : dict of str to str
        The gender of the other spouse, by the word for a spouse.
    titled : re.Pattern
        A title before a name: groups ``title``, ``name``.
    legal_noun, legal_form : re.Pattern
        A word for a legal person; the end of a company's name.
    legal_applicant : re.Pattern
        "the applicant company", "the applicant is a company".
    mention : re.Pattern
        The mentions of people for `find_mentions`.
    """

    titles: dict[str, str | None]
    genders: dict[str, str | None]
    spouses: dict[str, str]
    titled: re.Pattern[str]
    legal_noun: re.Pattern[str]
    legal_form: re.Pattern[str]
    legal_applicant: re.Pattern[str]
    mention: re.Pattern[str]

    def gender_of(self, word: str) -> str | None:
        """The gender that a word for a person implies; businesswoman as woman."""
        end = _WOMAN.search(word) if word.islower() else None
        return self.genders.get(word) or (self.genders.get(end.group()) if end else None)


def read_lexicon(tables: dict[str, Path]) -> Lexicon:
    """Read the word lists that `TABLES` names.

    Raises
    ------
    InputError
        A table is missing, or has a gender or kind that is none.
    """
    genders = ("male", "female")
    titles = read_resource(
        tables["person_titles"],
        ["title", "gender"],
        optional=("gender",),
        unique=("title",),
        choices={"gender": genders},
    )
    words = read_resource(
        tables["people_words"],
        ["word", "kind", "gender", "spouse_gender"],
        optional=("gender", "spouse_gender"),
        unique=("word",),
        choices={"kind": ("kin", "role"), "gender": genders, "spouse_gender": genders},
    )
    legal = read_resource(
        tables["legal_persons"],
        ["word", "kind"],
        unique=("word",),
        choices={"kind": ("noun", "form")},
    )
    nouns = _alternatives(row["word"] for row in legal if row["kind"] == "noun")
    forms = _alternatives(row["word"] for row in legal if row["kind"] == "form")
    people = _alternatives(row["word"] for row in words)
    titled = (
        rf"\b(?P<title>{_alternatives(row['title'] for row in titles)})\b\.?\s+"
        rf"(?P<name>{_NAME}(?:\s+{_NAME})*)"
    )
    return Lexicon(
        titles={row["title"]: row["gender"] or None for row in titles},
        genders={row["word"]: row["gender"] or None for row in words},
        spouses={row["word"]: row["spouse_gender"] for row in words if row["spouse_gender"]},
        titled=re.compile(titled),
        legal_noun=re.compile(rf"\b(?:{nouns})\b"),
        # after a name, since A.S. and S.A. are people's initials too
        legal_form=re.compile(rf"\b[{_UPPER}][\w&'-]+[\"').]*,? (?:{forms})(?![\w'])"),
        legal_applicant=re.compile(
            rf"\b[Tt]he applicant (?:{nouns})\b"
            r"|\b[Tt]he applicant(?:,[^,;]{1,120},)? (?:is|was) (?:an? |the )?"
            r"(?:(?!(?:in|at|of|by|to|for|from|with|on)\b)[\w'-]+,? ){0,6}?"
            rf"(?:{nouns})(?=[,.;(]| (?:with|registered|based|incorporated|established|founded"
            r"|which|having|limited|formed|created|set up|operating)\b)"
        ),
        mention=re.compile(
            r"(?P<applicant>\b[Tt]he (?:present |late |said )?[Aa]pplicant\b"
            rf"(?:,? (?:(?:{_alternatives(row['title'] for row in titles)})\.? )?"
            rf"[{_UPPER}][\w.'-]*(?: [{_UPPER}][\w.'-]*){{0,5}}(?=,)"
            rf"|'s? (?:[\w-]+ ){{0,3}}?(?P<kin>{people})\b)?)"
            r"|(?P<pronoun>\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|him|hers|himself|herself)\b)"
            rf"|(?P<titled>{titled})"
            rf"|(?P<word>\b(?:{people})\b)"
            r"|(?P<initials>\b(?!U\.\s?[SK]\b)(?:[A-Z]\.\s?){1,3}[A-Z]\b\.?|\b(?<!\.)[B-HJ-TW-Z]\b(?!\.?\s*\d)"
            r"|\bA\b(?=[,.;']| (?:was|had|and)\b))"
        ),
    )


def _alternatives(words: Iterable[str]) -> str:
    """A pattern of the words, the longest first, since a pattern takes the first that fits."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


# --- mentions --------------------------------------------------------------------------------


class Mention(NamedTuple):
    """A person or pronoun in a paragraph.

    ``kind`` is ``applicant``, ``other``, ``pronoun``, ``spouse`` (of the applicant) or
    ``representative``; ``gender`` is that of a title or pronoun, and of a spouse that of the
    applicant.
    """

    kind: str
    start: int
    end: int
    gender: str | None


# The rest of a sentence that says who speaks for somebody.
_REPRESENTED = re.compile(
    r"\b(?:represented|assisted|defended)\b[^.;]{0,80}?\bby\b"
    r"|,? (?:acting )?through (?:his|her|their|its|an?|the) (?:\w+ )?"
    r"(?=counsel|lawyer|representative)"
)
SENTENCE_END = re.compile(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bProf)(?<!\b[A-Z])[.;](?= |$)"
)
# The applicant is Mr Smith; the applicant, a Polish national, Mr Smith
_SAME_PERSON = re.compile(
    r"\b[Aa]pplicant(?:,| is,?| was,?)? "
    r"(?:(?:an?|the) [^,.;]{1,60}(?<! of)(?<! to)(?<! by)(?<! with)(?<! for),? )?$"
)

_APPLICANTS = re.compile(r"[Tt]he (?:\w+ )?[Aa]pplicant\b")
_SEVERAL_PEOPLE = re.compile(r"(?:[^s]s|men|children|people)$")
_FEMALE = frozenset({"she", "her", "hers", "herself"})
_NO_INITIALS = re.compile(
    r"\b(?:class|article|paragraph|section|part|annex|schedule|appendix|category|hepatitis) $",
    re.IGNORECASE,
)
_NO_OTHER = re.compile(
    r"(?:\b(?:is|was|as|been|being|became|become)\s+(?:(?:an?|the)\s+)?|[Aa]pplicant,\s+"
    r"(?:then |now |formerly |currently |at (?:the|that) time )?an?\s+)"
    r"(?:[\w-]+\s+){0,2}$"
)


def find_mentions(
    text: str, lexicon: Lexicon, names: frozenset[str] = frozenset()
) -> Iterator[Mention]:
    """Yield the mentions of people in a paragraph, in order.

    Parameters
    ----------
    text : str
        A plain paragraph.
    lexicon : Lexicon
        The word lists.
    names : frozenset of str
        Names of the applicant, of `named`: "Mr Smith" is then the applicant, not another.
    """
    spans = representations(text)
    relative = (0, None)  # the end and the gender of "a boy", who may be the one named next
    for found in lexicon.mention.finditer(text):
        start, end = found.span()
        if found["applicant"] is None and any(begin <= start < stop for begin, stop in spans):
            if found["pronoun"] is None:
                yield Mention("representative", start, end, None)
                continue
            if not text.endswith(" by ", 0, start):  # represented by her mother
                continue
        match found.lastgroup if found["titled"] is None else "titled":
            case "pronoun":
                female = found.group().lower() in _FEMALE
                yield Mention("pronoun", start, end, "female" if female else "male")
            case "applicant" | "kin" if found["kin"]:
                spouse = lexicon.spouses.get(found["kin"])
                gender = lexicon.genders.get(found["kin"])
                yield Mention("spouse" if spouse else "other", start, end, spouse or gender)
            case "applicant":
                yield Mention("applicant", start, end, None)
            case "titled":
                same = named(found, lexicon) in names or _SAME_PERSON.search(
                    text, max(0, start - 90), start
                )
                kind = "applicant" if same else "other"
                yield Mention(kind, start, end, lexicon.titles[found["title"]])
            case "word" if _NO_OTHER.search(text, max(0, start - 60), start):
                pass  # "the applicant is a judge" names nobody else
            case "initials" if _NO_INITIALS.search(text, max(0, start - 12), start):
                pass  # "Class A and Class B drugs"
            case _:
                gender = lexicon.genders.get(found.group())
                if found["initials"] and text[relative[0] : start].strip() in ("", ","):
                    gender = relative[1]
                relative = end, gender
                yield Mention("other", start, end, gender)


def resolved(
    text: str, before: bool, names: frozenset[str], lexicon: Lexicon
) -> Iterator[tuple[Mention, str | None]]:
    """Yield the mentions of people in a paragraph, and whom they mean: ``applicant`` or ``other``.

    A pronoun means the last person before it who can be of its gender, and with no such person
    the applicant if `before` (see `carried`), or nobody that is known. Representatives are others
    whom no pronoun means.
    """
    meant = dict.fromkeys(("male", "female"), "applicant" if before else None)
    for mention in find_mentions(text, lexicon, names):
        words = text[mention.start : mention.end]
        match mention.kind:
            case "representative":
                yield mention, "other"
                continue
            case "pronoun":
                person, genders = meant[mention.gender], [mention.gender]
            case "applicant":
                person, genders = "applicant", [*meant]
            case _:
                person = "other"
                if _APPLICANTS.match(words):  # the applicant's son: he, or the applicant
                    meant = dict.fromkeys(meant, "applicant")
                own = mention.gender  # of a spouse: the applicant's
                genders = [
                    one
                    for one in meant
                    if own is None or (one == own) != (mention.kind == "spouse")
                ]
                if _SEVERAL_PEOPLE.search(words):  # neither he nor she
                    genders = []
        meant |= dict.fromkeys(genders, person)
        yield mention, person


def carried(text: str, before: bool, names: frozenset[str], lexicon: Lexicon) -> bool:
    """Return whether a pronoun that begins the next paragraph means the applicant.

    It does if this paragraph mentions the applicant and no one else but representatives. Pronouns
    count as the applicant if that holds of the paragraph before (`before`).
    """
    kinds = {mention.kind for mention in find_mentions(text, lexicon, names)} - {"representative"}
    return ("applicant" in kinds or (before and "pronoun" in kinds)) and kinds <= {
        "applicant",
        "pronoun",
    }


def representations(text: str) -> list[tuple[int, int]]:
    """Return where a text names representatives: from "represented by" to the sentence's end."""
    spans = []
    for found in _REPRESENTED.finditer(text):
        end = SENTENCE_END.search(text, found.end())
        spans.append((found.start(), end.start() if end else len(text)))
    return spans


# --- who applied -----------------------------------------------------------------------------

_COUNT = r"(?:two|three|four|five|six|seven|eight|nine|ten|\w+teen|twenty[-\w]*|\d+)"
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|remaining)"

#: How the procedure names whom it has just introduced: ("the applicant").
_TAG = re.compile(
    r"\(\s*(?:(?:also |hereafter |hereinafter |referred to |herein |called |as ){0,4}[:,]?\s*)?"
    rf"[\"']?(?:the )?(?P<ordinal>{_ORDINAL} )?(?:present )?"
    r"applicant(?P<several>s)?(?P<noun>(?: [a-z-]+){0,3})(?:[\"']|(?<=t)\)|(?<=ts)\))",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby\b")

# Until about 2005 some procedures name the applicant without a tag.
_UNTAGGED = re.compile(
    r"\boriginated in .{0,700}?\bby (?!the )(?P<who>.{3,250}?)"
    r"(?=,? on \d{1,2} [A-Z]|(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\b[A-Z])\. |$)"
)
_PLURAL = re.compile(
    r"\b(?:nationals|citizens|companies|organisations|associations|persons|couple)\b"
)
_SEVERAL = re.compile(
    rf"\b(?:the (?:{_COUNT} )?applicants|(?:the )?{_ORDINAL} (?:and {_ORDINAL} )?(?:named )?"
    r"applicants?|both applicants|each (?:of the )?applicants?|all (?:of )?the applicants"
    r"|lists? of (?:the )?applicants|applicants' (?:names|details|particulars|personal))\b",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"\bthe (?:present |late )?applicant\b", re.IGNORECASE)

# "the applicants in the Smith case" are somebody else's.
_ELSEWHERE = re.compile(
    r" (?:in|of) (?:the (?:above-?(?:mentioned|cited) |case|[A-Z])|that case|[A-Z])"
)

_TITLE = re.compile(
    r"(?:(?i:CASE OF|AFFAIRE) )?(?P<names>.+?)(?:,? |(?<=[A-Z]))"
    r"(?:v\.?|vs\.?|c\.|(?i:against|contre)) "
)
_OPENING = re.compile(r"(?:\d+ ?\. )?\S$")
_RELATIVE = re.compile(r",? \(?the applicant's\b")
_OTHERS = re.compile(r"(?:\band|\bet|&) (?:(?:\d+|\w+) )?(?:others?|autres?)\b", re.IGNORECASE)
_AND = re.compile(r" (?:and|et|&) ", re.IGNORECASE)


@dataclass(frozen=True)
class Applicant:
    """The applicant of a case.

    Attributes
    ----------
    kind : str
        ``one`` person, ``several``, ``legal_person``, or ``no_applicant`` if no applicant is
        named.
    rule : str
        The rule that decided.
    evidence : tuple of Evidence
        The words that it relied on.
    names : frozenset of str
        Gender and last name of the one person (see `named`), where the facts use it.
    introduction : (Passage, int, int) or None
        Where the procedure introduces the one person, up to the words ("the applicant").
    """

    kind: str
    rule: str
    evidence: tuple[Evidence, ...] = ()
    names: frozenset[str] = frozenset()
    introduction: tuple[Passage, int, int] | None = None


def find_applicant(record: Record, passages: Passages, lexicon: Lexicon) -> Applicant:
    """Say who brought a case, from its title, its procedure, and its first facts.

    The rules, in order: several names in the source's metadata; the words of the procedure in
    brackets ("the applicants"), ("the applicant company"); a title with "and others"; "the
    applicant company" or a first, second or several applicants in the first facts; more
    "applicants" than "applicant" in all facts. Whoever is left is one person, if there is an
    applicant at all.
    """
    listed = record.metadata.get("applicants", "")
    if ";" in listed or _OTHERS.search(listed):
        return Applicant("several", "applicants_given", (metadata_evidence(record, "applicants"),))
    if lexicon.legal_form.search(listed):
        evidence = (metadata_evidence(record, "applicants"),)
        return Applicant("legal_person", "applicants_given", evidence)
    introduction = None
    for passage in passages.procedure:
        for tag in _TAG.finditer(passage.plain):
            applicant = _introduced(passage, tag, lexicon)
            if applicant:
                return applicant
            introduction = introduction or (passage, _clause(passage.plain, tag), tag.start())
        if introduction:
            break
    tagged = introduction is not None
    if not tagged:
        introduction = next(_untagged(passages.procedure), None)
        if introduction and (applicant := _untagged_others(*introduction, lexicon)):
            return applicant
    parties = _TITLE.match(record.title or "")
    title = parties["names"] if parties else listed
    if _OTHERS.search(title) or (not introduction and _AND.search(title)):
        return Applicant("several", "title")
    first = passages.facts[:FIRST_PARAGRAPHS]
    for passage in first:
        if found := lexicon.legal_applicant.search(passage.plain):
            return Applicant("legal_person", "facts_name_it", (passage.evidence(*found.span()),))
    if not introduction and (applicant := _several_in_facts(passages.facts)):
        return applicant
    names = _names("" if tagged else title, introduction, passages, lexicon)
    if not (introduction or names or any(_matches(_SINGLE, passages.facts))):
        return Applicant("no_applicant", "nobody_named")
    return Applicant(
        "one",
        "procedure" if introduction else "facts",
        names=names,
        introduction=introduction,
    )


def _introduced(passage: Passage, tag: re.Match[str], lexicon: Lexicon) -> Applicant | None:
    """Classify the words in brackets and those before them; None for one person."""
    start = _clause(passage.plain, tag)
    evidence = (passage.evidence(start, tag.end()),)
    if tag["several"] or tag["ordinal"]:
        return Applicant("several", "procedure", evidence)
    before = passage.plain[start : tag.start()]
    if lexicon.legal_noun.search(tag["noun"]):
        return Applicant("legal_person", "procedure", evidence)
    if before.lstrip().startswith("the "):  # "the Smith Foundation", not a Union's national
        before = before.lower()
    if not lexicon.titled.search(passage.plain, start, tag.start()) and (
        lexicon.legal_form.search(passage.plain, start, tag.start())
        or lexicon.legal_noun.search(before)
    ):
        return Applicant("legal_person", "procedure", evidence)
    return None


def _untagged(procedure: tuple[Passage, ...]) -> Iterator[tuple[Passage, int, int]]:
    for passage in procedure:
        if found := _UNTAGGED.search(passage.plain):
            start, end = found.span("who")
            represented = _REPRESENTED.search(passage.plain, start, end)
            yield passage, start, represented.start() if represented else end


def _untagged_others(passage: Passage, start: int, end: int, lexicon: Lexicon) -> Applicant | None:
    """Classify an introduction without a tag; None for one person."""
    evidence = (passage.evidence(start, end),)
    titles = [*lexicon.titled.finditer(passage.plain, start, end)]
    if _PLURAL.search(passage.plain, start, end) or len(titles) > 1:
        return Applicant("several", "procedure", evidence)
    if not titles and (
        lexicon.legal_form.search(passage.plain, start, end)
        or lexicon.legal_noun.search(passage.plain, start, end)
    ):
        return Applicant("legal_person", "procedure", evidence)
    return None


def _clause(text: str, tag: re.Match[str]) -> int:
    """Where the words begin that introduce who is named in brackets."""
    starts = [found.end() for found in _BY.finditer(text, 0, tag.start())]
    near = [start for start in starts if tag.start() - start < 400]
    return near[0] if near else max(0, tag.start() - 200)


def _several_in_facts(facts: tuple[Passage, ...]) -> Applicant | None:
    """Several applicants by the facts alone.

    A sentence of the first facts begins with them ("The applicants are"), or the facts speak
    more of applicants than of the applicant: a third as often, if they begin with that.
    """
    first = [*_matches(_SEVERAL, facts[:FIRST_PARAGRAPHS])]
    plural = [*_matches(_SEVERAL, facts)]
    singular = sum(1 for _ in _matches(_SINGLE, facts))
    begins = any(passage.plain[start] == "T" for passage, start, _ in first)
    if plural and (
        (begins and len(plural) > 2) or len(plural) > (singular / 3 if first else singular)
    ):
        passage, start, end = plural[0]
        return Applicant("several", "facts", (passage.evidence(start, end),))
    return None


def _matches(
    pattern: re.Pattern[str], passages: Iterable[Passage]
) -> Iterator[tuple[Passage, int, int]]:
    for passage in passages:
        for found in pattern.finditer(passage.plain):
            if not _ELSEWHERE.match(passage.plain, found.end()):
                yield passage, found.start(), found.end()


def _names(
    title: str,
    introduction: tuple[Passage, int, int] | None,
    passages: Passages,
    lexicon: Lexicon,
) -> frozenset[str]:
    """Return gender and name by which the facts refer to the one applicant.

    The name is that of the case, or the one that the facts begin with: "Mr Smith, a British
    citizen, was born". If a woman and a man bear it, the procedure must name the applicant.
    """
    name = last_name(title)
    if not name and passages.facts:
        first = passages.facts[0].plain
        opening = lexicon.titled.search(first, 0, 60)
        if (
            opening
            and _OPENING.match(first, 0, opening.start() + 1)
            and not _RELATIVE.match(first, opening.end())
        ):
            name = last_name(opening["name"])
    if len(name) < 3:
        return frozenset()
    introduced = introduction and lexicon.titled.search(introduction[0].plain, *introduction[1:])
    people = {
        named(found, lexicon)
        for passage in passages.facts
        for found in lexicon.titled.finditer(passage.plain)
        if last_name(found["name"]) == name and lexicon.titles[found["title"]]
    }
    if introduced:
        people &= {f"{lexicon.titles[introduced['title']]} {name}"}
    return frozenset(people) if len(people) == 1 else frozenset()


def named(titled: re.Match[str], lexicon: Lexicon) -> str:
    """Gender and last name of a person with a title: ``female smith``."""
    return f"{lexicon.titles[titled['title']]} {last_name(titled['name'])}"


def last_name(name: str) -> str:
    """Return the last word of a name, as `folded`."""
    words = name.split()
    return folded(words[-1].removesuffix("'s").strip(".'")) if words else ""


def folded(name: str) -> str:
    """Return a name in lower case without accents, so that YILDIZ is Yıldız and INAN is İnan."""
    letters = unicodedata.normalize("NFKD", name.translate(_PLAIN_LETTERS))
    return "".join(one for one in letters if not unicodedata.combining(one)).casefold()
