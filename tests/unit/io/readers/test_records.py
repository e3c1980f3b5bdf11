"""Every format, whole and broken: what is read, at which position, and what is quarantined."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.io.decoding import TextReader
from evenhand.io.quarantine import Quarantine
from evenhand.io.readers.options import Options
from evenhand.io.readers.records import paragraph_splitter, read_records


def read(
    content: str | bytes, format: str, size: int = 1 << 20, **options: object
) -> tuple[list[tuple[int, str]], list[tuple]]:
    """Records, and the quarantine's rows (position, unit, reason)."""
    data = content if isinstance(content, bytes) else content.encode()
    quarantine = Quarantine()
    chosen = Options(**options)
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    text = TextReader(chunks, file="f", quarantine=quarantine, max_characters=chosen.max_characters)
    records = list(read_records(text, format, chosen))
    return records, [row[1:4] for row in quarantine.rows()]


@pytest.mark.parametrize("format", ["json", "jsonl", "html"])
def test_html_beyond_a_limit_is_left_out(format: str) -> None:
    deep = "甲" * 20_000 + "<div>" * 2000
    content = deep if format == "html" else json.dumps({"text": deep}) + '\n{"text": "乙"}'
    records, rows = read(content, format, markup="html")
    assert [text for _, text in records] == ([] if format == "html" else ["乙"])
    assert [(position, reason) for position, _, reason in rows] == [(1, "too_deep")]


# --- lines


def test_paragraphs_between_blank_lines_are_joined() -> None:
    text = "今天天气\n真好。\n\n \n我们\r\n去\n公园。\n"
    records, _ = read(text, "txt", paragraphs="blank_line")
    assert records == [(1, "今天天气\n真好。"), (5, "我们\r\n去\n公园。")]
    split = paragraph_splitter(Options(paragraphs="blank_line"))
    assert [split(record) for _, record in records] == [["今天天气 真好。"], ["我们 去 公园。"]]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["甲", "乙乙", "", " "]), max_size=12), st.integers(1, 30))
