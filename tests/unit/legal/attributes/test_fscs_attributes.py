import pytest

from evenhand.legal.attributes import fscs_court_region
from unit.cases import read_csv
from unit.legal.made_cases import court
from unit.legal.made_records import FOLDER, find, table, tables

REGION = court("fscs").attribute("court_region")


def region(*text, **metadata):
    metadata = {f"swiss_{name}": value for name, value in metadata.items()}
    finding = find("fscs_court_region", *text, metadata=metadata)
    return finding.value, finding.rule


@pytest.mark.parametrize(*table("swiss_courts"))
def test_the_courts_that_the_facts_name(text, value, rule):
    assert region("Zuerst nichts.", text) == (value, rule or "cantons_named")


def test_each_region_has_its_cantons_and_each_canton_a_name():
    prepared = fscs_court_region.prepare(tables(fscs_court_region), REGION)
    assert len(prepared.regions) == 27
    assert set(prepared.regions.values()) == set(REGION.groups)
    named = {row["canton"] for row in read_csv(FOLDER / "swiss_canton_names.csv")}
    assert named == set(prepared.regions) - {"CH"}
