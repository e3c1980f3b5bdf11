import csv
import json

import openpyxl
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.annotation_sheets import write_round
from evenhand.slguset.read_sheets import SCHEMA, read_sheets
from made_sentences import ANNOTATION_TEMPLATES, candidate_row, made_sentences, write_sample

SENTENCES = ["=他在家。", "'=她在家。", *made_sentences(4)]
HEADER = ["rank", "sentence", "swapped_sentence", "answer", "criterion", "comment", "annotator",
          "round", "sentence_id"]  # fmt: skip


@pytest.fixture
def sample(tmp_path):
    return write_sample(tmp_path / "sample.parquet", [candidate_row(s) for s in SENTENCES])


@pytest.fixture
def folder(tmp_path, sample):
    names = [f"annotator_{n}" for n in (1, 2, 3)]
    rows = pq.read_table(sample).to_pylist()
    write_round(tmp_path / "sheets", rows, names, **ANNOTATION_TEMPLATES)
    return tmp_path / "sheets"


def change_xlsx(path, change):
    """Fill in `accept` everywhere, then let `change` have the table."""
    book = openpyxl.load_workbook(path)
    sheet = book["sentences 句子"]
    for row in range(2, len(SENTENCES) + 2):
        sheet.cell(row, 4).value = "accept"
    change(sheet)
    book.save(path)


def change_csv(path, change):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["answer"] = "accept"
    rows = change(rows) or rows
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, HEADER)
        writer.writeheader()
        writer.writerows(rows)


def filled(folder, change=lambda rows: None):
    """The three sheets as CSV, all filled with accept but for a change to the first."""
    paths = [folder / f"annotator_{n}.csv" for n in (1, 2, 3)]
    change_csv(paths[0], change)
    for path in paths[1:]:
        change_csv(path, lambda rows: None)
    return paths


def read(folder, sample, sheets, **options):
    out = folder / "answers.parquet"
    counts = read_sheets(sample=sample, sheets=sheets, out=out, **options)
    return pq.read_table(out), counts


def refuse(folder, sample, sheets, match, **options):
    with pytest.raises(InputError, match=match):
        read(folder, sample, sheets, **options)


def set_cells(row, **cells):
    def change(rows):
        rows[row - 2].update(cells)

    return change


def test_xlsx_csv_and_other_forms_give_the_same_answers(folder, sample):
    def answers(sheet):
        for row, words in enumerate(["Accept", "ｒｅｊｅｃｔ", " 不确定", "不接受"], start=2):
            sheet.cell(row, 4).value = words
        sheet.cell(3, 5).value = "B"
        sheet.cell(3, 6).value = "=1+1 看不懂"
        sheet.cell(3, 6).data_type = "s"

    change_xlsx(folder / "annotator_1.xlsx", answers)
    change_csv(folder / "annotator_2.csv", lambda rows: rows[::-1])
    change_csv(folder / "annotator_3.csv", set_cells(2, answer="reject", criterion="name"))
    paths = [folder / "annotator_3.csv", folder / "annotator_1.xlsx", folder / "annotator_2.csv"]
    table, counts = read(folder, sample, paths)
    assert table.schema.equals(SCHEMA)
    rows = table.to_pylist()
    names = ["annotator_1", "annotator_2", "annotator_3"]
    assert [row["annotator"] for row in rows] == names * len(SENTENCES)
    ids = pq.read_table(sample)["sentence_id"].to_pylist()
    assert [row["sentence_id"] for row in rows] == [one for one in ids for _ in names]
    first = [row for row in rows if row["annotator"] == "annotator_1"]
    assert [row["answer"] for row in first] == [
        "accept", "reject", "unsure", "reject", "accept", "accept",
    ]  # fmt: skip
    assert (first[1]["criterion"], first[1]["comment"]) == ("b", "=1+1 看不懂")
    assert rows[2]["criterion"] == "name"
    assert counts == {
        "sentences": 6,
        "annotators": names,
        "answers": {"accept": 14, "reject": 3, "unsure": 1},
    }


def test_order_of_the_files_does_not_matter(folder, sample):
    paths = filled(folder)
    first, _ = read(folder, sample, paths)
    assert read(folder, sample, paths[::-1])[0].equals(first)


def export(folder, people=(1, 2, 3)):
    """What Label Studio exports as JSON."""
    tasks = json.loads((folder / "label_studio.json").read_text(encoding="utf-8"))
    for number, task in enumerate(tasks):
        task["annotations"] = [
            {
                "completed_by": {"email": f"p{n}@x.org"} if n == 1 else n,
                "was_cancelled": False,
                "result": [
                    {
                        "from_name": "answer",
                        "value": {"choices": ["reject" if number else "accept"]},
                    },
                    *(
                        [
                            {"from_name": "criterion", "value": {"choices": ["c"]}},
                            {"from_name": "comment", "value": {"text": ["怀孕", "二"]}},
                        ]
                        if number
                        else []
                    ),
                ],
            }
            for n in people
        ]
    return tasks


