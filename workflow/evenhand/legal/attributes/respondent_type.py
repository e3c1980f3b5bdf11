"""SCOTUS: the type of party of the respondent, from SCDB's code for the respondent.

The five types are those of FairLex (Chalkidis et al. 2022, section 3.3): person, organization,
public entity, facility, other. The table gives the type of each of SCDB's codes; where FairLex's
own list differs, the column `fairlex` has its type and the note the reason. A code whose parties
are people as often as companies is *other*.
"""

from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Coded, Finding
from evenhand.legal.records import Record

KIND = "scotus"
TABLES = ("scdb_respondents",)

RESPONDENT = Coded(
    field="scdb_respondent",
    named="respondent",
    missing="no_respondent_code",
    rule="respondent_code",
    other="other_respondent",
    remedy="add it to scdb_respondents.csv",
    # right for nearly all respondents of a code, not for all (read on 60 cases)
    confidence=0.95,
)


def prepare(tables: dict[str, Path], attribute: Attribute) -> dict[str, str]:
    """The type of each respondent, by SCDB's code and by its name (in small letters)."""
    known = (*attribute.groups, attribute.unknown)
    rows = read_resource(
        tables["scdb_respondents"],
        ["code", "name", "type", "fairlex"],
        optional=("fairlex",),
        unique=("code",),
        choices={"type": known, "fairlex": known},
    )
    return {row[key].casefold(): row["type"] for row in rows for key in ("code", "name")}


def find(record: Record, attribute: Attribute, prepared: dict[str, str]) -> Finding:
    """The respondent's type; no value where SCDB has none, or the code is of several types."""
    return RESPONDENT.find(record, attribute, prepared)
