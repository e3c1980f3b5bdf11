"""CAIL: the province of the court, and FairLex's seven regions among the provinces.

Rules in order of precedence; the first that applies decides:

``given_by_source`` (1.0)
    FairLex's files give one of the seven; ``province`` in the source's metadata names any.
``court_name`` (0.99)
    The court in the header of the judgment: its province (广东省…人民法院) or a place that
    only one province has (沅陵县人民法院).
``case_number`` (0.99)
    The letter behind the year in case numbers since 2016: （2017）粤1972刑初1547号. Older numbers
    begin with any character of the court's name and are not read.
``procuratorate`` (0.95)
    The procuratorate that accuses, in the header or where the facts begin.
``appeal_court`` (0.95)
    The court to which one may appeal.
``police`` (0.9)
    Public security organs of one province only in the facts (无锡市公安局).
``places`` (0.8)
    Places of one province only in the facts.

Reasons for no group: ``other_province`` (the flags hold the province, as
``province=Shanghai``), ``several_provinces``, ``not_stated``. The defendant's residence is not a
rule: in three of ten judgments it is in another province than the court.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.dataset import Attribute
from evenhand.legal.findings import Evidence, Finding, metadata_evidence, unknown_value
from evenhand.legal.records import Record

KIND = "cail"
TABLES = ("chinese_regions", "chinese_places")

#: Names of places end so.
_SUFFIXES = "省市县区州盟旗"
#: Shorter names of places are too often part of other words (和县, 东区).
_SHORTEST = 3
_LONGEST = 16

#: Behind these, 市 is left out: 襄阳铁路运输法院, 德州经济开发区人民检察院.
_CITY_IMPLIED = ("铁路", "经济", "高新", "工业园", "开发区")
#: A place in the facts stands behind one of these, another place, or no Chinese character:
#: so that 上海城市酒店 is not 海城市, nor 北港南区 the district 港南区.
_BEFORE_PLACE = frozenset(
    "在到至于往去自经从回由向赴和与及的位将来抵达省市县区州盟旗本我离内返住被受任该沿是为有证系对给中时间以入把供坐"
)

_COURT = re.compile(
    r"[^\s。，、；：（）()]{2,30}?(?:人民|铁路运输|林区|海事)[^\s。，、；：（）()]{0,6}?法院"
)
_PROCURATORATE = re.compile(r"(?P<name>[^\s。，、；：（）()]{2,30}?)人民检察院")
_APPEAL = re.compile(r"(?:直接)?向(?P<name>[^\s。，、；：（）()]{2,24}?)(?:高级|中级)人民法院")
_POLICE = re.compile(r"(?P<name>[^\s。，、；：（）()“”]{2,24}?)公安局")
_OTHER_CASE = re.compile("判处|判决|裁定|刑满|服刑|前科|累犯|释放")


class Place(NamedTuple):
    """The province of a place name, and the name's position."""

    province: str
    start: int
    end: int


@dataclass(frozen=True)
class Places:
    """Lookup of provinces by name: provinces, other places, and the letters of case numbers."""

    provinces: dict[str, str]
    shorts: dict[str, str]
    places: dict[str, str]
    case_number: re.Pattern[str]
    letters: dict[str, str]
    groups: frozenset[str]

    def find(self, text: str) -> Iterator[Place]:
        """Names with their suffix, the longest at each end, from left to right."""
        begin = 0
        for suffix in re.finditer(f"[{_SUFFIXES}]", text):
            end = suffix.end()
            for start in range(max(begin, end - _LONGEST), end - _SHORTEST + 1):
                name = text[start:end]
                province = self.provinces.get(name) or self.places.get(name)
                if province:
                    yield Place(province, start, end)
                    begin = end
                    break

    def of_name(self, name: str) -> Place | None:
        """Return the province in the name of a court or another authority.

        The beginning of the name decides (广东省…, 海南藏族自治州…), also a province's short name
        (上海铁路…); otherwise the first place.
        """
        first = next(self.find(name), None)
        if first and first.start == 0:
            return first
        for short, province in self.shorts.items():
            if name.startswith(short):
                return Place(province, 0, len(short))
        if first:
            return first
        if name[2:].startswith(_CITY_IMPLIED) and name[:2] + "市" in self.places:
            return Place(self.places[name[:2] + "市"], 0, 2)
        for end in range(len(name), 1, -1):  # 和县人民法院
            if name[:end] in self.places:
                return Place(self.places[name[:end]], 0, end)
        return None


