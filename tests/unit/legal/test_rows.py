import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.limits import LimitError
from evenhand.errors import InputError
from evenhand.io.members import Member
from evenhand.io.quarantine import Quarantine
from evenhand.legal import rows
from evenhand.legal.formats.swiss_judgment import find_facts, read_headings, sentences
from evenhand.legal.rows import (
    CaseFiles,
    RejectedError,
    joined_text,
    paragraphs_of,
    plain,
    split_of,
    tidy,
    western_lines,
    western_text,
)
from unit.legal.made_records import FOLDER


def rows_of(path, content):
    """Return position, unit and fields of each row of a file, and the counts of the quarantine."""
    path.write_text(content, encoding="utf-8")
    cases = CaseFiles([path], Quarantine())
    return [row[1:] for row in cases.rows()], dict(cases.quarantine.counts)


A, B = {"a": "x\u2028y"}, {"b": [1, 2.5]}


@pytest.mark.parametrize(
    ("name", "content", "unit"),
    [
        ("a.jsonl", f"{json.dumps(A)}\n\n{json.dumps(B)}\n", "line"),
        ("a.ndjson", f"{json.dumps(A, ensure_ascii=False)}\n\n{json.dumps(B)}", "line"),
        ("a.json", f"{json.dumps(A)}\n\n{json.dumps(B)}\n", "line"),
        ("a.json", json.dumps([A, B], indent=2), "record"),
        ("a.json", f"{json.dumps(A, indent=1)}{json.dumps(B, indent=1)}", "record"),
    ],
)
def test_all_layouts_of_json(tmp_path, name, content, unit):
    second = 3 if unit == "line" else 2
    assert rows_of(tmp_path / name, content) == ([(1, unit, A), (second, unit, B)], {})


@pytest.mark.parametrize(
    ("name", "content", "positions", "counts"),
    [
        ("a.jsonl", '{"a": 1}\n{"a"\n[2]\n{"a": 2}\n', [1, 4], {"broken_json": 2}),
        ("a.json", '[{"a": 1}, "x", {"a": 2}, {"a"', [1, 3], {"broken_json": 2}),
        (
            "a.jsonl",
            '{"a": "\\ud83d\\ude00"}\n{"a": "\\ud800"}\n',
            [1, 2],
            {"undecodable_bytes": 1},
        ),
        ("a.json", '[{"a": 1}, {"a": "\\ud800"}]', [1, 2], {"undecodable_bytes": 1}),
        ("a.json", '[{"a": 1}, {"a": ' + "[" * 5000, [1], {"too_deep": 1}),
        ("a.jsonl", '{"a": 1}\n{"a": ' + "[" * 5000 + "\n", [1], {"too_deep": 1}),
        ("a.json", " \n", [], {"broken_json": 1, "empty_file": 1}),
        ("a.json", "", [], {"empty_file": 1}),
        ("a.txt", "{}", [], {"unknown_format": 1}),
        ("a.csv", 'a,b\n1,"x\ny"\n\n2\n3,"z" z\n4,\u00e9\n', [2, 7], {"broken_csv": 2}),
        ("a.csv", 'a,b\n1,2\n3,"4\n5,6\n7,8\n', [2, 4, 5], {"broken_csv": 1}),
        ("a.csv", "a,b\n1,2,3\n4,5\n", [3], {"broken_csv": 1}),
    ],
)
def test_broken_rows_go_to_the_quarantine(tmp_path, name, content, positions, counts):
    found, quarantined = rows_of(tmp_path / name, content)
    assert [row[0] for row in found] == positions and quarantined == counts


def test_cells_of_a_table(tmp_path):
    found, _ = rows_of(tmp_path / "a.tsv", 'a\tb\n1\t"x\ny"\n')
    assert found == [(2, "line", {"a": "1", "b": "x\ny"})]
    with pytest.raises(InputError, match="the column 'a' twice"):
        rows_of(tmp_path / "a.csv", "a,a\n1,2\n")


