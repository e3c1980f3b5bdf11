"""The contract of all tasks for people: drawing, handing out, and reading filled sheets."""

import random

import openpyxl
import pytest

from evenhand.errors import InputError
from evenhand.legal.draw_audit import task
from evenhand.sheets.tasks import (
    HANDED_OUT,
    Row,
    check_rows,
    chosen,
    draw,
    group_of,
    read_filled,
    read_handed_out,
    write_handed_out,
    write_sheet,
)
from evenhand.slguset.annotation import TASK as ANNOTATION
from unit.cases import read_csv
from unit.legal.made_cases import court

TASKS = {"annotation": ANNOTATION, "audit": task(court("ecthr").attributes[0])}


@pytest.fixture(params=TASKS)
def declared(request):
    return TASKS[request.param]


def rows_of(declared, count=3, group="one"):
    """What is handed out: text that looks like formulas, and keys of each task's form."""
    rows = []
    for rank in range(1, count + 1):
        row = {name: f"={name} {rank}" for name in declared.handed_out}
        row |= dict.fromkeys(declared.numbers, rank)
        rows.append(row | {declared.group: group, declared.key: f"{rank:016x}", "rank": rank})
    return rows


def test_items_are_drawn_by_digest():
    items = [(stratum, f"{stratum}{n}") for stratum in "ab" for n in range(50)]
    first = draw(items, {"a": 5, "b": 70}.get, "1")
    assert len(first) == 5 + 50 and len(set(first)) == 55
    random.Random(1).shuffle(items)
    assert sorted(draw(items, {"a": 5, "b": 70}.get, "1")) == sorted(first)
    assert set(draw(items, {"a": 5, "b": 0}.get, "2")) != set(first[:5])
    for n in range(50):
        more = draw([*items, ("a", f"new {n}")], {"a": 5, "b": 70}.get, "1")
        assert len(set(first) - set(more)) <= 1


def test_what_was_handed_out_comes_back(tmp_path, declared):
    rows = rows_of(declared)
    write_handed_out(tmp_path, declared, rows[::-1])
    assert group_of(tmp_path / HANDED_OUT, declared) == ("one", {r[declared.key]: r for r in rows})
    entry = read_handed_out([tmp_path / HANDED_OUT], declared)[rows[2][declared.key]]
    assert (entry.row, entry.line) == (rows[2], 2)
    write_handed_out(tmp_path, declared, [])
    assert group_of(tmp_path / HANDED_OUT, declared) == ("", {})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"key": f"{1:016x}"},
            r"handed_out\.csv:3: has the \w+ 0{15}1 or its rank a second time, after .*:2",
        ),
        ({"rank": 1}, r"handed_out\.csv:3: has the \w+ 0{15}2 or its rank a second time"),
        ({"rank": "x"}, r"handed_out\.csv:3: 'x' is not a rank"),
        ({"rank": "٣"}, r"handed_out\.csv:3: '٣' is not a rank"),
        ({"rank": "1" * 10}, r"handed_out\.csv:3: '1111111111' is not a rank"),
        ({"group": ""}, r"handed_out\.csv:3: the \w+ or the \w+ is malformed"),
        ({"key": ""}, r"handed_out\.csv:3: the \w+ or the \w+ is malformed"),
        ({"group": "two"}, r"handed_out\.csv: has 2 \w+s instead of one"),
    ],
)
def test_a_changed_list_is_refused(tmp_path, declared, change, problem):
    names = {"key": declared.key, "group": declared.group, "rank": "rank"}
    rows = rows_of(declared)
    rows[1] |= {names[name]: value for name, value in change.items()}
    write_handed_out(tmp_path, declared, rows)
    with pytest.raises(InputError, match=problem):
        group_of(tmp_path / HANDED_OUT, declared)


def test_the_key_of_a_sentence_has_a_form(tmp_path):
    row = rows_of(ANNOTATION, 1)[0] | {"sentence_id": "1.2E+15"}
    write_handed_out(tmp_path, ANNOTATION, [row])
    with pytest.raises(InputError, match="malformed"):
        read_handed_out([tmp_path / HANDED_OUT], ANNOTATION)


@pytest.fixture
def sheets(tmp_path, declared):
    """A workbook and a CSV of three items, filled with the first choice of each column."""
    rows = rows_of(declared)
    write_sheet(tmp_path, "me", declared, "# How\nJudge.", rows)
    cells = read_csv(tmp_path / "me.csv")
    assert all(row[name] == "" for row in cells for name in declared.answers())
    book = openpyxl.load_workbook(tmp_path / "me.xlsx")
    assert book.sheetnames == [declared.notes, declared.table]
    for place, column in enumerate(declared.columns, start=1):
        if column.choices and column.fill_in:
            for number in range(3):
                book[declared.table].cell(number + 2, place).value = column.choices[0]
    book.save(tmp_path / "me.xlsx")
    return tmp_path / "me.xlsx", tmp_path / "me.csv", rows


def test_workbook_and_csv_are_read_alike(sheets, declared):
    workbook, plain, rows = sheets
    expected = {(row[declared.group], row[declared.key]): row for row in rows}
    for path in (workbook, plain):
        read = read_filled(path, declared)
        check_rows(path, read, expected, declared)
        assert [row.number for row in read] == [2, 3, 4]
        for column in declared.columns:
            if column.choices and column.fill_in:
                answers = chosen(path, read, column.name, column.choices)
                assert answers == [column.choices[0] if path == workbook else None] * 3
    (plain.parent / "me.ods").write_bytes(b"x")
    with pytest.raises(InputError, match=r"me\.ods: is not a sheet; hand in xlsx or csv"):
        read_filled(plain.parent / "me.ods", declared)


@pytest.mark.parametrize("which", ["key", "group", "fixed", "twice", "column"])
def test_a_changed_row_is_named(sheets, declared, which):
    _, path, rows = sheets
    expected = {(row[declared.group], row[declared.key]): row for row in rows}
    read = read_filled(path, declared)
    if which == "column":
        path.write_text("rank,title\n1,x\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"me\.csv:1: has no column"):
            read_filled(path, declared)
        return
    if which == "twice":
        read.append(read[0]._replace(number=9))
        place, problem = 9, f"a {declared.item} occurs a second time"
    else:
        name = declared.fixed[0] if which == "fixed" else getattr(declared, which)
        read[1].cells[name] = "other"
        place = 3
        problem = "was changed: 'other'" if which == "fixed" else "was not handed out"
    with pytest.raises(InputError, match=rf"me\.csv:{place}: .*{problem}"):
        check_rows(path, read, expected, declared)


def test_answers_are_normalised_and_unknown_ones_counted(tmp_path):
    def read(*words, **options):
        rows = [Row(number, {"a": word}) for number, word in enumerate(words, start=2)]
        return chosen(tmp_path / "x.csv", rows, "a", ("Yes", "n/a"), **options)

    assert read(" ＹＥＳ", "", "N/A ", "ja", synonyms={"ja": "Yes"}) == ["Yes", None, "n/a", "Yes"]
    assert read("1951", "yes", numbers=True) == ["1951", "Yes"]
    with pytest.raises(InputError, match=r":2: .* in a: '1951'; fill in Yes or n/a"):
        read("1951")
    problem = (
        r"in a: 'x' \(12 rows: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \.\.\.\); fill in a number, Yes or"
    )
    with pytest.raises(InputError, match=problem):
        read(*"x" * 12, numbers=True)
