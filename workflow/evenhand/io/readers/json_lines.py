"""JSON Lines: an object per line."""

from collections.abc import Iterable, Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.json_text import load, mended, reason_of
from evenhand.io.readers.fields import names_of, text_of
from evenhand.io.readers.lines import numbered_lines
from evenhand.io.readers.options import Options


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the line, and text of the field; other lines go to the quarantine."""
    return read_pieces(mended(text, text.file, text.quarantine), text, options)


def read_pieces(
    pieces: Iterable[tuple[int, str]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    """The same from pieces of whole lines."""
    for number, line in numbered_lines(pieces):
        try:
            record = load(line)
        except ValueError as error:
            text.quarantine.add(text.file, number, "line", reason_of(error), str(error))
            continue
        found = text_of(record, options.text_field)
        if found is None:
            text.quarantine.add(text.file, number, "line", "missing_field", names_of(record))
        else:
            yield number, found
