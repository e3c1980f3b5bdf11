"""Detect the encoding of bytes, and decode them with marks for damage."""

import codecs
import re
from functools import cache

#: Replaces undecodable bytes.
DAMAGE = "\ufffd"

#: Marks of damage in a sentence: this character (also where its bytes were read as Chinese), UTF-8
#: that was read as Windows-1252, and tags and entities of HTML (without letters in Chinese).
REMAINS = re.compile(
    f"{DAMAGE}|锟斤拷|[ÂÃ][\x80-\xbf€‚-„†-•˜-›ŒœŽžŠšŸƒˆ]|â€|&(?:#?[A-Za-z0-9]{{2,}})?;|</?(?:[A-Za-z][^<>]*)?>"
)

#: UTF-8 is believed if this share of the bytes that are not ASCII is valid. Chinese text in
#: GB18030 reaches 0.2; UTF-8 with broken bytes here and there stays above 0.9.
UTF_8_SHARE = 0.7

#: Letters of English with fewer other bytes than this are damaged text, not another encoding,
#: unless nearly all of these bytes are alone, as accents and quotation marks are.
RARE = 0.002

#: Mostly English text has fewer other bytes than this; in it, names may be of any language.
SPARSE = 0.01

#: So many bytes that are alone are evidence of Windows-1252.
ALONE = 3

#: A western text with this share of bytes in UTF-8 is that; in Windows-1252 they would be 0.
MIXED = 0.05

#: UTF-16 is believed if this share of the units are usual characters.
UTF_16_SHARE = 0.9

#: UTF-16 is believed if this share of the bytes is 0 or not ASCII: English in UTF-16 has a half
#: of them, Chinese more than a third. Letters taken two by two look like Chinese, but have none.
UTF_16_NOT_ASCII = 0.2

#: Marks of encodings that are not supported; they begin with those of UTF-16.
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_ASCII = bytes(range(128))
_LETTERS = re.compile(b"[A-Za-z]")
#: A byte as a letter with an accent is, in most words; of Big5, a sixth of characters end so.
_ACCENTED = re.compile(b"[\x80-\xff](?=[a-z\0-\x3f]|$)")
ABOVE_ASCII = re.compile(b"[\x80-\xff]")
#: A byte between bytes of ASCII, or after a quotation mark or §, as in §§, and äß, öß, üß and éé;
#: 0xff is a mark of damage, and the rarest letter, ÿ.
_ALONE = re.compile(
    b"(?<![\x80-\xff])(?:[\x91-\x94\xa7]?[\x80-\xfe]|[\xe4\xf6\xfc]\xdf|\xe9\xe9)(?![\x80-\xff])"
)
#: Letters of Slavic names, ŠŽšž, as é.
_SLAVIC = bytes.maketrans(b"\x8a\x8e\x9a\x9e", b"\xe9" * 4)
#: Bytes that Windows-1250, of Slavic languages, and Windows-1252 read differently: è is its č.
_DIFFERS_IN_1250 = bytes(
    byte
    for byte in range(128, 256)
    if bytes([byte]).decode("cp1250", "ignore") != bytes([byte]).decode("cp1252", "ignore")
)
_BETWEEN_WORDS = re.compile(rb'[\s,;"]+')
_BETWEEN_CELLS = re.compile(b'[,;"\t\r\n]+')

#: Characters of GB 2312 between the escapes of HZ.
_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")

#: Bytes looked at for the marks of UTF-16, and from the first byte that is not ASCII on for the
#: others.
SAMPLE = 1 << 16

#: Bytes of a word that are shown before and after one that is not UTF-8.
WORD = 20

#: Encodings whose codec has another name.
_CODECS = {"big5": "big5hkscs", "shift_jis": "cp932", "euc_kr": "cp949", "windows-1252": "cp1252"}

