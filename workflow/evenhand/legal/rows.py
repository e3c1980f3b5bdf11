"""Rows of the files of a source: CSV, TSV, JSON and Parquet, one at a time, as dicts."""

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from evenhand.core.files import TIMESTAMP, path_text
from evenhand.core.limits import CASE_CHARACTERS, LimitError
from evenhand.core.numbers import without_point
from evenhand.core.resources import check_unique
from evenhand.errors import InputError
from evenhand.io import tables
from evenhand.io.csv_rows import read_csv_rows, separator_of
from evenhand.io.decoding import TextReader
from evenhand.io.formats import kind_of, walk
from evenhand.io.markup import strip_html
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.io.readers.json_records import json_values
from evenhand.legal.records import Record

T = TypeVar("T")

#: Adds a remark on a row to the quarantine: reason and detail.
Note = Callable[[str, str], None]

#: Rows of a Parquet file in memory at a time.
_BATCH_ROWS = 256

#: What files call the parts of a data set.
SPLIT_NAMES = {"train": "train", "dev": "dev", "test": "test"}
SPLIT_NAMES |= dict.fromkeys(("val", "valid", "validation"), "dev")

_TABLES = ("csv", "tsv")
_JSON = ("json", "jsonl")

#: A text with one of these is HTML: a closed tag, or one without content.
_HTML = re.compile(r"</(?:p|div|span|em|i|b|strong|a|td|li|body|html)\s*>|<(?:br|p|hr)\s*/?>", re.I)
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


class SourceRow(NamedTuple):
    """A row or JSON object, and its place: `position` counts lines or records, by `unit`."""

    source: str
    position: int
    unit: str
    fields: dict[str, Any]

    def record(self, *, metadata: dict[str, str], **values: Any) -> Record:
        """Return the case in this row; blank metadata are left out."""
        metadata = {name: value for name, value in metadata.items() if value}
        place = {"source": self.source, "source_position": self.position, "unit": self.unit}
        return Record(**place, metadata=metadata, **values)

    def place_id(self) -> str:
        """Return an id made of the place: ``dev-7``; of a file without a split ``mine-7``."""
        return f"{split_of(self.source) or _file_name(self.source).split('.')[0]}-{self.position}"


class RejectedError(Exception):
    """A row that is no case: a reason of the quarantine, and its detail."""


