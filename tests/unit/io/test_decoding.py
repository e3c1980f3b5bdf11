import random
import re
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.encodings import DAMAGE
from evenhand.io import decoding
from evenhand.io.decoding import SAMPLE, TextReader
from evenhand.io.quarantine import Quarantine

NEWS = "昨日上午，市图书馆新馆开放，读者王先生说：“这里真大！”共有1200个座位。\n"
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "gb18030"]


def chunks_of(data: bytes, size: int) -> Iterator[bytes]:
    return (data[i : i + size] for i in range(0, len(data), size))


def read(data: bytes, size: int = 1 << 20, **options: object) -> tuple[str, TextReader, list]:
    quarantine = Quarantine()
    options = {"file": "f", "quarantine": quarantine} | options
    reader = TextReader(chunks_of(data, size), **options)
    text = ""
    lines = 1
    for first, piece in reader:
        if not options.get("first_byte"):
            assert first == lines
        text += piece
        lines += piece.count("\n")
    return text, reader, [row[1:5] for row in quarantine.rows()]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000, 1 << 20])
def test_encodings_are_detected_in_chunks_of_any_size(encoding: str, size: int) -> None:
    text, reader, rows = read((NEWS * 9).encode(encoding), size)
    assert (text, reader.encoding, rows) == (NEWS * 9, encoding, [])
    assert reader.bytes == len((NEWS * 9).encode(encoding))


TRADITIONAL = "昨日上午，市圖書館新館開放，讀者王先生說：「這裡真大！」她的媽媽也說，離家很近。\n"
JAPANESE = "昨日の朝、市立図書館の新館が開館しました。母は子どもたちと一緒に見に行きました。\n"
KOREAN = "어제 아침에 시립 도서관 새 건물이 문을 열었습니다. 어머니는 아이들과 함께 갔습니다.\n"
GERMAN = (
    "Die Beschwerde wird abgewiesen; der Beschwerdeführer trägt die Kosten für das Verfahren.\n"
)
RUSSIAN = "Вчера утром открылось новое здание городской библиотеки, и мама пришла туда с детьми.\n"
POLISH = "Wczoraj rano otwarto nowy gmach biblioteki; mąż i żona poszli tam z dziećmi na godzinę.\n"
OTHERS = {
    "big5": TRADITIONAL,
    "shift_jis": JAPANESE,
    "euc_jp": JAPANESE,
    "euc_kr": KOREAN,
    "windows-1252": GERMAN,
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "gb18030": TRADITIONAL,
}


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_encodings_are_never_taken_for_gb18030(encoding: str) -> None:
    text = OTHERS[encoding] * 9
    data = text.encode(encoding)
    assert read(data, 7)[:1] == (text,)
    damaged = data + b"\x81\n" + data
    text, reader, rows = read(damaged)
    assert reader.encoding == encoding
    if encoding not in ("cp1251", "koi8_r"):  # where every byte is a letter
        assert text == f"{OTHERS[encoding] * 9}{DAMAGE}\n{OTHERS[encoding] * 9}"
        assert [row[:3] for row in rows] == [(len(data), "byte", "undecodable_bytes")]


