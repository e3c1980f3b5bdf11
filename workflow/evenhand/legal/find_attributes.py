"""Stage: one protected attribute of all cases, with the words that prove each value."""

import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Plugin
from evenhand.errors import InputError
from evenhand.legal.findings import Finding, check_evidence, write_findings
from evenhand.legal.records import read_records


def find_attributes(
    *,
    records: Input,
    tables: list[Input] | None = None,
    out: Output,
    attribute: Annotated[str, Plugin("evenhand.legal.attributes")],
) -> dict[str, Any]:
    """Find an attribute, and check that its evidence stands where it is said to stand.

    Parameters
    ----------
    records : path
        Cases, of `read_cases`.
    tables : list of path
        The tables of ``resources/legal`` that the attribute needs (its ``TABLES``); others are
        not read.
    attribute : str
        A module of `evenhand.legal.attributes`.
    out : path
        A finding for each case, in the order of the cases (`evenhand.legal.findings`).

    Returns
    -------
    dict
        Cases; cases with a value; cases by rule, by value and by flag.

    Raises
    ------
    InputError
        A table is missing or cannot be used, or a case says what no table knows.
    ValueError
        A piece of evidence does not stand in its case.
    """
    module = importlib.import_module(f"evenhand.legal.attributes.{attribute}")
    prepared = module.prepare(_needed(module, attribute, tables or []))
    counts: dict[str, Counter[str]] = {"rules": Counter(), "values": Counter(), "flags": Counter()}
    cases = write_findings(out, _findings(records, module, prepared, counts))
    return {
        "cases": cases,
        "known": sum(counts["values"].values()),
        **{name: dict(sorted(counter.items())) for name, counter in counts.items()},
    }


def _needed(module: ModuleType, attribute: str, tables: list[Path]) -> dict[str, Path]:
    by_name = {table.stem: table for table in tables}
    if missing := [name for name in module.TABLES if name not in by_name]:
        raise InputError(
            f"the attribute {attribute} needs the table {missing[0]}",
            remedy=f"give {missing[0]}.csv among the tables",
        )
    return {name: by_name[name] for name in module.TABLES}


def _findings(
    records: Path, module: ModuleType, prepared: Any, counts: dict[str, Counter[str]]
) -> Iterator[tuple[str, Finding]]:
    for record in read_records(records):
        finding = module.find(record, prepared)
        check_evidence(record, finding)
        counts["rules"][finding.rule] += 1
        counts["flags"].update(finding.flags)
        if finding.value is not None:
            counts["values"][finding.value] += 1
        yield record.case_id, finding


if __name__ == "__main__":
    stage.run(find_attributes)
