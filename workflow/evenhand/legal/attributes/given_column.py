"""The group that a column of a declared data set gives; the reader has applied bins already."""

from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding, given_evidence
from evenhand.legal.records import Record

KIND = "declared"
TABLES = ()


def find(record: Record, attribute: Attribute) -> Finding:
    """Return the group; no value where the column has none that can be used."""
    value = record.given.get(attribute.name)
    if value is None:
        return Finding(None, "no_value", 1.0)
    return Finding(value, "column", 1.0, (given_evidence(record, attribute.name),))
