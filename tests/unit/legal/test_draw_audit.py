from dataclasses import replace

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText

from evenhand.errors import InputError
from evenhand.legal.declaration import COLUMN
from evenhand.legal.draw_audit import draw_audit, task
from evenhand.legal.findings import Finding, metadata_evidence, write_findings
from evenhand.sheets.tasks import group_of
from unit.cases import read_csv
from unit.legal.made_cases import court, evidence, record, write_found

LONG = "It rained. " * 100 + "He was born in 1950 in Ghent. " + "It rained. " * 100


NAME = "applicant_gender"


def case(number, rule="pronouns", value="male", **given):
    one = record(number, text=(f"He was number {number}.",), title=f"=Case {number}", **given)
    return one, Finding(value, rule, 0.9, (evidence(one, "He"),) if value else ())


@pytest.fixture
def arguments(tmp_path, repository):
    pairs = [case(n) for n in range(1, 31)]
    pairs += [case(n, "legal_person", None) for n in range(31, 34)]
    records, findings = write_found(tmp_path, pairs)
    return {
        "records": [records],
        "findings": findings,
        "instructions": repository / "workflow/evenhand/sentences/legal.draw_audit.jinja",
        "out": tmp_path / "audit",
        "dataset": "mine",
        "per_rule": 5,
    }


def rows_of(folder, name=NAME):
    return read_csv(folder / name / f"{name}.csv")


def drawn(arguments, **changed):
    draw_audit(**arguments | changed)
    return [row["case_id"] for row in rows_of(changed.get("out", arguments["out"]))]


def test_so_many_of_each_rule(arguments):
    counts = draw_audit(**arguments)
    assert counts == {"drawn": {NAME: {"legal_person": 3, "pronouns": 5}}, "frozen": []}
    rows = rows_of(arguments["out"])
    assert [row["rank"] for row in rows] == [str(n) for n in range(1, 9)]
    assert [row["rule"] for row in rows] == ["legal_person"] * 3 + ["pronouns"] * 5
    assert {row["value"] for row in rows[:3]} == {"n/a"}
    assert {row["right"] for row in rows} == {""}
    assert rows[0]["title"].startswith("'=Case")
    assert {row["attribute"] for row in rows} == {"applicant_gender"}


def test_the_words_are_marked(arguments):
    draw_audit(**arguments)
    book = openpyxl.load_workbook(arguments["out"] / NAME / f"{NAME}.xlsx", rich_text=True)
    sheet = book["findings"]
    names = [cell.value.split()[0] for cell in sheet[1]]
    row = {name: cell.value for name, cell in zip(names, sheet[5], strict=True)}
    assert isinstance(row["evidence"], CellRichText)
    assert next(str(part) for part in row["evidence"]) == "He"
    assert row["where"] == "facts 1"
    letters = dict(zip(names, (cell.column_letter for cell in sheet[1]), strict=True))
    assert sheet.column_dimensions[letters["attribute"]].hidden
    assert sheet.cell(5, names.index("title") + 1).data_type == "s"
    rule = next(one for one in sheet.data_validations.dataValidation if "right" in one.formula1)
    assert rule.formula1 == '"right,wrong,cannot_tell"'
    assert any("male,female,n/a" in one.formula1 for one in sheet.data_validations.dataValidation)
    assert "applicant_gender" in book["instructions"]["A1"].value


def test_the_draw_is_of_seed_and_case(arguments, tmp_path):
    first = drawn(arguments)
    assert drawn(arguments, out=tmp_path / "again") == first
    assert drawn(arguments, out=tmp_path / "other", seed=2) != first
    more = [case(n) for n in [*range(40, 43), *range(30, 0, -1)]]
    more += [case(n, "legal_person", None) for n in range(31, 34)]
    records, findings = write_found(tmp_path, more, "more")
    changed = drawn(arguments, out=tmp_path / "more", records=[records], findings=findings)
    new = {f"ecthr-{n}" for n in range(40, 43)}
    assert len(set(first) - set(changed)) <= len(new)
    assert set(changed) <= set(first) | new