#: Of each encoding of two bytes a character, the first bytes of punctuation and frequent signs,
#: and the least second byte.
_FIRST_LEVEL = {
    "gb18030": ([(0xA1, 0xA1), (0xA3, 0xA3), (0xB0, 0xD7)], 0xA1),
    "big5": ([(0xA1, 0xA1), (0xA4, 0xC6)], 0x40),
    "shift_jis": ([(0x81, 0x83), (0x88, 0x97)], 0x40),
    "euc_jp": ([(0xA1, 0xA1), (0xA3, 0xA5), (0xB0, 0xCF)], 0xA1),
    "euc_kr": ([(0xA1, 0xA1), (0xA3, 0xA3), (0xB0, 0xC8)], 0xA1),
}
KANA = frozenset(map(chr, range(0x3040, 0x3100)))
HANGUL = frozenset(map(chr, range(0xAC00, 0xD7A4)))

#: In the order in which they are tried, the stricter first: of which script so much is needed.
_SCRIPTS = [
    ("euc_kr", HANGUL, 0.5),
    ("euc_jp", KANA, 0.1),
    ("shift_jis", KANA, 0.1),
    ("big5", None, 0.0),
]

#: Characters of English, French, German, Italian, Spanish, Portuguese and Nordic languages.
WESTERN = (
    "àâäáãåæçèéêëìîïíñòôöóõøœùûüúÿßÀÂÄÁÃÅÆÇÈÉÊËÌÎÏÍÑÒÔÖÓÕØŒÙÛÜÚŸ€„“”’‘–—…«»‹›°§•·´\u00a0©®™¡¿ºª£"
)

