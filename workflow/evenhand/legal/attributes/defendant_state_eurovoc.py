"""The respondent State by the regions of EuroVoc, the European Union's thesaurus.

FairLex claims to follow EuroVoc (microthesaurus 7206 Europe, whose regions are Central and
Eastern, Northern, Southern and Western Europe). But its first group contains the Baltic States,
Turkey and the South Caucasus, which EuroVoc's does not, and lacks Albania, which EuroVoc's has.
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
    return read_states(tables, "eurovoc")


def find(record: Record, attribute: Attribute, prepared: States) -> Finding:
    """The group of the respondent State; see `respondents.find_group`."""
    return find_group(record, prepared)
