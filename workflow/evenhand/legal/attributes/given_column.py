"""The group that a column of a declared data set gives; the reader has applied bins already."""

from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Finding, metadata_evidence
from evenhand.legal.records import Record

KIND = "declared"


def from_source(record: Record, attribute: Attribute) -> Finding | None:
    """Return the group in the column; None without one that can be used."""
    if (value := record.metadata.get(attribute.name)) is None:
        return None
    return Finding(value, "column", 1.0, (metadata_evidence(record, attribute.name),))


def find(record: Record, attribute: Attribute, prepared: None) -> Finding:
    """Return no value: the column has none."""
    return Finding(None, "no_value", 1.0)
