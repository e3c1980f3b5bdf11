"""The gender of the applicant before the Strasbourg court, as the Court's words have it.

The Court writes of people in two genders, by the titles and pronouns that they want; so a
trans applicant has the gender of the Court's pronoun.
"""

import re
from collections import Counter
from pathlib import Path

from evenhand.legal import applicants
from evenhand.legal.applicants import (
    Applicant,
    Lexicon,
    Mention,
    Passages,
    carried,
    find_applicant,
    find_mentions,
    folded,
    last_name,
    named,
    read_lexicon,
    read_passages,
    resolved,
)
from evenhand.legal.attributes.applicant_birth_year import nobody
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Evidence, Finding
from evenhand.legal.records import Record

KIND = "ecthr"
TABLES = applicants.TABLES

#: What each rule is worth.
CONFIDENCE = {
    "title_in_procedure": 0.99,
    "title_in_facts": 0.98,
    "title_with_name": 0.95,
    "pronouns": 0.97,
    "gave_birth": 0.95,
    "predicate": 0.95,
    "one_pronoun": 0.9,
    "far_pronoun": 0.8,
    "spouse": 0.8,
}

#: Pronouns that settle the question.
ENOUGH = 15
#: Characters from a mention of the applicant to the end of a pronoun that counts.
FARTHEST = 200
#: How many times more pronouns of one gender than of the other there must be.
MAJORITY = 2

_FOR_OTHERS = re.compile(r"\b(?:on behalf of|through|represented by)\b")
_OWN = re.compile(r"\bon (?:his|her) own behalf\b")
_AFTER = re.compile(r"\s*(?:,(?! (?:and|M[a-z]{0,3})\b)|\(|who\b|is\b|was\b|lives\b)")
# She left; On 3 May 1990 she left
_OPENS = re.compile(
    r"(?:[A-Z]\w*|(?<![^.] )(?:On|In|By|Since|From|Until|At|After|During) [^.;:]{1,40} [hs]\w+)$"
)
_BEGINS = re.compile(r"(?:\d+ ?\. ?)?")
_TRANS = re.compile(r"\b(?:trans(?:gender|sexual|sexualism)\b|gender (?:reassignment|identity))")
_GAVE_BIRTH = re.compile(
    r"\b[Tt]he applicant (?:had )?(?:gave birth|given birth|was (?:\w+ )?(?:\w+ )?pregnant"
    r"|became pregnant|miscarried)\b|\b[Tt]he applicant's (?:\w+ )?pregnancy\b"
)
_IS = re.compile(
    r"\b[Tt]he applicant(?: \([^)]*\))?(?: is| was|,) (?:an?|the) (?:\w+'s )?"
    r"(?P<words>(?!\w+'s)[\w-]+(?: (?!(?:of|in|at|by|to|for|with|and)\b|\w+'s)[\w-]+){0,2})"
)
_OBJECT = re.compile(
    r"\b(?:\w+ed|to|by|for|of|with|from|against|about|at|between|on|including|than|told|let|made"
    r"|gave|sent|paid|hit|put|found|took|brought|left|and|or)\s+$"
)
_APPOSED = re.compile(r"(?<!for )(?<!of )\b[Tt]he applicant,? $")


def prepare(tables: dict[str, Path], attribute: Attribute) -> Lexicon:
    """Read the word lists."""
    return read_lexicon(tables)


def find(record: Record, attribute: Attribute, prepared: Lexicon) -> Finding:
    """The applicant's gender: male, female or None.

    The rules, in order: the title before the name in the procedure or in the facts; the
    pronouns after mentions of the applicant, if two thirds agree; "the applicant gave birth";
    "the applicant is a widow"; a single pronoun; pronouns at the beginning of other sentences, if
    they agree; "the applicant's husband".
    """
    passages = read_passages(record)
    applicant = find_applicant(record, passages, prepared)
    if applicant.kind != "one":
        return nobody(applicant)
    titled = (
        _title_in_procedure(record, applicant, prepared)
        or _title_in_facts(passages, prepared)
        or _title_with_name(passages, applicant, prepared)
    )
    pronouns = _pronouns(passages, applicant, prepared)
    if titled is None:
        return (
            pronouns
            or _gave_birth(passages)
            or _predicate(passages, prepared)
            or _few(passages, applicant, prepared)
        )
    if pronouns is None or pronouns.value == titled.value:
        return titled
    flags = ("title_and_pronouns_differ",)
    if any(_TRANS.search(passage.plain) for passage in passages.facts):
        return Finding(pronouns.value, "pronouns", 0.9, pronouns.evidence, flags)
    return Finding(titled.value, titled.rule, 0.9, titled.evidence + pronouns.evidence, flags)


def _finding(value: str, rule: str, *evidence: Evidence) -> Finding:
    return Finding(value, rule, CONFIDENCE[rule], evidence)


def _title_in_procedure(record: Record, applicant: Applicant, lexicon: Lexicon) -> Finding | None:
    """The title in: lodged by a Polish national, Mr Jan Kowalski ("the applicant").

    Of several people, take the one who gives the case its name, or else the first.
    """
    if applicant.introduction is None:
        return None
    passage, start, end = applicant.introduction
    text = passage.plain
    if _FOR_OTHERS.search(_OWN.sub("", text[start:end])):
        return None
    people = [
        one for one in lexicon.titled.finditer(text, start, end) if lexicon.titles[one["title"]]
    ]
    if not people:
        return None
    parties = re.findall(r"\w+", folded(record.title or ""))
    found = next((one for one in people if last_name(one["name"]) in parties), people[0])
    return _finding(
        lexicon.titles[found["title"]], "title_in_procedure", passage.evidence(*found.span())
    )


