"""SCOTUS: whether a decision is conservative or liberal, as SCDB's coders say.

SCDB's codebook (variable decisionDirection): 1 conservative, 2 liberal, 3 unspecifiable.
"""

from evenhand.legal.findings import Coded

KIND = "scotus"
TABLES = ("scdb_directions",)

DIRECTION = Coded(
    field="scdb_decision_direction",
    named="decision direction",
    missing="no_direction_code",
    rule="direction_code",
    other="unspecifiable_direction",
    table="scdb_directions",
    codes=("code", "name"),
    groups=("direction",),
)

prepare, find = DIRECTION.prepare, DIRECTION.find