#: Single-byte encodings that charset-normalizer detects. It is not used for the others: it took
#: every fifth passage of Japanese in Shift JIS for Korean.
ALPHABETS = ["cp1251", "koi8_r", "iso8859_5", "cp866", "cp1253", "cp1255", "cp1256"]
_UNUSUAL = re.compile("[^\t\r\n -~\u00b7\u2010-\u2027\u3000-\u3020\u4e00-\u9fff\uff01-\uff5e]")


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding of a byte-order mark, with ``utf-32`` for both byte orders."""
    if head.startswith(_UTF_32):
        return "utf-32"
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def detect_utf_16(head: bytes) -> str | None:
    """Return ``utf-16-le`` or ``utf-16-be`` if a file's first bytes are evidently that, or None.

    The criteria: not valid UTF-8 or bytes of value 0; many non-ASCII bytes; nearly all units are
    usual in Chinese or English text; and not Japanese in Shift JIS, whose pairs of bytes look like
    Chinese too.
    """
    head = head[: len(head) // 2 * 2]
    nuls = head.count(0)
    if not head or nuls + _count_not_ascii(head) < UTF_16_NOT_ASCII * len(head):
        return None
    if not nuls and _utf_8_share(head) == 1:
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        text = head.decode(encoding, "replace")
        if len(_UNUSUAL.findall(text)) <= (1 - UTF_16_SHARE) * len(text):
            if not nuls and detect_encoding(head) == "shift_jis":
                return None
            return encoding
    return None


def detect_encoding(sample: bytes) -> str | None:
    """Detect the encoding of text whose first byte is not ASCII; None if it is unknown.

    UTF-8 is recognised by its form. The others decode most texts of each other without an
    error, so the criterion is the share of characters that are usual in the language: 99 % of
    the characters of Chinese in GB18030 are among the 3,755 frequent ones of GB 2312 (67 % of
    traditional Chinese), and 24 % of those of Big5 read as GB18030. Stricter tests come first.

    Parameters
    ----------
    sample : bytes
        The beginning of the text; its last character may be cut.
    """
    utf_8 = _utf_8_share(sample)
    if utf_8 >= UTF_8_SHARE:
        return "utf-8"
    others = _count_not_ascii(sample)
    is_latin = len(_LETTERS.findall(sample)) >= max(others, 3)  # fewer are no evidence
    differ = len(sample) - len(sample.translate(None, delete=_DIFFERS_IN_1250))
    may_be_slavic = others >= SPARSE * len(sample) and differ > 0.1 * others
    western = sample if may_be_slavic else sample.translate(_SLAVIC)
    is_western = is_latin and _usual(western, "windows-1252")[0] >= 0.95
    if is_latin and others < RARE * len(sample):
        return "windows-1252" if is_western and _are_alone(sample, others) else "utf-8"
    if is_latin and utf_8 >= MIXED and _is_western(sample):
        return "utf-8"  # with damage, such as parts in Windows-1252
    if is_western and len(_ACCENTED.findall(sample)) >= 0.8 * others:
        return "windows-1252"
    usual, damaged, characters = _usual(sample, "gb18030")
    if usual >= 0.7 and damaged <= 0.02 and not _are_syllables(characters):
        return "gb18030"
    for encoding, script, least in _SCRIPTS:
        share, _, characters = _usual(sample, encoding)
        written = sum(script is None or c in script for c in characters)
        if share >= 0.9 and written >= least * len(characters):
            return encoding
    if is_western:
        return "windows-1252"
    if alphabet := _detect_alphabet(sample):
        return alphabet
    # traditional characters in GB18030 (0.5 to 0.8), or damage beyond the limits above
    return "gb18030" if usual >= 0.3 else "utf-8" if utf_8 >= 0.3 else None


def decode_whole(content: bytes) -> str | None:
    """Return the text of a whole file without byte-order mark; None if damaged or unknown."""
    encoding = marked_encoding(content) or detect_utf_16(content[:SAMPLE])
    if encoding is None:
        first = ABOVE_ASCII.search(content)
        encoding = detect_encoding(content[first.start() :][:SAMPLE]) if first else "utf-8"
    try:
        return content.decode(codec_of(encoding)).removeprefix("\ufeff") if encoding else None
    except UnicodeDecodeError:
        return None


def detect_table(content: bytes) -> str | None:
    """Return the likely encoding of a table that is not UTF-8, as iconv names it, or None.

    Only cells that are not ASCII count, each once: numbers and repeated cells are no evidence.
    """
    cells = dict.fromkeys(c for c in _BETWEEN_CELLS.split(content) if not c.isascii())
    encoding = marked_encoding(content) or detect_utf_16(content[:SAMPLE])
    encoding = encoding or detect_encoding(b" ".join([*cells, b""])[:SAMPLE])
    if encoding in (None, "utf-8"):
        return None
    return encoding.replace("utf-16-", "utf-16").replace("_", "-")


def western_word(content: bytes, start: int) -> str | None:
    """Return the word at a file's first byte that is not UTF-8, as it reads in Windows-1252.

    It lets a reader judge where a few words are no evidence. None if it cannot be Windows-1252, or
    other characters are in UTF-8, so that the word is damage.
    """
    if not content[:start].isascii() or _utf_8_share(content[start:][:SAMPLE]):
        return None
    before = _BETWEEN_WORDS.split(content[max(0, start - WORD) : start])[-1]
    word = before + _BETWEEN_WORDS.split(content[start : start + WORD])[0]
    try:
        return word.decode("cp1252")
    except UnicodeDecodeError:
        return None


def is_seven_bit(head: bytes) -> bool:
    """Return whether a file's first bytes switch alphabets by escapes: ISO 2022, or HZ."""
    return b"\x1b$" in head or (head.isascii() and _HZ.search(head) is not None)


def codec_of(encoding: str) -> str:
    """Return Python's codec of an encoding: the extended form that files use."""
    return _CODECS.get(encoding, encoding)


def _detect_alphabet(sample: bytes) -> str | None:
    """Return an evident single-byte encoding of Russian, Greek, Hebrew or Arabic, or None."""
    from charset_normalizer import from_bytes

    match = from_bytes(sample, cp_isolation=ALPHABETS, threshold=0.1, language_threshold=0.1)
    best = match.best()
    return best.encoding if best and best.coherence >= 0.3 else None