def test_a_column_of_the_data_has_no_sheet(arguments):
    given = replace(court("ecthr").attribute("applicant_age"), module=COLUMN)
    dataset = replace(court("ecthr"), attributes=(court("ecthr").attribute(NAME), given))
    for name in (NAME, "applicant_age"):
        found = [(f"ecthr-{n}", Finding(None, "column", 1.0)) for n in range(1, 31)]
        write_findings(arguments["findings"] / f"{name}.parquet", found, dataset)
    assert draw_audit(**arguments)["drawn"] == {NAME: {"column": 5}}
    assert [path.name for path in arguments["out"].iterdir()] == [NAME]


def test_what_was_handed_out_stays(arguments, tmp_path):
    draw_audit(**arguments)
    kept = arguments["out"] / NAME / "handed_out.csv"
    records, findings = write_found(tmp_path, [case(77)], "changed")
    counts = draw_audit(
        **arguments
        | {"records": [records], "findings": findings, "out": tmp_path / "frozen"}
        | {"handed_out": [kept], "per_rule": 1}
    )
    assert counts == {"drawn": {NAME: {"legal_person": 3, "pronouns": 5}}, "frozen": [NAME]}
    for file in (arguments["out"] / NAME).iterdir():
        if file.suffix == ".csv":
            assert (tmp_path / "frozen" / NAME / file.name).read_bytes() == file.read_bytes()
    with pytest.raises(InputError, match="applicant_gender, or of another kind"):
        _, ages = write_found(tmp_path, [case(77)], "ages", "applicant_age")
        draw_audit(**arguments | {"handed_out": [kept], "findings": ages, "out": tmp_path / "age"})


def one_row(arguments, tmp_path, one, finding):
    records, findings = write_found(tmp_path, [(one, finding)], "one")
    draw_audit(**arguments | {"records": [records], "findings": findings})
    declared = task(court("ecthr").attribute(NAME))
    _, rows = group_of(arguments["out"] / NAME / "handed_out.csv", declared)
    (row,) = rows.values()
    return row


def test_a_part_of_a_long_paragraph_is_shown(arguments, tmp_path):
    one = record(1, text=("Start.",), context=("Header.", LONG))
    words = (evidence(one, "born in 1950", "context", 1), evidence(one, "Start"))
    row = one_row(arguments, tmp_path, one, Finding("male", "r", 1.0, words, ("a_flag",)))
    assert row["evidence"][row["mark_start"] : row["mark_end"]] == "born in 1950"
    assert row["evidence"].startswith("… ")
    assert row["evidence"].endswith(" …")
    assert len(row["evidence"]) < 850
    assert row["where"] == "context 2"
    assert row["more"] == "facts 1: Start | flag: a_flag"


def test_metadata_control_signs_and_formulas(arguments, tmp_path):
    one = record(1, text=("\x0b\x00 =He went.",), metadata={"respondent": "TURKEY"})
    row = one_row(
        arguments, tmp_path, one, Finding("male", "r", 1.0, (metadata_evidence(one, "respondent"),))
    )
    assert (row["where"], row["evidence"]) == ("metadata", "respondent=TURKEY")
    (tmp_path / "b").mkdir()
    arguments["out"] = tmp_path / "b" / "audit"
    row = one_row(arguments, tmp_path, one, Finding("male", "r", 1.0, (evidence(one, "He"),)))
    assert row["evidence"] == "=He went."
    assert row["evidence"][row["mark_start"] : row["mark_end"]] == "He"
    openpyxl.load_workbook(arguments["out"] / NAME / f"{NAME}.xlsx")


def test_nothing_to_point_at(arguments, tmp_path):
    one = record(1, text=("The first fact.", "The second fact."))
    row = one_row(arguments, tmp_path, one, Finding(None, "no_birth_sentence", 0.0))
    assert row["evidence"] == "The first fact. ¶ The second fact."
    assert (row["mark_start"], row["mark_end"]) == (0, 0)


def test_each_attribute_has_its_own_sheets(arguments, tmp_path):
    alone = drawn(arguments)
    ages = [("ecthr-1", Finding(None, "no_birth_sentence", 0.0))]
    write_findings(arguments["findings"] / "applicant_age.parquet", ages, court("ecthr"))
    counts = draw_audit(**arguments | {"out": tmp_path / "both"})
    assert counts["drawn"]["applicant_age"] == {"no_birth_sentence": 1}
    assert [row["case_id"] for row in rows_of(tmp_path / "both")] == alone
    (row,) = rows_of(tmp_path / "both", "applicant_age")
    assert (row["attribute"], row["value"]) == ("applicant_age", "n/a")
