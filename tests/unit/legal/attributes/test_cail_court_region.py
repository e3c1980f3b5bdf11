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


def test_the_region_of_the_source():
    assert found(metadata={"court_region": "Hunan"})[:2] == ("Hunan", "given_by_source")
    assert found(metadata={"court_region": "0"})[:2] == ("Beijing", "given_by_source")
    for stated in ("广东", "广东省", "guangdong"):
        assert found(metadata={"province": stated})[:2] == ("Guangdong", "given_by_source")
    value, rule, flags = found(metadata={"province": "上海市"})
    assert (value, rule) == (None, "other_province") and "province=Shanghai" in flags
    with pytest.raises(InputError, match="province 'Atlantis', which is unknown"):
        found(metadata={"province": "Atlantis"})


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


def test_procuratorate_and_court_of_appeal():
    assert found("长沙市开福区人民检察院指控：某日。")[:2] == ("Hunan", "procuratorate")
    assert found("公诉机关宜章县人民检察院指控：某日。")[:2] == ("Hunan", "procuratorate")
    context = ("某法院 刑事判决书。", "通过本院或者直接向贺州市中级人民法院提出上诉。")
    assert found(context=context)[:2] == ("Guangxi", "appeal_court")


def test_the_facts():
    assert found("被告人到沈阳市公安局投案。")[:2] == ("Liaoning", "police")
    assert found("被告人在义乌市某路唱歌。")[:2] == ("Zhejiang", "places")
    assert found("被告人在本市某小区唱歌。")[:2] == (None, "not_stated")
    value, rule, flags = found("被告人从桂林市驾车至云南省昆明市。")
    assert (value, rule) == (None, "several_provinces")
    assert flags == ("province=Guangxi", "province=Yunnan")


@pytest.mark.parametrize(
    "text",
    [
        "被告人在上海城市酒店唱歌。",  # not 海城市
        "被告人在贝港南区5号。",  # not 港南区
    ],
)
def test_what_is_no_place(text):
    assert found(text)[:2] == (None, "not_stated")


def test_the_police_of_another_case_is_weaker():
    text = "被告人曾被长沙市公安局抓获，后刑满释放，现在沈阳市公安局投案。"
    assert found(text)[:2] == ("Liaoning", "police")


def test_where_the_defendant_lives_is_no_rule():
    context = ("某法院 刑事判决书。", "被告人甲某，男，住四川省邻水县。")
    assert found(context=context)[:2] == (None, "not_stated")


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
