"""The respondent State in the two groups of FairLex, from its published list of States.

The list (FairLex, `ecthr_dataset.py`) lacks Albania, which is so in "Rest of Europe"; names that
it does not know (TÜRKIYE, CZECHIA, SERBIA AND MONTENEGRO) go with their States here.
"""

from pathlib import Path

from evenhand.legal import respondents
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding
from evenhand.legal.records import Record
from evenhand.legal.respondents import States, find_group, read_states

KIND = "ecthr"
TABLES = respondents.TABLES


def prepare(tables: dict[str, Path], attribute: Attribute) -> States:
    """Read the table of States."""
    return read_states(tables, "fairlex")


def find(record: Record, attribute: Attribute, prepared: States) -> Finding:
    """The group of the respondent State; see `respondents.find_group`."""
    return find_group(record, prepared)
