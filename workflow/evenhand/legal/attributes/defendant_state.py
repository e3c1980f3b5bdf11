"""The respondent State in the two groups of FairLex, from its published list of States.

The list (FairLex, `ecthr_dataset.py`) lacks Albania, which is so in "Rest of Europe"; names that
it does not know (TÜRKIYE, CZECHIA, SERBIA AND MONTENEGRO) go with their States here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.applicants import alternatives, without_accents
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, Finding, metadata_evidence, unknown_value
from evenhand.legal.records import Record

KIND = "ecthr"

#: Table of ``resources/legal`` that `read_states` reads.
TABLES = ("respondent_states",)

#: The places of the respondent, and the confidence in each.
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


def read_states(tables: dict[str, Path], attribute: Attribute, *, column: str) -> States:
    """Read the table of States.

    Parameters
    ----------
    tables : dict of str to Path
        By name; ``respondent_states`` is read.
    attribute : Attribute
        Its groups are those of the table.
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
    for row in read_resource(
        file, columns, unique=("spelling",), choices={column: attribute.groups}
    ):
        spelling, code, group = folded(row["spelling"]), row["state"], row[column]
        if codes.setdefault(spelling, code) != code:
            raise InputError(f"has {row['spelling']} for {codes[spelling]} and {code}", file=file)
        if groups.setdefault(code, group) != group:
            problem = f"has {code} in two groups of {column}"
            raise InputError(problem, file=file, remedy="write one of them")
    # no codes: that of Andorra is "and"
    spelling = re.compile(rf"\b(?:{alternatives(name for name in codes if len(name) > 3)})\b")
    return States(file, codes, groups, spelling)


def folded(name: str) -> str:
    """Return a State's name without case, accents, quotes, articles and odd blanks."""
    plain = without_accents(name.casefold())
    words = re.sub(r"[^\w&();,]+", " ", plain.replace("ı", "i")).replace("&", " and ").split()
    return " ".join(word for word in words if word != "the")


def find(record: Record, attribute: Attribute, prepared: States) -> Finding:
    """Return the group of the respondent States.

    FairLex's rule: the first of the groups that any of several respondents is in; the flag
    ``several_respondents`` marks several States.

    Raises
    ------
    InputError
        A name that the source or the title gives is not in the table.
    """
    unknown = None
    for rule, names, evidence in _places(record, prepared):
        if codes := _codes(names, prepared):
            groups = {prepared.groups[code] for code in codes}
            flags = ("several_respondents",) if len(codes) > 1 else ()
            group = next(group for group in attribute.groups if group in groups)
            return Finding(group, rule, CONFIDENCE[rule], evidence, flags)
        unknown = unknown or names
        if rule == "respondent_given":
            break
    if unknown:
        remedy = f"add the spelling to {prepared.file.name}"
        raise unknown_value(record, f"the respondent {unknown!r}", remedy)
    return Finding(None, "no_respondent", 1.0)


def _places(record: Record, states: States) -> Iterator[tuple[str, str, tuple[Evidence, ...]]]:
    """Yield where the respondents may be named: rule, names, evidence."""
    if stated := record.metadata.get("respondent"):
        yield "respondent_given", stated, (metadata_evidence(record, "respondent"),)
    context = record.context[:_CONTEXT]
    if title := _IN_TITLE.search(record.title or ""):
        # the title itself is no part of the record's text; the header has its words
        names = title["who"].strip()
        headers = ((n, re.search(re.escape(names), text)) for n, text in enumerate(context))
        matches = (Evidence.of_match("context", n, match) for n, match in headers if match)
        yield "respondent_in_title", names, tuple(islice(matches, 1))
    for number, paragraph in enumerate(context):
        for match in _IN_PROCEDURE.finditer(paragraph):
            if states.spelling.search(folded(match["who"])):
                evidence = Evidence.of_match("context", number, match, "who")
                yield "respondent_in_procedure", match["who"], (evidence,)


def _codes(names: str, states: States) -> list[str]:
    """Return the States in a list of names; none if it holds anything else."""
    names = _AFTER_STATE.sub("", names)
    if folded(names) in states.codes:  # Moldova, Republic of
        return [states.codes[folded(names)]]
    codes: list[str] = []
    for piece in filter(None, map(folded, re.split("[;,]", names))):
        if piece in states.codes:
            codes.append(states.codes[piece])
            continue
        if re.sub(r"\b(?:and|et)\b|\s", "", states.spelling.sub("", piece)):
            return []
        codes += [states.codes[name] for name in states.spelling.findall(piece)]
    return list(dict.fromkeys(codes))


prepare = partial(read_states, column="fairlex")
