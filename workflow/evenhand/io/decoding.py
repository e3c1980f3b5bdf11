"""Decode bytes to text: detect the encoding, mark and report damage, keep lines whole.

A file is read once, as a stream. Its encoding is detected from its beginning: a byte-order mark;
the patterns of UTF-16; otherwise the bytes from the first non-ASCII byte on (`detect_encoding`).
Up to that byte all encodings agree; if the encoding is unknown, the rest is dropped.

Text comes in pieces of whole lines with the number of their first line. A line ends at a line
feed; a carriage return, before it or alone, is left in the text.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from evenhand.core.encodings import (
    ABOVE_ASCII,
    DAMAGE,
    SAMPLE,
    codec_of,
    decode_marked,
    detect_encoding,
    detect_utf_16,
    is_seven_bit,
    marked_encoding,
    western_word,
)
from evenhand.core.limits import CHARACTERS
from evenhand.core.whole import conversion
from evenhand.io.quarantine import Quarantine

Encoding = Literal[
    "auto",
    *("utf-8", "utf-16-le", "utf-16-be", "gb18030"),
    *("big5", "shift_jis", "euc_jp", "euc_kr", "windows-1252"),
]

#: The encoding of text that no encoding fits.
UNKNOWN = "unknown"

#: No encoding needs more bytes for a character.
_BYTES_PER_CHARACTER = 4

_NULS = re.compile(b"\\0+")


class TextReader:
    """The text of one file (or of a range of its bytes), an iterable that is read once.

    It yields pairs: the number in the file of a piece's first line, from 1; and the piece,
    whole lines with their line feeds (the file's last may lack it). An oversized line is
    there as an empty one.

    Parameters
    ----------
    chunks : iterable of bytes
        The content from the file's first byte, also for a range.
    file : str
        Its name, for the quarantine.
    quarantine : Quarantine
        Receives undecodable bytes, NUL bytes, oversized lines, and text in an unknown encoding.
    encoding : str
        ``auto``, or the declared encoding of the file.
    noted : bool
        Whether the quarantine receives a note on a detected encoding other than UTF-8.
    max_characters : int
        A line with more characters is left out.
    first_byte, end_byte : int, optional
        Only the lines whose first byte lies in this range. UTF-16 is not cut: all its
        lines belong to the range that begins at 0.

    Attributes
    ----------
    encoding : str or None
        After reading: ``ascii``, ``utf-8-sig`` (UTF-8 with a byte-order mark), one of
        `Encoding` or of `evenhand.core.encodings.ALPHABETS`, or ``unknown``; None if there was
        nothing to read.
    bytes : int
        After reading: the number of bytes of the lines.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        *,
        file: str,
        quarantine: Quarantine,
        encoding: Encoding = "auto",
        noted: bool = False,
        max_characters: int = CHARACTERS,
        first_byte: int = 0,
        end_byte: int | None = None,
    ) -> None:
        self.file = file
        self.quarantine = quarantine
        self.max_characters = max_characters
        self.encoding: str | None = None
        self.bytes = 0
        self._chunks = chunks
        self._stated, self._noted = encoding, noted
        self._first_byte, self._end_byte = first_byte, end_byte
        self._western: tuple[int, str | None] = -1, None  # first byte that is not ASCII, and word

    def __iter__(self) -> Iterator[tuple[int, str]]:
        chunks = self._begin()
        if (self.encoding or "").startswith("utf-16"):
            if self._first_byte:
                return
            for line, _, data in self._whole_lines(self._utf_16_to_utf_8(chunks), 1, 0):
                yield line, self._without_oversized(data.decode(), line)
            return
        offset, line, chunks = _clip(chunks, self._first_byte, self._end_byte)
        for first, begin, data in self._whole_lines(self._counted(chunks), line, offset):
            yield first, self._without_oversized(self._decode(data, begin, first), first)

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.bytes += len(chunk)
            yield chunk

    # --- which encoding

    def _begin(self) -> Iterator[bytes]:
        """Yield the chunks; `encoding` is set before the first chunk that needs it."""
        source = iter(self._chunks)
        head = _take(source, SAMPLE)
        if not head:
            return iter(())
        marked = marked_encoding(head)
        if self._stated != "auto":
            utf_8 = self._stated == "utf-8" and marked == "utf-8-sig"
            self.encoding = marked if utf_8 else self._stated
            return chain([head], source)
        if marked == "utf-32" or is_seven_bit(head):
            self._leave_out(0, "in UTF-32" if marked else "in ISO 2022 or HZ, with escapes")
            return iter(())
        self.encoding = marked or detect_utf_16(head)
        if self.encoding:
            self._note_encoding()
            return chain([head], source)
        self.encoding = "ascii"
        return self._until_known(chain([head], source))

    def _leave_out(self, position: int, why: str) -> None:
        self.encoding = UNKNOWN
        if not self._first_byte:  # the first range of a file reports it
            self.quarantine.add(self.file, position, "byte", "unknown_encoding", why)

    def _note_encoding(self, word: str | None = None) -> None:
        if self._noted and self.encoding not in ("utf-8", "utf-8-sig"):
            detail = f"read as {self.encoding}" + (f", with words such as {word!r}" if word else "")
            self.quarantine.add(self.file, None, "file", "other_encoding", detail)

    def _until_known(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield ASCII, then wait for enough other bytes to detect the encoding."""
        offset = 0
        for chunk in chunks:
            if not chunk.isascii():
                begin = ABOVE_ASCII.search(chunk).start()
                known = chunk + _take(chunks, SAMPLE - (len(chunk) - begin))
                self.encoding = detect_encoding(known[begin : begin + SAMPLE])
                if self.encoding == "utf-8":
                    self._western = offset + begin, western_word(known, begin)
                if self.encoding is None:
                    self._leave_out(
                        offset + begin,
                        "none that is known; nothing is read from here: save the file as UTF-8",
                    )
                    yield known[: known.rfind(b"\n", 0, begin) + 1]
                    return
                is_western = self.encoding == "windows-1252"
                self._note_encoding(western_word(known, begin) if is_western else None)
                yield known
                break
            yield chunk
            offset += len(chunk)
        yield from chunks

    # --- whole lines

    def _whole_lines(
        self, chunks: Iterable[bytes], line: int, offset: int
    ) -> Iterator[tuple[int, int, bytes]]:
        """Yield first line, first byte, and bytes that end in a line feed (the last may not)."""
        limit = _BYTES_PER_CHARACTER * self.max_characters
        waiting: list[bytes] = []
        size = 0
        skipped = 0  # bytes of an oversized line, whose end is still to come
        for chunk in chunks:
            if skipped:
                end = chunk.find(b"\n") + 1
                skipped += end or len(chunk)
                if not end:
                    continue
                yield line, offset, b"\n"
                line, offset, skipped = line + 1, offset + skipped, 0
                chunk = chunk[end:]
            end = chunk.rfind(b"\n") + 1
            if end:
                piece = b"".join([*waiting, chunk[:end]])
                yield line, offset, piece
                line, offset = line + piece.count(b"\n"), offset + len(piece)
                waiting, size = [], 0
            waiting.append(chunk[end:])
            size += len(chunk) - end
            if size > limit:
                self._quarantine_line(line)
                waiting, size, skipped = [], 0, size
        if skipped:
            yield line, offset, b"\n"
        elif size:
            yield line, offset, b"".join(waiting)

    def _without_oversized(self, text: str, line: int) -> str:
        if len(text) <= self.max_characters:
            return text
        lines = text.split("\n")
        for index, content in enumerate(lines):
            if len(content) > self.max_characters:
                self._quarantine_line(line + index)
                lines[index] = ""
        return "\n".join(lines)

    def _quarantine_line(self, line: int) -> None:
        detail = f"longer than {self.max_characters} characters"
        self.quarantine.add(self.file, line, "line", "oversized_line", detail)

    # --- decoding

    def _decode(self, data: bytes, offset: int, line: int) -> str:
        """Decode lines from number `line` on, at byte `offset`; damage becomes U+FFFD."""
        codec = "ascii" if self.encoding == UNKNOWN else self.encoding
        if codec == "utf-8-sig":
            codec = "utf-8"
            if offset == 0:
                data, offset = data[len(codecs.BOM_UTF8) :], len(codecs.BOM_UTF8)
        nuls = [m.span() for m in _NULS.finditer(data)] if b"\0" in data else []
        return self._decode_damaged(data, codec, offset, nuls, line)

    def _utf_16_to_utf_8(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the text in UTF-8, where the byte of a line feed is part of no other character."""
        offset = 0
        rest = b""
        for chunk in self._counted(chunks):
            data = rest + chunk
            if offset == 0 and data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                data, offset = data[2:], 2
            size = len(data) // 2 * 2
            high = data[size - 1 : size] if self.encoding == "utf-16-le" else data[size - 2 :][:1]
            if size and 0xD8 <= high[0] < 0xDC:  # the first half of a pair
                size -= 2
            yield self._decode_units(data[:size], offset).encode()
            rest = data[size:]
            offset += size
        yield self._decode_units(rest, offset).encode()

    def _decode_units(self, data: bytes, offset: int) -> str:
        is_nul = np.frombuffer(data, np.uint16, len(data) // 2) == 0
        ends = 2 * np.flatnonzero(np.diff(is_nul, prepend=False, append=False))
        nuls = list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))
        return self._decode_damaged(data, self.encoding, offset, nuls)

    def _decode_damaged(
        self,
        data: bytes,
        codec: str,
        offset: int,
        nuls: list[tuple[int, int]],
        line: int | None = None,
    ) -> str:
        problems = [(start, end, "") for start, end in nuls]
        codec = codec_of(codec)
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            text, spans = decode_marked(data, codec)
            problems = sorted(problems + spans)
        counted = 0
        for start, end, why in problems:
            detail = f"{end - start:,} byte{'s' if end - start > 1 else ''}"
            if line is not None:
                line, counted = line + data.count(b"\n", counted, start), start
                detail += f" in line {line}"
            if why:
                digits = data[start:end][:8].hex(" ") + (" ..." if end - start > 8 else "")
                detail = f"{detail}: {digits} ({why})"
                first, word = self._western
                if word and offset + start == first:
                    command = "iconv -f windows-1252 -t UTF-8"
                    if "!" not in self.file:  # a member of an archive is no file
                        command = conversion(Path(self.file), "windows-1252")
                    detail += f"; in windows-1252 this is {word!r}: if that is right, convert the"
                    detail += f" file by `{command}`, and name the new file"
            reason = "undecodable_bytes" if why else "nul_bytes"
            self.quarantine.add(self.file, offset + start, "byte", reason, detail)
        return re.sub("\0+", DAMAGE, text) if nuls else text