def write_export(folder, tasks):
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_a_label_studio_export_is_read(folder, sample):
    table, counts = read(folder, sample, [write_export(folder, export(folder))])
    assert counts["annotators"] == ["2", "3", "p1@x.org"]
    rows = table.to_pylist()
    assert [rows[0][name] for name in ("answer", "criterion", "comment")] == ["accept", None, None]
    assert [rows[3][name] for name in ("answer", "criterion", "comment")] == [
        "reject",
        "c",
        "怀孕\n二",
    ]


def test_a_label_studio_export_and_sheets_go_together(folder, sample):
    paths = [write_export(folder, export(folder, people=(1,))), *filled(folder)[1:]]
    _, counts = read(folder, sample, paths)
    assert counts["annotators"] == ["annotator_2", "annotator_3", "p1@x.org"]


def test_faults_of_a_label_studio_export(folder, sample):
    tasks = export(folder)
    tasks[2]["annotations"][0]["was_cancelled"] = True
    refuse(folder, sample, [write_export(folder, tasks)], r"export\.json:3: p1@x\.org left")
    tasks = export(folder)
    del tasks[4]["annotations"][1]
    refuse(folder, sample, [write_export(folder, tasks)], r"lacks 1 of 6 sentences \(rank 5\)")
    for broken in ({}, [1], [{"data": {}}], "x", [{"annotations": [{"result": []}]}]):
        if broken == {}:
            refuse(folder, sample, [write_export(folder, broken)], "has no row")
        else:
            refuse(
                folder, sample, [write_export(folder, broken)], "is not an export of Label Studio"
            )
    path = folder / "export.json"
    for text in ("[" * 5000, "[9" + "9" * 5000, '"\\ud800"'):
        path.write_text(text, encoding="utf-8")
        refuse(folder, sample, [path], "is not an export of Label Studio")
    tasks = export(folder)
    tasks[0]["annotations"][0]["completed_by"] = float("inf")
    refuse(folder, sample, [write_export(folder, tasks)], "is not an export of Label Studio")
    tasks = export(folder)
    tasks[0]["data"]["round"] = ["r1"]
    refuse(folder, sample, [write_export(folder, tasks)], "is not an export of Label Studio")
    tasks = export(folder)
    tasks[0]["annotations"][0]["result"][0]["from_name"] = "sentence"
    refuse(folder, sample, [write_export(folder, tasks)], r":1: p1@x\.org left the answer blank")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_cells(4, answer=""), r"annotator_1\.csv:4: annotator_1 left the answer blank;"),
        (set_cells(4, answer="maybe"), r":4: there is an unknown answer in answer: 'maybe'"),
        (set_cells(5, answer="reject", criterion="d"), r":5: .* unknown answer in criterion: 'd'"),
        (set_cells(5, criterion="a"), r":5: a sentence is accepted, and yet"),
        (set_cells(3, annotator=""), r":3: the annotator is blank"),
        (set_cells(3, annotator="annotator_2"), r":3: has rows of several annotators"),
        (lambda rows: rows[:4], r"annotator_1\.csv: lacks 2 of 6 sentences \(rank 5, 6\)"),
    ],
)
def test_faults_are_named_with_file_and_row(folder, sample, change, match):
    refuse(folder, sample, filled(folder, change), match)


def test_many_faults_are_counted(folder, sample):
    def blank(rows):
        for row in rows[1:]:
            row["answer"] = ""

    refuse(folder, sample, filled(folder, blank), r"blank \(5 rows: 3, 4, 5, 6, 7\); fill in")


def test_untouched_sheets_are_refused(folder, sample):
    sheets = [folder / f"annotator_{n}.xlsx" for n in (1, 2, 3)]
    refuse(
        folder, sample, sheets, r"annotator_1\.xlsx:2: annotator_1 left the answer blank \(6 rows"
    )


def test_a_formula_is_no_answer(folder, sample):
    change_xlsx(folder / "annotator_1.xlsx", lambda sheet: sheet.__setitem__("D3", '="accept"'))
    sheets = [folder / "annotator_1.xlsx", *filled(folder)[1:]]
    refuse(folder, sample, sheets, ":3: there is an unknown answer in answer")


def test_two_files_of_one_annotator_are_refused(folder, sample):
    paths = filled(folder)
    copy = folder / "copy of annotator_1.csv"
    copy.write_bytes(paths[0].read_bytes())
    refuse(folder, sample, [*paths, copy], r"copy of .*is a second sheet of annotator_1, after")


def test_too_few_or_too_many_annotators_are_refused(folder, sample):
    paths = filled(folder)
    refuse(folder, sample, paths[:2], r"2 annotators \(annotator_1, annotator_2\), not of 3")
    refuse(folder, sample, [], r"0 annotators \(none\), not of 3")
    refuse(folder, sample, paths, "3 annotators", annotators=2)
    _, counts = read(folder, sample, paths[:2], annotators=2)
    assert counts["answers"]["accept"] == 12


def test_a_sheet_without_rows_is_refused(folder, sample):
    path = folder / "annotator_1.csv"
    path.write_text(",".join(HEADER) + "\n", encoding="utf-8")
    refuse(folder, sample, [path], "has no row")