@given(st.lists(st.text()))
def test_tidy_paragraphs_stay_as_they_are(paragraphs):
    once = tidy(paragraphs)
    assert tidy(once) == once and all(line == line.strip() and line for line in once)
    assert not any("\u00a0" in line or "\n" in line for line in once)


def test_paragraphs():
    assert paragraphs_of("a\nb\r\nc") == ("a", "b", "c")
    assert paragraphs_of("a\nb\r\n \r\nc\n") == ("a b", "c")
    assert paragraphs_of("<p>a &lt; b</p><p>c<br>d</p>") == ("a < b", "c", "d")
    assert paragraphs_of("1 < 2 and 3 > 2") == ("1 < 2 and 3 > 2",)
    assert paragraphs_of("\ufeff\u00ad \u200b") == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((None, ""), (float("nan"), ""), (" NaN ", ""), ("<NA>", ""), (True, "1"), (7, "7")),
        *((28.0, "28"), ("28.0", "28"), (2.5, "2.5"), ("329 U.S. 1", "329 U.S. 1")),
    ],
)
def test_plain_values(value, text):
    assert plain(value) == text


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"),
        ("a/val.jsonl.gz", "dev"),
        ("x.zip!b/test.csv", "test"),
        ("scotus.dev.jsonl", "dev"),
        ("validation-00000-of-00001.parquet", "dev"),
        ("training.jsonl", None),
        ("train/cases.jsonl", None),
    ],
)
def test_the_part_that_a_name_says(name, split):
    assert split_of(name) == split


def test_lines_in_two_encodings():
    data = "é utf-8\n".encode() + "é cp1252\n".encode("cp1252") + b"\x9d latin-1"
    chunks = [data[:1], data[1:12], data[12:]]
    lines = list(western_lines(Member("m", "m", iter(chunks))))
    assert lines == ["é utf-8\n", "é cp1252\n", "\x9d latin-1"]
    assert western_text(b"\xef\xbb\xbfa") == "a"


def test_a_file_and_a_line_that_are_too_long(monkeypatch):
    monkeypatch.setattr(rows, "CASE_CHARACTERS", 3)
    with pytest.raises(LimitError, match="longer than 3 bytes"):
        joined_text([b"ab", b"cd"], "bytes")
    assert joined_text([b"ab", b"c"], "bytes") == b"abc"
    lines = western_lines(Member("m", "m", iter([b"a\nbc", b"de"])))
    assert next(lines) == "a\n"
    with pytest.raises(LimitError, match="a line longer than 3 bytes"):
        next(lines)


# --- Swiss facts -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def headings():
    return read_headings(FOLDER / "swiss_headings.csv")


def test_facts_end_where_the_reasons_begin(headings):
    text = "Urteil vom Mai.\nSachverhalt:\nA.\nEr klagt.\nErwägungen:\n1.\nDie Klage ist gut."
    assert find_facts(text, headings) == (("A.", "Er klagt."), ("Urteil vom Mai.",))
    assert find_facts(text.replace("\n", " "), headings)[0] == ("A. Er klagt.",)


def test_words_of_a_heading_in_a_sentence_are_none(headings):
    text = "Faits :\nEn droit, le juge a retenu ceci.\nVu : rien."
    assert find_facts(text, headings)[0] == ("En droit, le juge a retenu ceci.", "Vu : rien.")
    text = "Sie bestreitet den Sachverhalt."
    assert find_facts(text, headings)[0] == (text,)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Considérant en fait et en droit :\n1.\nRejeté.", "stand together"),
        ("Considérant en fait et en droit : 1. Rejeté.", "stand together"),
        ("Fatti:\n", "nothing under"),
        ("Diritto:\n1.", "nothing under"),
        ("que le recours est tardif,\nque la cour", "begins with the reasons"),
    ],
)
def test_texts_without_facts_of_their_own(headings, text, problem):
    with pytest.raises(RejectedError, match=problem):
        find_facts(text, headings)


@given(st.text(alphabet="aA ._1?!Ä", max_size=200))
def test_sentences_lose_nothing(text):
    text = " ".join(text.split())
    if text:
        assert " ".join(sentences(text)) == text
