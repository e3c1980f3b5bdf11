import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.encodings import (
    DAMAGE,
    WORD,
    decode_marked,
    detect_encoding,
    detect_table,
    detect_utf_16,
    western_word,
)

NEWS = "昨日上午，市图书馆新馆开放，读者王先生说：“这里真大！”记者在现场看到，共有1200个座位。\n"
ENGLISH = "it was a dark and stormy night and the rain fell in torrents\n"
FREQUENT = bytes(b for a in range(0xB0, 0xD7) for c in range(0xA1, 0xFF) for b in (a, c))
CHINESE = st.text(
    st.one_of(st.sampled_from(FREQUENT.decode("gb2312")), st.sampled_from("，。\n1a")), min_size=40
)


def broken(data: bytes, n: int, seed: int = 0) -> bytes:
    damaged = bytearray(data)
    for place in random.Random(seed).sample(range(len(data)), n):
        damaged[place] = 0xFF
    return bytes(damaged)


@settings(deadline=None)
@given(CHINESE, st.integers(0, 4))
def test_a_cut_last_character_does_not_matter(text: str, cut: int) -> None:
    text += "新闻" * 10
    for encoding in ("utf-8", "gb18030"):
        data = text.encode(encoding)
        assert detect_encoding(data[: len(data) - cut]) == encoding


def test_rare_characters_of_gb18030_in_four_bytes() -> None:
    text = "㐀𠀀𠮷的人，" * 20
    assert detect_encoding(text.encode("gb18030")) == "gb18030"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [NEWS * 3, ENGLISH, "她说：“今天天气真好！”我们都笑了。"])
def test_utf_16_is_evident_without_a_mark(encoding: str, text: str) -> None:
    assert detect_utf_16(text.encode(encoding)) == encoding
    assert detect_utf_16(text.encode(encoding)[:-1]) == encoding


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a",
        ENGLISH.encode(),
        b"bush hid the facts",
        (ENGLISH * 50 + NEWS).encode("gb18030"),
        NEWS.encode("gb18030"),
        NEWS.encode(),
        NEWS.encode() + b"\0" * 30 + NEWS.encode(),
        b"\0" * 100,
        ENGLISH.encode() + b"\0" + ENGLISH.encode(),
        random.Random(1).randbytes(4000),
    ],
)
def test_other_bytes_are_no_utf_16(data: bytes) -> None:
    assert detect_utf_16(data) is None


def test_runs_of_undecodable_bytes_become_one_mark_each() -> None:
    data = "甲".encode() + b"\xff\xfe\xff" + "乙丙".encode() + b"\xe4\xb8"
    text, spans = decode_marked(data, "utf-8")
    assert text == f"甲{DAMAGE}乙丙{DAMAGE}"
    assert [(start, end) for start, end, _ in spans] == [(3, 6), (12, 14)]


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["utf-8", "gb18030", "utf-16-le"]))
def test_what_is_not_marked_is_decoded_as_ever(data: bytes, encoding: str) -> None:
    text, spans = decode_marked(data, encoding)
    inside = 0
    pieces = []
    for start, end, _ in spans:
        assert inside <= start < end <= len(data)
        pieces.append(data[inside:start].decode(encoding))
        inside = end
    pieces.append(data[inside:].decode(encoding))
    assert text == DAMAGE.join(pieces)