def prepare(tables: dict[str, Path], attribute: Attribute) -> Places:
    """Read the tables of provinces and places."""
    file = tables["chinese_regions"]
    columns = ["province", "name", "short", "letters", "fairlex"]
    rows = read_resource(file, columns, optional=("letters", "fairlex"), unique=("province",))
    groups = frozenset(row["province"] for row in rows if row["fairlex"])
    if unknown := sorted(groups ^ set(attribute.groups)):
        raise InputError(
            f"{unknown[0]} is marked as a region of FairLex, or should be",
            file=file,
            remedy=f"these are marked: {', '.join(attribute.groups)}",
        )
    letters = {
        letter: row["province"] for row in rows for letter in row["letters"] if letter != "、"
    }
    file = tables["chinese_places"]
    known = [row["province"] for row in rows]
    placed = read_resource(
        file, ["name", "province"], unique=("name",), choices={"province": known}
    )
    return Places(
        provinces={row["name"]: row["province"] for row in rows},
        shorts={row["short"]: row["province"] for row in rows},
        places={row["name"]: row["province"] for row in placed},
        case_number=re.compile(
            rf"[（(〔\[]\s*\d{{4}}\s*[）)〕\]]\s*(?P<letter>[{''.join(letters)}])"
            r"(?:\d{2,4}刑|刑[初终更再申]\d)"
        ),
        letters=letters,
        groups=groups,
    )


def find(record: Record, attribute: Attribute, prepared: Places) -> Finding:
    """The region of the court that decided."""
    if "province" in record.metadata:
        return _given(record, prepared)
    for rule, confidence, sightings in (
        ("court_name", 0.99, _courts(record, prepared)),
        ("case_number", 0.99, _case_numbers(record, prepared)),
        ("procuratorate", 0.95, _procuratorates(record, prepared)),
        ("appeal_court", 0.95, _named(record.context, "context", _APPEAL, prepared)),
    ):
        if first := next(sightings, None):
            return _finding(rule, confidence, [first], prepared)
    for rule, confidence, sightings in (
        ("police", 0.9, _named(record.text, "text", _POLICE, prepared)),
        ("places", 0.8, _places(record, prepared)),
    ):
        if found := list(sightings):
            return _finding(rule, confidence, found, prepared)
    return Finding(None, "not_stated", 1.0)


# --- sightings: (province, evidence) --------------------------------------------------------

_Sighting = tuple[str, Evidence]


def _given(record: Record, prepared: Places) -> Finding:
    stated = record.metadata["province"]
    place = prepared.of_name(stated)
    province = place.province if place else None
    for name in prepared.provinces.values():
        if name.casefold() == stated.casefold():
            province = name
    if province is None:
        remedy = "write its Chinese name, or its English one as in chinese_regions.csv"
        raise unknown_value(record, f"the province {stated!r}", remedy)
    sighting = province, metadata_evidence(record, "province")
    return _finding("given_by_source", 1.0, [sighting], prepared)


def _courts(record: Record, prepared: Places) -> Iterator[_Sighting]:
    """The first court of the header: the paragraph with it is the first one."""
    for match in _COURT.finditer(record.context[0] if record.context else ""):
        place = prepared.of_name(match.group())
        if place:
            yield place.province, _evidence("context", 0, match)
        return


def _case_numbers(record: Record, prepared: Places) -> Iterator[_Sighting]:
    match = prepared.case_number.search(record.context[0] if record.context else "")
    if match:
        yield prepared.letters[match["letter"]], _evidence("context", 0, match)


def _procuratorates(record: Record, prepared: Places) -> Iterator[_Sighting]:
    yield from _named(record.context[:1], "context", _PROCURATORATE, prepared)
    for number, paragraph in enumerate(record.text[:1]):
        match = _PROCURATORATE.match(paragraph)
        place = prepared.of_name(match["name"]) if match else None
        if place:
            yield place.province, _evidence("text", number, match)


def _named(
    paragraphs: tuple[str, ...], part: str, pattern: re.Pattern[str], prepared: Places
) -> Iterator[_Sighting]:
    """Authorities; not those of other cases that a defendant had."""
    for number, paragraph in enumerate(paragraphs):
        for match in pattern.finditer(paragraph):
            place = _last(prepared, match["name"])
            if place and not _OTHER_CASE.search(paragraph, match.end(), match.end() + 30):
                yield place.province, _evidence(part, number, match)


def _last(prepared: Places, name: str) -> Place | None:
    """Return the place of a name, which other words may precede: 被告人到无锡市公安局."""
    return prepared.of_name(name) or next(prepared.find(name), None)


def _places(record: Record, prepared: Places) -> Iterator[_Sighting]:
    for number, paragraph in enumerate(record.text):
        end = 0
        for place in prepared.find(paragraph):
            before = paragraph[place.start - 1 : place.start]
            if place.start != end and "一" <= before <= "鿿" and before not in _BEFORE_PLACE:
                continue
            end = place.end
            words = paragraph[place.start : place.end]
            yield place.province, Evidence("text", number, place.start, place.end, words)


def _evidence(part: str, number: int, match: re.Match[str]) -> Evidence:
    return Evidence(part, number, match.start(), match.end(), match.group())


def _finding(rule: str, confidence: float, sightings: list[_Sighting], prepared: Places) -> Finding:
    """One piece of evidence a province."""
    first: dict[str, Evidence] = {}
    for province, evidence in sightings:
        first.setdefault(province, evidence)
    evidence = tuple(first.values())
    if len(first) > 1:
        flags = tuple(f"province={name}" for name in first)
        return Finding(None, "several_provinces", confidence, evidence, flags)
    (province,) = first
    if province in prepared.groups:
        return Finding(province, rule, confidence, evidence)
    return Finding(None, "other_province", confidence, evidence, (f"province={province}", rule))
