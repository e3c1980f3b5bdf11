import json
import zipfile

from unit.legal.made_cases import declaration
from unit.legal.made_records import json_lines, read

SCOTUS = {
    "text": "One. </s> Two\u00a0and  more. </s>  ",
    "label": 8,
    "attributes": {"respondent_type": 3, "decision_direction": "liberal"},
}


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, rows in members.items():
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            encoding = "gb18030" if name == "val" else "utf-8"
            file.writestr(f"{name}.jsonl", text.encode(encoding))
        file.writestr("README.txt", "about")
        file.writestr("../test.jsonl", json.dumps(SCOTUS))
    return path


def read_rows(folder, kind, *rows, name="train"):
    path = json_lines(folder / f"{name}.jsonl", *rows)
    return read("fairlex", [path], declaration=declaration(kind))


def test_a_zip_as_released(tmp_path):
    path = archive(tmp_path / "scotus.zip", train=[SCOTUS, SCOTUS], val=[SCOTUS], test=[SCOTUS])
    records, counts = read("fairlex", [path], declaration=declaration("scotus"))
    assert [record.split for record in records] == ["train", "train", "dev", "test"]
    assert [record.case_id for record in records] == ["train-1", "train-2", "dev-1", "test-1"]
    first = records[0]
    assert first.text == ("One.", "Two and more.") and first.labels == ("Judicial Power",)
    assert first.metadata == {"respondent_type": "3", "decision_direction": "liberal"}
    assert first.date is None and first.language == "en"
    assert first.source == f"{path}!train.jsonl"
    assert counts == {"unsafe_member": 1, "unknown_format": 1}


def test_several_labels_by_number_and_by_name(tmp_path):
    rows = [
        {"text": "a", "labels": [3, 1], "attributes": {"applicant_age": "<=64"}},
        {"text": "b", "labels": [], "attributes": {"defendant": 0, "gender": "n/a"}},
        {"text": "c", "labels": ["3", "P1-1", "3"], "attributes": {"applicant_age": 2}},
        {"text": "d", "labels": [10]},
        {"text": "e", "labels": ["13"]},
    ]
    records, counts = read_rows(tmp_path, "ecthr", *rows)
    # a number counts from 0; a string is an article's name first
    assert [record.labels for record in records] == [("3", "6"), (), ("3", "P1-1")]
    assert records[0].metadata == {"applicant_age": "<=65"}
    assert records[1].metadata == {"defendant_state": "0", "applicant_gender": "n/a"}
    assert counts == {"bad_label": 2}


def test_labels_that_are_none(tmp_path):
    labels = [None, float("nan"), -1, 11, "Miscellaneous", True, 2.0, 2.5, [1, 2], "2", {"a": 1}]
    rows = [{"text": "t", "label": label, "attributes": {}} for label in labels]
    records, counts = read_rows(tmp_path, "scotus", *rows, {"text": "t", "attributes": {}})
    assert [record.source_position for record in records] == [7, 10]
    assert {record.labels for record in records} == {("First Amendment",)}
    assert counts == {"bad_label": 10}


def test_severity_zero_is_a_name_and_a_number(tmp_path):
    rows = [{"text": "t", "label": label} for label in ("0", 0, ">120", 5)]
    records, _ = read_rows(tmp_path, "cail", *rows)
    assert [record.labels[0] for record in records] == ["0", "0", ">120", ">120"]


def test_chinese_in_two_encodings(tmp_path):
    row = {"text": "被告人某甲。 </s> 又查明。", "label": 1}
    row["attributes"] = {"gender": "F", "region": "Hunan"}
    path = archive(tmp_path / "cail.zip", train=[row] * 30, val=[row] * 30)
    records, counts = read("fairlex", [path], declaration=declaration("cail"))
    assert {record.text for record in records} == {("被告人某甲。", "又查明。")}
    assert len(records) == 60 and records[0].language == "zh"
    assert records[0].metadata == {"defendant_gender": "female", "court_region": "Hunan"}
    assert not counts["undecodable_bytes"]


def test_swiss_records_have_their_language(tmp_path):
    rows = [
        {"text": "t", "label": "approval", "attributes": {"decision_language": 1}},
        {"text": "t", "label": 0, "attributes": {"language": "it", "legal area": "penal law"}},
        {"text": "t", "label": 0, "attributes": {"decision_language": None}},
    ]
    records, _ = read_rows(tmp_path, "fscs", *rows)
    assert [record.language for record in records] == ["fr", "it", None]
    assert records[1].metadata == {"decision_language": "it", "legal_area": "penal law"}
    assert records[2].metadata == {}


def test_ids_of_the_source_names_of_files_and_flat_records(tmp_path):
    row = {"case_no": 17, "text": ["a", " ", "b"], "label": 1, "respondent_type": "public_entity"}
    for name, split in (("scotus.dev", "dev"), ("mine", None)):
        (record,), _ = read_rows(tmp_path, "scotus", row, name=name)
        assert (record.split, record.case_id, record.text) == (split, "17", ("a", "b"))
        assert record.metadata == {"respondent_type": "public entity"}


def test_rows_without_a_text(tmp_path):
    rows = [{"label": 1}, {"text": 3, "label": 1}, [1]]
    assert read_rows(tmp_path, "scotus", *rows) == ([], {"missing_field": 2, "broken_json": 1})
