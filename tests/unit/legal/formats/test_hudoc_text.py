from datetime import date

import pytest

from unit.legal.made_judgments import JUDGMENT, OPERATIVE, TEXT, flat, hudoc, text_file
from unit.legal.made_records import json_lines, read


def one(tmp_path, text=JUDGMENT, **options):
    (record,), counts = read("hudoc_text", [text_file(tmp_path / "001-7.txt", text)], **options)
    return record, counts


@pytest.mark.parametrize("form", [str, flat])
def test_a_judgment(tmp_path, form):
    record, counts = one(tmp_path, form(JUDGMENT))
    assert record.text == TEXT and not counts
    assert (record.case_id, record.title) == ("001-7", "CASE OF GRANDE v. PORTUGAL")
    assert record.date == date(2009, 5, 7) and record.labels == ("6",)
    assert record.metadata == {
        "application_number": "1234/05",
        "document": "CHAMBER",
        "outcome_from": "operative_part",
        "respondent": "PORTUGAL",
        "violation": "6",
    }


def test_the_same_judgment_is_the_same_text_in_both_formats(tmp_path):
    record, _ = one(tmp_path)
    (other,), _ = read("hudoc_json", [json_lines(tmp_path / "a.jsonl", hudoc())])
    assert record.text == other.text and record.labels == other.labels


@pytest.mark.parametrize(
    ("title", "respondents"),
    [
        ("CASE OF A AND B v. BELGIUM AND GREECE", "BELGIUM;GREECE"),
        ("CASE OF A v. BOSNIA AND HERZEGOVINA", "BOSNIA AND HERZEGOVINA"),
        ("CASE OF A v. SERBIA AND MONTENEGRO", "SERBIA AND MONTENEGRO"),
        ("CASE OF A v. CROATIA, SERBIA AND TURKEY (No. 2)", "CROATIA;SERBIA;TURKEY"),
        ("CASE OF C. v. THE UNITED KINGDOM", "THE UNITED KINGDOM"),
        ("CASE OF A AND OTHERS\nv. MALTA", "MALTA"),
        ("Case of A v. Malta (merits)", "MALTA"),
        ("CASE RELATING TO NOTHING", "PORTUGAL"),
    ],
)
def test_respondents(tmp_path, title, respondents):
    text = JUDGMENT.replace("CASE OF GRANDE v. PORTUGAL", title)
    if title == "CASE RELATING TO NOTHING":
        text = text.replace("In the case of Grande v. Portugal,", "In the Grande affair,")
        text = text.replace("the Portuguese Republic", "the Government of Portugal")
    assert one(tmp_path, text)[0].metadata["respondent"] == respondents


def test_several_applications(tmp_path):
    text = JUDGMENT.replace("(Application no. 1234/05)", "(Applications nos. 1/05 and 22222/06)")
    assert one(tmp_path, text)[0].metadata["application_number"] == "1/05;22222/06"


def test_a_lost_operative_part_is_replaced_by_the_conclusions(tmp_path):
    text = JUDGMENT.replace(OPERATIVE, "FOR THESE REASONS, THE COURT UNANIMOUSLY")
    record, _ = one(tmp_path, text)
    assert record.labels == ("6",) and record.metadata["outcome_from"] == "conclusions"


def test_a_judgment_without_a_finding(tmp_path):
    text = JUDGMENT.replace(OPERATIVE, "").replace("There has accordingly been", "She saw")
    assert one(tmp_path, text)[0].labels is None
    record, _ = one(tmp_path, text, no_finding="no_violation")
    assert record.labels == () and "outcome_from" not in record.metadata


def test_dates_of_the_end_and_none(tmp_path):
    text = JUDGMENT.replace("STRASBOURG\n7 May 2009\nFINAL\n07/08/2009\n", "")
    assert one(tmp_path, text)[0].date == date(2009, 5, 7)
    record, counts = one(tmp_path, text.replace("7 May 2009", "31 June 2009"))
    assert record.date is None and counts == {"bad_date": 1}


def test_what_is_left_out(tmp_path):
    texts = {
        "001-1.txt": "PROCÉDURE\n1. La requête est dirigée contre la France par une dame.",
        "001-2.txt": "",
        "001-3.txt": "FIRST SECTION\nDECISION\nAS TO THE ADMISSIBILITY OF\nThe applicant and the",
        "001-4.md": "x",
        "001-5.txt": " \n",
    }
    files = [text_file(tmp_path / name, text) for name, text in texts.items()]
    found, counts = read("hudoc_text", files)
    assert not found and counts == {
        "other_language": 1,
        "empty_file": 1,
        "not_a_judgment": 1,
        "unknown_format": 1,
        "no_facts": 1,
    }


def test_undecodable_bytes_are_told(tmp_path):
    path = tmp_path / "001-1.txt"
    path.write_bytes(JUDGMENT.encode().replace(b"Braga. He", b"x").replace(b"wall", b"w\xe4ll", 1))
    (record,), counts = read("hudoc_text", [path])
    assert record.labels == ("6",) and counts == {"undecodable_bytes": 1}


@pytest.mark.mirror
def test_the_real_files(mirror):
    found, counts = read("hudoc_text", [mirror / "ecthr" / "rmu_echr_txt.tar.gz"])
    assert len(found) == 192 and counts == {"other_language": 1}
    assert all(one.text and one.date and one.metadata["respondent"] for one in found)
    assert sum(one.labels is None for one in found) <= 4
    others, _ = read("hudoc_json", [mirror / "ecthr" / "hudoc_json_en.tar.gz"])
    known = {one.case_id: one for one in others}
    both = [(one, known[one.case_id]) for one in found if one.case_id in known]
    assert len(both) == 5
    assert all(a.text == b.text and a.date == b.date and a.labels == b.labels for a, b in both)
