import json
from datetime import date

import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.io.tables import read_rows
from evenhand.legal.build_cases import build_cases
from evenhand.legal.findings import Evidence, Finding, write_findings
from evenhand.legal.records import read_distinct, write_records
from unit.legal import made_cases
from unit.legal.made_cases import court

NAMES = ["defendant_gender", "court_region"]


def record(number, **values):
    """A case of CAIL."""
    usual = {
        "case_id": f"c{number}",
        "source": "cail.jsonl",
        "date": date(2015, 1, number),
        "title": f"Case {number}",
        "language": "zh",
        "text": (f"被告人甲某，第{number}号。", "第二段。"),
        "labels": ("<=12",),
    }
    return made_cases.record(number, **usual | values)


def findings(record):
    """A finding for each attribute, the gender's with evidence."""
    words = record.text[0][:3]
    return [
        Finding("female", "stated_sex", 0.99, (Evidence("text", 0, 0, 3, words),)),
        Finding(None, "other_province", 0.99, (), ("province=Shanghai",)),
    ]


def write_parts(folder, files, found=findings, names=NAMES, kind="cail"):
    """Records, splits and findings on disk, as the stages before leave them."""
    records = []
    for number, cases in enumerate(files):
        records.append(folder / f"records_{number}.parquet")
        write_records(records[-1], cases)
    for place, name in enumerate(names):
        rows = [(one.case_id, found(one)[place]) for one in read_distinct(records)]
        write_findings(folder / "findings" / f"{name}.parquet", rows, court(kind))
    names = ("out", "counts", "splits", "duplicates", "split_counts")
    outputs = {name: folder / name for name in names}
    return {"records": records, "findings": folder / "findings"} | outputs


def build(folder, files, found=findings):
    arguments = write_parts(folder, files, found)
    result = stage.execute(build_cases, arguments)["counts"]
    assert json.loads(arguments["counts"].read_text()) == result
    out = arguments["out"]
    return {row["case_id"]: row for row in read_rows(out)}, result, out


def test_a_case(tmp_path):
    rows, counts, _ = build(tmp_path, [[record(1)]])
    assert rows["c1"] == {
        "case_id": "c1",
        "date": date(2015, 1, 1),
        "title": "Case 1",
        "language": "zh",
        "split": "train",
        "text": ["被告人甲某，第1号。", "第二段。"],
        "labels": [1],
        "label_known": True,
        "defendant_gender": "female",
        "defendant_gender_rule": "stated_sex",
        "defendant_gender_evidence": [
            {"part": "text", "paragraph": 0, "start": 0, "end": 3, "words": "被告人"}
        ],
        "court_region": None,
        "court_region_rule": "other_province",
        "court_region_evidence": [],
        "duplicate_of": None,
        "source": "cail.jsonl",
        "source_position": 1,
    }
    assert counts == {
        "cases": 1,
        "splits": {"train": 1, "dev": 0, "test": 0},
        "unlabelled": 0,
        "same_id": 0,
        "near_duplicates": 0,
        "unknown": {"defendant_gender": 0, "court_region": 1},
    }


def test_every_record_is_there_once(tmp_path):
    first = [record(i) for i in (1, 2, 3)]
    second = [record(2, title="another"), record(4), record(1), record(5)]
    third = [record(5)]
    rows, counts, _ = build(tmp_path, [first, second, third])
    assert list(rows) == ["c1", "c2", "c3", "c4", "c5"]
    assert rows["c2"]["title"] == "Case 2"
    assert (counts["cases"], counts["same_id"]) == (5, 3)


def test_near_duplicates_name_the_first(tmp_path):
    text = ("一段很长的案情，讲的是被告人在某县某村所做的一切事情，并没有别的内容。",)
    rows, counts, _ = build(tmp_path, [[record(2, text=text), record(1, text=text), record(3)]])
    assert [rows[f"c{i}"]["duplicate_of"] for i in (1, 2, 3)] == ["c2", None, None]
    assert counts["near_duplicates"] == 1


def test_unknown_labels(tmp_path):
    rows, counts, _ = build(tmp_path, [[record(1, labels=None), record(2, labels=("0",))]])
    assert (rows["c1"]["labels"], rows["c1"]["label_known"]) == ([], False)
    assert (rows["c2"]["labels"], rows["c2"]["label_known"]) == ([0], True)
    assert counts["unlabelled"] == 1


def test_several_labels_and_a_number_as_attribute(tmp_path):
    cases = [record(1, labels=("P1-1", "2", "6")), record(2, labels=())]
    names = [one.name for one in court("ecthr").attributes]
    nothing = Finding(None, "none", 0.0)

    def found(_):
        born = {"applicant_birth_year": Finding("1950", "born_in_year", 0.9)}
        return [born.get(name, nothing) for name in names]

    arguments = write_parts(tmp_path, [cases], found, names, "ecthr")
    build_cases(**arguments)
    one, other = read_rows(arguments["out"])
    assert one["labels"] == [0, 3, 9] and one["label_known"]
    assert other["labels"] == [] and other["label_known"]
    assert one["applicant_birth_year"] == "1950" and one["applicant_gender"] is None


@pytest.mark.parametrize(
    ("labels", "match"),
    [(("6",), "not in tuple"), (("0", "<=12"), "has 2 labels"), ((), "has 0 labels")],
)
def test_wrong_labels(tmp_path, labels, match):
    with pytest.raises(ValueError, match=match):
        build(tmp_path, [[record(1, labels=labels)]])


def test_files_that_do_not_belong_together(tmp_path):
    cases = [record(1), record(2)]
    arguments = write_parts(tmp_path, [cases])
    region = arguments["findings"] / "court_region.parquet"
    for wrong, error, match in (
        (cases[:1], ValueError, "is shorter"),
        (cases[::-1], InputError, f"{region}: has the case c2 where the records have c1"),
        ([*cases, record(3)], ValueError, "is longer"),
    ):
        write_findings(region, [(one.case_id, findings(one)[1]) for one in wrong], court("cail"))
        with pytest.raises(error, match=match):
            build_cases(**arguments)
