import datetime

import pytest

from evenhand.legal.describe_cases import describe_cases
from unit.legal.made_cases import read_csv, write_cases

CASES = [
    {"labels": ["3", "6"], "defendant_state": "Rest of Europe", "applicant_gender": "male",
     "date": datetime.date(2001, 5, 4)},
    {"labels": [], "defendant_state": "Rest of Europe", "applicant_gender": "female",
     "date": datetime.date(2016, 1, 1), "duplicate_of": "ecthr-1"},
    {"labels": None, "defendant_state": "C.E. European", "date": datetime.date(2004, 1, 1)},
    {"labels": ["3"], "split": "test", "defendant_state": "C.E. European"},
]  # fmt: skip


def described(tmp_path, kind, cases, **options):
    data = write_cases(tmp_path / "d.parquet", kind, cases)
    outputs = {name: tmp_path / f"{name}.csv" for name in ("sizes", "groups", "labels")}
    counts = describe_cases(data=data, **outputs, kind=kind, dataset="mine", **options)
    tables = {name: read_csv(path) for name, path in outputs.items()}
    return counts, tables


@pytest.fixture
def ecthr(tmp_path):
    return described(tmp_path, "ecthr", CASES)


def only(rows, **wanted):
    (row,) = [one for one in rows if all(one[name] == value for name, value in wanted.items())]
    return row


def test_sizes(ecthr):
    counts, tables = ecthr
    assert counts == {
        "cases": 4,
        "splits": {"train": 3, "dev": 0, "test": 1},
        "unlabelled": 1,
        "reproduced": 0,
        "not_reproduced": 0,
    }
    sizes = tables["sizes"]
    assert only(sizes, quantity="task")["ours"] == "multi_label"
    assert only(sizes, quantity="classes")["ours"] == "10"
    assert only(sizes, quantity="classes that occur")["ours"] == "2"
    assert only(sizes, quantity="near duplicates")["share"] == "0.250000"
    assert only(sizes, quantity="labels known")["ours"] == "3"
    several = only(sizes, quantity="cases with several labels")
    assert (several["ours"], several["of"]) == ("1", "3")
    assert only(sizes, quantity="cases without a label")["ours"] == "1"
    assert only(sizes, quantity="groups", item="applicant_age")["ours"] == "3"
    assert only(sizes, quantity="group unknown", item="applicant_gender")["ours"] == "2"


def test_what_is_not_fairlexs_own_is_not_judged(ecthr):
    row = only(ecthr[1]["sizes"], quantity="cases", item="train")
    assert (row["ours"], row["published"], row["verdict"]) == ("3", "9000", "not_run")


def test_what_is_fairlexs_own_is_judged(tmp_path):
    counts, tables = described(tmp_path, "ecthr", CASES, published=True)
    sizes = tables["sizes"]
    assert only(sizes, quantity="cases", item="train")["verdict"] == "not_reproduced"
    years = only(sizes, quantity="years", item="train")
    assert (years["ours"], years["verdict"]) == ("2001-16", "reproduced")
    assert only(sizes, quantity="years", item="test")["verdict"] == "not_run"
    assert (counts["reproduced"], counts["not_reproduced"]) == (1, 4)


def test_groups_show_the_unknown_one_and_add_up(ecthr):
    groups = ecthr[1]["groups"]
    rows = [r for r in groups if r["attribute"] == "applicant_gender" and r["split"] == "train"]
    assert [(r["group"], r["cases"], r["of"]) for r in rows] == [
        ("male", "1", "3"),
        ("female", "1", "3"),
        ("n/a", "1", "3"),
    ]
    assert [r["share_known"] for r in rows] == ["0.500000", "0.500000", ""]
    dev = only(groups, attribute="applicant_gender", split="dev", group="male")
    assert (dev["cases"], dev["share"]) == ("0", "")
    for attribute in {row["attribute"] for row in groups}:
        for split in ("train", "dev", "test", "all"):
            rows = [r for r in groups if (r["attribute"], r["split"]) == (attribute, split)]
            assert sum(int(row["cases"]) for row in rows) == int(rows[0]["of"])


def test_labels(ecthr):
    labels = ecthr[1]["labels"]
    assert only(labels, split="all", label="3")["share"] == "0.666667"
    assert only(labels, split="train", label="none")["cases"] == "1"
    unknown = only(labels, split="train", label="unknown")
    assert (unknown["cases"], unknown["of"]) == ("1", "3")


def test_a_task_with_single_labels_has_no_none(tmp_path):
    _, tables = described(tmp_path, "cail", [{}, {"labels": [">120"]}])
    names = [row["label"] for row in tables["labels"] if row["split"] == "all"]
    assert names == ["0", "<=12", "<=36", "<=60", "<=120", ">120", "unknown"]
    assert not [r for r in tables["sizes"] if r["quantity"] == "cases without a label"]


def test_no_case_at_all(tmp_path):
    counts, tables = described(tmp_path, "scotus", [])
    assert counts["cases"] == 0
    assert {row["share"] for row in tables["groups"]} == {""}


def test_cases_without_a_split_are_told(tmp_path):
    _, tables = described(tmp_path, "scotus", [{"split": None}, {}])
    assert only(tables["sizes"], item="without a split")["ours"] == "1"
