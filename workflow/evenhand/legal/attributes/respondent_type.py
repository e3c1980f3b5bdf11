"""SCOTUS: the type of party of the respondent, from SCDB's code for the respondent.

The five types are those of FairLex (Chalkidis et al. 2022, section 3.3): person, organization,
public entity, facility, other. The table gives the type of each of SCDB's codes; where FairLex's
own list differs, the column `fairlex` has its type and the note the reason. A code whose parties
are people as often as companies is *other*.
"""

from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding, given_evidence
from evenhand.legal.records import Record

KIND = "scotus"
TABLES = ("scdb_respondents",)

#: A type is right for nearly all respondents of a code, not for all (read on 60 cases).
CONFIDENCE = 0.95


def prepare(tables: dict[str, Path], attribute: Attribute) -> dict[str, str]:
    """The type of each respondent, by SCDB's code and by its name (in small letters).

    Raises
    ------
    InputError
        A type is none of the five.
    """
    path = tables["scdb_respondents"]
    types = {}
    columns = ["code", "name", "type", "fairlex"]
    known = (*attribute.groups, attribute.unknown)
    for row in read_resource(path, columns, optional=("fairlex",), unique=("code",)):
        for column in ("type", "fairlex"):
            if row[column] and row[column] not in known:
                raise InputError(
                    f"the code {row['code']} has the {column} {row[column]!r}",
                    file=path,
                    remedy=f"the types are {', '.join(known)}",
                )
        types[row["code"]] = types[row["name"].casefold()] = row["type"]
    return types


def find(record: Record, attribute: Attribute, prepared: dict[str, str]) -> Finding:
    """The respondent's type; no value where SCDB has none, or the code is of several types.

    Raises
    ------
    InputError
        The code is not in the table.
    """
    code = record.given.get("scdb_respondent")
    if code is None:
        return Finding(None, "no_respondent_code", 1.0)
    kind = prepared.get(code) or prepared.get(code.casefold())
    if kind is None:
        raise InputError(
            f"the case {record.case_id} has the respondent {code!r}, which the table of SCDB's"
            " respondents does not know",
            file=record.source,
            line=record.source_position,
            remedy="add it to scdb_respondents.csv",
        )
    evidence = (given_evidence(record, "scdb_respondent"),)
    if kind == attribute.unknown:
        return Finding(None, "other_respondent", CONFIDENCE, evidence)
    return Finding(kind, "respondent_code", CONFIDENCE, evidence)