def test_paragraphs_do_not_depend_on_the_pieces_they_come_in(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    for mode in ("line", "blank_line"):
        assert read(text, "txt", size, paragraphs=mode) == read(text, "txt", paragraphs=mode)


def test_a_paragraph_without_end_is_not_held() -> None:
    text = "短。\n\n" + "很长的一行。\n" * 10 + "\n又短。"
    records, rows = read(text, "txt", paragraphs="blank_line", max_characters=20)
    assert records == [(1, "短。"), (14, "又短。")]
    assert rows == [(3, "line", "oversized_record")]


# --- words with tags


def test_words_with_tags() -> None:
    text = (
        "19980101-01-001-002/m  [中央/n  电视台/n]nt  记者/n  王/nr  小明/nr  １９９８年/t  ，/w \n"
        "\n"
        "她{ta1}/r  说/v  ：/w  “/w  １/２/m  A/B/nx  ”/w  [/w  见/v  图/n  ]/w  //w  。/w\n"
    )
    assert read("\n \n" + text, "pku")[0][0][0] == 3  # blank lines count
    assert read(text, "pku")[0] == [
        (1, "中央电视台记者王小明１９９８年，"),
        (3, "她说：“１/２A/B”[见图]/。"),
    ]


# --- Markdown and HTML


def test_markdown_keeps_the_numbers_of_its_lines() -> None:
    records, _ = read("# 题\n\n<p>甲</p><p>乙</p>\n\n- 丙\n", "md")
    assert records == [(1, "题"), (3, "\u2029甲\u2029\u2029乙\u2029"), (5, "丙")]


def test_an_html_file_is_one_record() -> None:
    records, rows = read("<html><body><p>甲\n乙<p>丙<script>x</script></body></html>", "html")
    assert [(n, text.split("\n")) for n, text in records] == [(1, ["", "甲 乙", "", "丙", ""])]
    assert rows == []
    assert read("<p>" + "长\n" * 50, "html", max_characters=60)[1] == [
        (1, "record", "oversized_record")
    ]
    assert read("<p>" + "长" * 57, "html", max_characters=60)[1] == []


def test_markup_in_other_formats_is_removed_on_demand() -> None:
    line = json.dumps({"text": "<p>甲<b>乙</b></p>&amp;丙"})
    assert read(line, "jsonl")[0] == [(1, "<p>甲<b>乙</b></p>&amp;丙")]
    assert [t.split() for _, t in read(line, "jsonl", markup="html")[0]] == [["甲乙", "&丙"]]
    assert read("**甲**", "txt", markup="markdown")[0] == [(1, "甲")]


# --- JSON


def test_json_lines_and_what_is_wrong_with_them() -> None:
    lines = [
        '{"text": "甲"}',
        "",
        '{"text": "乙"',
        '{"body": "丙"}',
        '{"text": null}',
        '["text"]',
        '{"text": ["丁", "戊"]}',
        '{"text": ""}',
        "[" * 100_000,
        '{"text": "己"}',
        *(f'{{"text": {value}}}' for value in ("5", "[1.5, 2]", "true", "{}", "[]")),
    ]
    records, rows = read("\n".join(lines), "jsonl")
    assert records == [(1, "甲"), (7, "丁\n戊"), (8, ""), (10, "己")]
    assert rows == [
        (3, "line", "broken_json"),
        (4, "line", "missing_field"),
        (5, "line", "no_text"),
        (6, "line", "missing_field"),
        (9, "line", "too_deep"),
        (11, "line", "text_is_number"),
        *((line, "line", "no_text") for line in range(12, 16)),
    ]


def test_fields_inside_fields() -> None:
    line = json.dumps({"a": {"b": [{"c": "甲"}, {"c": "乙"}, {}]}, "x.y": "丙"})
    assert read(line, "jsonl", text_field="a.b.c")[0] == [(1, "甲\n乙")]
    assert read(line, "jsonl", text_field="x.y")[0] == [(1, "丙")]


ARRAY = json.dumps([{"text": "甲"}, {"text": "乙\n丙"}, {"no": 1}, {"text": "丁"}], indent=1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16-le"])
def test_a_json_array(encoding: str) -> None:
    text = ARRAY.encode().decode("unicode_escape").replace("乙\n丙", "乙\\n丙")
    records, rows = read(text.encode(encoding), "json", 7)
    assert records == [(1, "甲"), (2, "乙\n丙"), (4, "丁")]
    assert rows == [(3, "record", "missing_field")]


def test_of_a_broken_array_the_beginning_is_used() -> None:
    for broken in (ARRAY[:-30], ARRAY.replace('"no": 1', '"no": '), ARRAY + "]"):
        records, rows = read(broken, "json")
        assert records[:2] == [(1, "甲"), (2, "乙\n丙")]
        assert rows[-1][2] == "broken_json"
    assert read('[{"text": "甲"}, oops, {"text": "乙"}]', "json") == (
        [(1, "甲")],
        [(2, "record", "broken_json")],
    )


def test_other_layouts_of_json() -> None:
    assert read('{"text": "甲"}\n{"text": "乙"}\n', "json")[0] == [(1, "甲"), (2, "乙")]
    assert read('{"text": "甲\n{"text": "乙"}\n', "json") == (
        [(2, "乙")],
        [(1, "line", "broken_json")],
    )
    pretty = json.dumps({"data": [{"text": "甲"}, {"text": "乙"}]}, indent=1)
    assert read(pretty, "json", text_field="data.text")[0] == [(1, "甲\n乙")]
    assert read(pretty + pretty, "json", text_field="data.text")[0] == [
        (1, "甲\n乙"),
        (2, "甲\n乙"),
    ]
    assert read("plain words", "json")[1] == [(1, "record", "broken_json")]
    assert read(" \n ", "json") == ([], [])


def test_a_json_value_without_end_is_not_held() -> None:
    text = '[{"text": "甲"}, {"text": "' + "长" * 300_000 + '"}]'
    records, rows = read(text, "json", max_characters=10_000)
    assert records == []
    assert rows == [(1, "line", "oversized_line")]
    lines = '[{"text": "甲"},\n{"text": [' + '"长",\n' * 100_000 + '"终"]}]'
    records, rows = read(lines, "json", max_characters=10_000)
    assert records == [(1, "甲")]
    assert rows == [(2, "record", "oversized_record")]


# --- tables


def test_csv_with_quotes_and_line_ends_inside() -> None:
    text = 'id,text,x\r\n1,"甲，\n""乙""",a\r\n\r\n2,丙,b\n3\n4,丁,c'
    records, rows = read(text, "csv")
    assert records == [(2, '甲，\n"乙"'), (5, "丙"), (7, "丁")]
    assert rows == [(6, "line", "missing_field")]


def test_columns_by_number_and_other_delimiters() -> None:
    assert read("a;甲\nb;乙", "csv", delimiter=";", header=False, text_field="2")[0] == [
        (1, "甲"),
        (2, "乙"),
    ]
    assert read("a;甲\nb;乙", "csv", delimiter=";", text_field="2")[0] == [(2, "乙")]
    for mark in ";\t":  # as the header has them
        assert read(f"a{mark}text\nb{mark}乙，丙,丁", "csv")[0] == [(2, "乙，丙,丁")]
    for form, mark in (("csv", ","), ("tsv", "\t")):
        text = f"a{mark}text\nb{mark}乙{mark}丙\nb{mark}丁{mark}"  # more cells than the header
        assert read(text, form) == ([(3, "丁")], [(2, "line", "broken_csv")])
    assert read('体育\t甲"乙\n财经\t丙\n', "tsv", header=False, text_field="2")[0] == [
        (1, '甲"乙'),
        (2, "丙"),
    ]
    assert read("label\ttext\r\n体育\t甲\r\n", "tsv")[0] == [(2, "甲")]


def test_a_stray_quote_costs_its_own_line_alone() -> None:
    text = 'text\n甲\n"乙\n丙\n"丁" x\n戊\n'
    records, rows = read(text, "csv")
    assert records == [(2, "甲"), (4, "丙"), (6, "戊")]
    assert rows == [(3, "line", "broken_csv"), (5, "line", "broken_csv")]
    assert read('text\n甲\n"乙\n丙', "csv") == ([(2, "甲"), (4, "丙")], [(3, "line", "broken_csv")])


def test_a_table_without_the_column_is_told_once() -> None:
    for format, text in (("csv", "a,b\n1,2\n3,4"), ("tsv", "a\tb\n1\t2")):
        assert read(text, format) == ([], [(1, "line", "missing_field")])


def test_the_text_column_stands_once_in_the_header() -> None:
    with pytest.raises(InputError, match=r"f:1: has the column 'text' twice; .*`text_field`\.$"):
        read("text,text\n甲,乙", "csv")
    assert read("a,a,text\n1,2,甲", "csv")[0] == [(2, "甲")]
    assert read("text,text\n甲,乙", "csv", text_field="2")[0] == [(2, "乙")]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text('甲乙",\n x', max_size=6), min_size=2, max_size=2), max_size=6),
    st.integers(1, 20),
)
def test_what_csv_writes_is_read(rows: list[list[str]], size: int) -> None:
    import csv
    import io

    buffer = io.StringIO()
    csv.writer(buffer).writerows([["id", "text"], *rows])
    records, problems = read(buffer.getvalue(), "csv", size)
    assert [text for _, text in records] == [row[1] for row in rows]
    blank = [number for number, text in records if not text.strip()]
    assert problems == [(number, "line", "no_text") for number in blank]


