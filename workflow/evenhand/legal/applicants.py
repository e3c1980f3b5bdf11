"""The applicant before the Strasbourg court: one person, several people, or a legal person.

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
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, metadata_evidence
from evenhand.legal.records import Record

#: Tables of ``resources/legal`` that `read_lexicon` reads.
TABLES = ("person_titles", "people_words", "legal_persons")

#: Paragraphs of the facts that introduce the applicants.
FIRST_PARAGRAPHS = 5

#: Paragraphs of the context that are searched: header and procedure.
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
        """Return the stored words from `start` to `end`."""
        return Evidence(self.part, self.number, start, end, self.stored[start:end])


def plain(paragraph: str) -> str:
    """Return a paragraph of the same length with plain quotes and blanks.

    Blanks replace long quotations and "he or she".
    """
    text = _QUOTATION.sub(_without_quotation, paragraph).translate(_PLAIN)
    if "/" in text or " or h" in text or " or s" in text:
        text = _EITHER.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_quotation(match: re.Match[str]) -> str:
    return _blank(match) if len(match[0]) > LONGEST_TERM else match[0]


def _passages(part: str, paragraphs: tuple[str, ...]) -> tuple[Passage, ...]:
    return tuple(Passage(part, n, plain(text), text) for n, text in enumerate(paragraphs))


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
        """Return the gender that a word for a person implies; businesswoman as woman."""
        end = _WOMAN.search(word) if word.islower() else None
        return self.genders.get(word) or (self.genders.get(end[0]) if end else None)


def read_lexicon(tables: dict[str, Path], attribute: Attribute | None = None) -> Lexicon:
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
    nouns = alternatives(row["word"] for row in legal if row["kind"] == "noun")
    forms = alternatives(row["word"] for row in legal if row["kind"] == "form")
    people = alternatives(row["word"] for row in words)
    title = alternatives(row["title"] for row in titles)
    titled = rf"\b(?P<title>{title})\b\.?\s+(?P<name>{_NAME}(?:\s+{_NAME})*)"
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
            rf"(?:,? (?:(?:{title})\.? )?"
            rf"[{_UPPER}][\w.'-]*(?: [{_UPPER}][\w.'-]*){{0,5}}(?=,)"
            rf"|'s? (?:[\w-]+ ){{0,3}}?(?P<kin>{people})\b)?)"
            r"|(?P<pronoun>\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|him|hers|himself|herself)\b)"
            rf"|(?P<titled>{titled})"
            rf"|(?P<word>\b(?:{people})\b)"
            r"|(?P<initials>\b(?!U\.\s?[SK]\b)(?:[A-Z]\.\s?){1,3}[A-Z]\b\.?|\b(?<!\.)[B-HJ-TW-Z]\b(?!\.?\s*\d)"
            r"|\bA\b(?=[,.;']| (?:was|had|and)\b))"
        ),
    )


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern of words, the longest first, since a pattern takes the first that fits."""
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
        Names of the applicant, of `gender_and_name`: "Mr Smith" is then the applicant.
    """
    spans = representations(text)
    relative = (0, None)  # the end and the gender of "a boy", who may be the one named next
    for person in lexicon.mention.finditer(text):
        start, end = person.span()
        if person["applicant"] is None and any(begin <= start < stop for begin, stop in spans):
            if person["pronoun"] is None:
                yield Mention("representative", start, end, None)
                continue
            if not text.endswith(" by ", 0, start):  # represented by her mother
                continue
        match person.lastgroup if person["titled"] is None else "titled":
            case "pronoun":
                female = person[0].lower() in _FEMALE
                yield Mention("pronoun", start, end, "female" if female else "male")
            case "applicant" | "kin" if person["kin"]:
                spouse = lexicon.spouses.get(person["kin"])
                gender = lexicon.genders.get(person["kin"])
                yield Mention("spouse" if spouse else "other", start, end, spouse or gender)
            case "applicant":
                yield Mention("applicant", start, end, None)
            case "titled":
                same = gender_and_name(person, lexicon) in names or _SAME_PERSON.search(
                    text, max(0, start - 90), start
                )
                kind = "applicant" if same else "other"
                yield Mention(kind, start, end, lexicon.titles[person["title"]])
            case "word" if _NO_OTHER.search(text, max(0, start - 60), start):
                pass  # "the applicant is a judge" names nobody else
            case "initials" if _NO_INITIALS.search(text, max(0, start - 12), start):
                pass  # "Class A and Class B drugs"
            case _:
                gender = lexicon.genders.get(person[0])
                if person["initials"] and text[relative[0] : start].strip() in ("", ","):
                    gender = relative[1]
                relative = end, gender
                yield Mention("other", start, end, gender)


def representations(text: str) -> list[tuple[int, int]]:
    """Return where a text names representatives: from "represented by" to the sentence's end."""
    spans = []
    for match in _REPRESENTED.finditer(text):
        end = SENTENCE_END.search(text, match.end())
        spans.append((match.start(), end.start() if end else len(text)))
    return spans


# --- who applied -----------------------------------------------------------------------------

