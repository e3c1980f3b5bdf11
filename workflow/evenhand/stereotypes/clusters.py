"""Where two sentences differ: their words, the edits between them, and the swap they share.

Scripts that put no blank between words (Chinese, Japanese, Thai, ...) are compared by
characters; everything else by words.
"""

import re
import unicodedata
from difflib import SequenceMatcher
from typing import NamedTuple

#: Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese characters.
_BLANKLESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)

#: The signs of these scripts that belong to the character before them.
_SIGNS = "".join(
    chr(code) for code in range(0x0E00, 0x1800) if unicodedata.category(chr(code))[0] == "M"
)

_PIECE = re.compile(f"[{_BLANKLESS}][{_SIGNS}]*|[^\\s{_BLANKLESS}]+")
_BLANK_INSIDE = re.compile(f"(?<=[{_BLANKLESS}]) (?=[{_BLANKLESS}])")


class Edit(NamedTuple):
    """One place where two sentences differ: what stands there in each; one may be empty."""

    one: tuple[str, ...]
    other: tuple[str, ...]


def pieces(text: str) -> list[str]:
    """What stands between blanks, punctuation attached; characters of blankless scripts apart."""
    return _PIECE.findall(text)


def words(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters, digits and their signs."""
    plain = unicodedata.normalize("NFC", text).lower()
    return pieces("".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in plain))


def edits(one: list[str], other: list[str]) -> list[Edit]:
    """The places where two lists of pieces differ, by difflib's longest matching blocks.

    Two words of a blankless script that share a character at different places (儿子, 女儿)
    would be an insertion and a deletion with that character between; they are one edit.
    """
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    spans: list[tuple[int, int, int, int]] = []
    for kind, *span in matcher.get_opcodes():
        if kind == "equal":
            continue
        start, end, first, last = span
        if spans and _is_shift(spans[-1], (start, end, first, last), one):
            start, _, first, _ = spans.pop()
        spans.append((start, end, first, last))
    return [
        Edit(tuple(one[start:end]), tuple(other[first:last])) for start, end, first, last in spans
    ]


def _is_shift(
    before: tuple[int, int, int, int], after: tuple[int, int, int, int], one: list[str]
) -> bool:
    """Whether an insertion and a deletion, in any order, lie about one blankless character."""
    between = one[before[1] : after[0]]
    if len(between) != 1 or not re.match(f"[{_BLANKLESS}]", between[0]):
        return False
    added = [start == end for start, end, _, _ in (before, after)]
    removed = [first == last for _, _, first, last in (before, after)]
    return added[0] != added[1] and removed[0] == added[1] and removed[1] == added[0]


def swapped_words(more: str, less: str) -> str:
    """The words that a pair swaps, as ``black|white``: the name of the pair's cluster.

    It is the first place where the words of the two sentences differ, in lower case and
    without punctuation, the two sides sorted, so that a pair and its reverse have one name.
    Later changes (he ... his) mostly follow from the first, so they make no cluster of their
    own: 1,508 pairs of CrowS-Pairs then fall into 800 clusters whose effective number is 51
    (black|white 181 pairs, poor|rich 49, he|she 43), with all changes joined into 887 and 68.
    A side without a word there is empty (``|not``); sentences that differ in punctuation or
    case only give ``|``.
    """
    found = edits(*sorted((words(more), words(less))))
    sides = found[0] if found else ((), ())
    return "|".join(sorted(_BLANK_INSIDE.sub("", " ".join(side)) for side in sides))
