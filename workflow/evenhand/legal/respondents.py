"""The States against which a case before the Strasbourg court is brought, and their groups."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.findings import Evidence, Finding, metadata_evidence, unknown_value
from evenhand.legal.records import Record

#: Table of ``resources/legal`` that `read_states` reads.
TABLES = ("respondent_states",)

#: FairLex's first group: any respondent in it makes the case one of it.
FIRST_GROUP = "C.E. European"
GROUPS = (FIRST_GROUP, "Rest of Europe")

#: Where the respondent stands, and what each is worth.
CONFIDENCE = {"respondent_given": 1.0, "respondent_in_title": 0.99, "respondent_in_procedure": 0.97}

_IN_TITLE = re.compile(r"(?:\s|(?<=[A-Z]))(?:v\.?|c\.|vs\.?|(?i:against|contre))\s+(?P<who>.+)$")
_AFTER_STATE = re.compile(r"\s*(?:[\[(].*|- .*|,? (?:no|nos|nr)\. ?\d+.*)$", re.IGNORECASE)
_IN_PROCEDURE = re.compile(
    r"\bagainst (?P<who>.{3,160}?)(?=,? (?:lodged|introduced|brought|submitted|filed|under|by|with"
    r"|in which|pursuant)\b|[;.(]|$)"
)

#: Paragraphs of the context in which the procedure names the respondent.
_CONTEXT = 120


@dataclass(frozen=True)
class States:
    """The States by spelling.

    Attributes
    ----------
    file : Path
        The table that was read.
    codes : dict of str to str
        A spelling as `folded` has it, and the State's code (ISO 3166-1 alpha-3).
    groups : dict of str to str
        A code and its group.
    spelling : re.Pattern
        A name among `codes`, the longest first.
    """

    file: Path
    codes: dict[str, str]
    groups: dict[str, str]
    spelling: re.Pattern[str]


def read_states(tables: dict[str, Path], column: str) -> States:
    """Read the table of States.

    Parameters
    ----------
    tables : dict of str to Path
        By name; ``respondent_states`` is read.
    column : str
        The grouping: ``fairlex`` or ``eurovoc``.

    Raises
    ------
    InputError
        A spelling belongs to two States, a State is in two groups, or a group is invalid.
    """
    file = tables["respondent_states"]
    codes: dict[str, str] = {}
    groups: dict[str, str] = {}
    columns = ["spelling", "state", "name", "fairlex", "eurovoc"]
    for row in read_resource(file, columns, unique=("spelling",), choices={column: GROUPS}):
        spelling, code, group = folded(row["spelling"]), row["state"], row[column]
        if codes.setdefault(spelling, code) != code:
            raise InputError(f"has {row['spelling']} for {codes[spelling]} and {code}", file=file)
        if groups.setdefault(code, group) != group:
            raise InputError(
                f"has {code} in two groups of {column}", file=file, remedy="write one of them"
            )
    # no codes: that of Andorra is "and"
    names = sorted((name for name in codes if len(name) > 3), key=lambda n: (-len(n), n))
    spelling = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    return States(file, codes, groups, spelling)


def folded(name: str) -> str:
    """A State's name without case, accents, quotes, articles and odd blanks."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    words = re.sub(r"[^\w&();,]+", " ", plain.replace("ı", "i")).replace("&", " and ").split()
    return " ".join(word for word in words if word != "the")


def find_group(record: Record, states: States) -> Finding:
    """Return the group of the respondent States.

    FairLex's rule: the first group, if any of several respondents is in it; the flag
    ``several_respondents`` marks several States.

    Raises
    ------
    InputError
        A name that the source or the title gives is not in the table.
    """
    unknown = None
    for rule, names, evidence in _places(record, states):
        codes = _codes(names, states)
        if codes:
            any_first = any(states.groups[code] == FIRST_GROUP for code in codes)
            flags = ("several_respondents",) if len(codes) > 1 else ()
            group = FIRST_GROUP if any_first else GROUPS[1]
            return Finding(group, rule, CONFIDENCE[rule], evidence, flags)
        unknown = unknown or names
        if rule == "respondent_given":
            break
    if unknown:
        remedy = f"add the spelling to {states.file.name}"
        raise unknown_value(record, f"the respondent {unknown!r}", remedy)
    return Finding(None, "no_respondent", 1.0)


def _places(record: Record, states: States) -> Iterator[tuple[str, str, tuple[Evidence, ...]]]:
    """Where the respondents may be named: rule, names, evidence."""
    if record.metadata.get("respondent"):
        evidence = (metadata_evidence(record, "respondent"),)
        yield "respondent_given", record.metadata["respondent"], evidence
    context = record.context[:_CONTEXT]
    if found := _IN_TITLE.search(record.title or ""):
        who = found["who"].strip()
        yield "respondent_in_title", who, _in_header(context, who)
    for number, paragraph in enumerate(context):
        for found in _IN_PROCEDURE.finditer(paragraph):
            if states.spelling.search(folded(found["who"])):
                words = Evidence("context", number, *found.span("who"), found["who"])
                yield "respondent_in_procedure", found["who"], (words,)


def _in_header(context: tuple[str, ...], who: str) -> tuple[Evidence, ...]:
    """Where the header has the title's words; the title itself is no part of the record's text."""
    for number, paragraph in enumerate(context):
        start = paragraph.find(who)
        if start >= 0:
            return (Evidence("context", number, start, start + len(who), who),)
    return ()


def _codes(names: str, states: States) -> list[str] | None:
    """The States that a list of names names, or None if it holds anything else."""
    names = _AFTER_STATE.sub("", names)
    if folded(names) in states.codes:  # Moldova, Republic of
        return [states.codes[folded(names)]]
    codes: list[str] = []
    for piece in filter(None, map(folded, re.split("[;,]", names))):
        if piece in states.codes:
            codes.append(states.codes[piece])
            continue
        if re.sub(r"\b(?:and|et)\b|\s", "", states.spelling.sub("", piece)):
            return None
        codes += [states.codes[found.group()] for found in states.spelling.finditer(piece)]
    return list(dict.fromkeys(codes)) or None