_COUNT = r"(?:two|three|four|five|six|seven|eight|nine|ten|\w+teen|twenty[-\w]*|\d+)"
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|remaining)"

#: The procedure's name for the person just introduced: ("the applicant").
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


#: Where the procedure introduces a person: the paragraph, and the span of the words.
Introduction = tuple[Passage, int, int]


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
        Gender and last name of the one person (see `gender_and_name`), where the facts use it.
    introduction : (Passage, int, int) or None
        Where the procedure introduces the one person, up to the words ("the applicant").
    """

    kind: str
    rule: str
    evidence: tuple[Evidence, ...] = ()
    names: frozenset[str] = frozenset()
    introduction: Introduction | None = None


class ApplicantCase:
    """The paragraphs of a case that can identify the applicant, and the applicant.

    Attributes
    ----------
    facts, procedure : tuple of Passage
        All paragraphs of the text; the first `CONTEXT_PARAGRAPHS` of the context.
    lexicon : Lexicon
        The word lists.
    applicant : Applicant
        Who brought the case.
    """

    def __init__(self, record: Record, lexicon: Lexicon) -> None:
        self.facts = _passages("text", record.text)
        self.procedure = _passages("context", record.context[:CONTEXT_PARAGRAPHS])
        self.lexicon = lexicon
        self.applicant = self._find_applicant(record)

    def mentions(self, text: str) -> Iterator[Mention]:
        """Yield the mentions of people in a plain paragraph; see `find_mentions`."""
        return find_mentions(text, self.lexicon, self.applicant.names)

    def passages(self, *passages: Passage) -> Iterator[tuple[Passage, bool]]:
        """Yield paragraphs, and whether a pronoun that begins one means the applicant.

        It does if the paragraph before mentions the applicant and no one else but
        representatives. Pronouns there count as the applicant if that holds of the paragraph
        before it.
        """
        before = False
        for passage in passages:
            yield passage, before
            kinds = {mention.kind for mention in self.mentions(passage.plain)} - {"representative"}
            mentioned = "applicant" in kinds or (before and "pronoun" in kinds)
            before = mentioned and kinds <= {"applicant", "pronoun"}

    def resolved(self, text: str, before: bool) -> Iterator[tuple[Mention, str | None]]:
        """Yield the mentions in a paragraph, and whom they mean: ``applicant`` or ``other``.

        A pronoun means the last person before it who can be of its gender, and with no such
        person the applicant if `before` (see `passages`), or no known person. Representatives are
        others whom no pronoun means.
        """
        meant = dict.fromkeys(("male", "female"), "applicant" if before else None)
        for mention in self.mentions(text):
            words = text[mention.start : mention.end]
            match mention.kind:
                case "representative":
                    yield mention, "other"
                    continue
                case "pronoun":
                    person, genders = meant[mention.gender], [mention.gender]
                case "applicant":
                    person, genders = "applicant", [*meant]
                case kind:
                    person = "other"
                    if _APPLICANTS.match(words):  # the applicant's son: he, or the applicant
                        meant = dict.fromkeys(meant, "applicant")
                    genders = [
                        gender
                        for gender in meant
                        # the gender of a spouse is the applicant's
                        if not mention.gender or (gender == mention.gender) != (kind == "spouse")
                    ]
                    if _SEVERAL_PEOPLE.search(words):  # neither he nor she
                        genders = []
            meant |= dict.fromkeys(genders, person)
            yield mention, person

    def _find_applicant(self, record: Record) -> Applicant:
        """Return who brought a case, from its title, its procedure, and its first facts.

        The rules, in order: several names in the source's metadata; the words of the procedure in
        brackets ("the applicants"), ("the applicant company"); a title with "and others"; "the
        applicant company" or a first, second or several applicants in the first facts; more
        "applicants" than "applicant" in all facts. Otherwise it is one person, if there is an
        applicant at all.
        """
        listed = record.metadata.get("applicants", "")
        several = ";" in listed or _OTHERS.search(listed)
        if several or self.lexicon.legal_form.search(listed):
            evidence = (metadata_evidence(record, "applicants"),)
            return Applicant("several" if several else "legal_person", "applicants_given", evidence)
        introduction = None
        for passage in self.procedure:
            for tag in _TAG.finditer(passage.plain):
                introduced = (passage, _clause(passage.plain, tag), tag.start())
                several = bool(tag["several"] or tag["ordinal"])
                if applicant := self._others(introduced, tag.end(), several, tag["noun"]):
                    return applicant
                introduction = introduction or introduced
            if introduction:
                break
        tagged = introduction is not None
        if not tagged and (introduction := next(_untagged(self.procedure), None)):
            passage, *span = introduction
            titles = [*self.lexicon.titled.finditer(passage.plain, *span)]
            several = bool(_PLURAL.search(passage.plain, *span)) or len(titles) > 1
            if applicant := self._others(introduction, span[1], several):
                return applicant
        parties = _TITLE.match(record.title or "")
        title = parties["names"] if parties else listed
        if _OTHERS.search(title) or (not introduction and _AND.search(title)):
            return Applicant("several", "title")
        for passage in self.facts[:FIRST_PARAGRAPHS]:
            if match := self.lexicon.legal_applicant.search(passage.plain):
                evidence = (passage.evidence(*match.span()),)
                return Applicant("legal_person", "facts_name_it", evidence)
        if not introduction and (applicant := _several_in_facts(self.facts)):
            return applicant
        names = self._names("" if tagged else title, introduction)
        if not (introduction or names or any(_matches(_SINGLE, self.facts))):
            return Applicant("no_applicant", "nobody_named")
        rule = "procedure" if introduction else "facts"
        return Applicant("one", rule, names=names, introduction=introduction)

    def _others(
        self, introduction: Introduction, end: int, several: bool, noun: str = ""
    ) -> Applicant | None:
        """Return several applicants or a legal person; None for one person.

        Parameters
        ----------
        introduction : (Passage, int, int)
            Where the procedure introduces the applicant.
        end : int
            The end of the evidence.
        several : bool
            Whether it introduces several.
        noun : str
            What the words in brackets call the applicant: "the applicant company".
        """
        passage, start, stop = introduction
        evidence, span = (passage.evidence(start, end),), (passage.plain, start, stop)
        if several:
            return Applicant("several", "procedure", evidence)
        before = passage.plain[start:stop]
        if before.lstrip().startswith("the "):  # "the Smith Foundation", not a Union's national
            before = before.lower()
        if self.lexicon.legal_noun.search(noun) or (
            not self.lexicon.titled.search(*span)
            and (self.lexicon.legal_form.search(*span) or self.lexicon.legal_noun.search(before))
        ):
            return Applicant("legal_person", "procedure", evidence)
        return None

    def _names(self, title: str, introduction: Introduction | None) -> frozenset[str]:
        """Return gender and name by which the facts refer to the one applicant.

        The name is that of the case, or the one that the facts begin with: "Mr Smith, a British
        citizen, was born". If a woman and a man bear it, the procedure must name the applicant.
        """
        name, lexicon = last_name(title), self.lexicon
        if not name and self.facts:
            first = self.facts[0].plain
            opening = lexicon.titled.search(first, 0, 60)
            if (
                opening
                and _OPENING.match(first, 0, opening.start() + 1)
                and not _RELATIVE.match(first, opening.end())
            ):
                name = last_name(opening["name"])
        if len(name) < 3:
            return frozenset()
        people = {
            gender_and_name(match, lexicon)
            for passage in self.facts
            for match in lexicon.titled.finditer(passage.plain)
            if last_name(match["name"]) == name and lexicon.titles[match["title"]]
        }
        if introduction:
            passage, start, end = introduction
            if introduced := lexicon.titled.search(passage.plain, start, end):
                people &= {f"{lexicon.titles[introduced['title']]} {name}"}
        return frozenset(people) if len(people) == 1 else frozenset()


def _untagged(procedure: tuple[Passage, ...]) -> Iterator[Introduction]:
    for passage in procedure:
        if match := _UNTAGGED.search(passage.plain):
            start, end = match.span("who")
            represented = _REPRESENTED.search(passage.plain, start, end)
            yield passage, start, represented.start() if represented else end


def _clause(text: str, tag: re.Match[str]) -> int:
    """Return the beginning of the words that introduce the person named in brackets."""
    starts = [match.end() for match in _BY.finditer(text, 0, tag.start())]
    near = [start for start in starts if tag.start() - start < 400]
    return near[0] if near else max(0, tag.start() - 200)


def _several_in_facts(facts: tuple[Passage, ...]) -> Applicant | None:
    """Return several applicants by the facts alone.

    A sentence of the first facts begins with them ("The applicants are"), or the facts mention
    applicants more often than the applicant: a third as often, if they begin with that.
    """
    first = [*_matches(_SEVERAL, facts[:FIRST_PARAGRAPHS])]
    plural = [*_matches(_SEVERAL, facts)]
    singular = sum(1 for _ in _matches(_SINGLE, facts))
    begins = any(passage.plain[start] == "T" for passage, start, _ in first)
    if (begins and len(plural) > 2) or len(plural) > (singular / 3 if first else singular):
        passage, start, end = plural[0]
        return Applicant("several", "facts", (passage.evidence(start, end),))
    return None


def _matches(pattern: re.Pattern[str], passages: Iterable[Passage]) -> Iterator[Introduction]:
    for passage in passages:
        for match in pattern.finditer(passage.plain):
            if not _ELSEWHERE.match(passage.plain, match.end()):
                yield passage, *match.span()


def gender_and_name(titled: re.Match[str], lexicon: Lexicon) -> str:
    """Return gender and last name of a person with a title: ``female smith``."""
    return f"{lexicon.titles[titled['title']]} {last_name(titled['name'])}"


def last_name(name: str) -> str:
    """Return the last word of a name, as `folded`."""
    words = name.split()
    return folded(words[-1].removesuffix("'s").strip(".'")) if words else ""


def folded(name: str) -> str:
    """Return a name in lower case without accents, so that YILDIZ is Yıldız and INAN is İnan."""
    return without_accents(name.translate(_PLAIN_LETTERS)).casefold()


def without_accents(text: str) -> str:
    """Return a text without accents."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
