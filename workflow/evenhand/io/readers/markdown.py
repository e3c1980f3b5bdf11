"""Markdown: plain text once its marks and HTML tags are gone."""

from collections.abc import Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.markup import strip_markdown
from evenhand.io.readers.lines import read_pieces
from evenhand.io.readers.options import Options


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the first line, and text of each line or paragraph that is not blank.

    Marks are looked for within a piece (about a million bytes, whole lines): a comment or
    script that runs over the border of two pieces is not seen as one.
    """
    pieces = ((first, strip_markdown(piece)) for first, piece in text)
    return read_pieces(pieces, text, options)
