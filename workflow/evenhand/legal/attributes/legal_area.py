"""FSCS: the area of law, as stated by the source (from the chamber that decided)."""

from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Coded, Finding
from evenhand.legal.records import Record

KIND = "fscs"
TABLES = ("swiss_legal_areas",)

AREA = Coded(
    field="swiss_legal_area",
    named="legal area",
    missing="no_legal_area",
    rule="area_of_source",
    other="other_area",
    remedy="add it to swiss_legal_areas.csv",
)


def prepare(tables: dict[str, Path], attribute: Attribute) -> dict[str, str]:
    """The area of each name."""
    rows = read_resource(
        tables["swiss_legal_areas"],
        ["name", "area"],
        unique=("name",),
        choices={"area": (*attribute.groups, attribute.unknown)},
    )
    return {row["name"].casefold(): row["area"] for row in rows}


def find(record: Record, attribute: Attribute, prepared: dict[str, str]) -> Finding:
    """Return the area; no value where the source states none, or *other*."""
    return AREA.find(record, attribute, prepared)
