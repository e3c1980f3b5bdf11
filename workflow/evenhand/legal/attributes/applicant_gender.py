"""The gender of the applicant before the Strasbourg court, by the Court's words.

The Court writes of people in two genders, by the titles and pronouns that they want; so a
trans applicant has the gender of the Court's pronoun.
"""

import re
from collections import Counter

from evenhand.legal import applicants
from evenhand.legal.applicants import (
    ApplicantCase,
    Lexicon,
    Mention,
    folded,
    gender_and_name,
    last_name,
)
from evenhand.legal.attributes.applicant_birth_year import not_one_person
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, Finding
from evenhand.legal.records import Record

KIND = "ecthr"
TABLES = applicants.TABLES
prepare = applicants.read_lexicon

#: The confidence in each rule.
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


def find(record: Record, attribute: Attribute, prepared: Lexicon) -> Finding:
    """Return the applicant's gender: male, female or None.

    The rules, in order: the title before the name in the procedure or in the facts; the
    pronouns after mentions of the applicant, if two thirds agree; "the applicant gave birth";
    "the applicant is a widow"; a single pronoun; pronouns at the beginning of other sentences, if
    they agree; "the applicant's husband".
    """
    case = ApplicantCase(record, prepared)
    if case.applicant.kind != "one":
        return not_one_person(case.applicant)
    titled = _title_in_procedure(case, record) or _title_in_facts(case) or _title_with_name(case)
    votes, evidence = _votes(case)
    pronouns = _pronouns(votes, evidence)
    if titled is None:
        weaker = pronouns or _gave_birth(case) or _predicate(case)
        return weaker or _few(case, votes, evidence)
    if pronouns is None or pronouns.value == titled.value:
        return titled
    flags = ("title_and_pronouns_differ",)
    if any(_TRANS.search(passage.plain) for passage in case.facts):
        return Finding(pronouns.value, "pronouns", 0.9, pronouns.evidence, flags)
    return Finding(titled.value, titled.rule, 0.9, titled.evidence + pronouns.evidence, flags)


def _finding(value: str, rule: str, *evidence: Evidence) -> Finding:
    return Finding(value, rule, CONFIDENCE[rule], evidence)


def _title_in_procedure(case: ApplicantCase, record: Record) -> Finding | None:
    """Return the title in: lodged by a Polish national, Mr Jan Kowalski ("the applicant").

    Of several people, take the one who gives the case its name, or else the first.
    """
    if case.applicant.introduction is None:
        return None
    passage, start, end = case.applicant.introduction
    if _FOR_OTHERS.search(_OWN.sub("", passage.plain[start:end])):
        return None
    titles = case.lexicon.titles
    matches = case.lexicon.titled.finditer(passage.plain, start, end)
    people = [match for match in matches if titles[match["title"]]]
    if not people:
        return None
    parties = re.findall(r"\w+", folded(record.title or ""))
    person = next((match for match in people if last_name(match["name"]) in parties), people[0])
    evidence = passage.evidence(*person.span())
    return _finding(titles[person["title"]], "title_in_procedure", evidence)


def _title_in_facts(case: ApplicantCase) -> Finding | None:
    """Return the title in: the applicant, Mrs Jones, is a British national."""
    for passage in (*case.facts[:10], *case.procedure):
        for match in case.lexicon.titled.finditer(passage.plain):
            gender = case.lexicon.titles[match["title"]]
            before = _APPOSED.search(passage.plain, max(0, match.start() - 70), match.start())
            if gender and before and _AFTER.match(passage.plain, match.end()):
                evidence = passage.evidence(before.start(), match.end())
                return _finding(gender, "title_in_facts", evidence)
    return None


def _title_with_name(case: ApplicantCase) -> Finding | None:
    """Return the title in: Mr Smith lives in London, where the case is that of Smith."""
    for passage in case.facts if case.applicant.names else ():
        for match in case.lexicon.titled.finditer(passage.plain):
            if gender_and_name(match, case.lexicon) in case.applicant.names:
                gender = case.lexicon.titles[match["title"]]
                return _finding(gender, "title_with_name", passage.evidence(*match.span()))
    return None


