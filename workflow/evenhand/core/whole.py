"""Files that are read as a whole: tables, sets of pairs, sheets, the configuration."""

import gzip
import re
import shlex
import stat
import zlib
from pathlib import Path

from evenhand.core.encodings import detect_table, western_word
from evenhand.core.limits import WHOLE_BYTES
from evenhand.errors import InputError, nearest

#: The remedy of files that are cut off.
COPY = "copy or write it again"

#: The problem and the remedy of files that are no text, by their first bytes.
_OTHERS = [
    (b"PK\3\4", "is a spreadsheet or an archive", "save it as a CSV file"),  # .xlsx, .ods
    (b"PAR1\x15", "is a Parquet file", "end its name in .parquet"),
    (b"\x1f\x8b", "is compressed by gzip", "end its name in .gz"),
    (b"version https://git-lfs", "is a pointer of Git LFS", "get the file by `git lfs pull`"),
    ((b"<!DOCTYPE", b"<!doctype", b"<html"), "is a web page", "download the file itself"),
]


def near_names(path: Path) -> str:
    """Return the remedy for a path that does not exist: the nearest one."""
    if near := near_path(path):
        return f"did you mean {near}?"
    there = path.parent.is_dir()
    return "check the path" if there else f"there is no folder {path.parent} either; check the path"


def near_path(path: Path) -> Path | None:
    """Return the path whose parts are most like those of one that does not exist, if any is."""
    near = Path(path.anchor)
    for part in path.parts[len(near.parts) :]:
        if not (near / part).exists():
            try:
                names = sorted(other.name for other in near.iterdir())
            except OSError:
                return None
            # an ending that they share makes no names alike, and no table is a configuration
            names = [name for name in names if _is_yaml(name) == _is_yaml(part)]
            part = nearest(part, [name for name in names if nearest(_stem(part), [_stem(name)])])
            if not part:
                return None
        near /= part
    return near


def _stem(name: str) -> str:
    return Path(name).stem


def _is_yaml(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Return the content of a file, decompressed if its name ends in .gz.

    Parameters
    ----------
    path : Path
        The file.
    most : int, optional
        Read the lines in so many bytes at its beginning.

    Raises
    ------
    InputError
        It does not exist, is a folder, pipe or device, is not readable, is a broken gzip file,
        or is longer than `WHOLE_BYTES`.
    """
    check_file(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(most or WHOLE_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        remedy = COPY if isinstance(error, EOFError) else None
        raise InputError(f"is no whole gzip file ({error})", file=path, remedy=remedy) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    if len(content) == most:
        return content[: content.rfind(b"\n") + 1]
    if len(content) > WHOLE_BYTES:
        raise InputError(f"is longer than {WHOLE_BYTES >> 20} MB", file=path)
    return content


def read_text(path: Path, most: int | None = None) -> str:
    """Return the text of a file in UTF-8, without its byte-order mark; see `read_bytes`.

    Raises
    ------
    InputError
        It is no text, or not UTF-8; then the line and the detected encoding are named.
    """
    content = read_bytes(path, most)
    for magic, problem, remedy in _OTHERS:
        if content.startswith(magic):
            raise InputError(problem, file=path, remedy=remedy)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        if error.reason == "unexpected end of data" and not content[: error.start].isascii():
            problem, remedy = "ends in the middle of a character", "copy or write it again"
            raise InputError(problem, file=path, line=line, remedy=remedy) from error
        encoding = detect_table(content)
        if encoding is None and b"\0" in content:
            kind = "plain text" if _is_yaml(path.name) else "a CSV or a Parquet file"
            problem, remedy = "is no text", f"save it as {kind}"
            raise InputError(problem, file=path, remedy=remedy) from error
        problem, otherwise = "is not UTF-8", ""
        if encoding:
            problem += f" but seems to be {encoding}"
            otherwise = (
                f"; if words are wrong then, in place of {encoding} name the encoding of the"
            )
            otherwise += " program that wrote it"
        elif word := western_word(content, error.start):
            encoding = "windows-1252"
            problem += f" but may be {encoding}, in which this line has {word!r}"
            otherwise = f"; if that is wrong, in place of {encoding} name the encoding"
            otherwise += " of the program that wrote it"
        else:
            encoding = "ENCODING"
            otherwise = "; ENCODING is that of the program that wrote it, such as windows-1252"
        if encoding in ("ENCODING", "windows-1252") and (counts := _utf_8_lines(content)):
            damaged, others = counts
            problem = f"is not UTF-8, though {others:,} of the lines beyond ASCII are"
            if damaged > 1:
                problem = f"is the first of {damaged:,} lines that are not UTF-8, though {others:,}"
                problem += " of the lines beyond ASCII are"
            remedy = "mend these lines, or write the file again from parts in one encoding"
            if encoding != "ENCODING":
                remedy += f"; they seem to be {encoding}, which `iconv -f {encoding} -t UTF-8`"
                remedy += " converts"
            raise InputError(problem, file=path, line=line, remedy=remedy) from error
        command = conversion(path, encoding)
        remedy = f"save it as UTF-8, for example by `{command}`, and name the new file{otherwise}"
        raise InputError(problem, file=path, line=line, remedy=remedy) from error


def conversion(path: Path, encoding: str) -> str:
    """Return the command that writes a file as UTF-8 into a folder ``utf8``.

    Its name and its folder's stay: those of a log name its task and its model.
    """
    folder = path.with_name("utf8")
    if path.parent.name not in ("", ".."):
        folder = path.parent.with_name("utf8") / path.parent.name
    old, beside, new = (shlex.quote(str(name)) for name in (path, folder, folder / path.name))
    convert = f"iconv -f {encoding} -t UTF-8"
    command = f"{convert} {old} > {new}"
    if path.suffix == ".gz":
        command = f"gzip -dc {old} | {convert} | gzip > {new}"
    return f"mkdir -p {beside} && {command}"


def _utf_8_lines(content: bytes) -> tuple[int, int] | None:
    """Return how many lines are not UTF-8, and how many are beyond ASCII; None without the latter.

    Of the others ASCII is no evidence.
    """
    lines = [line for line in content.split(b"\n") if not line.isascii()]
    damaged = sum("\ufffd" in line.decode("utf-8", "replace") for line in lines)
    return (damaged, len(lines) - damaged) if damaged < len(lines) else None


def check_file(path: Path) -> None:
    """Refuse a folder, a pipe, a socket or a device.

    Raises
    ------
    InputError
        It is one of these, does not exist, or is not accessible.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        is_web = re.match(r"\w{2,}:/", str(path))
        remedy = "download it first" if is_web else near_names(path)
        raise InputError("there is no such file", file=path, remedy=remedy) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    if stat.S_ISDIR(mode):
        raise InputError("is a folder", file=path, remedy="name a file")
    if not stat.S_ISREG(mode):
        raise InputError("is a pipe, socket or device", file=path, remedy="name a file")
