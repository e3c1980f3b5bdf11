"""Split sentences into marked pieces: the keyword, and the evidence for a reason."""

import re
from dataclasses import dataclass
from typing import Any

from evenhand.stereotypes.clusters import opcodes

#: Joins the words of an evidence cell.
EVIDENCE_SEPARATOR = "、"

#: A character that is a word (CJK), a run of other letters, or a single sign.
_WORDS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+|\s+|.", re.S)


@dataclass(frozen=True)
class Piece:
    """A part of a sentence: its text and its kind (`keyword`, `evidence`, or None)."""

    text: str
    kind: str | None = None


def pieces(
    sentence: str,
    start: int | None = None,
    end: int | None = None,
    evidence: str | None = None,
    gender: str | None = None,
) -> list[Piece]:
    """Split a sentence at the ends of its marks; the joined pieces are the sentence.

    Parameters
    ----------
    sentence : str
        The sentence.
    start, end : int, optional
        The keyword's place, in characters, end exclusive.
    evidence : str, optional
        The words that gave the reason, joined by ``、``; each occurrence is marked.
    gender : str, optional
        ``male`` or ``female``, added to the kind of the keyword's piece.

    Returns
    -------
    list of Piece
        Kinds are ``keyword`` (``keyword male``, ``keyword female``), ``evidence`` or None.
        Where the two overlap, the keyword wins.
    """
    kinds: list[str | None] = [None] * len(sentence)
    for word in (evidence or "").split(EVIDENCE_SEPARATOR):
        place = sentence.find(word) if word else -1
        while place >= 0:
            kinds[place : place + len(word)] = ["evidence"] * len(word)
            place = sentence.find(word, place + len(word))
    if start is not None and end is not None:
        for i in range(max(start, 0), min(end, len(sentence))):
            kinds[i] = f"keyword {gender}" if gender else "keyword"
    cut: list[Piece] = []
    begin = 0
    for i in range(1, len(sentence) + 1):
        if i == len(sentence) or kinds[i] != kinds[begin]:
            cut.append(Piece(sentence[begin:i], kinds[begin]))
            begin = i
    return cut


def marked(row: dict[str, Any]) -> list[Piece]:
    """Return the `pieces` of a row of candidates or of the data set; the surface word is marked."""
    start, end = row.get("surface_start"), row.get("surface_end")
    if start is None:
        start, end = row.get("start"), row.get("end")
    return pieces(row["sentence"], start, end, row.get("evidence"), row.get("gender"))


def aligned(more: str, less: str) -> list[tuple[str, str]]:
    """Split two sentences where they differ: pairs of parts, alternately equal and different.

    The first pair is equal, and may be empty. The unit is the word, or the character in scripts
    without spaces. White space between two changed words counts as different.
    """
    words = [_WORDS.findall(text) for text in (more, less)]
    blocks = opcodes(*words)
    cut = [("", "")]
    for number, (kind, a, b, c, d) in enumerate(blocks):
        parts = "".join(words[0][a:b]), "".join(words[1][c:d])
        between = 0 < number < len(blocks) - 1 and not "".join(parts).strip()
        differs = kind != "equal" or between
        if differs == (len(cut) % 2 == 0):
            cut[-1] = cut[-1][0] + parts[0], cut[-1][1] + parts[1]
        else:
            cut.append(parts)
    return cut
