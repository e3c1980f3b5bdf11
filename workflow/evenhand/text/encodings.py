"""Which encoding bytes are in: UTF-8, GB18030 or UTF-16; and decoding that marks damage."""

import codecs
import re

#: Stands for what could not be decoded.
DAMAGE = "\ufffd"

#: UTF-8 is believed if this share of the bytes that are not ASCII is valid. Chinese text in
#: GB18030 reaches 0.2; UTF-8 with broken bytes here and there stays above 0.9.
UTF_8_SHARE = 0.7

#: UTF-16 is believed if this share of the units are usual characters.
UTF_16_SHARE = 0.9

#: UTF-16 is believed if this share of the bytes is 0 or not ASCII: English in UTF-16 has a half
#: of them, Chinese more than a third. Letters taken two by two look like Chinese, but have none.
UTF_16_NOT_ASCII = 0.2

_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_ASCII = bytes(range(128))
_UNUSUAL = re.compile("[^\t\r\n -~\u00b7\u2010-\u2027\u3000-\u3020\u4e00-\u9fff\uff01-\uff5e]")


def marked_encoding(head: bytes) -> str | None:
    """The encoding that a byte-order mark tells: ``utf-8-sig``, ``utf-16-le``, ``utf-16-be``."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def detect_utf_16(head: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` if a file's first bytes are evidently that, or None.

    They are not valid UTF-8 or hold bytes of value 0; many bytes are not ASCII; and nearly
    all units are usual in Chinese or English text.
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
            return encoding
    return None


def detect_utf_8_or_gb18030(sample: bytes) -> str:
    """``utf-8`` or ``gb18030``, by the share of the bytes above ASCII that is valid.

    Both shares are compared only where UTF-8 is not evident: Chinese in UTF-8 is to a large
    part valid GB18030 as well, but not the other way round.
    """
    utf_8 = _utf_8_share(sample)
    if utf_8 >= UTF_8_SHARE:
        return "utf-8"
    damage = sum(end - start for start, end, _ in decode_marked(sample, "gb18030")[1])
    gb18030 = 1 - damage / max(1, _count_not_ascii(sample))
    return "gb18030" if gb18030 > utf_8 else "utf-8"


def _utf_8_share(data: bytes) -> float:
    """The share of the bytes above ASCII that are UTF-8, a cut last character included."""
    kept, consumed = codecs.utf_8_decode(data, "ignore", False)
    return 1 - (consumed - len(kept.encode())) / max(1, _count_not_ascii(data))


def _count_not_ascii(data: bytes) -> int:
    return len(data.translate(None, delete=_ASCII))


# --- decoding ------------------------------------------------------------------------------

_spans: list[tuple[int, int, str]] = []


def _mark(error: UnicodeError) -> tuple[str, int]:
    """The codecs' error handler: note the bytes, and let U+FFFD stand for each run of them."""
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
        The runs, in bytes, `end` exclusive, and what the codec said of the first byte.
    """
    _spans.clear()
    text = data.decode(encoding, "evenhand.mark")
    return text, list(_spans)
