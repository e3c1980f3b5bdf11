"""Plain text, Markdown, HTML, and text with words and tags.

A record is a line, or a run of lines between blank lines; an HTML file is one record.
"""

import re
from collections.abc import Iterable, Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.markup import strip_html, strip_markdown
from evenhand.io.readers.options import Options

# A line of People's Daily 1998 (Peking University), `19980101-01-001-002/m  中共中央/nt`, has a
# number of the paragraph, then words with their tags, `[中央/n 电视台/n]nt` around compounds, and
# in some editions `{zhang3}` for how a character is read.
_NUMBER = re.compile(r"^[^\S\n]*\d{8}-\d\d-\d{3}-\d{3}(?:-\d{3})?/m[ \t]*", re.M)
_OPENING = re.compile(r"(?<!\S)\[(?!/)")
_TAG = re.compile(r"(?:\{[a-zü]+\d?\})?/[A-Za-z]{1,4}(?:\][A-Za-z]{1,4})*(?=\s|$)[ \t\r]*", re.M)


def read_text(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line, and the text, of each record that is not blank."""
    return _records(text, text, options)


def read_markdown(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the same once Markdown's marks and HTML tags are gone.

    Marks are looked for within a piece (about a million bytes, whole lines): a comment or
    script that runs over the border of two pieces is not seen as one.
    """
    return _records(((first, strip_markdown(piece)) for first, piece in text), text, options)


def read_tagged(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the same of the words joined without tags; full-width digits stay."""
    pieces = (
        (first, _TAG.sub("", _OPENING.sub("", _NUMBER.sub("", piece)))) for first, piece in text
    )
    return _records(pieces, text, options)


def read_html(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the document, as record 1: a paragraph per line. One that is too long is left out."""
    pieces: list[str] = []
    size = 0
    for _, piece in text:
        size += len(piece)
        if size <= options.max_characters:
            pieces.append(piece)
    if size > options.max_characters:
        detail = f"a document longer than {options.max_characters} characters"
        text.quarantine.add(text.file, 1, "record", "oversized_record", detail)
    elif pieces:
        with text.quarantine.beyond_limits(text.file, 1, "record"):
            yield 1, strip_html("".join(pieces))


def _records(
    pieces: Iterable[tuple[int, str]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    if options.paragraphs == "line":
        return numbered_lines(pieces)
    return _between_blank_lines(pieces, text)


def numbered_lines(pieces: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    for first, piece in pieces:
        for number, line in enumerate(piece.split("\n"), first):
            if line and not line.isspace():
                yield number, line


def _between_blank_lines(
    pieces: Iterable[tuple[int, str]], text: TextReader
) -> Iterator[tuple[int, str]]:
    waiting: list[str] = []
    size = begin = before = 0
    oversized = False
    for number, line in numbered_lines(pieces):
        if waiting and number != before + 1:
            yield begin, "\n".join(waiting)
            waiting, size = [], 0
        oversized = oversized and number == before + 1
        before = number
        if oversized:
            continue
        if not waiting:
            begin = number
        waiting.append(line)
        size += len(line)
        if size > text.max_characters:
            detail = f"a paragraph longer than {text.max_characters} characters"
            text.quarantine.add(text.file, begin, "line", "oversized_record", detail)
            waiting, size, oversized = [], 0, True
    if waiting:
        yield begin, "\n".join(waiting)
