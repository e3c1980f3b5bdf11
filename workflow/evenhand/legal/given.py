"""Attributes that a source has already: FairLex's own files, or a curator's."""

from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding, given_evidence, unknown_value
from evenhand.legal.records import Record

#: Names of the unknown group in the wild.
UNKNOWN = frozenset({"", "n/a", "na", "none", "null", "unknown", "other"})


def given_group(record: Record, attribute: Attribute) -> Finding | None:
    """Return the group that the source itself gives under the attribute's name.

    Parameters
    ----------
    record : Record
        The case; ``record.given[attribute.name]`` is a group's name or FairLex's number for it
        (the unknown group, where there is one, is number 0).
    attribute : Attribute
        The attribute to read.

    Returns
    -------
    Finding or None
        With the rule ``given_by_source``; None if the source gives no value.

    Raises
    ------
    InputError
        The source gives a group that the attribute does not have.
    """
    value = record.given.get(attribute.name)
    if value is None:
        return None
    names = [None, *attribute.groups] if attribute.unknown else list(attribute.groups)
    evidence = (given_evidence(record, attribute.name),)
    if value.isdecimal() and int(value) < len(names):
        return Finding(names[int(value)], "given_by_source", 1.0, evidence)
    folded = {name.casefold(): name for name in attribute.groups}
    if value.strip().casefold() in folded:
        group = folded[value.strip().casefold()]
        return Finding(group, "given_by_source", 1.0, evidence)
    if attribute.unknown and value.strip().casefold() in {attribute.unknown, *UNKNOWN}:
        return Finding(None, "given_by_source", 1.0, evidence)
    raise unknown_value(
        record,
        f"the {attribute.name} {value!r}",
        f"the groups are {', '.join(attribute.groups)}; another name for one of them goes into"
        " fairlex_groups.csv",
    )
