"""Files, compressed files and the members of archives, as streams of bytes.

Nothing is unpacked to disk, and nothing is held in memory but a chunk. A stream that breaks
(a truncated download, a wrong checksum) yields the bytes before the break; the break itself
goes to the quarantine with its position.
"""

import errno
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import zstandard

from evenhand.core.files import path_text
from evenhand.core.limits import GROWN, GROWTH, MEMBER_BYTES, TAR_HEADER, XZ_MEMORY
from evenhand.core.whole import check_file
from evenhand.errors import InputError
from evenhand.io.formats import is_hidden, kind_of
from evenhand.io.quarantine import Quarantine

#: Bytes per chunk.
CHUNK = 1 << 20

#: Compressed bytes given to zstd or xz at a time. A frame of zeros grows 32,000-fold, so that a
#: larger piece could fill the memory at once.
FRAME_CHUNK = 1 << 12

#: By compression: the decompressor of a frame, and the padding between frames.
_FRAMES: dict[str, tuple[Callable[[], Any], bytes]] = {
    "gz": (partial(zlib.decompressobj, 16 + zlib.MAX_WBITS), b"\0"),
    "xz": (partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY), b"\0"),
    "zst": (zstandard.ZstdDecompressor().decompressobj, b""),
}

#: Errors of the standard library for data that ends too early.
_CUT = (EOFError, tarfile.ReadError)

#: Errors of the standard library for invalid data.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    NotImplementedError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True)
class Member:
    """One file of text.

    Attributes
    ----------
    name : str
        The path as given, and ``!member`` if it lies in an archive.
    file_name : str
        Its last path component, whose suffixes give the format.
    chunks : iterator of bytes
        Its decompressed content; to be read before the next member is requested.
    """

    name: str
    file_name: str
    chunks: Iterator[bytes]


class _Stream(io.RawIOBase):
    """Bytes up to the end or the break; a break is kept in `problem`, not raised.

    With a `size`, fewer bytes are a break, and bytes behind them are not read.
    """

    def __init__(self, read: Callable[[int], bytes], size: int | None = None) -> None:
        self._read, self._size = read, size
        self.position = 0
        self.problem: tuple[str, str] | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int) -> bytes:
        if self._size is not None:
            size = min(size, self._size - self.position)
        if self.problem or not size:
            return b""
        try:
            data = self._read(size)
            if not data and self._size is not None:
                raise EOFError(f"{self.position} of {self._size} bytes are there")
        except _CUT as error:
            self.problem = ("truncated_archive", str(error))
            return b""
        except (*_BROKEN, OSError) as error:
            self.problem = ("broken_archive", _words(error))
            return b""
        self.position += len(data)
        return data


