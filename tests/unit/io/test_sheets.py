import csv
import zipfile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io import sheets
from evenhand.io.sheets import Column, Marked, guarded, unguarded

COLUMNS = [
    Column("rank", "序号", 6),
    Column("sentence", "句子", 60),
    Column("answer", "判断", 10, choices=("accept", "reject"), fill_in=True),
    Column("sentence_id", "", 20, hidden=True),
]
EVIL = '=HYPERLINK("http://x.y","他")'


def write(path, rows=None):
    rows = rows or [
        [1, Marked(EVIL, 25, 26), None, "aa"],
        [2, Marked("他在家。", 0, 1), "+1", "bb"],
        [3, "@SUM(1)", "accept", "cc"],
    ]
    sheets.write_workbook(
        path, notes=("notes", "# 说明\n=1+1\n\nText."), table="rows", columns=COLUMNS, rows=rows
    )


@given(st.text())
def test_guarding_can_be_undone_and_nothing_starts_a_formula(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple("=+-@\t\r\n＝＋－＠"))


def test_no_cell_is_a_formula(tmp_path):
    write(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx", rich_text=True)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert EVIL in {str(cell.value) for cell in cells}
    assert "=1+1" in {str(cell.value) for cell in cells}
    assert all(cell.data_type != "f" for cell in cells)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        for name in archive.namelist():
            assert b"<f>" not in archive.read(name)


def test_the_table_is_easy_to_fill(tmp_path):
    write(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx", rich_text=True)
    assert book.sheetnames == ["notes", "rows"]
    assert book.active.title == "rows"
    sheet = book["rows"]
    assert sheet.freeze_panes == "A2"
    assert sheet.column_dimensions["B"].width == 60
    assert sheet.column_dimensions["D"].hidden
    (rule,) = sheet.data_validations.dataValidation
    assert rule.type == "list"
    assert rule.formula1 == '"accept,reject"'
    assert str(rule.sqref) == "C2:C4"
    marked = sheet["B3"].value
    assert [(str(block), bool(block.font.b)) for block in marked] == [
        ("他", True),
        ("在家。", False),
    ]
    assert sheet["C2"].number_format == "@"


def test_two_writes_give_the_same_bytes(tmp_path, monkeypatch):
    write(tmp_path / "a.xlsx")
    monkeypatch.setattr("time.time", lambda: 2e9)
    monkeypatch.setattr("time.localtime", lambda *_: (2033, 5, 18, 3, 33, 20, 2, 138, 0))
    write(tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = archive.read("docProps/core.xml").decode()
    assert core.count("1980-01-01T00:00:00Z") == 2


def test_a_workbook_comes_back(tmp_path):
    write(tmp_path / "a.xlsx")
    rows = list(sheets.read_workbook(tmp_path / "a.xlsx", "rows", ["sentence_id", "sentence"]))
    assert rows == [
        (2, {"sentence_id": "aa", "sentence": EVIL}),
        (3, {"sentence_id": "bb", "sentence": "他在家。"}),
        (4, {"sentence_id": "cc", "sentence": "@SUM(1)"}),
    ]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no", b"a,b\n1,2\n"])
def test_what_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(InputError, match="no xlsx workbook"):
        list(sheets.read_workbook(tmp_path / "a.xlsx", "rows", ["sentence"]))


def test_a_sheet_with_a_cell_far_away_is_refused(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "rows"
    book.active["XFD1048576"] = "x"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="has 1048576 rows and 16384 columns; delete"):
        list(sheets.read_workbook(tmp_path / "a.xlsx", "rows", ["sentence"]))


def test_a_missing_sheet_or_column_is_named(tmp_path):
    write(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="no sheet 'other'"):
        list(sheets.read_workbook(tmp_path / "a.xlsx", "other", ["sentence"]))
    with pytest.raises(InputError, match=":1: has no column colour"):
        list(sheets.read_workbook(tmp_path / "a.xlsx", "rows", ["colour"]))


TABLE = [["x", EVIL], ["'quoted", '“引号”,逗号;分号\n换行"'], ["-1", "－２"]]


def test_a_csv_file_comes_back_and_holds_no_formula(tmp_path):
    path = tmp_path / "a.csv"
    sheets.write_csv(path, ["one", "two", "=three"], TABLE)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        raw = [cell for row in csv.reader(stream) for cell in row]
    assert not any(cell.startswith(tuple("=+-@＝＋－＠")) for cell in raw)
    rows = [[row["one"], row["two"]] for _, row in sheets.read_csv(path, ["one", "two"])]
    assert rows == TABLE


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_file_may_come_back_in_other_forms(tmp_path, delimiter, encoding, end):
    rows = [["two", "extra", "one"], ["她說，好", "", "甲;乙"], ["", "", ""], ["b", "", "a"]]
    with (tmp_path / "a.csv").open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, delimiter=delimiter, lineterminator=end).writerows(rows)
    assert list(sheets.read_csv(tmp_path / "a.csv", ["one", "two"])) == [
        (2, {"one": "甲;乙", "two": "她說，好"}),
        (4, {"one": "a", "two": "b"}),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x81\xff\xff", "no encoding that is known"),
        (b"", ":1: has no column one"),
        (b"one,one\n", ":1: has more than one column one"),
        (b"one,two\na,b,c\n", ":2: has more cells"),
        (b'one,two\na,"b\nc', "not a whole CSV file"),
    ],
)
def test_a_broken_csv_file_is_refused(tmp_path, content, problem):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        list(sheets.read_csv(tmp_path / "a.csv", ["one"]))
