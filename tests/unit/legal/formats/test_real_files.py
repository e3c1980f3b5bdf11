"""What each format reads of real files, counted."""

import functools
from collections import Counter

import pytest

from evenhand.errors import InputError
from unit.legal.made_records import read

pytestmark = pytest.mark.mirror


@functools.cache
def read_once(format, *files):
    return read(format, files)


@pytest.mark.parametrize(
    ("format", "files", "cases", "distinct", "counts"),
    [
        ("cail2018", "cail2018/cail2018_train_subset.gb18030.jsonl", 1766, 1764, {}),
        ("cail2018", "cail2018/cail2018_test_subset.jsonl", 682, 681, {}),
        (
            "hudoc_json",
            "ecthr/hudoc_json_en.tar.gz",
            *(147, 147, {"not_a_judgment": 96, "conclusion_differs": 1}),
        ),
        ("hudoc_text", "ecthr/rmu_echr_txt.tar.gz", 192, 192, {"other_language": 1}),
        ("judge", "judge/judge_test_subset.jsonl", 240, 240, {}),
        ("swiss_prompts", "swiss/*.jsonl", 1558 - 129, 1386, {"no_facts": 129}),
        (
            "scdb",
            "scotus/*c*.*",
            *(
                3320,
                3320,
                {"unmatched_row": 9277 - 3382, "outside_labels": 49, "bad_label": 13}
                | {"unmatched_text": 311},
            ),
        ),
    ],
)
def test_cases_and_quarantine(mirror, format, files, cases, distinct, counts):
    records, found = read_once(format, *sorted(mirror.glob(files)))
    assert (len(records), len({record.case_id for record in records})) == (cases, distinct)
    assert found == counts
    assert all(record.text for record in records)


def test_labels_and_dates_of_judge(mirror):
    records, _ = read_once("judge", mirror / "judge" / "judge_test_subset.jsonl")
    labels = Counter((record.labels or (None,))[0] for record in records)
    assert labels == {"<=12": 131, "<=36": 65, "<=60": 23, "<=120": 13, "0": 5, ">120": 2, None: 1}
    # two dates are masked or misspelt
    assert sum(record.date is None for record in records) == 2


def test_a_wrong_encoding_of_cail(mirror):
    with pytest.raises(InputError, match="GB18030, but the stated encoding is UTF-8"):
        chinese = mirror / "cail2018" / "cail2018_train_subset.gb18030.jsonl"
        read("cail2018", [chinese], encoding="utf-8")


def test_judgments_of_both_forms(mirror):
    records, _ = read_once("hudoc_json", mirror / "ecthr" / "hudoc_json_en.tar.gz")
    assert all(record.date and record.context for record in records)
    assert sum(record.labels is None for record in records) == 2
    assert sum(bool(record.labels) for record in records) == 117
    numbered = sum(paragraph[0].isdigit() for record in records for paragraph in record.text)
    assert numbered >= 0.99 * sum(len(record.text) for record in records)
    texts, _ = read_once("hudoc_text", mirror / "ecthr" / "rmu_echr_txt.tar.gz")
    assert all(record.date and record.metadata["respondent"] for record in texts)
    assert sum(record.labels is None for record in texts) <= 4
    known = {record.case_id: record for record in records}
    both = [(text, known[text.case_id]) for text in texts if text.case_id in known]
    assert len(both) == 5
    assert all(a.text == b.text and a.date == b.date and a.labels == b.labels for a, b in both)
