"""FSCS: the language of a decision, as stated by its source."""

from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Finding, metadata_evidence
from evenhand.legal.records import Record

KIND = "fscs"


def find(record: Record, attribute: Attribute, prepared: None) -> Finding:
    """Return the language; no value where the source states none of the three."""
    language = record.metadata.get("swiss_language")
    if language not in attribute.groups:
        return Finding(None, "no_language", 1.0)
    evidence = (metadata_evidence(record, "swiss_language"),)
    return Finding(language, "language_of_source", 1.0, evidence)