def _words(error: Exception) -> str:
    """Describe a problem of the data; raise an error of the disk."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error
    return str(error) or type(error).__name__


class _Frames:
    """Decompresses frames one after the other, and notices when the last one is cut.

    The readers of the packages end silently at a cut frame of zstd, and take any amount of
    memory that a header of xz asks for. Zeros behind a frame of gzip or xz are padding.
    """

    def __init__(self, source: _Stream, compression: str) -> None:
        self._source = io.BufferedReader(source, CHUNK)
        self._begin, self._padding = _FRAMES[compression]
        self._frame: Any = None
        self._waiting = b""
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._ready:
            compressed = self._waiting or self._source.read(FRAME_CHUNK)
            self._waiting = b""
            if not compressed:
                if self._frame is None:
                    return b""
                raise EOFError("the last frame is cut")
            if self._frame is None:
                if self._padding and not (compressed := compressed.lstrip(self._padding)):
                    continue
                self._frame = self._begin()
            self._ready = memoryview(self._frame.decompress(compressed))
            if self._frame.eof:
                self._waiting = self._frame.unused_data
                self._frame = None
        data, self._ready = bytes(self._ready[:size]), self._ready[size:]
        return data


class _Budget:
    """Limits on the bytes of a member, and of all members of a file together."""

    def __init__(self, member: int, file_size: int) -> None:
        self.member = member
        self.left = GROWTH * file_size + GROWN

    def beyond(self, position: int, size: int) -> str | None:
        """Count `size` bytes that end at `position` of a member; return an exceeded limit."""
        self.left -= size
        if position > self.member:
            return f"longer than {self.member} bytes"
        return f"it grows more than {GROWTH}-fold when it is unpacked" if self.left < 0 else None


def open_members(
    path: Path,
    quarantine: Quarantine,
    *,
    limit: int = MEMBER_BYTES,
    on_read: Callable[[int], object] | None = None,
) -> Iterator[Member]:
    """Yield the texts in a file: itself, decompressed, or the members of an archive.

    Members come in the order in which the archive has them. Links, devices, sparse files,
    unsafe and hidden names, archives in archives, members that need a password or exceed
    `limit` bytes, breaks, and compression bombs go to the quarantine.

    Parameters
    ----------
    path : Path
        A file; its suffixes determine its form (see `evenhand.io.formats`).
    quarantine : Quarantine
        Receives everything unreadable.
    limit : int
        Bytes of a member that are read at most.
    on_read : callable, optional
        Called with the number of bytes after each read from the disk.

    Raises
    ------
    InputError
        There is no such file, it is none (a pipe, a device), or it may not be read.
    """
    kind = kind_of(path.name)
    name = path_text(path)
    check_file(path)
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    with file:
        budget = _Budget(limit, path.stat().st_size)
        if kind.archive == "zip":
            yield from _zip_members(file, name, quarantine, budget, on_read)
            return
        read = file.read if on_read is None else partial(_read_counted, file, on_read)
        stream = _Stream(read)
        if kind.compression:
            stream = _Stream(_Frames(stream, kind.compression).read)
        if kind.archive == "tar":
            yield from _tar_members(stream, name, quarantine, budget)
        else:
            chunks = _chunks(stream, name, quarantine, budget)
            yield Member(name, path_text(path.name), chunks)


def _read_counted(file: BinaryIO, on_read: Callable[[int], object], size: int) -> bytes:
    data = file.read(size)
    on_read(len(data))
    return data


def _chunks(stream: _Stream, name: str, quarantine: Quarantine, budget: _Budget) -> Iterator[bytes]:
    """Yield the stream's bytes; at its end, its problem goes to the quarantine."""
    is_blank = True
    while chunk := stream.read(CHUNK):
        is_blank = is_blank and not chunk.strip()
        if excess := budget.beyond(stream.position, len(chunk)):
            end = min(stream.position, budget.member)
            yield chunk[: len(chunk) - (stream.position - end)]
            quarantine.add(name, end, "byte", "oversized_member", excess)
            return
        yield chunk
    if stream.problem:
        quarantine.add(name, stream.position, "byte", *stream.problem)
    elif is_blank:
        detail = "no text, only blanks" if stream.position else "0 bytes"
        quarantine.add(name, None, "file", "empty_file", detail)


def _member(
    name: str, stream: _Stream, archive: str, quarantine: Quarantine, budget: _Budget
) -> Member | None:
    """Return a member that may be read, or None, with the reason in the quarantine."""
    place = f"{archive}!{name}"
    kind = kind_of(name)
    if is_hidden(name):
        quarantine.add(place, None, "file", "hidden_member", "left out")
        return None
    if kind.archive:
        quarantine.add(place, None, "file", "nested_archive", "unpack it to have it read")
        return None
    if kind.compression:
        stream = _Stream(_Frames(stream, kind.compression).read)
    return Member(place, PurePosixPath(name).name, _chunks(stream, place, quarantine, budget))


def _unsafe(name: str) -> str | None:
    """Return why a member's name is unsafe, or None."""
    if not name:
        return "no name"
    if any(ord(character) < 32 for character in name):
        return "a name with control characters"
    slashed = name.replace("\\", "/")
    if slashed.startswith("/") or re.match("[A-Za-z]:/", slashed):
        return "an absolute name"
    return "a name that climbs" if ".." in slashed.split("/") else None


def _is_refused(archive: str, name: str, kind: str | None, quarantine: Quarantine) -> bool:
    """Add a member with an unsafe name, or of an unsafe kind, to the quarantine."""
    problem = _unsafe(name) or kind
    if problem:
        escaped = re.sub(r"[\0-\x1f]", lambda m: ascii(m.group())[1:-1], name)
        quarantine.add(f"{archive}!{escaped}", None, "file", "unsafe_member", problem)
    return bool(problem)


def _decode_name(raw: bytes) -> str:
    """Return a member's name; archives of Chinese systems often have undeclared GBK names."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


# --- tar ---------------------------------------------------------------------------------

#: Headers that describe the next header.
_EXTENDED = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


class _Header(tarfile.TarInfo):
    """A header that cannot be read raises; `tarfile` would end the archive there in silence.

    Headers of several parts call themselves for the next part, and those of sparse files lead to
    errors of any kind.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise  # the block of zeros that ends an archive
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError) as error:
            raise tarfile.ReadError("no end mark") from error
        except (tarfile.HeaderError, *_BROKEN) as error:
            raise tarfile.StreamError(f"a header that cannot be read ({error})") from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _EXTENDED and not 0 <= self.size <= TAR_HEADER:
            raise tarfile.InvalidHeaderError(f"an extended header of {self.size} bytes")
        return super()._proc_member(archive)