@pytest.mark.parametrize("offset", [0, 300])
def test_what_cannot_be_told_is_left_out_with_its_place(offset: int) -> None:
    words = "plain words\n" * (offset // 12)
    for data in ((POLISH * 9).encode("cp1250"), random.Random(0).randbytes(4000)):
        text, reader, rows = read(words.encode() + data)
        assert text.startswith(words)
        assert text.isascii()
        assert reader.encoding == "unknown"
        ((position, unit, reason, _),) = rows
        assert (unit, reason) == ("byte", "unknown_encoding")
        assert (words.encode() + data)[position] > 127


@pytest.mark.parametrize(
    "data",
    [
        "\ufeff中文\n".encode("utf-32-le"),
        JAPANESE.encode("iso2022_jp"),
        "A: 她说，今天天气好。\n".encode("hz"),
    ],
)
def test_encodings_that_are_not_read(data: bytes) -> None:
    text, reader, rows = read(data)
    assert (text, reader.encoding) == ("", "unknown")
    assert [row[:3] for row in rows] == [(0, "byte", "unknown_encoding")]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("(format t ~{~a, ~})\n", "utf-8"),  # no HZ
        ("~{ab~} 她说。\n", "utf-8"),
        (JAPANESE.strip(), "shift_jis"),  # without line ends, no UTF-16
    ],
)
def test_text_that_passes_for_another_encoding(text: str, encoding: str) -> None:
    assert read(text.encode(encoding))[0] == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark(encoding: str) -> None:
    assert read(f"\ufeff{NEWS}".encode(encoding), 3)[0] == NEWS
    text, reader, rows = read("\ufeff中\n".encode(encoding))
    assert (text, reader.encoding, rows) == ("中\n", encoding, [])


def test_of_ranges_of_a_file_one_tells_that_it_cannot_be_read() -> None:
    data = (POLISH * 30).encode("cp1250")
    found = []
    for first in (0, 800, 1600):
        quarantine = Quarantine()
        reader = TextReader([data], file="f", quarantine=quarantine, first_byte=first)
        found.append((list(reader), sum(quarantine.counts.values())))
    assert [pieces for pieces, _ in found][1:] == [[], []]
    assert [n for _, n in found] == [1, 0, 0]


def test_gb18030_may_begin_with_much_ascii() -> None:
    ascii_lines = "plain words only\n" * (SAMPLE // 8)
    text, reader, rows = read((ascii_lines + NEWS).encode("gb18030"), 5000)
    assert (text, reader.encoding, rows) == (ascii_lines + NEWS, "gb18030", [])


def test_a_broken_byte_before_the_text_does_not_decide() -> None:
    data = b"words\n\xb0\n" + (NEWS * 30).encode()
    text, reader, rows = read(data, 10)
    assert reader.encoding == "utf-8"
    assert text == f"words\n{DAMAGE}\n" + NEWS * 30
    assert rows == [(6, "byte", "undecodable_bytes", "1 byte in line 2: b0 (invalid start byte)")]


@pytest.mark.parametrize(
    ("size", "file", "more"),
    [(7, "a b/f.csv", " 'a b/f.csv' > 'utf8/a b/f.csv'"), (1 << 20, "a.zip!f.csv", "")],
)
def test_too_few_accents_are_damage_with_the_likely_encoding(size: int, file, more) -> None:
    old = b"The inn is old.\n" * 99
    data = old + b'a,"A caf\xe9, closed."\n' + old + b"It is \xa35 a night.\n"
    _, reader, rows = read(data, size, file=file)
    assert reader.encoding == "utf-8"
    folder = "mkdir -p 'utf8/a b' && " if more else ""
    assert [row[3] for row in rows] == [
        "1 byte in line 100: e9 (invalid continuation byte); in windows-1252 this is 'café': if"
        f" that is right, convert the file by `{folder}iconv -f windows-1252 -t UTF-8{more}`, and"
        " name the new file",
        "1 byte in line 200: a3 (invalid start byte)",
    ]


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_damage_is_marked_with_its_place_and_the_rest_used(encoding: str, size: int) -> None:
    before, after = (NEWS * 9).encode(encoding), (NEWS * 9).encode(encoding.removesuffix("-sig"))
    text, reader, rows = read(before + b"\xff\xff\xff\n" + after + b"\0\0\n" + after, size)
    assert text == f"{NEWS * 9}{DAMAGE}\n{NEWS * 9}{DAMAGE}\n{NEWS * 9}"
    assert reader.encoding == encoding
    first, second = rows
    assert first[:3] == (len(before), "byte", "undecodable_bytes")
    assert first[3].startswith("3 bytes in line 10: ff ff ff (")
    assert second == (len(before) + 4 + len(after), "byte", "nul_bytes", "2 bytes in line 20")


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 20])
def test_damage_in_utf_16(size: int) -> None:
    good = (NEWS * 5).encode("utf-16-le")
    data = good + b"\0\0\0\0" + b"\x00\xdc" + good + "𠮷".encode("utf-16-le") + b"\x41"
    text, reader, rows = read(data, size)
    assert re.sub(f"{DAMAGE}+", "?", text) == f"{NEWS * 5}?{NEWS * 5}𠮷?"
    assert reader.encoding == "utf-16-le"
    places = {(position, reason) for position, _, reason, _ in rows}
    n = len(good)
    assert (n, "nul_bytes") in places
    assert size < 9 or (n, "byte", "nul_bytes", "4 bytes") in rows
    assert (n + 4, "undecodable_bytes") in places
    assert (len(data) - 1, "undecodable_bytes") in places


