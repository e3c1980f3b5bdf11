"""FSCS: the language of a decision, as stated by its source."""

from pathlib import Path

from evenhand.legal.datasets.fscs import DATASET
from evenhand.legal.findings import Finding, given_evidence
from evenhand.legal.given import given_group
from evenhand.legal.records import Record

KIND = "fscs"
TABLES = ()
ATTRIBUTE = DATASET.attribute("decision_language")


def prepare(tables: dict[str, Path]) -> None:
    """There is nothing to read."""


def find(record: Record, prepared: None) -> Finding:
    """Return the language; no value where the source states none of the three."""
    if (finding := given_group(record, ATTRIBUTE)) is not None:
        return finding
    language = record.given.get("swiss_language")
    if language not in ATTRIBUTE.groups:
        return Finding(None, "no_language", 1.0)
    evidence = (given_evidence(record, "swiss_language"),)
    return Finding(language, "language_of_source", 1.0, evidence)
