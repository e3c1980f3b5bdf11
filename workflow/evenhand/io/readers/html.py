"""HTML: a file is one document."""

from collections.abc import Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.markup import strip_html
from evenhand.io.readers.options import Options


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """The document, as record 1: a paragraph per line. One that is too long is left out."""
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
