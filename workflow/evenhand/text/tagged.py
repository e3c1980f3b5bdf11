"""Corpora in which people have marked the names of persons.

`pku` is the Peking University format of People's Daily 1998: one paragraph a line, its words
separated by blanks and tagged (``江/nr  泽民/nr``), compounds in brackets
(``[中央/n  电视台/n]nt``), the paragraph's number as the first word. Surname and given name
are two words, which are one name here.

`cluener` is that of CLUENER2020: one JSON object a line, with ``text`` and, in
``label.name``, for each name its spans; the end of a span is inclusive.
"""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from evenhand.core.whole import read_text
from evenhand.errors import InputError, placed
from evenhand.io.json_text import load
from evenhand.text.sentences import ENDERS, is_kept

_NUMBER_OF_PARAGRAPH = re.compile(r"(?P<article>\d{8}-\d\d-\d{3})-\d{3}/m\s")
_WORD = re.compile(r"\[?(?P<word>[^\s]+?)/(?P<tag>[A-Za-z]+)(?:\][A-Za-z]+)?")
_SENTENCE = re.compile(f"[^{ENDERS}]*[{ENDERS}]+|[^{ENDERS}]+")


class TaggedText(NamedTuple):
    """A text and the spans (start, end exclusive) of the names in it, in order.

    `document` is the article that contains it; where the corpus gives none, its paragraph.
    """

    text: str
    names: tuple[tuple[int, int], ...]
    document: str = ""


def read_tagged(path: Path, form: str) -> Iterator[TaggedText]:
    """Yield the sentences of a tagged corpus, normalised like those of the data set.

    Parameters
    ----------
    path : Path
        A UTF-8 file, plain or .gz.
    form : str
        `pku` or `cluener`.

    Yields
    ------
    TaggedText
        One per sentence: cut behind 。？！, without blanks, letters and ornaments
        (see `evenhand.text.sentences`; quotation marks are left as they are).

    Raises
    ------
    InputError
        A line does not follow the format.
    """
    for number, line in enumerate(io.StringIO(read_text(path), newline=None), start=1):
        if line.strip():
            with placed(path, number):
                tagged = FORMATS[form](line)
            yield from _sentences(_normalised(tagged))


def parse_pku(line: str) -> TaggedText:
    """Parse a paragraph of People's Daily 1998."""
    numbered = _NUMBER_OF_PARAGRAPH.match(line)
    line = line[numbered.end() if numbered else 0 :].strip()
    pieces: list[str] = []
    names: list[tuple[int, int]] = []
    at = 0
    for token in line.split():
        match = _WORD.fullmatch(token)
        if match is None:
            remedy = "words stand as word/tag, compounds as [word/tag word/tag]tag"
            raise InputError(f"{token!r} is no tagged word", remedy=remedy)
        word = match["word"]
        end = at + len(word)
        if match["tag"] == "nr":
            if names and names[-1][1] == at:  # the given name after the surname
                names[-1] = (names[-1][0], end)
            else:
                names.append((at, end))
        pieces.append(word)
        at = end
    text = "".join(pieces)
    return TaggedText(text, tuple(names), numbered["article"] if numbered else text)


def parse_cluener(line: str) -> TaggedText:
    """Parse a record of CLUENER2020."""
    try:
        record = load(line)
        text = record["text"]
        if not isinstance(text, str):
            raise TypeError("the text is none")
        marked = record.get("label", {}).get("name", {})
        names = []
        for name, spans in marked.items():
            for start, last in spans:
                if not 0 <= start <= last < len(text) or text[start : last + 1] != name:
                    raise InputError(f"{name!r} does not stand at {start} to {last}")
                names.append((start, last + 1))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"is no record of CLUENER ({type(error).__name__}: {error})"
        remedy = 'a record is {"text": ..., "label": {"name": {name: [[first, last]]}}}'
        raise InputError(problem, remedy=remedy) from error
    return TaggedText(text, tuple(sorted(names)), text)


FORMATS: dict[str, Callable[[str], TaggedText]] = {"pku": parse_pku, "cluener": parse_cluener}


def _normalised(tagged: TaggedText) -> TaggedText:
    """Return the text without the characters that normalising removes, with adjusted spans."""
    position = [0]
    for character in tagged.text:
        position.append(position[-1] + is_kept(character))
    names = [(position[start], position[end]) for start, end in tagged.names]
    text = "".join(filter(is_kept, tagged.text))
    return TaggedText(text, tuple(n for n in names if n[0] < n[1]), tagged.document)


def _sentences(tagged: TaggedText) -> Iterator[TaggedText]:
    for match in _SENTENCE.finditer(tagged.text):
        start, end = match.span()
        inside = [
            (max(a, start) - start, min(b, end) - start)
            for a, b in tagged.names
            if a < end and b > start
        ]
        if match.group().strip(ENDERS + "“”"):
            yield TaggedText(match.group(), tuple(inside), tagged.document)
