"""FSCS: the region of a case's origin: one of seven of Switzerland, or the Federation.

The regions are the statistical ones (NUTS level 2). A source states the region or the canton of the
lower court. Otherwise the facts decide: they name the courts that the case went through. If federal
courts below the Federal Supreme Court are named more often than cantons, it is a case of the
Federation; if none is, all cantons that follow words for a canton or a court must be in one region.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.legal.applicants import alternatives
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Evidence, Finding, metadata_evidence, unknown_value
from evenhand.legal.records import Record

KIND = "fscs"
TABLES = ("swiss_cantons", "swiss_canton_names", "swiss_federal_courts")

#: Read on 60 cases of the mirror.
CANTONS_NAMED, FEDERAL_COURT_NAMED = 0.95, 0.9

#: The region of cases from federal courts and authorities.
FEDERATION = "Federation"

#: Words before the name of a canton: a canton, or one of its courts or authorities.
_BEFORE = (
    r"(?:\bKantons?\s|\w*(?:gericht|Gericht)(?:s|es|shofs?|shofes)?\s|\bStaatsanwaltschaft\s"
    r"|\b[Cc]anton (?:de |du |des |d['’])?|\b[Cc]antoni?e?\s(?:di |del |dei )?"
    r"|\bcantonale?s?\s(?:AI )?(?:de |du |d['’]|de l['’]Etat de )?"
    r"|\bCour de justice\s|\bMinistère public\s)"
)


@dataclass(frozen=True)
class Regions:
    """The tables, ready to be used.

    Attributes
    ----------
    regions : dict of str to str
        The region by the canton's code (in capitals).
    cantons : dict of str to str
        The canton's code by its names (in small letters).
    named, federal : re.Pattern
        A canton's name after a word for a canton or a court; a federal court.
    """

    regions: dict[str, str]
    cantons: dict[str, str]
    named: re.Pattern[str]
    federal: re.Pattern[str]


def prepare(tables: dict[str, Path], attribute: Attribute) -> Regions:
    """Read the tables.

    Raises InputError for a region that FairLex does not have, or a name of no canton.
    """
    regions, cantons = {}, {}
    path = tables["swiss_cantons"]
    known = {"region": attribute.groups}
    columns = ["canton", "name", "region"]
    for row in read_resource(path, columns, unique=("canton",), choices=known):
        regions[row["canton"].upper()] = row["region"]
        cantons[row["name"].casefold()] = row["canton"].upper()
    path = tables["swiss_canton_names"]
    names = read_resource(path, ["name", "canton"], unique=("name",), choices={"canton": regions})
    cantons |= {row["name"].casefold(): row["canton"] for row in names}
    words = alternatives(row["name"] for row in names)
    courts = read_resource(tables["swiss_federal_courts"], ["words"])
    return Regions(
        regions,
        cantons,
        re.compile(rf"{_BEFORE}({words})(?!\w)"),
        re.compile(alternatives(row["words"] for row in courts)),
    )


def find(record: Record, attribute: Attribute, prepared: Regions) -> Finding:
    """Return the region; no value where none is stated, or cantons of several regions are named.

    Raises InputError if the source states a region or a canton that does not exist.
    """
    by_canton = _from_canton(record, attribute, prepared)
    by_region = _from_region(record, attribute)
    if by_region and by_canton and by_region.value != by_canton.value:
        evidence = by_region.evidence + by_canton.evidence
        flags = ("region_and_canton_differ",)
        return Finding(by_region.value, by_region.rule, 0.5, evidence, flags)
    return by_region or by_canton or _from_text(record, prepared)


def _from_region(record: Record, attribute: Attribute) -> Finding | None:
    groups = {group.casefold(): group for group in attribute.groups}
    stated = record.metadata.get("swiss_region", "").replace("_", " ").casefold()
    remedy = f"the regions are {', '.join(attribute.groups)}"
    return _stated(record, attribute, "region", groups.get(stated), remedy)


def _from_canton(record: Record, attribute: Attribute, prepared: Regions) -> Finding | None:
    stated = record.metadata.get("swiss_canton", "")
    region = prepared.regions.get(prepared.cantons.get(stated.casefold(), stated.upper()))
    return _stated(record, attribute, "canton", region, "add it to swiss_cantons.csv")


def _stated(
    record: Record, attribute: Attribute, name: str, region: str | None, remedy: str
) -> Finding | None:
    """Return the finding of the metadata `name`, whose region is known; None if it is missing."""
    stated = record.metadata.get(f"swiss_{name}")
    if stated is None or stated.casefold() == attribute.unknown:
        return None
    if region is None:
        raise unknown_value(record, f"the {name} {stated!r}", remedy)
    evidence = (metadata_evidence(record, f"swiss_{name}"),)
    return Finding(region, f"{name}_of_source", 1.0, evidence)


def _from_text(record: Record, prepared: Regions) -> Finding:
    federal: list[Evidence] = []
    named: dict[str, Evidence] = {}
    cantonal = 0
    for number, paragraph in enumerate(record.text):
        courts = prepared.federal.finditer(paragraph)
        federal += [Evidence.of_match("text", number, match) for match in courts]
        for match in prepared.named.finditer(paragraph):
            region = prepared.regions[prepared.cantons[match[1].casefold()]]
            named.setdefault(region, Evidence.of_match("text", number, match))
            cantonal += 1
    evidence = (*federal[:1], *named.values())
    if len(federal) > cantonal:
        return Finding(FEDERATION, "federal_court_named", FEDERAL_COURT_NAMED, evidence)
    if federal:
        return Finding(None, "courts_of_both_kinds_named", 1.0, evidence)
    if not named:
        return Finding(None, "no_court_named", 1.0)
    if len(named) > 1:
        return Finding(None, "several_regions_named", 1.0, evidence)
    return Finding(next(iter(named)), "cantons_named", CANTONS_NAMED, evidence)
