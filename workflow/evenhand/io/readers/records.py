"""Read the records of a file's text, in any format.

A reader is a function of a `TextReader` and `Options` that yields pairs: the position of a
record (the number of its first line; in JSON that is not one object per line, and in HTML,
the record's number), and its text, whose line ends are those of the source.
"""

import re
from collections.abc import Callable, Iterator

from evenhand.core.numbers import or_nan
from evenhand.io.decoding import TextReader
from evenhand.io.markup import strip_html, strip_markdown
from evenhand.io.readers import json_records, lines, tables
from evenhand.io.readers.options import Options

Reader = Callable[[TextReader, Options], Iterator[tuple[int, str]]]

READERS: dict[str, Reader] = {
    "txt": lines.read_text,
    "md": lines.read_markdown,
    "html": lines.read_html,
    "json": json_records.read_json,
    "jsonl": json_records.read_json_lines,
    "csv": tables.read_csv,
    "tsv": tables.read_tsv,
    "pku": lines.read_tagged,
}

#: The formats whose texts are in a field, which may be the wrong one.
_WITH_FIELDS = ("json", "jsonl", "csv", "tsv")

_BLANK_LINES = re.compile(r"\n[ \t\r\u3000]*(?:\n[ \t\r\u3000]*)+")


def read_records(text: TextReader, format: str, options: Options) -> Iterator[tuple[int, str]]:
    """The records of a text that is in one of `READERS`, with the markup option applied.

    Fields with a number as their text go to the quarantine.
    """
    records = READERS[format](text, options)
    unit = "record" if format == "json" else "line"
    strip = {"html": strip_html, "markdown": strip_markdown}.get(options.markup)
    if strip is not None and format not in ("html", "md"):
        records = _stripped(records, strip, text, unit)
    return _without_numbers(records, text, unit) if format in _WITH_FIELDS else records


def _stripped(
    records: Iterator[tuple[int, str]], strip: Callable[[str], str], text: TextReader, unit: str
) -> Iterator[tuple[int, str]]:
    for position, record in records:
        with text.quarantine.beyond_limits(text.file, position, unit):
            yield position, strip(record)


def _without_numbers(
    records: Iterator[tuple[int, str]], text: TextReader, unit: str
) -> Iterator[tuple[int, str]]:
    for position, record in records:
        lines = record.splitlines()
        if lines and all(or_nan(line) == or_nan(line) for line in lines):
            detail = f"the text is {lines[0]}"
            text.quarantine.add(text.file, position, unit, "text_is_number", detail)
        else:
            yield position, record


def paragraph_splitter(options: Options) -> Callable[[str], list[str]]:
    """Return the function that splits a record into its lines, or at blank lines."""
    if options.paragraphs == "line":
        return str.splitlines
    return lambda record: [" ".join(part.splitlines()) for part in _BLANK_LINES.split(record)]