def _take(chunks: Iterator[bytes], size: int) -> bytes:
    """Return at least `size` bytes, if there are so many."""
    taken = []
    while size > 0:
        chunk = next(chunks, None)
        if chunk is None:
            break
        taken.append(chunk)
        size -= len(chunk)
    return b"".join(taken)


def _clip(
    chunks: Iterator[bytes], first_byte: int, end_byte: int | None
) -> tuple[int, int, Iterator[bytes]]:
    """Return the start of the lines whose first byte is in the range, their number and bytes."""
    offset, line = 0, 1
    if first_byte:
        for chunk in chunks:
            if offset + len(chunk) >= first_byte:
                begin = chunk.find(b"\n", max(0, first_byte - 1 - offset)) + 1
                if begin:
                    line += chunk.count(b"\n", 0, begin)
                    offset += begin
                    chunks = chain([chunk[begin:]], chunks)
                    break
            line += chunk.count(b"\n")
            offset += len(chunk)
        else:
            return offset, line, iter(())
    return offset, line, chunks if end_byte is None else _until(chunks, offset, end_byte)


def _until(chunks: Iterator[bytes], offset: int, end_byte: int) -> Iterator[bytes]:
    """Return the bytes up to the end of the last line that begins before `end_byte`."""
    if offset >= end_byte:
        return
    for chunk in chunks:
        if offset + len(chunk) >= end_byte:
            end = chunk.find(b"\n", max(0, end_byte - 1 - offset)) + 1
            if end:
                yield chunk[:end]
                return
        yield chunk
        offset += len(chunk)