def _votes(case: ApplicantCase) -> tuple[Counter[str], dict[str, list[Evidence]]]:
    """Count the pronouns that follow a mention of the applicant, by gender.

    A mention counts once, with the next pronoun, if no one else but a representative is mentioned
    between them, and if the applicant is not an object or possessor there: "asked the applicant
    whether he". A pronoun that begins a paragraph counts if it means the applicant.
    """
    votes: Counter[str] = Counter()
    evidence: dict[str, list[Evidence]] = {"male": [], "female": []}
    for passage, before in case.passages(*case.facts, *case.procedure):
        if votes.total() >= ENOUGH:
            break
        last = None
        for mention in case.mentions(passage.plain):
            if mention.kind == "representative":
                continue
            begins = before and _BEGINS.fullmatch(passage.plain, 0, mention.start)
            start = last.start if last else mention.start if begins else None
            if mention.kind == "pronoun" and start is not None and mention.end - start < FARTHEST:
                votes[mention.gender] += 1
                evidence[mention.gender].append(passage.evidence(start, mention.end))
            last = mention if _is_subject(passage.plain, mention) else None
    return votes, {gender: words[:3] for gender, words in evidence.items()}


def _is_subject(text: str, mention: Mention) -> bool:
    return (
        mention.kind == "applicant"
        and text[mention.end : mention.end + 1] != "'"
        and not _OBJECT.search(text, max(0, mention.start - 30), mention.start)
    )


def _pronouns(votes: Counter[str], evidence: dict[str, list[Evidence]]) -> Finding | None:
    if votes.total() < 2:
        return None
    (gender, most), *rest = votes.most_common()
    if rest and most < MAJORITY * rest[0][1]:
        return None
    return _finding(gender, "pronouns", *evidence[gender])


def _gave_birth(case: ApplicantCase) -> Finding | None:
    for passage in case.facts:
        if match := _GAVE_BIRTH.search(passage.plain):
            return _finding("female", "gave_birth", passage.evidence(*match.span()))
    return None


def _predicate(case: ApplicantCase) -> Finding | None:
    """Return the gender of the word in: the applicant is a widow, is the mother of A.B."""
    for passage in case.facts:
        for match in _IS.finditer(passage.plain):
            genders = map(case.lexicon.gender_of, match["words"].split())
            if gender := next(filter(None, genders), None):
                return _finding(gender, "predicate", passage.evidence(*match.span()))
    return None


def _few(case: ApplicantCase, votes: Counter[str], evidence: dict[str, list[Evidence]]) -> Finding:
    """Return the weakest finding: one pronoun, pronouns farther off, or a spouse."""
    if votes.total() == 1:
        [gender] = votes
        return _finding(gender, "one_pronoun", *evidence[gender])
    far = {} if votes else _far_pronouns(case)
    if len(far) == 1:
        [(gender, words)] = far.items()
        return _finding(gender, "far_pronoun", words)
    for passage in case.facts:
        for mention in case.mentions(passage.plain):
            if mention.kind == "spouse":
                words = passage.evidence(mention.start, mention.end)
                return _finding(mention.gender, "spouse", words)
    return Finding(None, "pronouns_differ" if votes else "no_gendered_word", 0.9)


def _far_pronouns(case: ApplicantCase) -> dict[str, Evidence]:
    """Return the first pronoun of each gender that begins a sentence about the applicant."""
    pronouns: dict[str, Evidence] = {}
    for passage, before in case.passages(*case.facts):
        for mention, person in case.resolved(passage.plain, before):
            begins = _OPENS.search(passage.plain, max(0, mention.start - 60), mention.end)
            if mention.kind == "pronoun" and person == "applicant" and begins:
                words = passage.evidence(mention.start, mention.end)
                pronouns.setdefault(mention.gender, words)
    return pronouns
