"""FSCS: the area of law, as stated by the source (from the chamber that decided)."""

from evenhand.legal.findings import Coded

KIND = "fscs"
TABLES = ("swiss_legal_areas",)

AREA = Coded(
    field="swiss_legal_area",
    named="legal area",
    missing="no_legal_area",
    rule="area_of_source",
    other="other_area",
    table="swiss_legal_areas",
    codes=("name",),
    groups=("area",),
)

prepare, find = AREA.prepare, AREA.find
