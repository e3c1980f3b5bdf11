"""Files, compressed files and the members of archives, as streams of bytes.

Nothing is unpacked to disk, and nothing is held in memory but a chunk. A stream that breaks
(a truncated download, a wrong checksum) yields the bytes before the break; the break itself
goes to the quarantine with its position.
"""

import errno
import gzip
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
from typing import Any, BinaryIO, Protocol

import zstandard

from evenhand.core.files import shown
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


class _Readable(Protocol):
    def read(self, size: int) -> bytes: ...


class _Stream:
    """Bytes up to the end or the break; a break is kept in `problem`, not raised."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.position = 0
        self.problem: tuple[str, str] | None = None

    def read(self, size: int) -> bytes:
        if self.problem:
            return b""
        try:
            data = self._read(size)
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
    memory that a header of xz asks for.
    """

    def __init__(self, source: _Readable, begin: Callable[[], Any], padding: bytes = b"") -> None:
        self._source, self._begin, self._padding = source, begin, padding
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
    name = shown(path)
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
        read = file.read if on_read is None else _counted(file, on_read)
        stream = _decompress(_Stream(read), kind.compression)
        if kind.archive == "tar":
            yield from _tar_members(stream, name, quarantine, budget)
        else:
            chunks = _chunks(stream, name, quarantine, budget)
            yield Member(name, shown(path.name), chunks)


def _counted(file: BinaryIO, on_read: Callable[[int], object]) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        data = file.read(size)
        on_read(len(data))
        return data

    return read


def _decompress(source: _Stream, compression: str | None) -> _Stream:
    """Use `read1`, which returns available bytes before it raises; `read` does not."""
    if compression == "gz":
        return _Stream(gzip.GzipFile(fileobj=io.BufferedReader(_Raw(source), CHUNK)).read1)
    if compression == "xz":
        begin = partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY)
        return _Stream(_Frames(io.BufferedReader(_Raw(source), CHUNK), begin, b"\0").read)
    if compression == "zst":
        begin = zstandard.ZstdDecompressor().decompressobj
        return _Stream(_Frames(io.BufferedReader(_Raw(source), CHUNK), begin).read)
    return source


class _Raw(io.RawIOBase):
    """A stream with the interface of the standard library's buffers."""

    def __init__(self, source: _Readable) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _chunks(stream: _Stream, name: str, quarantine: Quarantine, budget: _Budget) -> Iterator[bytes]:
    """Yield the stream's bytes; at its end, its problem goes to the quarantine."""
    while chunk := stream.read(CHUNK):
        if too_much := budget.beyond(stream.position, len(chunk)):
            end = min(stream.position, budget.member)
            yield chunk[: len(chunk) - (stream.position - end)]
            quarantine.add(name, end, "byte", "oversized_member", too_much)
            return
        yield chunk
    if stream.problem:
        quarantine.add(name, stream.position, "byte", *stream.problem)
    elif not stream.position:
        quarantine.add(name, None, "file", "empty_file", "0 bytes")


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
        stream = _decompress(stream, kind.compression)
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


def _refuse(archive: str, name: str, why: str, quarantine: Quarantine) -> None:
    escaped = re.sub(r"[\0-\x1f]", lambda m: ascii(m.group())[1:-1], name)
    quarantine.add(f"{archive}!{escaped}", None, "file", "unsafe_member", why)


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
                unsafe = _unsafe(inner) or _type_name(info)
                if unsafe:
                    _refuse(name, inner, unsafe, quarantine)
                    continue
                # not `extractfile`, which drops the bytes before a break
                archive.fileobj.seek(info.offset_data)
                content = _Stream(_Stored(archive.fileobj.read, info.size).read)
                member = _member(inner, content, name, quarantine, budget)
                if member:
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
            if too_much := budget.beyond(0, len(rest)):
                stream.problem = ("oversized_member", too_much)
        if stream.problem:
            quarantine.add(name, stream.position, "byte", *stream.problem)