@dataclass(frozen=True)
class CaseFiles:
    """The files of a source, as a format of `evenhand.legal.formats` gets them.

    Attributes
    ----------
    files : list of Path
        Files, compressed files and archives.
    quarantine : Quarantine
        Gets rows that are no cases, and unreadable data.
    options : dict
        The options of the format (its ``OPTIONS``), and the declaration of the data set as JSON.
    tables : dict of str to Path
        The tables of ``resources/legal`` that the format reads (its ``TABLES``).
    """

    files: list[Path]
    quarantine: Quarantine
    options: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)

    def records(
        self, rows: Iterable[SourceRow], make: Callable[[SourceRow, Note], T]
    ) -> Iterator[T]:
        """Yield the case that `make` reads from each row; rejected ones go to the quarantine."""
        for row in rows:
            place = row[:3]
            with self.quarantine.beyond_limits(*place):
                try:
                    yield make(row, partial(self.quarantine.add, *place))
                except RejectedError as error:
                    self.quarantine.add(*place, *error.args)

    def members(self, *formats: str) -> Iterator[Member]:
        """Yield the members of files and archives in one of the formats, by default in any.

        The others go to the quarantine.
        """
        for path in self.files:
            for member in open_members(path, self.quarantine):
                if not formats or kind_of(member.file_name).format in formats:
                    yield member
                else:
                    detail = f"none of the formats {', '.join(formats)}"
                    self.quarantine.add(member.name, None, "file", "unknown_format", detail)

    def text(self, member: Member) -> TextReader:
        """Return the decoded text of a member."""
        return TextReader(
            member.chunks,
            file=member.name,
            quarantine=self.quarantine,
            encoding=self.options.get("encoding", "auto"),
            noted=self.options.get("note_encoding", False),
            max_characters=CASE_CHARACTERS,
        )

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows of tables (csv, tsv, parquet) and of JSON.

        Archives of csv, tsv and JSON are read as well. A cell of csv is a string; commas,
        semicolons or tabs separate cells.

        Raises
        ------
        InputError
            A table has no header or names a column twice, or a Parquet file is none.
        """
        for path in self.files:
            if path.suffix.lower() == ".parquet":
                rows = tables.read_rows(path, batch_rows=_BATCH_ROWS)
                for number, fields in enumerate(rows, start=1):
                    yield SourceRow(path_text(path), number, "record", fields)
                continue
            alone = CaseFiles([path], self.quarantine, self.options)
            for member in alone.members(*_TABLES, *_JSON):
                yield from self.rows_of(member)

    def rows_of(self, member: Member) -> Iterator[SourceRow]:
        """Yield the rows of one file; see `rows`."""
        if kind_of(member.file_name).format not in _TABLES:
            return self.objects_of(member)
        pieces = self.text(member)
        lines = (line for _, piece in pieces for line in io.StringIO(piece, newline="\n"))
        head = []  # up to the header
        for line in lines:
            head.append(line)
            if line.strip():
                break
        separator = separator_of("".join(head))
        return self.csv_table(chain(head, lines), member.name, separator)[1]

    def objects(self) -> Iterator[SourceRow]:
        """Yield the JSON objects of files, compressed files and archives, in their order.

        ``.jsonl`` and ``.ndjson`` hold an object per line; ``.json`` holds one object, an array
        of objects, or objects one after the other, also one per line. One object is in memory at a
        time.
        """
        for member in self.members(*_JSON):
            yield from self.objects_of(member)

    def objects_of(self, member: Member) -> Iterator[SourceRow]:
        """Yield the objects of one file; see `objects`."""
        text = self.text(member)
        by_line = kind_of(member.file_name).format == "jsonl"
        values = json_values(text, CASE_CHARACTERS, by_line=by_line, strict=True)
        for position, unit, value in values:
            if isinstance(value, dict):
                yield SourceRow(member.name, position, unit, value)
            else:
                detail = f"{type(value).__name__}, not an object"
                self.quarantine.add(member.name, position, unit, "broken_json", detail)

    def csv_table(
        self, lines: Iterator[str], file: str, separator: str = ","
    ) -> tuple[list[str], Iterator[SourceRow]]:
        """Return the header of a table (empty if there is none), and its rows.

        Each row has the number of the line on which it begins. A broken row, or one with more or
        fewer cells than the header, goes to the quarantine.
        """

        def broken(line: int, problem: str) -> None:
            self.quarantine.add(file, line, "line", "broken_csv", problem)

        numbered = read_csv_rows(enumerate(lines, 1), separator, CASE_CHARACTERS, broken)
        cells_of = ((line, row) for line, row in numbered if any(cell.strip() for cell in row))
        first, cells = next(cells_of, (1, []))
        header = [name.strip() for name in cells]
        check_unique(header, file, first)

        def rows() -> Iterator[SourceRow]:
            for line, row in cells_of:
                if len(row) == len(header):
                    yield SourceRow(file, line, "line", dict(zip(header, row, strict=True)))
                else:
                    broken(line, f"{len(row)} cells, and the header has {len(header)}")

        return header, rows()


def _file_name(source: str) -> str:
    return PurePosixPath(source.replace("!", "/")).name


def split_of(source: str) -> str | None:
    """Return the split in a file's name: ``val.jsonl`` and ``scotus.dev.jsonl`` are dev."""
    parts = re.split(r"[._-]", _file_name(source).casefold())
    return next((SPLIT_NAMES[part] for part in parts if part in SPLIT_NAMES), None)


def files_of(paths: list[Path], quarantine: Quarantine) -> Iterator[Path]:
    """Yield the files themselves, and those in folders, by name.

    The quarantine gets hidden files, links to folders, broken links, pipes and devices in folders.

    Raises InputError if a folder is empty.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = list(walk(str(path)))
        if not inside:
            raise InputError("holds no file", file=path)
        for name, _, why in inside:
            if why is None:
                yield Path(name)
            elif Path(name).name != TIMESTAMP:
                quarantine.add(name, None, "file", *why)


def joined_text(parts: Iterable[Any], unit: str) -> Any:
    """Return the parts of a file that is one text (all bytes or all str), joined.

    Raises LimitError if they are longer than a case may be.
    """
    pieces, size = [], 0
    for piece in parts:
        pieces.append(piece)
        size += len(piece)
        if size > CASE_CHARACTERS:
            raise LimitError("oversized_record", f"longer than {CASE_CHARACTERS} {unit}")
    return (b"" if unit == "bytes" else "").join(pieces)


def western_text(data: bytes) -> str:
    """Decode bytes of a western file: UTF-8 if they are that, else Windows-1252.

    The five bytes that Windows-1252 leaves open are read as Latin-1 has them.
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def western_lines(member: Member) -> Iterator[str]:
    """Yield the lines of a western file, each by itself in UTF-8 or Windows-1252.

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
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    text = str(value).strip()
    if text.casefold() in ("nan", "none", "null", "<na>"):
        return ""
    return without_point(text)


def tidy(paragraphs: Iterable[str]) -> tuple[str, ...]:
    """Return paragraphs with single plain blanks, without the empty ones.

    Non-breaking and thin blanks and line ends become blanks; soft hyphens, byte-order marks and
    blanks of no width go.
    """
    texts = (" ".join(text.translate(_INVISIBLE).split()) for text in paragraphs)
    return tuple(filter(None, texts))


def paragraphs_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text: between blank lines if there are any, else its lines.

    HTML is recognised by its tags, and its blocks are the paragraphs.
    """
    if _HTML.search(text):
        return tidy(strip_html(text).split("\n"))
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    between = _BLANK_LINES.split(text)
    return tidy(between if len(between) > 1 else text.split("\n"))
