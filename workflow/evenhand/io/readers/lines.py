"""Plain text: each line is a record, or each run of lines between blank lines."""

from collections.abc import Iterable, Iterator

from evenhand.io.decoding import TextReader
from evenhand.io.readers.options import Options


def read(text: TextReader, options: Options) -> Iterator[tuple[int, str]]:
    """Number of the first line, and text of each line or paragraph that is not blank."""
    return read_pieces(text, text, options)


def read_pieces(
    pieces: Iterable[tuple[int, str]], text: TextReader, options: Options
) -> Iterator[tuple[int, str]]:
    """The same from pieces of whole lines; `text` names the file that they are of."""
    if options.paragraphs == "line":
        return numbered_lines(pieces)
    return _between_blank_lines(pieces, text)


def numbered_lines(pieces: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
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