def _type_name(info: tarfile.TarInfo) -> str | None:
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
        yield from _salvage_zip(file, name, quarantine, budget, _words(error))
        return
    for info in archive.infolist():
        if on_read:
            on_read(info.compress_size)
        inner = _zip_name(info.orig_filename, info.flag_bits)
        if inner.endswith("/"):
            continue
        mode = info.external_attr >> 16
        unsafe = _unsafe(inner)
        if not unsafe and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            unsafe = "a link" if stat.S_ISLNK(mode) else "a device or special file"
        if unsafe:
            _refuse(name, inner, unsafe, quarantine)
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
            stream = _Stream(content.read1)
            member = _member(inner, stream, name, quarantine, budget)
            if member:
                yield member


def _zip_name(name: str, flags: int) -> str:
    """Return a member's name, where the archive does not declare UTF-8."""
    if flags & 0x800:
        return name
    try:
        return _decode_name(name.encode("cp437"))
    except UnicodeEncodeError:
        return name


def _salvage_zip(
    file: BinaryIO, name: str, quarantine: Quarantine, budget: _Budget, problem: str
) -> Iterator[Member]:
    """Yield the members of a zip file whose directory, at its end, is missing.

    Each member has a header of its own (APPNOTE 4.3.7). Compressed data has an end mark;
    stored data needs its length in the header.
    """
    file.seek(0)
    source = io.BufferedReader(io.FileIO(file.fileno(), closefd=False), CHUNK)
    is_zip = False
    while True:
        begin = source.tell()
        header = source.read(30)
        is_zip = is_zip or header[:4] == b"PK\x03\x04"
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            break
        flags, method = struct.unpack("<HH", header[6:10])
        compressed_size, _, name_size, extra_size = struct.unpack("<IIHH", header[18:30])
        inner = _decode_name(source.read(name_size))
        source.read(extra_size)
        known = not flags & 8 and compressed_size != 0xFFFFFFFF
        if flags & 1 or method not in (0, 8) or (method == 0 and not known):
            problem = f"cannot be read without its directory at the end ({problem})"
            break
        data = _Inflated(source) if method == 8 else _Stored(source.read1, compressed_size)
        stream = _Stream(data.read)
        if not inner.endswith("/"):
            unsafe = _unsafe(inner)
            if unsafe:
                _refuse(name, inner, unsafe, quarantine)
            else:
                member = _member(inner, stream, name, quarantine, budget)
                if member:
                    yield member
        while stream.read(CHUNK):
            pass
        if stream.problem:
            break
        if flags & 8:  # a data descriptor: 12 bytes, 4 more with a signature
            if source.peek(4)[:4] == b"PK\x07\x08":
                source.read(4)
            source.read(12)
    reason = "truncated_archive" if is_zip else "broken_archive"
    quarantine.add(name, begin, "byte", reason, problem)


class _Inflated:
    """One deflated member, up to the end that the data itself marks."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._inflate = zlib.decompressobj(-15)

    def read(self, size: int) -> bytes:
        while not self._inflate.eof:
            compressed = self._inflate.unconsumed_tail or self._take()
            data = self._inflate.decompress(compressed, size)
            if self._inflate.eof:
                self._source.seek(-len(self._inflate.unused_data), io.SEEK_CUR)
            if data:
                return data
            if not compressed:
                raise EOFError("the member is cut")
        return b""

    def _take(self) -> bytes:
        return self._source.read1(CHUNK)


class _Stored:
    """An uncompressed member: a fixed number of bytes of a stream."""

    def __init__(self, read: Callable[[int], bytes], size: int) -> None:
        self._read, self._size, self._left = read, size, size

    def read(self, size: int) -> bytes:
        if not self._left:
            return b""
        data = self._read(min(size, self._left))
        if not data:
            raise EOFError(f"{self._size - self._left} of {self._size} bytes are there")
        self._left -= len(data)
        return data
