"""Files, compressed files and the members of archives, as streams of bytes.

Nothing is unpacked to disk, and nothing is held in memory but a chunk. A stream that breaks
(a truncated download, a wrong checksum) gives what came before the break; the break itself
goes to the quarantine with its position.
"""

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
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

import zstandard

from evenhand.errors import InputError
from evenhand.io.formats import is_hidden, kind_of
from evenhand.io.quarantine import Quarantine

#: Bytes per chunk.
CHUNK = 1 << 20

#: Compressed bytes given to zstd at a time. A frame of zeros grows 32,000-fold, so that a
#: larger piece could fill the memory at once.
ZSTD_CHUNK = 1 << 12

#: Bytes of the longest file (or member), decompressed.
MEMBER_LIMIT = 64 << 30

#: What the readers of the standard library raise where the data ends too early.
_CUT = (EOFError, tarfile.ReadError)

#: What they raise where the data is wrong.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zstandard.ZstdError,
    NotImplementedError,
)


@dataclass(frozen=True)
class Member:
    """One file of text.

    Attributes
    ----------
    name : str
        The path as given, and ``!member`` if it lies in an archive.
    file_name : str
        Its last name, whose suffixes say the format.
    chunks : iterator of bytes
        Its decompressed content; to be read before the next member is asked for.
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
        except _BROKEN as error:
            self.problem = ("broken_archive", str(error) or type(error).__name__)
            return b""
        self.position += len(data)
        return data


class _Zstd:
    """Decompresses zstd frames one after the other, and notices when the last one is cut.

    The stream readers of the package end silently at a cut frame.
    """

    def __init__(self, source: _Readable) -> None:
        self._source = source
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame: Any = None
        self._waiting = b""
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._ready:
            compressed = self._waiting or self._source.read(ZSTD_CHUNK)
            self._waiting = b""
            if not compressed:
                if self._frame is None:
                    return b""
                raise EOFError("the last zstd frame is cut")
            if self._frame is None:
                self._frame = self._decompressor.decompressobj()
            self._ready = memoryview(self._frame.decompress(compressed))
            if self._frame.eof:
                self._waiting = self._frame.unused_data
                self._frame = None
        data, self._ready = bytes(self._ready[:size]), self._ready[size:]
        return data


def open_members(
    path: Path,
    quarantine: Quarantine,
    *,
    limit: int = MEMBER_LIMIT,
    on_read: Callable[[int], object] | None = None,
) -> Iterator[Member]:
    """The texts that a file holds: itself, decompressed, or the members of an archive.

    Members come in the order in which the archive has them. Links, devices, unsafe and
    hidden names, archives in archives, members that need a password or exceed `limit`
    bytes, and breaks go to the quarantine.

    Parameters
    ----------
    path : Path
        A file; its suffixes say what it is (see `evenhand.io.formats`).
    quarantine : Quarantine
        Gets what cannot be read.
    limit : int
        Bytes of a member that are read at most.
    on_read : callable, optional
        Called with the number of bytes after each read from the disk.

    Raises
    ------
    InputError
        There is no such file, or it may not be read.
    """
    kind = kind_of(path.name)
    name = str(path)
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    with file:
        if kind.archive == "zip":
            yield from _zip_members(file, name, quarantine, limit, on_read)
            return
        read = file.read if on_read is None else _counted(file, on_read)
        stream = _decompress(_Stream(read), kind.compression)
        if kind.archive == "tar":
            yield from _tar_members(stream, name, quarantine, limit)
        else:
            chunks = _chunks(stream, name, quarantine, limit)
            yield Member(name, path.name, chunks)


def _counted(file: BinaryIO, on_read: Callable[[int], object]) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        data = file.read(size)
        on_read(len(data))
        return data

    return read


def _decompress(source: _Stream, compression: str | None) -> _Stream:
    """`read1` of the standard library gives what there is before it raises; `read` does not."""
    if compression == "gz":
        return _Stream(gzip.GzipFile(fileobj=io.BufferedReader(_Raw(source), CHUNK)).read1)
    if compression == "xz":
        return _Stream(lzma.LZMAFile(io.BufferedReader(_Raw(source), CHUNK)).read1)
    if compression == "zst":
        return _Stream(_Zstd(io.BufferedReader(_Raw(source), CHUNK)).read)
    return source


class _Raw(io.RawIOBase):
    """A stream as the standard library's buffers want it."""

    def __init__(self, source: _Readable) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _chunks(stream: _Stream, name: str, quarantine: Quarantine, limit: int) -> Iterator[bytes]:
    """The stream's bytes; at its end, what was wrong with it goes to the quarantine."""
    while chunk := stream.read(CHUNK):
        if stream.position > limit:
            yield chunk[: len(chunk) - (stream.position - limit)]
            detail = f"longer than {limit} bytes"
            quarantine.add(name, limit, "byte", "oversized_member", detail)
            return
        yield chunk
    if stream.problem:
        quarantine.add(name, stream.position, "byte", *stream.problem)
    elif not stream.position:
        quarantine.add(name, None, "file", "empty_file", "0 bytes")


