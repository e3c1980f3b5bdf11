"""Text with words and tags in the manner of Peking University (People's Daily 1998).

A line is ``19980101-01-001-002/m  中共中央/nt  总书记/n ...``: a number of the paragraph,
then words with their tags, ``[中央/n 电视台/n]nt`` around compounds, and in some editions
``{zhang3}`` for how a character is read.
"""

import re
from collections.abc import Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.readers.lines import read_pieces
from evenhand.io.readers.options import Options

_NUMBER = re.compile(r"^[^\S\n]*\d{8}-\d\d-\d{3}-\d{3}(?:-\d{3})?/m[ \t]*", re.M)
_OPENING = re.compile(r"(?<!\S)\[(?!/)")
_TAG = re.compile(r"(?:\{[a-zü]+\d?\})?/[A-Za-z]{1,4}(?:\][A-Za-z]{1,4})*(?=\s|$)[ \t\r]*", re.M)


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the line, and the words joined without tags; full-width digits stay."""
    return read_pieces(((first, strip_tags(piece)) for first, piece in text), text, options)


def strip_tags(text: str) -> str:
    """The text without numbers, tags and brackets of compounds; line ends stay."""
    return _TAG.sub("", _OPENING.sub("", _NUMBER.sub("", text)))