def _usual(sample: bytes, encoding: str) -> tuple[float, float, list[str]]:
    """Return the shares of usual characters and of undecodable bytes, and all characters.

    ASCII does not count, and damage counts as unusual.
    """
    text, spans = decode_marked(sample, codec_of(encoding))
    spoiled = sum(end - start for start, end, _ in spans if end < len(sample))
    share = spoiled / max(1, _count_not_ascii(sample))
    characters = [c for c in text if c > "\x7f" and c != DAMAGE]
    frequent = _frequent(encoding)
    usual = sum(c in frequent for c in characters)
    if encoding == "gb18030":  # four bytes, two of them digits, are no coincidence
        usual += sum(c not in frequent and len(c.encode(encoding)) == 4 for c in characters)
    usual /= max(1, len(characters))
    return usual * max(0.0, 1 - share), share, characters


@cache
def _frequent(encoding: str) -> frozenset[str]:
    """Return the usual characters of an encoding: punctuation, and the first level of signs."""
    if encoding == "windows-1252":
        return frozenset(WESTERN)
    rows, first = _FIRST_LEVEL[encoding]
    cells = (bytes([row, cell]) for a, z in rows for row in range(a, z + 1)
             for cell in range(first, 0xFF))  # fmt: skip
    standard = "gb2312" if encoding == "gb18030" else codec_of(encoding)
    return frozenset("".join(cell.decode(standard, "ignore") for cell in cells))


def _are_syllables(characters: list[str]) -> bool:
    """Return whether text decoded as Chinese may be Korean.

    Korean syllables have the bytes of the frequent characters that sound like a to r; 40 % of
    a Chinese text sound like s to z, in 3,506 texts at least 7 % of 12 characters or more.
    """
    first = [c.encode("gb2312")[0] for c in characters if c in _frequent("gb18030")]
    late = sum(byte > 0xC8 for byte in first)
    return len(first) >= 24 and late < 0.03 * len(first)


def _utf_8_share(data: bytes) -> float:
    """Return the share of non-ASCII bytes that are UTF-8, a cut last character included."""
    kept, consumed = codecs.utf_8_decode(data, "ignore", False)
    return 1 - (consumed - len(kept.encode())) / max(1, _count_not_ascii(data))


def _is_western(sample: bytes) -> bool:
    """Return whether the parts of a sample that are UTF-8, if many, are in a western language."""
    others = [char for char in sample.decode("utf-8", "ignore") if char > "\x7f"]
    return len(others) > 2 and sum(char in WESTERN for char in others) >= 0.95 * len(others)


def _are_alone(sample: bytes, others: int) -> bool:
    """Return whether nearly all of `others` bytes are between ASCII, and no character is UTF-8."""
    alone = sum(map(len, _ALONE.findall(sample)))
    return alone >= max(ALONE, 0.9 * others) and sample.decode("utf-8", "ignore").isascii()


def _count_not_ascii(data: bytes) -> int:
    return len(data.translate(None, delete=_ASCII))


# --- decoding ------------------------------------------------------------------------------

_spans: list[tuple[int, int, str]] = []


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Handle errors of codecs: note the bytes, and replace each run of them by U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if _spans and _spans[-1][1] == error.start:
        start, _, reason = _spans.pop()
        _spans.append((start, error.end, reason))
        return "", error.end
    _spans.append((error.start, error.end, error.reason))
    return DAMAGE, error.end


codecs.register_error("evenhand.mark", _mark)


def decode_marked(data: bytes, encoding: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Decode, with U+FFFD for each run of undecodable bytes.

    Returns
    -------
    text : str
    spans : list of (start, end, reason)
        The runs, in bytes, `end` exclusive, with the codec's reason for the first byte.
    """
    _spans.clear()
    text = data.decode(encoding, "evenhand.mark")
    return text, list(_spans)