def _member(
    name: str, stream: _Stream, archive: str, quarantine: Quarantine, limit: int
) -> Member | None:
    """A member that may be read, or None, with the reason in the quarantine."""
    shown = f"{archive}!{name}"
    kind = kind_of(name)
    if is_hidden(name):
        quarantine.add(shown, None, "file", "hidden_member", "left out")
        return None
    if kind.archive:
        quarantine.add(shown, None, "file", "nested_archive", "unpack it to have it read")
        return None
    if kind.compression:
        stream = _decompress(stream, kind.compression)
    return Member(shown, PurePosixPath(name).name, _chunks(stream, shown, quarantine, limit))


def _unsafe(name: str) -> str | None:
    """What makes a member's name unsafe, or None."""
    if not name:
        return "no name"
    if any(ord(character) < 32 for character in name):
        return "a name with control characters"
    slashed = name.replace("\\", "/")
    if slashed.startswith("/") or re.match("[A-Za-z]:/", slashed):
        return "an absolute name"
    return "a name that climbs" if ".." in slashed.split("/") else None


def _refuse(archive: str, name: str, why: str, quarantine: Quarantine) -> None:
    shown = re.sub(r"[\0-\x1f]", lambda m: ascii(m.group())[1:-1], name)
    quarantine.add(f"{archive}!{shown}", None, "file", "unsafe_member", why)


def _decode_name(raw: bytes) -> str:
    """A member's name; archives of Chinese systems often have them in GBK without saying so."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


# --- tar ---------------------------------------------------------------------------------


class _Header(tarfile.TarInfo):
    """A header that cannot be read raises; `tarfile` would end the archive there in silence."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise  # the block of zeros that ends an archive
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError) as error:
            raise tarfile.ReadError("no end mark") from error
        except tarfile.HeaderError as error:
            raise tarfile.StreamError(str(error)) from error


def _tar_members(
    stream: _Stream, name: str, quarantine: Quarantine, limit: int
) -> Iterator[Member]:
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header, bufsize=CHUNK) as archive:
            while (info := archive.next()) is not None:
                archive.members.clear()  # tarfile remembers every header otherwise
                if info.isdir():
                    continue
                raw = info.name.encode("utf-8", "surrogateescape")
                inner = _decode_name(raw).removeprefix("./")
                unsafe = _unsafe(inner) or (None if info.isreg() else _type_name(info))
                if unsafe:
                    _refuse(name, inner, unsafe, quarantine)
                    continue
                content = _Stream(_tar_reader(archive, info))
                member = _member(inner, content, name, quarantine, limit)
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
        while not stream.problem and stream.read(CHUNK):
            pass  # padding; the checksum of the compression stands behind it
        if stream.problem:
            quarantine.add(name, stream.position, "byte", *stream.problem)


def _tar_reader(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[int], bytes]:
    """What reads a member. That of `extractfile` throws away what stands before a break."""
    if info.issparse():
        return archive.extractfile(info).read1
    archive.fileobj.seek(info.offset_data)
    return _Stored(archive.fileobj.read, info.size).read


def _type_name(info: tarfile.TarInfo) -> str:
    return "a link" if info.issym() or info.islnk() else "a device or special file"


# --- zip ---------------------------------------------------------------------------------


def _zip_members(
    file: BinaryIO,
    name: str,
    quarantine: Quarantine,
    limit: int,
    on_read: Callable[[int], object] | None,
) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        yield from _salvage_zip(file, name, quarantine, limit, str(error))
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
            shown = f"{name}!{inner}"
            quarantine.add(shown, None, "file", "encrypted_member", "needs a password")
            continue
        try:
            content = archive.open(info)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            quarantine.add(f"{name}!{inner}", 0, "byte", "broken_archive", str(error))
            continue
        with content:
            stream = _Stream(content.read1)
            member = _member(inner, stream, name, quarantine, limit)
            if member:
                yield member


def _zip_name(name: str, flags: int) -> str:
    """A member's name, where the archive does not say that it is UTF-8."""
    if flags & 0x800:
        return name
    try:
        return _decode_name(name.encode("cp437"))
    except UnicodeEncodeError:
        return name


def _salvage_zip(
    file: BinaryIO, name: str, quarantine: Quarantine, limit: int, problem: str
) -> Iterator[Member]:
    """The members of a zip file whose directory, at its end, is missing: one after the other.

    Each member has a header of its own (APPNOTE 4.3.7). Compressed data tells where it ends;
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
                member = _member(inner, stream, name, quarantine, limit)
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
    """One member that is not compressed: so many bytes of a stream."""

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
