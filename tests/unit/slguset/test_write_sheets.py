import csv
import json
import re
import xml.etree.ElementTree as ET

import openpyxl
import pyarrow.parquet as pq
import pytest

from evenhand.core.files import content_digest
from evenhand.errors import InputError
from evenhand.slguset.ledger import read_ledger
from evenhand.slguset.write_sheets import write_sheets
from made_sentences import candidate_row, made_sentences, write_sample

EVIL = ["=HYPERLINK(他)", "+1-她在家。", "@他。", "'=她在家。", "－爷爷<b>&。"]


@pytest.fixture
def templates(repository):
    folder = repository / "workflow/evenhand/slguset/templates/annotation"
    return {
        "instructions": folder / "instructions.md.jinja",
        "interface": folder / "label_studio.xml",
    }


@pytest.fixture
def sample(tmp_path):
    rows = [candidate_row(s) for s in EVIL + made_sentences(7)]
    return write_sample(tmp_path / "sample.parquet", rows)


@pytest.fixture
def folder(tmp_path, sample, templates):
    out = tmp_path / "sheets"
    counts = write_sheets(sample=sample, **templates, out=out)
    assert counts == {"sentences": 12, "annotators": 3}
    return out


def test_what_the_folder_holds(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        *(f"annotator_{n}.{suffix}" for n in (1, 2, 3) for suffix in ("csv", "xlsx")),
        "handed_out.csv",
        "instructions.md",
        "label_studio.json",
        "label_studio.xml",
    ]


def test_the_workbook(folder, sample):
    book = openpyxl.load_workbook(folder / "annotator_2.xlsx", rich_text=True)
    notes, sheet = book.worksheets
    text = "\n".join(str(cell.value) for (cell,) in notes.iter_rows() if cell.value)
    assert "annotator_2" in text
    assert "12 句" in text
    assert "12 sentences" in text
    header = [cell.value for cell in sheet[1]]
    assert header[:4] == ["rank 序号", "sentence 句子", "swapped_sentence 换词后", "answer 判断"]
    assert {str(rule.sqref): rule.formula1 for rule in sheet.data_validations.dataValidation} == {
        "D2:D13": '"accept,reject,unsure"',
        "E2:E13": '"a,b,c,name,other"',
    }
    rows = pq.read_table(sample).to_pylist()
    for number, row in enumerate(rows, start=2):
        cells = sheet[number]
        assert all(cell.data_type != "f" for cell in cells)
        assert str(cells[1].value) == row["sentence"]
        (red,) = [str(block) for block in cells[1].value if block.font.b]
        assert red == row["keyword"]
        (red,) = [str(block) for block in cells[2].value if block.font.b]
        assert red == row["opposite"]
        assert [cells[i].value for i in (3, 4, 5)] == [None] * 3
        assert [cells[i].value for i in (6, 7, 8)] == ["annotator_2", "r1", row["sentence_id"]]


def test_no_csv_cell_starts_a_formula(folder):
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for row in csv.reader(stream):
                assert not any(cell.startswith(tuple("=+-@＝＋－＠")) for cell in row)


def test_the_ledger_comes_back(folder, sample):
    entries = read_ledger([folder / "handed_out.csv"])
    rows = pq.read_table(sample).to_pylist()
    assert [(e.round, e.rank, e.sentence_id, e.sentence) for e in entries.values()] == [
        (row["round"], row["rank"], row["sentence_id"], row["sentence"]) for row in rows
    ]


def test_the_label_studio_project(folder, sample):
    tasks = json.loads((folder / "label_studio.json").read_text(encoding="utf-8"))
    rows = pq.read_table(sample).to_pylist()
    assert [task["data"]["sentence"] for task in tasks] == [row["sentence"] for row in rows]
    evil = tasks[4]["data"]
    assert "&lt;b&gt;&amp;" in evil["sentence_html"]
    assert re.findall(r"<b [^>]*>(.*?)</b>", evil["sentence_html"]) == ["爷爷"]
    assert re.findall(r"<b [^>]*>(.*?)</b>", evil["swapped_html"]) == ["奶奶"]
    config = ET.parse(folder / "label_studio.xml").getroot()
    shown = {node.get("value")[1:] for node in config.iter("HyperText")}
    assert shown <= set(tasks[0]["data"])
    choices = {
        node.get("name"): [choice.get("value") for choice in node]
        for node in config.iter("Choices")
    }
    assert choices == {
        "answer": ["accept", "reject", "unsure"],
        "criterion": ["a", "b", "c", "name", "other"],
    }


def test_two_writes_give_the_same_bytes(tmp_path, folder, sample, templates):
    write_sheets(sample=sample, **templates, out=tmp_path / "again")
    assert content_digest(tmp_path / "again") == content_digest(folder)


def test_annotators_can_be_named(tmp_path, sample, templates):
    out = tmp_path / "named"
    write_sheets(sample=sample, **templates, out=out, annotators=["王-1", "Li"])
    assert {path.stem for path in out.glob("*.xlsx")} == {"王-1", "Li"}


@pytest.mark.parametrize(
    "names", [["a", "A"], ["a", "../b"], ["a", "handed_out"], ["a", ""], ["a b"]]
)
def test_names_that_cannot_name_files_are_refused(tmp_path, sample, templates, names):
    with pytest.raises(InputError, match="cannot"):
        write_sheets(sample=sample, **templates, out=tmp_path / "o", annotators=names)
