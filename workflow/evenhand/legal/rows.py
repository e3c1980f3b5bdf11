"""Rows of other people's tables: CSV, TSV, JSON and Parquet, one at a time, as dicts."""

import io
import math
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.core.files import TIMESTAMP, path_text
from evenhand.core.limits import CASE_CHARACTERS, LimitError
from evenhand.core.resources import first_twice
from evenhand.errors import InputError
from evenhand.io import tables
from evenhand.io.csv_rows import read_csv_rows
from evenhand.io.decoding import Encoding, TextReader
from evenhand.io.formats import is_hidden, kind_of
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.legal.objects import Found, objects_of

#: Rows of a Parquet file in memory at a time.
_BATCH_ROWS = 256

#: What files call the parts of a data set.
SPLIT_NAMES = {"train": "train", "dev": "dev", "test": "test"}
SPLIT_NAMES |= dict.fromkeys(("val", "valid", "validation"), "dev")

_SEPARATORS = {"csv": ",", "tsv": "\t"}


def split_of(name: str) -> str | None:
    """Return the split in a file's name: ``val.jsonl`` and ``scotus.dev.jsonl`` are dev."""
    last = PurePosixPath(name.replace("!", "/")).name
    parts = re.split(r"[._-]", last.casefold())
    return next((SPLIT_NAMES[one] for one in parts if one in SPLIT_NAMES), None)


def files_of(paths: list[Path], quarantine: Quarantine) -> Iterator[Path]:
    """Yield the files themselves, and those in folders, by name.

    The quarantine gets hidden files, links to folders, broken links, pipes and devices in folders.

    Raises InputError if a folder holds nothing.
    """
    for path in paths:
        if not path.is_dir():
            yield path
        elif inside := sorted(path.iterdir()):
            yield from _inside(inside, quarantine)
        else:
            raise InputError("holds no file", file=path)


def _inside(paths: list[Path], quarantine: Quarantine) -> Iterator[Path]:
    """Those of a folder's files, and of the folders in it, that can be read."""
    for path in paths:
        if is_hidden(path.name):
            if path.name != TIMESTAMP:
                quarantine.add(str(path), None, "file", "hidden_file", "left out")
        elif path.is_dir() and not path.is_symlink():
            yield from _inside(sorted(path.iterdir()), quarantine)
        elif path.is_file():
            yield path
        else:
            detail = "a link to a folder or to nothing, or no regular file"
            quarantine.add(str(path), None, "file", "unreadable_file", detail)


def members_of(paths: list[Path], quarantine: Quarantine) -> Iterator[Member]:
    """The texts that files, folders and archives hold (see `evenhand.io.members`)."""
    for path in files_of(paths, quarantine):
        yield from open_members(path, quarantine)


def read_rows(
    paths: list[Path], quarantine: Quarantine, encoding: Encoding = "auto"
) -> Iterator[Found]:
    """Yield the rows of tables (csv, tsv, parquet) and of JSON (see `evenhand.legal.objects`).

    Archives of csv, tsv and JSON are read as well; other files go to the quarantine. A cell of
    csv is a string; values other than numbers and text become None.

    Raises
    ------
    InputError
        A table has no header or names a column twice, or a Parquet file is none.
    """
    for path in files_of(paths, quarantine):
        if path.suffix.lower() == ".parquet":
            yield from _parquet_rows(path)
            continue
        for member in open_members(path, quarantine):
            yield from rows_of(member, quarantine, encoding)


def rows_of(member: Member, quarantine: Quarantine, encoding: Encoding = "auto") -> Iterator[Found]:
    """The rows of one file; see `read_rows`."""
    format = kind_of(member.file_name).format
    if format in ("json", "jsonl"):
        yield from objects_of(member, quarantine, encoding)
    elif format in _SEPARATORS:
        text = TextReader(
            member.chunks,
            file=member.name,
            quarantine=quarantine,
            encoding=encoding,
            max_characters=CASE_CHARACTERS,
        )
        lines = (line for _, piece in text for line in io.StringIO(piece, newline="\n"))
        yield from csv_table(lines, member.name, quarantine, _SEPARATORS[format])[1]
    else:
        detail = "a table is .csv, .tsv, .json or .jsonl (or .parquet outside an archive)"
        quarantine.add(member.name, None, "file", "unknown_format", detail)


def csv_table(
    lines: Iterator[str], file: str, quarantine: Quarantine, separator: str = ","
) -> tuple[list[str], Iterator[Found]]:
    """The header of a table (empty if there is none), and its rows.

    Each row has the number of the line on which it begins. A broken row, or one with more or
    fewer cells than the header, goes to the quarantine.
    """

    def broken(line: int, problem: str) -> None:
        quarantine.add(file, line, "line", "broken_csv", problem)

    numbered = read_csv_rows(enumerate(lines, 1), separator, CASE_CHARACTERS, broken)
    rows = ((line, row) for line, row in numbered if any(cell.strip() for cell in row))
    first, cells = next(rows, (1, []))
    header = [name.strip() for name in cells]
    if twice := first_twice(header):
        raise InputError(f"has the column {twice!r} twice", file=file, line=first)

    def found() -> Iterator[Found]:
        for line, row in rows:
            if len(row) == len(header):
                yield Found(file, line, "line", dict(zip(header, row, strict=True)))
            else:
                detail = f"{len(row)} cells, and the header has {len(header)}"
                quarantine.add(file, line, "line", "broken_csv", detail)

    return header, found()


def _parquet_rows(path: Path) -> Iterator[Found]:
    for number, row in enumerate(tables.read_rows(path, batch_rows=_BATCH_ROWS), start=1):
        yield Found(path_text(path), number, "record", row)


def whole(member: Member) -> bytes:
    """All bytes of a file that is one text.

    Raises LimitError if they are more than a case has.
    """
    chunks, size = [], 0
    for chunk in member.chunks:
        chunks.append(chunk)
        size += len(chunk)
        if size > CASE_CHARACTERS:
            raise LimitError("oversized_record", f"longer than {CASE_CHARACTERS} bytes")
    return b"".join(chunks)


def western_text(data: bytes) -> str:
    """Bytes of a western file: UTF-8 if they are that, else Windows-1252.

    The five bytes that Windows-1252 leaves open are read as Latin-1 has them.
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def western_lines(member: Member) -> Iterator[str]:
    """The lines of a western file, each by itself in UTF-8 or Windows-1252.

    Raises LimitError if a line is longer than any case.
    """
    rest = b""
    for chunk in member.chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (western_text(line) + "\n" for line in lines)
        if len(rest) > CASE_CHARACTERS:
            words = f"a line longer than {CASE_CHARACTERS} bytes; the rest is not read"
            raise LimitError("oversized_line", words)
    if rest:
        yield western_text(rest)


def plain(value: Any) -> str:
    """Return a value of a table as text: "" for a missing one, 28 for 28.0."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.casefold() in ("nan", "none", "null", "<na>"):
        return ""
    whole, dot, rest = text.partition(".")
    return whole if dot and whole.isdecimal() and rest == "0" else text
