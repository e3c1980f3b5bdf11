import csv

import pytest

from evenhand.errors import InputError
from evenhand.legal.attributes import fscs_court_region
from unit.legal.made_cases import court
from unit.legal.made_records import FOLDER, find, table, tables

REGION = court("fscs").attribute("court_region")


def region(*text, **metadata):
    metadata = {f"swiss_{name}": value for name, value in metadata.items()}
    finding = find("fscs_court_region", *text, metadata=metadata)
    return finding.value, finding.rule


def test_language():
    finding = find("decision_language", metadata={"swiss_language": "fr"})
    assert (finding.value, finding.rule) == ("fr", "language_of_source")
    assert find("decision_language").rule == "no_language"
    assert find("decision_language", metadata={"decision_language": "2"}).value == "it"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("penal law", "penal law", "area_of_source"),
        ("Public_Law", "public law", "area_of_source"),
        ("other", None, "other_area"),
        (None, None, "no_legal_area"),
    ],
)
def test_legal_area(name, value, rule):
    finding = find("legal_area", metadata={} if name is None else {"swiss_legal_area": name})
    assert (finding.value, finding.rule) == (value, rule)


def test_a_legal_area_that_nobody_knows():
    with pytest.raises(InputError, match=r"legal area 'space law'.*swiss_legal_areas\.csv"):
        find("legal_area", metadata={"swiss_legal_area": "space law"})
    assert find("legal_area", metadata={"legal_area": "0"}).value is None
    assert find("legal_area", metadata={"legal_area": "5"}).value == "insurance law"


def test_region_and_canton_of_the_source():
    assert region(region="Eastern_Switzerland") == ("Eastern Switzerland", "region_of_source")
    assert region(canton="be") == ("Espace Mittelland", "canton_of_source")
    assert region(canton="Genève", region="n/a") == ("Région lémanique", "canton_of_source")
    assert region(canton="ch") == ("Federation", "canton_of_source")
    assert region(canton="n/a") == (None, "no_court_named")
    metadata = {"swiss_region": "Ticino", "swiss_canton": "zh"}
    finding = find("fscs_court_region", metadata=metadata)
    assert finding.value == "Ticino" and finding.flags == ("region_and_canton_differ",)
    assert len(finding.evidence) == 2
    assert find("fscs_court_region", metadata={"court_region": "8"}).value == "Federation"


@pytest.mark.parametrize(("name", "value"), [("canton", "xx"), ("region", "Lombardia")])
def test_a_place_that_there_is_not(name, value):
    with pytest.raises(InputError, match=f"the {name} '{value}'"):
        region(**{name: value})


@pytest.mark.parametrize(*table("swiss_courts"))
def test_the_courts_that_the_facts_name(text, value, rule):
    assert region("Zuerst nichts.", text) == (value, rule or "cantons_named")


def test_each_region_has_its_cantons_and_each_canton_a_name():
    prepared = fscs_court_region.prepare(tables(fscs_court_region), REGION)
    assert len(prepared.regions) == 27
    assert set(prepared.regions.values()) == set(REGION.groups)
    with (FOLDER / "swiss_canton_names.csv").open(encoding="utf-8", newline="") as file:
        named = {row["canton"] for row in csv.DictReader(file)}
    assert named == set(prepared.regions) - {"CH"}