def _headers(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the headers, and skip unread bytes of members.

    `tarfile` would go on skipping after the end of the data, up to any size that is stated.
    """
    while (info := archive.next()) is not None:
        archive.members.clear()  # tarfile remembers every header otherwise
        yield info
        while (left := archive.offset - archive.fileobj.tell()) > 0:
            if not archive.fileobj.read(min(left, CHUNK)):
                raise tarfile.ReadError("unexpected end of data")


def _tar_members(
    stream: _Stream, name: str, quarantine: Quarantine, budget: _Budget
) -> Iterator[Member]:
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header, bufsize=CHUNK) as archive:
            for info in _headers(archive):
                if info.isdir():
                    continue
                raw = info.name.encode("utf-8", "surrogateescape")
                inner = _decode_name(raw).removeprefix("./")
                if _is_refused(name, inner, _special(info), quarantine):
                    continue
                # not `extractfile`, which drops the bytes before a break
                archive.fileobj.seek(info.offset_data)
                content = _Stream(archive.fileobj.read, info.size)
                if member := _member(inner, content, name, quarantine, budget):
                    yield member
    except tarfile.ReadError as error:
        problem = stream.problem or ("truncated_archive", str(error))
        if stream.problem or stream.position:
            quarantine.add(name, stream.position, "byte", *problem)
        else:
            quarantine.add(name, None, "file", "empty_file", "0 bytes")
    except tarfile.TarError as error:
        quarantine.add(name, stream.position, "byte", "broken_archive", str(error))
    else:
        while not stream.problem and (rest := stream.read(CHUNK)):
            # padding; the checksum of the compression follows
            if excess := budget.beyond(0, len(rest)):
                stream.problem = ("oversized_member", excess)
        if stream.problem:
            quarantine.add(name, stream.position, "byte", *stream.problem)


def _special(info: tarfile.TarInfo) -> str | None:
    """Return why a member is no ordinary file, or None."""
    if info.issparse():
        return "a sparse file"
    if info.isreg():
        return None
    return "a link" if info.issym() or info.islnk() else "a device or special file"


# --- zip ---------------------------------------------------------------------------------


def _zip_members(
    file: BinaryIO,
    name: str,
    quarantine: Quarantine,
    budget: _Budget,
    on_read: Callable[[int], object] | None,
) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(file)
        if sum(info.compress_size for info in archive.infolist()) > file.seek(0, io.SEEK_END):
            raise zipfile.BadZipFile("its members overlap")
    except (*_BROKEN, OSError) as error:
        file.seek(0)
        is_cut = file.read(4) == b"PK\x03\x04" and not zipfile.is_zipfile(file)
        reason = "truncated_archive" if is_cut else "broken_archive"
        detail = "its directory, at the end, is missing: nothing is read" if is_cut else None
        quarantine.add(name, 0, "byte", reason, detail or _words(error))
        return
    if not archive.infolist():
        quarantine.add(name, None, "file", "empty_file", "no members")
    for info in archive.infolist():
        if on_read:
            on_read(info.compress_size)
        inner = _zip_name(info.orig_filename, info.flag_bits)
        if inner.endswith("/"):
            continue
        mode, special = info.external_attr >> 16, None
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            special = "a link" if stat.S_ISLNK(mode) else "a device or special file"
        if _is_refused(name, inner, special, quarantine):
            continue
        if info.flag_bits & 1:
            place = f"{name}!{inner}"
            quarantine.add(place, None, "file", "encrypted_member", "needs a password")
            continue
        try:
            content = archive.open(info)
        except (*_BROKEN, OSError) as error:
            quarantine.add(f"{name}!{inner}", 0, "byte", "broken_archive", _words(error))
            continue
        with content:
            if member := _member(inner, _Stream(content.read1), name, quarantine, budget):
                yield member


def _zip_name(name: str, flags: int) -> str:
    """Return a member's name, where the archive does not declare UTF-8."""
    if flags & 0x800:
        return name
    try:
        return _decode_name(name.encode("cp437"))
    except UnicodeEncodeError:
        return name