@pytest.mark.parametrize(
    ("format", "content", "unit"),
    [
        ("csv", 'text\n甲 1\n12345\n"1,5"\n-2.5\n2024-05-31', "line"),
        ("tsv", "text\n甲 1\n12345\n1,5\n-2.5\n2024-05-31", "line"),
        (
            "json",
            '[{}, {"text": "甲 1"}, {"text": "12345"}, {"text": "1,5"}, {"text": ["-2.5", "7"]},'
            ' {"text": ["2024-05-31", "7"]}]',
            "record",
        ),
    ],
)
def test_a_field_with_a_number_is_no_text(format: str, content: str, unit: str) -> None:
    records, problems = read(content, format)
    end = "\n7" if format == "json" else ""
    assert records == [(2, "甲 1"), (4, "1,5"), (6, f"2024-05-31{end}")]
    numbers = [problem for problem in problems if problem[2] == "text_is_number"]
    assert numbers == [(3, unit, "text_is_number"), (5, unit, "text_is_number")]
    assert read("12345\n甲", "txt") == ([(1, "12345"), (2, "甲")], [])


# --- options


@pytest.mark.parametrize(
    "wrong", [{"delimiter": "ab"}, {"text_field": ""}, {"text_field": "00"}, {"header": False}]
)
def test_options_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(InputError):
        Options(**wrong)