def test_a_stated_encoding_is_obeyed() -> None:
    text, reader, rows = read("中文".encode("gb18030"), encoding="utf-8")
    assert reader.encoding == "utf-8"
    assert [row[2] for row in rows] == ["undecodable_bytes"]
    assert DAMAGE in text
    assert read("中文".encode("utf-8-sig"), encoding="utf-8")[:1] == ("中文",)
    assert read("中文".encode("utf-16-be"), encoding="utf-16-be")[:1] == ("中文",)


@settings(deadline=None)
@given(
    st.lists(st.text("中文女ab，。", max_size=12), max_size=12),
    st.integers(1, 40),
    st.sampled_from(["utf-8", "gb18030"]),
)
def test_only_oversized_lines_are_missing(lines: list[str], size: int, encoding: str) -> None:
    text, _, rows = read(
        "\n".join(lines).encode(encoding), size, max_characters=5, encoding=encoding
    )
    assert text.rstrip("\n") == "\n".join(x if len(x) <= 5 else "" for x in lines).rstrip("\n")
    oversized = [n for n, line in enumerate(lines, 1) if len(line) > 5]
    assert [(row[0], row[2]) for row in rows] == [(n, "oversized_line") for n in oversized]


def test_an_endless_line_is_not_held() -> None:
    seen = 0

    def chunks() -> Iterator[bytes]:
        nonlocal seen
        yield "开头。\n".encode()
        for _ in range(2000):
            seen += 1
            yield b"a" * 1000
        yield "\n结尾。".encode()

    quarantine = Quarantine()
    reader = TextReader(chunks(), file="f", quarantine=quarantine, max_characters=100)
    assert list(reader) == [(1, "开头。\n"), (2, "\n"), (3, "结尾。")]
    assert seen == 2000
    assert quarantine.counts == {"oversized_line": 1}
    assert reader.bytes == len("开头。\n结尾。\n".encode()) + 2_000_000


LINES = st.lists(st.text("中文女ab，。\r", max_size=9), max_size=15)


@settings(deadline=None)
@given(LINES, st.integers(1, 30), st.integers(1, 50), st.sampled_from(ENCODINGS))
def test_ranges_divide_the_lines_of_a_file(
    lines: list[str], step: int, size: int, encoding: str
) -> None:
    text = "中文，" * 5 + "\n".join(lines)
    data = text.encode(encoding)
    found = []
    total = 0
    # a longer file would have many chunks after the sample
    with mock.patch.object(decoding, "SAMPLE", max(size, 4)):
        for first in range(0, len(data), step):
            reader = TextReader(
                chunks_of(data, size),
                file="f",
                quarantine=Quarantine(),
                encoding="utf-8" if encoding == "utf-8-sig" else encoding,
                first_byte=first,
                end_byte=min(first + step, len(data)),
            )
            for number, piece in reader:
                found += enumerate(piece.removesuffix("\n").split("\n"), number)
            total += reader.bytes
    whole = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    assert found == whole
    assert total == len(data)
