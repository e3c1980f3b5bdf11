"""Find the protected attributes of all cases of a data set, with the words that prove them."""

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from evenhand.core.stage import Input, Output, Plugin, checked
from evenhand.legal.declaration import Attribute, read_dataset
from evenhand.legal.findings import (
    Finding,
    check_evidence,
    metadata_evidence,
    unknown_value,
    write_findings,
)
from evenhand.legal.records import Record, read_distinct, tables_of

#: Names of the unknown group in sources.
UNKNOWN = frozenset({"", "n/a", "na", "none", "null", "unknown", "other"})

#: How often each rule, value and flag occurs.
Counts = dict[str, Counter[str]]


@checked
def find_attributes(
    *,
    records: list[Input],
    tables: list[Input] | None = None,
    out: Output,
    modules: Annotated[list[str], Plugin("evenhand.legal.attributes", repeats=True)],
) -> dict[str, Any]:
    """Find the attributes of all cases, and check their evidence.

    Parameters
    ----------
    records : list of path
        The output of `read_cases`, a file per part of the data set.
    tables : list of path
        The tables of ``resources/legal`` that the attributes need (their ``TABLES``).
    out : path
        A folder with a file per attribute, of a finding per case (`evenhand.legal.findings`), in
        the order of `read_distinct`.
    modules : list of str
        The modules that find the attributes of this kind, in their order.

    Returns
    -------
    dict
        By attribute: cases; cases with a value; cases by rule, by value and by flag.

    Raises
    ------
    InputError
        A table is missing or cannot be used, or a case has a value that no table knows.
    ValueError
        A piece of evidence is not at its position in the case.
    """
    result = {}
    out.mkdir()
    dataset = read_dataset(records[0])
    for attribute, name in zip(dataset.attributes, modules, strict=True):
        module = importlib.import_module(f"evenhand.legal.attributes.{name}")
        find = finder(module, attribute, tables_of(module, tables or []))
        counts: Counts = {"rules": Counter(), "values": Counter(), "flags": Counter()}
        findings = _findings(records, find, counts)
        result[attribute.name] = {
            "cases": write_findings(out / f"{attribute.name}.parquet", findings, dataset),
            "known": counts["values"].total(),
            **{name: dict(sorted(counter.items())) for name, counter in counts.items()},
        }
    return result


def finder(
    module: ModuleType, attribute: Attribute, tables: dict[str, Path]
) -> Callable[[Record], Finding]:
    """Return a function that finds an attribute of a case: by the source, or else by a module.

    A module of `evenhand.legal.attributes` has ``find(record, attribute, prepared)``, and may have
    ``prepare(tables, attribute)`` and its own ``from_source(record, attribute)``.
    """
    prepared = module.prepare(tables, attribute) if hasattr(module, "prepare") else None
    from_source = getattr(module, "from_source", group_of_source)
    return lambda record: from_source(record, attribute) or module.find(record, attribute, prepared)


def group_of_source(record: Record, attribute: Attribute) -> Finding | None:
    """Return the group that the source itself states under the attribute's name, if any.

    It is a group's name or FairLex's number for it (the unknown group, if any, is number 0).

    Raises
    ------
    InputError
        The source states a group that the attribute does not have.
    """
    value = record.metadata.get(attribute.name)
    if value is None:
        return None
    unknown = [attribute.unknown] if attribute.unknown else []
    groups = dict(enumerate([*unknown, *attribute.groups]))
    if value.isdecimal() and int(value) in groups:
        group = groups[int(value)]
    else:
        folded = value.strip().casefold()
        group = {group.casefold(): group for group in attribute.groups}.get(folded)
        if group is None and unknown and folded in {attribute.unknown, *UNKNOWN}:
            group = attribute.unknown
    if group is None:
        raise unknown_value(
            record,
            f"the {attribute.name} {value!r}",
            f"the groups are {', '.join(attribute.groups)}; another name for one of them goes into"
            " fairlex_groups.csv",
        )
    evidence = (metadata_evidence(record, attribute.name),)
    group = group if group in attribute.groups else None
    return Finding(group, "given_by_source", 1.0, evidence)


def _findings(
    records: list[Path], find: Callable[[Record], Finding], counts: Counts
) -> Iterator[tuple[str, Finding]]:
    for record in read_distinct(records):
        finding = find(record)
        check_evidence(record, finding)
        counts["rules"][finding.rule] += 1
        counts["flags"].update(finding.flags)
        if finding.value is not None:
            counts["values"][finding.value] += 1
        yield record.case_id, finding
