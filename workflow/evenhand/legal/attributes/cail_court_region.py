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
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.legal.declaration import Attribute
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
#: A place in the facts follows one of these, another place, or no Chinese character:
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
                if province := self.provinces.get(name) or self.places.get(name):
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
        problem = f"{unknown[0]} is marked as a region of FairLex, or should be"
        remedy = f"these are marked: {', '.join(attribute.groups)}"
        raise InputError(problem, file=file, remedy=remedy)
    letters = {
        letter: row["province"] for row in rows for letter in row["letters"] if letter != "、"
    }
    known = {"province": [row["province"] for row in rows]}
    columns = ["name", "province"]
    places = read_resource(tables["chinese_places"], columns, unique=("name",), choices=known)
    return Places(
        provinces={row["name"]: row["province"] for row in rows},
        shorts={row["short"]: row["province"] for row in rows},
        places={row["name"]: row["province"] for row in places},
        case_number=re.compile(
            rf"[（(〔\[]\s*\d{{4}}\s*[）)〕\]]\s*(?P<letter>[{''.join(letters)}])"
            r"(?:\d{2,4}刑|刑[初终更再申]\d)"
        ),
        letters=letters,
        groups=groups,
    )


def find(record: Record, attribute: Attribute, prepared: Places) -> Finding:
    """Return the region of the court that decided."""
    if "province" in record.metadata:
        return _stated(record, prepared)
    header, facts = record.context[:1], record.text
    accusers = chain(
        _authorities(header, "context", _PROCURATORATE, prepared), _accuser(facts, prepared)
    )
    appeal_courts = _authorities(record.context, "context", _APPEAL, prepared)
    for rule, confidence, sightings in (
        ("court_name", 0.99, _court(header, prepared)),
        ("case_number", 0.99, _case_number(header, prepared)),
        ("procuratorate", 0.95, islice(accusers, 1)),
        ("appeal_court", 0.95, islice(appeal_courts, 1)),
        ("police", 0.9, _authorities(facts, "text", _POLICE, prepared)),
        ("places", 0.8, _places(facts, prepared)),
    ):
        if some := list(sightings):
            return _finding(rule, confidence, some, prepared)
    return Finding(None, "not_stated", 1.0)


# --- sightings: (province, evidence) --------------------------------------------------------

_Sightings = Iterator[tuple[str, Evidence]]


def _stated(record: Record, prepared: Places) -> Finding:
    stated = record.metadata["province"]
    names = {name.casefold(): name for name in prepared.provinces.values()}
    place = prepared.of_name(stated)
    province = names.get(stated.casefold()) or (place and place.province)
    if province is None:
        remedy = "write its Chinese name, or its English one as in chinese_regions.csv"
        raise unknown_value(record, f"the province {stated!r}", remedy)
    sighting = province, metadata_evidence(record, "province")
    return _finding("given_by_source", 1.0, [sighting], prepared)


def _court(header: tuple[str, ...], prepared: Places) -> _Sightings:
    """Yield the first court of the header, which is the first paragraph."""
    for paragraph in header:
        match = _COURT.search(paragraph)
        if match and (place := prepared.of_name(match[0])):
            yield place.province, Evidence.of_match("context", 0, match)


def _case_number(header: tuple[str, ...], prepared: Places) -> _Sightings:
    for paragraph in header:
        if match := prepared.case_number.search(paragraph):
            yield prepared.letters[match["letter"]], Evidence.of_match("context", 0, match)


def _accuser(facts: tuple[str, ...], prepared: Places) -> _Sightings:
    """Yield the procuratorate with which the facts begin."""
    for paragraph in facts[:1]:
        match = _PROCURATORATE.match(paragraph)
        if match and (place := prepared.of_name(match["name"])):
            yield place.province, Evidence.of_match("text", 0, match)


def _authorities(
    paragraphs: tuple[str, ...], part: str, pattern: re.Pattern[str], prepared: Places
) -> _Sightings:
    """Yield authorities, except those of other cases that a defendant had.

    Other words may precede the name of the place: 被告人到无锡市公安局.
    """
    for number, paragraph in enumerate(paragraphs):
        for match in pattern.finditer(paragraph):
            place = prepared.of_name(match["name"])
            if place and not _OTHER_CASE.search(paragraph, match.end(), match.end() + 30):
                yield place.province, Evidence.of_match(part, number, match)


def _places(facts: tuple[str, ...], prepared: Places) -> _Sightings:
    for number, paragraph in enumerate(facts):
        end = 0
        for place in prepared.find(paragraph):
            before = paragraph[place.start - 1 : place.start]
            if place.start != end and "一" <= before <= "鿿" and before not in _BEFORE_PLACE:
                continue
            end = place.end
            words = paragraph[place.start : place.end]
            yield place.province, Evidence("text", number, place.start, place.end, words)


def _finding(
    rule: str, confidence: float, sightings: list[tuple[str, Evidence]], prepared: Places
) -> Finding:
    """Return the finding of a rule, with one piece of evidence per province."""
    first = dict(reversed(sightings))
    provinces = dict.fromkeys(province for province, _ in sightings)
    evidence = tuple(first[province] for province in provinces)
    flags = tuple(f"province={province}" for province in provinces)
    if len(provinces) > 1:
        return Finding(None, "several_provinces", confidence, evidence, flags)
    [province] = provinces
    if province in prepared.groups:
        return Finding(province, rule, confidence, evidence)
    return Finding(None, "other_province", confidence, evidence, (*flags, rule))
