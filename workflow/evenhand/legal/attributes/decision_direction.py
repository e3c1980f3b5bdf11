"""SCOTUS: whether a decision is conservative or liberal, as SCDB's coders say.

SCDB's codebook (variable decisionDirection): 1 conservative, 2 liberal, 3 unspecifiable.
"""

from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding, given_evidence
from evenhand.legal.records import Record

KIND = "scotus"
TABLES = ()

#: SCDB's codes and their names.
DIRECTIONS = {"1": "conservative", "2": "liberal", "3": "unspecifiable"}


def find(record: Record, attribute: Attribute, prepared: None) -> Finding:
    """The direction; no value where SCDB has none or calls it unspecifiable.

    Raises InputError for a code that SCDB does not have.
    """
    code = record.given.get("scdb_decision_direction")
    if code is None:
        return Finding(None, "no_direction_code", 1.0)
    direction = DIRECTIONS.get(code, code.casefold())
    if direction not in DIRECTIONS.values():
        raise InputError(
            f"the case {record.case_id} has the decision direction {code!r}",
            file=record.source,
            line=record.source_position,
            remedy="SCDB's are 1 conservative, 2 liberal, 3 unspecifiable",
        )
    evidence = (given_evidence(record, "scdb_decision_direction"),)
    if direction == "unspecifiable":
        return Finding(None, "unspecifiable_direction", 1.0, evidence)
    return Finding(direction, "direction_code", 1.0, evidence)
