from collections import Counter
from datetime import date

import pytest

from unit.legal.made_records import json_lines, read

FACTS = " 公诉机关指控：2016年2月3日，被告人甲某在乙县盗走自行车一辆。 上述事实，足以认定。 "
JUDGMENT = (
    "乙县人民法院 刑事判决书 （2017）湘1234刑初5号 公诉机关乙县人民检察院。 "
    "被告人甲某，男，1990年1月1日出生。 本案现已审理终结。"
    + FACTS
    + "依照刑法第二百六十四条，判决如下： 被告人甲某犯盗窃罪，判处有期徒刑一年二个月"
    "（自二〇一七年一月一日起）。 如不服本判决，可以上诉。 审判长丙某 审判员丁某 "
    "二○一七年十二月一日 书记员戊某 附：相关法律条文 修订于2020年1月1日"
)


def read_lines(folder, *lines):
    lines = [{"text_id": "a-1", "text": FACTS, "la": [264, 67], "fd": JUDGMENT} | x for x in lines]
    return read("judge", [json_lines(folder / "judge.jsonl", *lines)])


def test_a_case(tmp_path):
    (record,), counts = read_lines(tmp_path, {})
    assert (record.case_id, record.source_position) == ("a-1", 1) and not counts
    assert record.date == date(2017, 12, 1) and record.language == "zh"
    assert record.labels == ("<=36",)
    assert record.metadata == {"articles": "264;67", "sentence": "imprisonment", "months": "14"}
    assert record.text == (
        "公诉机关指控：2016年2月3日，被告人甲某在乙县盗走自行车一辆。",
        "上述事实，足以认定。",
    )
    assert record.context[0].startswith("乙县人民法院") and "男" in record.context[1]
    assert any("判决如下" in paragraph for paragraph in record.context)


@pytest.mark.parametrize(
    ("signed", "day", "counts"),
    [
        ("2018年3月4日", date(2018, 3, 4), {}),
        ("二〇一八年十三月四日", None, {"bad_date": 1}),
        ("二〇一八年四月××日", None, {}),
    ],
)
def test_dates(tmp_path, signed, day, counts):
    judgment = JUDGMENT.replace("二○一七年十二月一日", signed)
    (record,), found = read_lines(tmp_path, {"fd": judgment})
    assert record.date == day and found == counts


def test_judgments_without_signatures_or_a_sentence(tmp_path):
    lines = [{"fd": JUDGMENT.split("审判长")[0]}, {"fd": "乙县人民法院 刑事判决书", "la": None}]
    (unsigned, unlabelled), counts = read_lines(tmp_path, *lines)
    assert unsigned.date is None and unsigned.labels == ("<=36",)
    assert unlabelled.labels is None and unlabelled.metadata == {} and not counts


def test_lines_that_are_no_cases(tmp_path):
    bad = [{"text": None}, {"text_id": ""}, {"fd": None}, {"fd": "甲\ufffd"}]
    records, counts = read_lines(tmp_path, *bad, {})
    assert [record.source_position for record in records] == [5]
    assert counts == {"missing_field": 3, "damaged_case": 1}


@pytest.mark.mirror
def test_the_real_file(mirror):
    records, counts = read("judge", [mirror / "judge" / "judge_test_subset.jsonl"])
    assert len({record.case_id for record in records}) == 240 and not counts
    labels = Counter((record.labels or (None,))[0] for record in records)
    assert labels == {"<=12": 131, "<=36": 65, "<=60": 23, "<=120": 13, "0": 5, ">120": 2, None: 1}
    # two dates are masked or misspelt
    assert sum(record.date is None for record in records) == 2
