import json
import zipfile
from datetime import date

from unit.legal.made_records import json_lines, read


def case(**changes):
    return {
        "case_id": "001-5",
        "case_no": "12/05",
        "title": "CASE OF A v. MALTA",
        "judgment_date": "2011-03-01",
        "facts": ["5.  The applicant was born in 1950.", " ", "6.\u00a0She sued."],
        "violated_articles": ["14", "13", "P1-1", "6"],
        "allegedly_violated_articles": ["6"],
        "defendants": ["MALTA", "ITALY"],
        "applicants": ["A."],
        "silver_rationales": [1],
    } | changes


def test_a_case(tmp_path):
    row = case(applicant_gender="female", applicant_birth_year=1950)
    (record,), counts = read("ecthr_naacl", [json_lines(tmp_path / "dev.jsonl", row)])
    assert not counts and record.split == "dev" and record.date == date(2011, 3, 1)
    assert record.text == ("5. The applicant was born in 1950.", "6. She sued.")
    assert record.labels == ("6", "14", "P1-1") and record.context == ()
    assert record.metadata == {
        "alleged_violations": "6",
        "applicant_birth_year": "1950",
        "applicant_gender": "female",
        "applicants": "A.",
        "application_number": "12/05",
        "other_violations": "13",
        "respondent": "MALTA;ITALY",
    }


def test_a_zip_of_the_parts_and_one_file_with_data_type(tmp_path):
    with zipfile.ZipFile(tmp_path / "dataset.zip", "w") as archive:
        for part in ("train", "dev", "test"):
            archive.writestr(f"ECtHR/{part}.jsonl", json.dumps(case(case_id=part)) + "\n")
    rows = [case(case_id=part, data_type=part) for part in ("train", "dev", "test")]
    for files in ([tmp_path / "dataset.zip"], [json_lines(tmp_path / "ecthr.jsonl", *rows)]):
        records, counts = read("ecthr_naacl", files)
        assert [record.case_id for record in records] == ["train", "dev", "test"] and not counts
        assert [record.split for record in records] == ["train", "dev", "test"]


def test_what_is_left_out(tmp_path):
    rows = [
        case(facts="text"),
        case(case_id=None),
        {"facts": ["5. x"]},
        case(violated_articles=["6", "77"]),
        case(judgment_date="yesterday", violated_articles=[]),
    ]
    (record,), counts = read("ecthr_naacl", [json_lines(tmp_path / "train.jsonl", *rows)])
    assert record.date is None and record.labels == ()
    assert counts == {"missing_field": 3, "bad_label": 1, "bad_date": 1}
