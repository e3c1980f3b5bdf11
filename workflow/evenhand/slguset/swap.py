"""Masking keywords, and exchanging them for their opposites, by offsets."""

from collections.abc import Mapping, Sequence
from typing import Any

#: Positions of words (start and end, exclusive), and their replacements.
Spans = Sequence[tuple[int, int, str]]


def spans_of(row: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    """Return the words to exchange of a row of the data set: its spans, or the keyword alone."""
    if spans := row.get("spans"):
        return [(span["start"], span["end"], span["text"]) for span in spans]
    return [(row["start"], row["end"], row["opposite"])]


def mask(sentence: str, spans: Spans, token: str = "[MASK]") -> str:
    """The sentence with each character of the spans replaced by a mask."""
    return _replace(sentence, [(start, end, token * (end - start)) for start, end, _ in spans])


def swap(sentence: str, spans: Spans) -> str:
    """The sentence with each span replaced by its text.

    Raises
    ------
    ValueError
        The spans are not characters of the sentence, one after the other.
    """
    return _replace(sentence, spans)


def swapped_spans(sentence: str, spans: Spans) -> list[tuple[int, int, str]]:
    """The spans of the swapped sentence, which swap it back."""
    swapped, moved = [], 0
    for start, end, text in spans:
        swapped.append((start + moved, start + moved + len(text), sentence[start:end]))
        moved += len(text) - (end - start)
    return swapped


def _replace(sentence: str, spans: Spans) -> str:
    parts, position = [], 0
    for start, end, text in spans:
        if not position <= start < end <= len(sentence):
            raise ValueError(f"no characters {start} to {end} in a text of {len(sentence)}")
        parts += [sentence[position:start], text]
        position = end
    return "".join([*parts, sentence[position:]])
