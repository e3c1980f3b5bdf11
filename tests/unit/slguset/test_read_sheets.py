import csv
import json
import shutil

import openpyxl
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InputError
from evenhand.slguset.annotation import write_round
from evenhand.slguset.read_sheets import SCHEMA, read_sheets
from made_sentences import ANNOTATION_TEMPLATES, candidate_row, made_sentences, write_sample
from unit.cases import read_csv

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
    assert rows[0]["assigned"] == names
    write_round(tmp_path / "sheets", rows, {}, **ANNOTATION_TEMPLATES)
    return tmp_path / "sheets"


def change_xlsx(path, change):
    """Fill in `accept` everywhere, then let `change` have the table."""
    book = openpyxl.load_workbook(path)
    sheet = book["sentences"]
    sheet.title = "sentences 句子"
    for row in range(2, len(SENTENCES) + 2):
        sheet.cell(row, 4).value = "accept"
    change(sheet)
    book.save(path)


def change_csv(path, change):
    rows = read_csv(path)
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


def read(folder, sample, sheets):
    out, adjudication = folder / "answers.parquet", folder / "adjudication"
    shutil.rmtree(adjudication, ignore_errors=True)
    counts = read_sheets(
        sample=sample,
        sheets=sheets,
        out=out,
        adjudication=adjudication,
        headings=["answers 各人判断"],
        synonyms=["不确定 unsure", "eher Nein reject"],
        **ANNOTATION_TEMPLATES,
    )
    return pq.read_table(out), counts


def refuse(folder, sample, sheets, match):
    with pytest.raises(InputError, match=match):
        read(folder, sample, sheets)


def set_cells(row, **cells):
    def change(rows):
        rows[row - 2].update(cells)

    return change


def test_xlsx_csv_and_other_forms_give_the_same_answers(folder, sample):
    def answers(sheet):
        for row, words in enumerate(["Accept", "ｒｅｊｅｃｔ", " 不确定", "Eher nein"], start=2):
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
        "waiting": 0,
        "comments_without_answer": 0,
        "adjudicated": 0,
        "to_adjudicate": 4,
        "of_lost": 0,
    }


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


def test_faults_of_a_label_studio_export(folder, sample):
    tasks = export(folder)
    tasks[2]["annotations"][0]["was_cancelled"] = True  # skipped
    del tasks[4]["annotations"][1]
    table, counts = read(folder, sample, [write_export(folder, tasks), filled(folder)[1]])
    assert (table.num_rows, counts["waiting"]) == (16 + 6, 0)
    refuse(folder, sample, [write_export(folder, {})], "has no row")
    nameless, listed, other = (export(folder) for _ in range(3))
    nameless[0]["annotations"][0]["completed_by"] = float("inf")
    listed[0]["data"]["round"] = ["r1"]
    for broken in ([1], [{"data": {}}], "x", [{"annotations": [{"result": []}]}], nameless, listed):
        path = write_export(folder, broken)
        refuse(folder, sample, [path], "is not an export of Label Studio")
    path.write_text("[" * 5000, encoding="utf-8")
    refuse(folder, sample, [path], "is not an export of Label Studio")
    other[3]["annotations"][0]["result"][0]["from_name"] = "sentence"
    path = write_export(folder, other)
    refuse(folder, sample, [path], r":4: p1@x\.org named a criterion and left")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_cells(4, answer="", criterion="b"), r"annotator_1\.csv:4: annotator_1 named a crit"),
        (set_cells(4, answer="maybe"), r":4: there is an unknown answer in answer: 'maybe'"),
        (set_cells(5, answer="reject", criterion="d"), r":5: .* unknown answer in criterion: 'd'"),
        (set_cells(5, criterion="a"), r":5: a sentence is accepted, and yet"),
        (set_cells(3, annotator=""), r":3: the annotator is blank"),
        (set_cells(3, annotator="annotator_2"), r":3: has rows of several annotators"),
    ],
)
def test_faults_are_named_with_file_and_row(folder, sample, change, match):
    refuse(folder, sample, filled(folder, change), match)


def test_untouched_sheets_wait(folder, sample, capsys):
    sheets = [folder / f"annotator_{n}.xlsx" for n in (1, 2, 3)]
    table, counts = read(folder, sample, sheets)
    assert (table.num_rows, counts["waiting"], counts["annotators"]) == (0, 6, [])
    assert "6 of 6 sentences wait for answers" in capsys.readouterr().err


