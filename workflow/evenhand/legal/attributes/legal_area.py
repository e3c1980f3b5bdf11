"""FSCS: the area of law, as stated by the source (from the chamber that decided)."""

from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Finding, given_evidence
from evenhand.legal.records import Record

KIND = "fscs"
TABLES = ("swiss_legal_areas",)


def prepare(tables: dict[str, Path], attribute: Attribute) -> dict[str, str]:
    """The area of each name.

    Raises InputError if an area is none of FairLex's.
    """
    path = tables["swiss_legal_areas"]
    known = (*attribute.groups, attribute.unknown)
    areas = {}
    for row in read_resource(path, ["name", "area"], unique=("name",)):
        if row["area"] not in known:
            problem = f"{row['name']!r} has the area {row['area']!r}"
            raise InputError(problem, file=path, remedy=f"the areas are {', '.join(known)}")
        areas[row["name"].casefold()] = row["area"]
    return areas


def find(record: Record, attribute: Attribute, prepared: dict[str, str]) -> Finding:
    """Return the area; no value where the source states none, or *other*.

    Raises InputError if the source's name is not in the table.
    """
    name = record.given.get("swiss_legal_area")
    if name is None:
        return Finding(None, "no_legal_area", 1.0)
    area = prepared.get(name.casefold())
    if area is None:
        raise InputError(
            f"the case {record.case_id} has the legal area {name!r}, which the table does not know",
            file=record.source,
            line=record.source_position,
            remedy="add it to swiss_legal_areas.csv",
        )
    evidence = (given_evidence(record, "swiss_legal_area"),)
    if area == attribute.unknown:
        return Finding(None, "other_area", 1.0, evidence)
    return Finding(area, "area_of_source", 1.0, evidence)