@pytest.mark.parametrize(
    ("encoding", "cells", "name"),
    [
        ("latin-1", "vrouw é|mann ü", "windows-1252"),
        ("latin-1", "Ärztin|Ärzte", "windows-1252"),
        ("gb18030", "女|男", "gb18030"),
        ("big5", "女性|男性", "big5"),
        ("shift_jis", "じょせい|だんせい", "shift-jis"),
        ("utf-16", "vrouw é|mann ü", "utf-16le"),
        ("utf-8", "女性|男性", None),
    ],
)
def test_a_table_of_numbers_and_few_words_has_an_encoding(encoding, cells, name):
    rows = [f"{n},0.{n},{cells.split('|')[n % 2]}" for n in range(400)]
    assert detect_table("\r\n".join(["id,p,group", *rows]).encode(encoding)) == name


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b'id,name\n1,"Zo\xeb"', "Zoë"),
        (b"id,text\n1," + 90 * b"She works here. " + b"Jos\xe9 too. " + 90 * b"So. ", "José"),
        (b"a" * 90 + b"\xe9" + b"a" * 90, "a" * WORD + "é" + "a" * (WORD - 1)),
        (b"50 \x81", None),  # no character of windows-1252
        ("é".encode() + b"\nZo\xeb", None),  # damage
        (b"Zo\xeb\n" + "é".encode(), None),
    ],
)
def test_the_word_that_is_not_utf_8_is_shown_in_windows_1252(content, word):
    with pytest.raises(UnicodeDecodeError) as caught:
        content.decode()
    assert western_word(content, caught.value.start) == word


@pytest.mark.parametrize(
    "text",
    [
        "Die Lehrerin trägt rote Hefte in das Zimmer.",
        "Der Ökonom las die Überschrift vor.",
        "L'élève a été reçu à l'école.",
        "Die Größe der Straße ist groß.",
    ],
)
def test_german_and_french_are_never_chinese(text):
    lines = [f"{text}\n".encode("latin-1")] * 100
    assert detect_encoding(b"".join(lines)) == "windows-1252"
    for count in (10, 50, 95):  # the others are in UTF-8, and damage is reported
        mixed = b"".join(lines[:count]) + f"{text}\n".encode() * (100 - count)
        assert detect_encoding(mixed) in ("utf-8", None)


def test_a_damaged_place_in_english_is_damage_not_another_encoding():
    assert detect_encoding(b"\xff\xfe\x80" + ENGLISH.encode() * 50) == "utf-8"


@pytest.mark.parametrize(
    "word", ["café ", "“Inn” ", "the inn’s ", "£5 ", "§§ 5 ", "Žan ", "Grüße "]
)
@pytest.mark.parametrize(
    ("count", "encoding"), [(2, "utf-8"), (3, "windows-1252"), (60, "windows-1252")]
)
def test_few_single_bytes_in_english_are_windows_1252(word, count, encoding):
    count = (count + 1) // 2 if word in ("“Inn” ", "§§ 5 ", "Grüße ") else count  # with two of them
    lines = [f"{word if i < count else ''}{ENGLISH}" for i in range(700)]
    assert detect_encoding("".join(lines).encode("cp1252")) == encoding
    assert detect_encoding("".join(lines).encode()) == "utf-8"


def test_slavic_names_in_english_are_western_and_slavic_text_is_not():
    names = f"Ms Žana Šešelj of Niš. {ENGLISH * 9}".encode("cp1252")
    assert detect_encoding(names * 9) == "windows-1252"
    both = "1,Müller – Lašek – 9 €,granted\n".encode("cp1252")  # equal in Windows-1250
    assert detect_encoding(both * 99) == "windows-1252"
    croatian = "Ona živi u Nišu, a šaljivi učitelj piše kćeri. "
    assert detect_encoding(f"{croatian * 9}{ENGLISH}".encode("cp1250")) is None


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff",  # ÿ
        b"\xef\xbf",  # half of a character
        b"\x81",  # no character of windows-1252
        "女".encode("gb18030"),
        "她".encode("big5"),
        "女".encode("shift_jis"),
        "ア".encode("shift_jis"),  # its second byte is ASCII
    ],
)
def test_other_rare_bytes_in_english_are_damage(damage):
    assert detect_encoding((damage + ENGLISH.encode() * 20) * 9) == "utf-8"
    mixed = (b"caf\xe9 " + ENGLISH.encode() * 20) * 9  # with a character in UTF-8
    assert detect_encoding(mixed + "é\n".encode()) == "utf-8"
