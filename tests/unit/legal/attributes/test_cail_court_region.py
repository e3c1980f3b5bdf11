from collections import Counter

import pytest

from evenhand.errors import InputError
from evenhand.io.quarantine import Quarantine
from evenhand.legal.attributes import cail_court_region
from evenhand.legal.attributes.cail_court_region import TABLES
from evenhand.legal.findings import check_evidence
from evenhand.legal.formats import cail2018, judge
from evenhand.legal.records import Record
from unit.legal.made_cases import court
from unit.legal.made_records import finder_of

REGION = court("cail").attribute("court_region")


@pytest.fixture(scope="module")
def tables(repository):
    return {name: repository / "resources" / "legal" / f"{name}.csv" for name in TABLES}


@pytest.fixture(scope="module")
def places(tables):
    return finder_of(cail_court_region, tables)


def test_the_table_has_all_provinces(tables):
    known = cail_court_region.prepare(tables, REGION)
    assert len(known.provinces) == 34 and len(known.letters) == 32


def found(places, *text, context=(), **given):
    """Value, rule and flags; every piece of evidence stands where it should."""
    case = Record(
        case_id="c",
        source="s",
        source_position=1,
        text=text or ("案情。",),
        context=tuple(context),
        given=given,
    )
    finding = places(case)
    check_evidence(case, finding)
    return finding.value, finding.rule, finding.flags


def test_given(places):
    assert found(places, court_region="Hunan")[:2] == ("Hunan", "given_by_source")
    assert found(places, court_region="0")[:2] == ("Beijing", "given_by_source")
    for said in ("广东", "广东省", "guangdong"):
        assert found(places, province=said)[:2] == ("Guangdong", "given_by_source")
    value, rule, flags = found(places, province="上海市")
    assert (value, rule) == (None, "other_province") and "province=Shanghai" in flags
    with pytest.raises(InputError, match="province 'Atlantis', which is unknown"):
        found(places, province="Atlantis")


@pytest.mark.parametrize(
    ("court", "province"),
    [
        ("广东省东莞市第二人民法院", "Guangdong"),
        ("北京市朝阳区人民法院", "Beijing"),
        ("广西壮族自治区钟山县人民法院", "Guangxi"),
        ("沅陵县人民法院", "Hunan"),
        ("成都市锦江区人民法院", "Sichuan"),
        ("杭州铁路运输法院", "Zhejiang"),
        ("和县人民法院", "Anhui"),
        ("海南藏族自治州中级人民法院", "Qinghai"),
        ("吉林市龙潭区人民法院", "Jilin"),
    ],
)
def test_names_of_courts(places, court, province):
    context = (f"某某盗窃案 {court} 刑事判决书 （2015）松刑初字第1号 公诉机关某检察院。",)
    value, rule, flags = found(places, context=context)
    if province in REGION.groups:
        assert (value, rule, flags) == (province, "court_name", ())
    else:
        assert (value, rule, flags) == (
            None,
            "other_province",
            (f"province={province}", "court_name"),
        )


@pytest.mark.parametrize(
    ("number", "province"),
    [
        ("（2017）粤1972刑初1547号", "Guangdong"),
        ("(2018)川01刑终6号", "Sichuan"),
        ("〔2016〕桂刑终3号", "Guangxi"),
        ("（2017）兵0201刑初1号", "Xinjiang"),
        ("（2015）云刑初字第5号", None),  # a county's number of the old kind, not Yunnan's
        ("（2015）松刑初字第5号", None),
    ],
)
def test_numbers_of_cases(places, number, province):
    value, rule, flags = found(places, context=(f"某某人民法院 刑事判决书 {number} 。",))
    if province is None:
        assert (value, rule) == (None, "not_stated")
    elif province in REGION.groups:
        assert (value, rule) == (province, "case_number")
    else:
        assert (value, flags) == (None, (f"province={province}", "case_number"))


def test_procuratorate_and_court_of_appeal(places):
    assert found(places, "长沙市开福区人民检察院指控：某日。")[:2] == ("Hunan", "procuratorate")
    assert found(places, "公诉机关宜章县人民检察院指控：某日。")[:2] == ("Hunan", "procuratorate")
    context = ("某法院 刑事判决书。", "通过本院或者直接向贺州市中级人民法院提出上诉。")
    assert found(places, context=context)[:2] == ("Guangxi", "appeal_court")


def test_the_facts(places):
    assert found(places, "被告人到沈阳市公安局投案。")[:2] == ("Liaoning", "police")
    assert found(places, "被告人在义乌市某路唱歌。")[:2] == ("Zhejiang", "places")
    assert found(places, "被告人在本市某小区唱歌。")[:2] == (None, "not_stated")
    value, rule, flags = found(places, "被告人从桂林市驾车至云南省昆明市。")
    assert (value, rule) == (None, "several_provinces")
    assert flags == ("province=Guangxi", "province=Yunnan")


@pytest.mark.parametrize(
    "text",
    [
        "被告人在上海城市酒店唱歌。",  # not 海城市
        "被告人在贝港南区5号。",  # not 港南区
    ],
)
def test_what_is_no_place(places, text):
    assert found(places, text)[:2] == (None, "not_stated")


def test_the_police_of_another_case_is_weaker(places):
    text = "被告人曾被长沙市公安局抓获，后刑满释放，现在沈阳市公安局投案。"
    assert found(places, text)[:2] == ("Liaoning", "police")


def test_where_the_defendant_lives_is_no_rule(places):
    context = ("某法院 刑事判决书。", "被告人甲某，男，住四川省邻水县。")
    assert found(places, context=context)[:2] == (None, "not_stated")


def test_tables_that_are_wrong(tables, tmp_path):
    regions = tmp_path / "regions.csv"
    regions.write_text(
        tables["chinese_regions"]
        .read_text(encoding="utf-8")
        .replace("Hunan,湖南省,湖南,湘,yes", ""),
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="Hunan is marked"):
        finder_of(cail_court_region, tables | {"chinese_regions": regions})


@pytest.mark.mirror
def test_the_real_files(mirror, places):
    def count(module, *names):
        counts = Counter()
        for case in module.read([mirror / name for name in names], {}, Quarantine(), {}):
            finding = places(case)
            check_evidence(case, finding)
            counts[finding.flags[-1] if finding.rule == "other_province" else finding.rule] += 1
        return counts

    assert count(judge, "judge/judge_test_subset.jsonl") == {"court_name": 240}
    assert count(
        cail2018,
        "cail2018/cail2018_train_subset.gb18030.jsonl",
        "cail2018/cail2018_test_subset.jsonl",
    ) == {
        "procuratorate": 1287,
        "police": 295,
        "places": 597,
        "several_provinces": 37,
        "not_stated": 232,
    }
