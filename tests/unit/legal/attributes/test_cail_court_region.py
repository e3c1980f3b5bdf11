import pytest

from evenhand.errors import InputError
from evenhand.legal.attributes import cail_court_region
from unit.legal.made_cases import court
from unit.legal.made_records import FOLDER, count_findings, find, read, table, tables

REGION = court("cail").attribute("court_region")


def test_the_table_has_all_provinces():
    known = cail_court_region.prepare(tables(cail_court_region), REGION)
    assert len(known.provinces) == 34 and len(known.letters) == 32


def found(*text, **values):
    """Return value, rule and flags."""
    finding = find("cail_court_region", *text or ["案情。"], **values)
    return finding.value, finding.rule, finding.flags


@pytest.mark.parametrize(*table("courts"))
def test_names_of_courts(name, province):
    context = (f"某某盗窃案 {name} 刑事判决书 （2015）松刑初字第1号 公诉机关某检察院。",)
    value, rule, flags = found(context=context)
    if province in REGION.groups:
        assert (value, rule, flags) == (province, "court_name", ())
    else:
        assert (value, flags) == (None, (f"province={province}", "court_name"))


@pytest.mark.parametrize(*table("case_numbers"))
def test_numbers_of_cases(number, province):
    value, rule, flags = found(context=(f"某某人民法院 刑事判决书 {number} 。",))
    if province is None:
        assert (value, rule) == (None, "not_stated")
    elif province in REGION.groups:
        assert (value, rule) == (province, "case_number")
    else:
        assert (value, flags) == (None, (f"province={province}", "case_number"))


def test_tables_that_are_wrong(tmp_path):
    text = (FOLDER / "chinese_regions.csv").read_text(encoding="utf-8")
    regions = tmp_path / "chinese_regions.csv"
    regions.write_text(text.replace("Hunan,湖南省,湖南,湘,yes", ""), encoding="utf-8")
    with pytest.raises(InputError, match="Hunan is marked"):
        found(changed=(regions,))


@pytest.mark.mirror
def test_the_real_files(mirror):
    def rules(records):
        counts = {}
        for (rule, _, *flags), n in count_findings("cail_court_region", records).items():
            rule = flags[-1] if rule == "other_province" else rule
            counts[rule] = counts.get(rule, 0) + n
        return counts

    judgments, _ = read("judge", [mirror / "judge/judge_test_subset.jsonl"])
    assert rules(judgments) == {"court_name": 240}
    cases, _ = read("cail2018", sorted((mirror / "cail2018").glob("*.jsonl")))
    assert rules(cases) == {
        "procuratorate": 1287,
        "police": 295,
        "places": 597,
        "several_provinces": 37,
        "not_stated": 232,
    }
