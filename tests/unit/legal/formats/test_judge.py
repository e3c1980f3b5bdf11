import json
from collections import Counter
from datetime import date

import pytest

from evenhand.io.quarantine import Quarantine
from evenhand.legal.formats.judge import read

FACTS = " 公诉机关指控：2016年2月3日，被告人甲某在乙县盗走自行车一辆。 上述事实，足以认定。 "
JUDGMENT = (
    "乙县人民法院 刑事判决书 （2017）湘1234刑初5号 公诉机关乙县人民检察院。 "
    "被告人甲某，男，1990年1月1日出生。 本案现已审理终结。"
    + FACTS
    + "依照刑法第二百六十四条，判决如下： 被告人甲某犯盗窃罪，判处有期徒刑一年二个月"
    "（自二〇一七年一月一日起）。 如不服本判决，可以上诉。 审判长丙某 审判员丁某 "
    "二○一七年十二月一日 书记员戊某 附：相关法律条文 修订于2020年1月1日"
)


def line(**more):
    """A line of JuDGE."""
    return {"text_id": "a-1", "text": FACTS, "la": [264, 67], "fd": JUDGMENT} | more


def read_lines(folder, *lines):
    file = folder / "judge.jsonl"
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    file.write_text(text, encoding="utf-8")
    quarantine = Quarantine()
    return list(read([file], {}, quarantine, {})), quarantine


def test_a_case(tmp_path):
    (record,), quarantine = read_lines(tmp_path, line())
    assert not quarantine.counts
    assert (record.case_id, record.source_position) == ("a-1", 1)
    assert record.source == str(tmp_path / "judge.jsonl")
    assert record.date == date(2017, 12, 1) and record.language == "zh"
    assert record.labels == ("<=36",)
    assert record.given == {"articles": "264;67", "sentence": "imprisonment", "months": "14"}
    assert record.text == (
        "公诉机关指控：2016年2月3日，被告人甲某在乙县盗走自行车一辆。",
        "上述事实，足以认定。",
    )
    assert record.context[0].startswith("乙县人民法院") and "男" in record.context[1]


def test_the_judgment_never_enters_the_text(tmp_path):
    (record,), _ = read_lines(tmp_path, line())
    assert not any("判决如下" in paragraph or "判处" in paragraph for paragraph in record.text)
    assert any("判决如下" in paragraph for paragraph in record.context)


@pytest.mark.parametrize(
    ("signed", "found", "counts"),
    [
        ("2018年3月4日", date(2018, 3, 4), {}),
        ("二〇一八年十三月四日", None, {"bad_date": 1}),
        ("二〇一八年四月××日", None, {}),
    ],
)
def test_dates(tmp_path, signed, found, counts):
    fd = JUDGMENT.replace("二○一七年十二月一日", signed)
    (record,), quarantine = read_lines(tmp_path, line(fd=fd))
    assert record.date == found and quarantine.counts == counts


def test_without_signatures_there_is_no_date(tmp_path):
    (record,), _ = read_lines(tmp_path, line(fd=JUDGMENT.split("审判长")[0]))
    assert record.date is None and record.labels == ("<=36",)


def test_a_judgment_without_a_sentence_has_no_label(tmp_path):
    (record,), quarantine = read_lines(tmp_path, line(fd="乙县人民法院 刑事判决书", la=None))
    assert record.labels is None and record.given == {} and not quarantine.counts


def test_lines_that_are_no_cases(tmp_path):
    bad = [line(text=None), line(text_id=""), {"fd": JUDGMENT}, line(fd="甲\ufffd")]
    records, quarantine = read_lines(tmp_path, *bad, line())
    assert [record.source_position for record in records] == [5]
    assert quarantine.counts == {"missing_field": 3, "damaged_case": 1}


@pytest.mark.mirror
def test_the_real_file(mirror):
    quarantine = Quarantine()
    records = list(read([mirror / "judge" / "judge_test_subset.jsonl"], {}, quarantine, {}))
    assert len({record.case_id for record in records}) == 240 and not quarantine.counts
    assert Counter(record.labels for record in records) == {
        ("<=12",): 131,
        ("<=36",): 65,
        ("<=60",): 23,
        ("<=120",): 13,
        ("0",): 5,
        (">120",): 2,
        None: 1,
    }
    # two dates are masked or misspelt
    assert sum(record.date is None for record in records) == 2
