"""SCOTUS: whether a decision is conservative or liberal, as SCDB's coders say.

SCDB's codebook (variable decisionDirection): 1 conservative, 2 liberal, 3 unspecifiable.
"""

from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Coded, Finding
from evenhand.legal.records import Record

KIND = "scotus"
TABLES = ()

#: SCDB's codes and their names.
DIRECTIONS = {"1": "conservative", "2": "liberal", "3": "unspecifiable"}
DIRECTIONS |= {name: name for name in DIRECTIONS.values()}

DIRECTION = Coded(
    field="scdb_decision_direction",
    named="decision direction",
    missing="no_direction_code",
    rule="direction_code",
    other="unspecifiable_direction",
    remedy="SCDB's are 1 conservative, 2 liberal, 3 unspecifiable",
)


def find(record: Record, attribute: Attribute, prepared: None) -> Finding:
    """The direction; no value where SCDB has none or calls it unspecifiable."""
    return DIRECTION.find(record, attribute, DIRECTIONS)