def test_two_answers_of_one_annotator_are_refused(folder, sample):
    paths = filled(folder)
    copy = folder / "copy of annotator_1.csv"
    copy.write_bytes(paths[0].read_bytes())
    refuse(
        folder, sample, [*paths, copy],
        r"copy of .*:2: annotator_1 has answered this sentence in .*annotator_1\.csv already "
        r"\(6 rows: 2, 3, 4, 5, 6, 7\); keep the answer",
    )  # fmt: skip


def test_sheets_come_in_parts_and_annotators_take_each_others_place(folder, sample, capsys):
    """The first of three sheets in two files, the second by another person, the third half done."""
    first, second, third = filled(folder)
    part = folder / "part.csv"
    part.write_bytes(first.read_bytes())
    change_csv(first, lambda rows: rows[:2])
    change_csv(part, lambda rows: rows[2:])
    change_csv(second, lambda rows: [row | {"annotator": "zhou"} for row in rows])
    change_csv(third, set_cells(7, answer="", comment="later"))
    table, counts = read(folder, sample, [third, part, first, second])
    assert counts["comments_without_answer"] == 1
    assert counts["annotators"] == ["annotator_1", "annotator_3", "zhou"]
    assert (table.num_rows, counts["waiting"], counts["answers"]["accept"]) == (17, 1, 17)
    assert capsys.readouterr().err == (
        "1 of 6 sentences wait for answers\n"
        "1 comments have no answer beside them; they are not kept\n"
    )


def adjudicated(folder, sample, **cells):
    """Three sheets that differ in row 3, and the adjudicator's with `cells`."""
    sheets = filled(folder, set_cells(3, answer="reject", criterion="b", comment="=不同"))
    _, counts = read(folder, sample, sheets)
    assert (counts["to_adjudicate"], counts["adjudicated"]) == (1, 0)
    sheet = folder / "adjudicator.csv"
    sheet.write_bytes((folder / "adjudication/adjudicator.csv").read_bytes())
    rows = read_csv(sheet)
    assert [row["annotator"] for row in rows] == ["adjudicator"]
    assert rows[0]["answers"].split("\n")[:2] == [
        "annotator_1: reject (b), =不同",
        "annotator_2: accept",
    ]
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows([rows[0] | cells])
    return [*sheets, sheet]


def test_disagreements_are_adjudicated(folder, sample):
    sheets = adjudicated(folder, sample, answer="accept")
    table, counts = read(folder, sample, sheets)
    assert (counts["to_adjudicate"], counts["adjudicated"], table.num_rows) == (0, 1, 19)
    assert "adjudicator" not in counts["annotators"]
    assert sum(counts["answers"].values()) == 18
    book = openpyxl.load_workbook(folder / "adjudication/adjudicator.xlsx")
    assert "Your answer decides" in "".join(str(c.value) for (c,) in book.worksheets[0].iter_rows())
    assert "您的判断为最后决定" in "".join(str(c.value) for (c,) in book.worksheets[0].iter_rows())
    assert "answers 各人判断" in [cell.value for cell in book.worksheets[1][1]]
    again = adjudicated(folder, sample)  # handed in blank
    assert read(folder, sample, again)[1]["to_adjudicate"] == 1


def test_adjudication_in_label_studio(folder, sample):
    sheets = adjudicated(folder, sample)[:3]
    [task] = json.loads((folder / "adjudication/label_studio.json").read_text(encoding="utf-8"))
    assert "annotator_1: reject (b), =不同<br>" in task["data"]["swapped_html"]
    choice = {"from_name": "answer", "value": {"choices": ["reject"]}}
    task["annotations"] = [{"completed_by": 7, "result": [choice]}]
    table, counts = read(folder, sample, [*sheets, write_export(folder, [task])])
    assert (counts["adjudicated"], counts["to_adjudicate"]) == (1, 0)
    assert table.to_pylist()[3] | {"comment": None} == {
        "sentence_id": pq.read_table(sample)["sentence_id"][1].as_py(),
        "annotator": "adjudicator", "answer": "reject", "criterion": None, "comment": None,
    }  # fmt: skip


def test_answers_to_lost_sentences_are_kept_and_do_not_count(folder, sample):
    rows = pq.read_table(sample).to_pylist()
    rows[2] |= {"lost": True}
    sample = write_sample(folder / "sample.parquet", rows)
    sheets = filled(folder, set_cells(4, answer="reject"))
    table, counts = read(folder, sample, sheets)
    assert (counts["sentences"], counts["of_lost"], table.num_rows) == (5, 3, 18)
    assert counts["to_adjudicate"] == 0