def _title_in_facts(passages: Passages, lexicon: Lexicon) -> Finding | None:
    """The title in: the applicant, Mrs Jones, is a British national."""
    for passage in (*passages.facts[:10], *passages.procedure):
        for found in lexicon.titled.finditer(passage.plain):
            gender = lexicon.titles[found["title"]]
            before = _APPOSED.search(passage.plain, max(0, found.start() - 70), found.start())
            if gender and before and _AFTER.match(passage.plain, found.end()):
                evidence = passage.evidence(before.start(), found.end())
                return _finding(gender, "title_in_facts", evidence)
    return None


def _title_with_name(passages: Passages, applicant: Applicant, lexicon: Lexicon) -> Finding | None:
    """The title in: Mr Smith lives in London, where the case is that of Smith."""
    for passage in passages.facts if applicant.names else ():
        for found in lexicon.titled.finditer(passage.plain):
            gender = lexicon.titles[found["title"]]
            if named(found, lexicon) in applicant.names:
                return _finding(gender, "title_with_name", passage.evidence(*found.span()))
    return None


def _votes(
    passages: Passages, applicant: Applicant, lexicon: Lexicon
) -> tuple[Counter[str], dict[str, list[Evidence]]]:
    """Count the pronouns that follow a mention of the applicant, by gender.

    A mention counts once, with the next pronoun, if no one else but a representative is mentioned
    between them, and if the applicant is not an object or possessor there: "asked the applicant
    whether he". A pronoun that begins a paragraph counts if `carried` holds of the one before.
    """
    votes: Counter[str] = Counter()
    evidence: dict[str, list[Evidence]] = {"male": [], "female": []}
    before = False
    for passage in (*passages.facts, *passages.procedure):
        last = None
        for mention in find_mentions(passage.plain, lexicon, applicant.names):
            if mention.kind == "representative":
                continue
            begins = before and _BEGINS.fullmatch(passage.plain, 0, mention.start)
            start = last.start if last else mention.start if begins else None
            if mention.kind == "pronoun" and start is not None and mention.end - start < FARTHEST:
                votes[mention.gender] += 1
                if len(evidence[mention.gender]) < 3:
                    evidence[mention.gender].append(passage.evidence(start, mention.end))
            last = mention if _is_subject(passage.plain, mention) else None
        before = carried(passage.plain, before, applicant.names, lexicon)
        if votes.total() >= ENOUGH:
            break
    return votes, evidence


def _is_subject(text: str, mention: Mention) -> bool:
    return (
        mention.kind == "applicant"
        and text[mention.end : mention.end + 1] != "'"
        and not _OBJECT.search(text, max(0, mention.start - 30), mention.start)
    )


def _pronouns(passages: Passages, applicant: Applicant, lexicon: Lexicon) -> Finding | None:
    votes, evidence = _votes(passages, applicant, lexicon)
    if votes.total() < 2:
        return None
    (gender, most), *rest = votes.most_common()
    if rest and most < MAJORITY * rest[0][1]:
        return None
    return _finding(gender, "pronouns", *evidence[gender])


def _gave_birth(passages: Passages) -> Finding | None:
    for passage in passages.facts:
        if found := _GAVE_BIRTH.search(passage.plain):
            return _finding("female", "gave_birth", passage.evidence(*found.span()))
    return None


def _predicate(passages: Passages, lexicon: Lexicon) -> Finding | None:
    """The gender of the word in: the applicant is a widow, is the mother of A.B."""
    for passage in passages.facts:
        for found in _IS.finditer(passage.plain):
            genders = map(lexicon.gender_of, found["words"].split())
            if gender := next(filter(None, genders), None):
                return _finding(gender, "predicate", passage.evidence(*found.span()))
    return None


def _few(passages: Passages, applicant: Applicant, lexicon: Lexicon) -> Finding:
    """Return the weakest finding: one pronoun, pronouns farther off, or a spouse."""
    votes, evidence = _votes(passages, applicant, lexicon)
    if votes.total() == 1:
        gender = next(iter(votes))
        return _finding(gender, "one_pronoun", *evidence[gender])
    far = {} if votes else _far_pronouns(passages, applicant, lexicon)
    if len(far) == 1:
        [(gender, words)] = far.items()
        return _finding(gender, "far_pronoun", words)
    for passage in passages.facts:
        for mention in find_mentions(passage.plain, lexicon, applicant.names):
            if mention.kind == "spouse":
                return _finding(
                    mention.gender, "spouse", passage.evidence(mention.start, mention.end)
                )
    return Finding(None, "pronouns_differ" if votes else "no_gendered_word", 0.9)


def _far_pronouns(
    passages: Passages, applicant: Applicant, lexicon: Lexicon
) -> dict[str, Evidence]:
    """The first pronoun of each gender that begins a sentence about the applicant."""
    found: dict[str, Evidence] = {}
    before = False
    for passage in passages.facts:
        text = passage.plain
        for mention, person in resolved(text, before, applicant.names, lexicon):
            begins = _OPENS.search(text, max(0, mention.start - 60), mention.end)
            if mention.kind == "pronoun" and person == "applicant" and begins:
                found.setdefault(mention.gender, passage.evidence(mention.start, mention.end))
        before = carried(text, before, applicant.names, lexicon)
    return found
