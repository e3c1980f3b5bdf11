"""Find the protected attributes of all cases of a data set, with the words that prove them."""

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.declaration import read_dataset
from evenhand.legal.findings import Finding, check_evidence, write_findings
from evenhand.legal.given import given_group
from evenhand.legal.records import Record, read_distinct

#: How often each rule, value and flag occurs.
Counts = dict[str, Counter[str]]


def find_attributes(
    *,
    records: list[Input],
    tables: list[Input] | None = None,
    out: Output,
    modules: Annotated[list[str], Plugin("evenhand.legal.attributes")],
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
        needed = _needed(module, name, tables or [])
        counts: Counts = {"rules": Counter(), "values": Counter(), "flags": Counter()}
        found = _findings(records, finder(module, attribute, needed), counts)
        result[attribute.name] = {
            "cases": write_findings(out / f"{attribute.name}.parquet", found, dataset),
            "known": sum(counts["values"].values()),
            **{name: dict(sorted(counter.items())) for name, counter in counts.items()},
        }
    return result


def _needed(module: ModuleType, attribute: str, tables: list[Path]) -> dict[str, Path]:
    by_name = {table.stem: table for table in tables}
    if missing := [name for name in module.TABLES if name not in by_name]:
        raise InputError(
            f"the attribute {attribute} needs the table {missing[0]}",
            remedy=f"give {missing[0]}.csv among the tables",
        )
    return {name: by_name[name] for name in module.TABLES}


def finder(
    module: ModuleType, attribute: Attribute, tables: dict[str, Path]
) -> Callable[[Record], Finding]:
    """Return what finds an attribute of a case: the group that the source gives, or a module.

    A module of `evenhand.legal.attributes` has ``find(record, attribute, prepared)``, and may have
    ``prepare(tables, attribute)`` and an own ``given(record, attribute)``.
    """
    prepared = module.prepare(tables, attribute) if hasattr(module, "prepare") else None
    given = getattr(module, "given", given_group)
    return lambda record: given(record, attribute) or module.find(record, attribute, prepared)


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


if __name__ == "__main__":
    stage.run(find_attributes)
