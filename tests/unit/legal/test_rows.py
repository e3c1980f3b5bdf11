import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.limits import LimitError
from evenhand.errors import InputError
from evenhand.io.members import Member
from evenhand.io.quarantine import Quarantine
from evenhand.legal import rows
from evenhand.legal.objects import RejectedError
from evenhand.legal.paragraphs import paragraphs_of, tidy
from evenhand.legal.rows import plain, read_rows, split_of, western_lines, western_text, whole
from evenhand.legal.swiss import find_facts, read_headings, sentences
from unit.legal.made_records import FOLDER


@given(st.lists(st.text()))
def test_tidy_paragraphs_stay_as_they_are(paragraphs):
    once = tidy(paragraphs)
    assert tidy(once) == once and all(one == one.strip() and one for one in once)
    assert not any("\u00a0" in one or "\n" in one for one in once)


def test_paragraphs():
    assert paragraphs_of("a\nb\r\nc") == ("a", "b", "c")
    assert paragraphs_of("a\nb\r\n \r\nc\n") == ("a b", "c")
    assert paragraphs_of("<p>a &lt; b</p><p>c<br>d</p>") == ("a < b", "c", "d")
    assert paragraphs_of("1 < 2 and 3 > 2") == ("1 < 2 and 3 > 2",)
    assert paragraphs_of("\ufeff\u00ad \u200b") == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (28.0, "28"),
        ("28.0", "28"),
        (" NaN ", ""),
        (True, "1"),
        (2.5, "2.5"),
        ("329 U.S. 1", "329 U.S. 1"),
        (7, "7"),
        ("<NA>", ""),
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


def test_rows_of_a_table_that_is_partly_broken(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes('a,b\n1,"x\ny"\n\n2\n3,"z" z\n4,\u00e9\n'.encode())
    quarantine = Quarantine()
    rows = list(read_rows([path], quarantine))
    assert [(one.position, one.value) for one in rows] == [
        (2, {"a": "1", "b": "x\ny"}),
        (7, {"a": "4", "b": "é"}),
    ]
    assert quarantine.counts == {"broken_csv": 2}
    path.write_text("a,a\n1,2\n")
    with pytest.raises(InputError, match="the column 'a' twice"):
        list(read_rows([path], quarantine))


def test_lines_in_two_encodings():
    data = "é utf-8\n".encode() + "é cp1252\n".encode("cp1252") + b"\x9d latin-1"
    chunks = [data[:1], data[1:12], data[12:]]
    lines = list(western_lines(Member("m", "m", iter(chunks))))
    assert lines == ["é utf-8\n", "é cp1252\n", "\x9d latin-1"]
    assert western_text(b"\xef\xbb\xbfa") == "a"


def test_a_file_and_a_line_that_are_too_long(monkeypatch):
    monkeypatch.setattr(rows, "CASE_CHARACTERS", 3)
    with pytest.raises(LimitError, match="longer than 3 bytes"):
        whole(Member("m", "m", iter([b"ab", b"cd"])))
    lines = western_lines(Member("m", "m", iter([b"a\nbc", b"de"])))
    assert next(lines) == "a\n"
    with pytest.raises(LimitError, match="a line longer than 3 bytes"):
        next(lines)


def test_a_quote_without_end_costs_one_row(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n1,2\n3,"4\n5,6\n7,8\n', encoding="utf-8")
    problems = Quarantine()
    found = [(one.position, one.value["a"]) for one in read_rows([tmp_path / "a.csv"], problems)]
    assert found == [(2, "1"), (4, "5"), (5, "7")]
    assert problems.counts == {"broken_csv": 1}


# --- Swiss facts -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def headings():
    return read_headings(FOLDER / "swiss_headings.csv")


def test_facts_end_where_the_reasons_begin(headings):
    text = "Urteil vom Mai.\nSachverhalt:\nA.\nEr klagt.\nErwägungen:\n1.\nDie Klage ist gut."
    facts = find_facts(text, headings)
    assert facts.text == ("A.", "Er klagt.") and facts.context == ("Urteil vom Mai.",)
    flat = find_facts(text.replace("\n", " "), headings)
    assert flat.text == ("A. Er klagt.",)


def test_words_of_a_heading_in_a_sentence_are_none(headings):
    text = "Faits :\nEn droit, le juge a retenu ceci.\nVu : rien."
    assert find_facts(text, headings).text == ("En droit, le juge a retenu ceci.", "Vu : rien.")
    assert find_facts("Sie bestreitet den Sachverhalt.", headings).text == (
        "Sie bestreitet den Sachverhalt.",
    )


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
