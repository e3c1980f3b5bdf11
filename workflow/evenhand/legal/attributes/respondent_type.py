"""SCOTUS: the type of party of the respondent, from SCDB's code for the respondent.

The five types are those of FairLex (Chalkidis et al. 2022, section 3.3): person, organization,
public entity, facility, other. The table gives the type of each of SCDB's codes; where FairLex's
own list differs, the column `fairlex` has its type and the note the reason. A code whose parties
are people as often as companies is *other*.
"""

from evenhand.legal.findings import Coded

KIND = "scotus"
TABLES = ("scdb_respondents",)

RESPONDENT = Coded(
    field="scdb_respondent",
    named="respondent",
    missing="no_respondent_code",
    rule="respondent_code",
    other="other_respondent",
    table="scdb_respondents",
    codes=("code", "name"),
    groups=("type", "fairlex"),
    # right for nearly all respondents of a code, not for all (read on 60 cases)
    confidence=0.95,
)

prepare, find = RESPONDENT.prepare, RESPONDENT.find
