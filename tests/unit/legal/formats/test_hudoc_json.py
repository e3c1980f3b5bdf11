import json
import tarfile
from datetime import date

import pytest

from unit.legal.made_judgments import FACTS, JUDGMENT, TEXT, flat, hudoc
from unit.legal.made_records import json_lines, read


def records(tmp_path, *rows, **options):
    return read("hudoc_json", [json_lines(tmp_path / "a.jsonl", *rows)], **options)


def test_a_record(tmp_path):
    (record,), counts = records(tmp_path, hudoc())
    assert record.text == TEXT and not counts
    assert (record.case_id, record.title) == ("001-1", "CASE OF GRANDE v. PORTUGAL")
    assert (record.date, record.language, record.split) == (date(2009, 5, 7), "en", None)
    assert record.source.endswith("a.jsonl") and record.source_position == 1
    assert record.labels == ("6",)
    assert record.metadata == {
        "application_number": "1234/05",
        "conclusion": "Violation of Art. 6-1",
        "document": "CHAMBER",
        "importance": "3",
        "respondent": "PRT",
        "violation": "6;6-1",
    }
    assert "Ms Ana Grande" in " ".join(record.context)
    assert "violation" not in " ".join(record.text)


@pytest.mark.parametrize(
    ("violation", "nonviolation", "labels", "others"),
    [
        ("3;5;5-1-f;P1-1;P1-1-1", "", ("3", "5", "P1-1"), None),
        ("P1-1;14+P1-1;14", "", ("14", "P1-1"), None),
        ("14+8", "", ("8", "14"), None),
        ("13;34;P4-2;10", "6", ("10",), "13;34;P4-2"),
        ("", "8;8-1", (), None),
        ("", "", None, None),
    ],
)
def test_labels(tmp_path, violation, nonviolation, labels, others):
    (record,), _ = records(tmp_path, hudoc(violation=violation, nonviolation=nonviolation))
    assert record.labels == labels
    assert record.metadata.get("other_violations") == others


@pytest.mark.parametrize(
    ("violation", "conclusion", "labels", "added", "differs"),
    [
        ("", "Violation of P1-1", ("P1-1",), "P1-1", 1),
        ("6;6-1", "Violation of Art. 6-1;Violation of P1-1", ("6", "P1-1"), "P1-1", 1),
        ("6;8", "Violation of Art. 6-1", ("6", "8"), None, 1),
        ("", "No violation of Art. 8", (), None, 0),
        ("6", "Struck out of the list", ("6",), None, 0),
    ],
)
def test_the_conclusion_is_compared(tmp_path, violation, conclusion, labels, added, differs):
    row = hudoc(violation=violation, conclusion=conclusion)
    (record,), counts = records(tmp_path, row)
    assert record.labels == labels and record.metadata.get("violation_by_conclusion") == added
    assert counts["conclusion_differs"] == differs


def test_what_finds_nothing_may_count_as_no_violation(tmp_path):
    (record,), _ = records(tmp_path, hudoc(violation=""), no_finding="no_violation")
    assert record.labels == ()


@pytest.mark.parametrize("article", ["88", "P3-1", "P1-9", "Rule 39", "0"])
def test_an_unknown_article_leaves_the_case_out(tmp_path, article):
    found, counts = records(tmp_path, hudoc(violation=f"6;{article}"))
    assert not found and counts == {"bad_label": 1}


def test_what_is_left_out(tmp_path):
    french = flat(
        "PROCÉDURE\n1. La requête est dirigée contre la France par une dame qui est née "
        "dans le pays et que la Cour a entendue sur les faits de la cause"
    )
    found, counts = records(
        tmp_path,
        hudoc(doc_type="ADMISSIBILITY"),
        hudoc(doc_type=""),
        hudoc(language="FRE"),
        hudoc(full_text=french),
        {"itemid": "001-9"},
        hudoc(full_text=["THE", "FACTS"]),
        hudoc(date="7 May"),
    )
    assert counts == {"not_a_judgment": 2, "other_language": 2, "missing_field": 2, "bad_date": 1}
    assert [one.date for one in found] == [None]


def test_documents_are_chosen(tmp_path):
    rows = [hudoc(itemid=kind, doc_type=kind) for kind in ("CHAMBER", "COMMITTEE", "GRANDCHAMBER")]
    found, counts = records(tmp_path, *rows, documents=["COMMITTEE"])
    assert [one.case_id for one in found] == ["COMMITTEE"] and counts["not_a_judgment"] == 2


def test_several_respondents_and_a_text_without_facts(tmp_path):
    rows = [hudoc(country="BEL; GRC"), hudoc(full_text=flat(JUDGMENT.replace(FACTS, "")))]
    (both, empty), counts = records(tmp_path, *rows)
    assert both.metadata["respondent"] == "BEL;GRC" and empty.text == () and not counts


def test_files_arrays_and_archives_give_the_same(tmp_path):
    single = tmp_path / "001-1.json"
    single.write_text(json.dumps(hudoc()), encoding="utf-8-sig")
    array = tmp_path / "all.json"
    array.write_text(json.dumps([hudoc(), hudoc(itemid="001-2")]), encoding="utf-8")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(single, "in/001-1.json")
        archive.add(single, "readme.md")
    found, counts = read("hudoc_json", [single, array, tmp_path / "all.tar.gz"])
    assert [one.case_id for one in found] == ["001-1", "001-1", "001-2", "001-1"]
    assert all(one.text == TEXT for one in found)
    assert [one.source_position for one in found] == [1, 1, 2, 1]
    assert found[3].source.endswith("all.tar.gz!in/001-1.json")
    assert counts == {"unknown_format": 1}


@pytest.mark.mirror
def test_the_real_files(mirror):
    found, counts = read("hudoc_json", [mirror / "ecthr" / "hudoc_json_en.tar.gz"])
    assert len(found) == 147 and counts == {"not_a_judgment": 96, "conclusion_differs": 1}
    assert all(one.text and one.date and one.context for one in found)
    assert sum(one.labels is None for one in found) == 2
    assert sum(bool(one.labels) for one in found) == 117
    numbered = sum(paragraph[0].isdigit() for one in found for paragraph in one.text)
    assert numbered >= 0.99 * sum(len(one.text) for one in found)
