"""Normalise text and split it into sentences, by the rules of the authors' SlguSet file.

Rules of the paper (Zhao et al. 2021): indentation and spaces are removed; punctuation, digits and
Chinese characters are kept; text is cut at 。？！; missing quotation marks are completed and
superfluous ones deleted. The other rules follow the file:

=====================  =======================================  ==============================
characters             rule                                     in the file's 20,000 sentences
=====================  =======================================  ==============================
Chinese characters     kept; traditional ones are not changed   4,155 different ones
digits, numerals       kept as they are (１ is not made 1)       full-width ones in 2 sentences
punctuation            kept as it is (an ASCII comma stays)     8,411 ASCII commas
``.``                  kept between two digits only             78 of 78
money, mathematics     kept (% + ~ × ° ℃), and the mark U+FFFD  % 86, + 8, ~ 6, × 3, ℃ 1
of broken text
Latin letters          removed                                  none; “T恤” became “恤”
other letters          kept: kana, hangul, Greek, ...           none
other signs            removed: bullets, boxes, emoji          none
blanks, controls       removed, line ends too                   none
enders                 。 ？ ！ and ASCII ``?``, in runs            ``?`` ends 51, ``!`` none
“ ”                    repaired (see `repair_quotes`)           ``”。`` 390 after ：“, ``。”`` 19
‘ ’ 「 」 『 』              repaired likewise                        ‘ in 37, ’ in 35, 「 none
``"`` ``'``                read as “ ” ‘ ’ where they are paired    none
《 》 （ ） 【 】              no cut inside                            none of 80 holds an ender
=====================  =======================================  ==============================
"""

import itertools
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

#: Characters that end a sentence. An ASCII question mark does in the authors' file (51 sentences
#: end in one, with ” before it, and none goes on after one); an ASCII exclamation mark does not.
ENDERS = "。？！?"

#: Signs (Unicode category So) that are kept: units, and U+FFFD, which must stay to be seen.
_KEPT_SIGNS = frozenset("°℃℉\ufffd")

_LATIN = re.compile("(?:FULLWIDTH )?(?:LATIN|FEMININE|MASCULINE)|MODIFIER|KELVIN|ANGSTROM")
#: Combining accents and variation selectors.
_NO_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_STRAY_DOT = re.compile(r"\.(?:(?![0-9０-９])|(?<![0-9０-９]\.))")
#: Opening and closing quotation marks, those of Hong Kong and Taiwan too.
QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』"}

#: Sentences of only these are dropped.
_EMPTY = "".join(QUOTES) + "".join(QUOTES.values()) + ENDERS

_QUOTE = re.compile("([“”‘’「」『』])")

#: The longest title or remark in brackets in which no sentence ends.
_LONGEST_BRACKET = 60
_BRACKETS = ("《》", "〈〉", "（）", "【】", (r"\(", r"\)"))
_BRACKETED = re.compile(
    "|".join(f"{a}[^\n{a}{b}]{{1,{_LONGEST_BRACKET}}}{b}" for a, b in _BRACKETS)
)
_CLOSED = "》〉）】)"
_CLOSING = "》〉）】)" + "".join(QUOTES) + "".join(QUOTES.values())
_IN_PAIRS = {'"': "“”", "'": "‘’"}


def is_kept(character: str) -> bool:
    """Return whether normalised text keeps a character (a stray ``.`` is removed anyway)."""
    category = unicodedata.category(character)
    if category[0] == "L":
        return not _LATIN.match(unicodedata.name(character, "LATIN"))
    if category in ("Mn", "Mc"):
        return not _NO_MARKS.match(character)
    if category[0] in "NP" or category in ("Sc", "Sm"):
        return True
    return character in _KEPT_SIGNS


#: `is_kept` by code point, filled as characters are met (2: unknown); line ends stand for borders.
_KEPT = np.full(sys.maxunicode + 1, 2, np.uint8)
_KEPT[ord("\n")] = True

#: Kinds of characters that matter where text is cut, by code point (0: any other). From `_OPENING`
#: on the even ones are quotation marks that open, each before the one that closes it. Brackets that
#: open, which are before those that close, matter only for the enders that they hide.
_KIND = np.zeros(sys.maxunicode + 1, np.uint8)
_LINE_END, _ENDER, _AFTER_ENDERS, _, _UNUSUAL, _OPENING = range(1, 7)
_BRACKET = _OPENING + 2 * len(QUOTES)
_MARKS = ["\n", ENDERS, "）】)", "》〉", "\"'", *itertools.chain(*QUOTES.items()), "《〈（【("]
for _kind, _marks in enumerate(_MARKS, _LINE_END):
    _KIND[[*map(ord, _marks)]] = _kind


def normalise(text: str) -> str:
    """Remove blanks, Latin letters and ornaments from a paragraph.

    Parameters
    ----------
    text : str
        One paragraph: line ends are removed like all blanks.

    Returns
    -------
    str
        The text by the module's table. Normalising it again changes nothing.
    """
    return normalise_all([text])


def normalise_all(paragraphs: Sequence[str]) -> str:
    """Normalise paragraphs, all at once, into a text with a line for each; see `normalise`."""
    text = "\n".join(paragraphs)
    if text.count("\n") >= len(paragraphs):
        text = "\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
    if "." in text:
        text = _STRAY_DOT.sub("", text)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kept = _KEPT.take(codes)
    if kept.max(initial=0) > 1:
        for code in np.unique(codes[kept > 1]).tolist():
            _KEPT[code] = is_kept(chr(code))
        kept = _KEPT.take(codes)
    if not kept.all():
        text = codes[kept.view(bool)].tobytes().decode("utf-32-le", "surrogatepass")
    return text


def split_sentences(text: str) -> list[str]:
    """Split normalised text after every run of enders, inside quotes too, and repair the quotes.

    Parameters
    ----------
    text : str
        A normalised paragraph.

    Returns
    -------
    list of str
        Its sentences in order. The last may lack an ender (a headline, a caption). Pieces of only
        quotation marks and enders are dropped. Splitting a sentence again returns it.
    """
    return split_all(text).strings()


class Sentences(NamedTuple):
    """The sentences of some paragraphs, within one text.

    Attributes
    ----------
    text : str
        Contains all sentences in order, those of different paragraphs on different lines.
    begins, ends : array of int
        Where each sentence begins and ends in it.
    counts : array of int
        How many sentences are in each paragraph and those before it.
    """

    text: str
    begins: Array
    ends: Array
    counts: Array

    def strings(self, places: Array | slice = slice(None)) -> list[str]:
        """Return the sentences, or some of them."""
        spans = zip(self.begins[places].tolist(), self.ends[places].tolist(), strict=True)
        return [self.text[begin:end] for begin, end in spans]


def split_all(text: str) -> Sentences:
    """Split normalised paragraphs, each on a line, all at once; see `split_sentences`."""
    if any(mark in text for mark in _IN_PAIRS):
        text = "\n".join(map(_paired, text.split("\n")))
    text += "\n"
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = _KIND.take(codes)
    special = np.flatnonzero(kinds > 0)  # several times as fast as without the comparison
    hidden = _hide_enders(text, codes, kinds, special)
    begins, ends, counts = _cut(kinds, special)
    needed = _need_repair(kinds, special, begins, ends)
    # for most, to leave out a mark before the text is all the repair
    leading = needed & (kinds[begins] > _ENDER) & (kinds[begins] != _UNUSUAL)
    kinds[begins[leading]] = 0
    stripped = leading & ~_need_repair(kinds, special, begins + leading, ends)
    begins += stripped
    needed &= ~stripped
    unusual = {*ends.searchsorted(hidden, "right").tolist()}
    parts, sizes, done = [], [], 0
    made = np.ones(len(begins), np.intp)  # sentences of each piece
    for place in np.flatnonzero(needed).tolist():
        repaired = _repaired(text[begins[place] : ends[place]], place in unusual)
        parts += [text[done : begins[place]], *repaired]
        sizes += map(len, repaired)
        made[place] = len(repaired)
        done = ends[place]
    between = (begins - np.concatenate([[0], ends[:-1]])).cumsum()
    lengths = (ends - begins).repeat(made)
    lengths[needed.repeat(made)] = sizes
    ends = between.repeat(made) + lengths.cumsum()
    counts = np.concatenate([[0], made.cumsum()])[counts]
    return Sentences("".join([*parts, text[done:]]), ends - lengths, ends, counts)


def _cut(kinds: Array, special: Array) -> tuple[Array, Array, Array]:
    """Return where the pieces of a text begin and end, and how many there are up to each line end.

    `special` are the places of characters of a kind.
    They end with a run of enders and the brackets that close after it, or before a line end.
    """
    kind = kinds[special]
    adjacent = np.diff(special, append=0) == 1
    ending, closing = kind == _ENDER, kind == _AFTER_ENDERS
    while (more := ending[:-1] & adjacent[:-1] & closing[1:] & ~ending[1:]).any():
        ending[1:] |= more
    goes_on = adjacent[:-1] & ending[1:] & ((kind[:-1] == _ENDER) | closing[1:])
    ending[:-1] &= ~goes_on
    at_line_end = kind == _LINE_END
    borders = ending | at_line_end
    ends, at_line_end = special[borders], at_line_end[borders]
    begins = np.concatenate([[0], ends[:-1] + 1])
    ends = ends + ~at_line_end
    marked = (kinds[begins] > 0) & (kinds[begins] != _UNUSUAL)
    filled = begins + marked < ends
    kinds[begins[~filled]] = 0  # a mark alone is no sentence
    return begins[filled], ends[filled], filled.cumsum()[at_line_end]


def _need_repair(kinds: Array, special: Array, begins: Array, ends: Array) -> Array:
    """Return whether each piece must be repaired or left out.

    Others begin with text, and their quotation marks are in pairs that contain no other marks.
    """
    first = kinds[begins]
    opened = (first >= _OPENING) & (first % 2 == 0) & (kinds[begins + 1] == 0)
    needed = (first > 0) & ~opened
    places = special[kinds[special] >= _UNUSUAL]
    piece, kind = ends.searchsorted(places, "right"), kinds[places]
    second = (np.arange(len(piece)) - piece.searchsorted(piece)) % 2 == 1
    wrong = np.where(second, np.diff(kind, prepend=0) != 1, kind % 2 == 1)
    wrong |= ~second & (np.diff(piece, append=-1) != 0)
    needed[piece[wrong]] = True
    return needed


def _repaired(piece: str, hides: bool) -> list[str]:
    """Return the sentences of a piece, with its quotation marks repaired.

    `hides` is whether its brackets hide enders.
    """
    sentence = repair_quotes(_paired(piece.lstrip(_CLOSED)))
    if sentence != piece and (hides or sentence[:1] in _CLOSED):
        # the deleted marks may have kept two sentences together
        return split_sentences(sentence)
    return [sentence] if sentence.strip(_EMPTY) else []


def _paired(text: str) -> str:
    """Replace ASCII marks that occur an even number of times by opening and closing marks."""
    for mark, pair in _IN_PAIRS.items():
        if mark in text and text.count(mark) % 2 == 0:
            pieces = text.split(mark)
            marks = itertools.chain(itertools.islice(itertools.cycle(pair), len(pieces) - 1), [""])
            text = "".join(map("".join, zip(pieces, marks, strict=True)))
    return text


def _hide_enders(text: str, codes: Array, kinds: Array, special: Array) -> list[int]:
    """Make the enders inside brackets unusual, and return their places.

    Those of brackets that contain a whole sentence stay. All lines have an end.
    """
    kind = kinds[special]
    opens = kind == _BRACKET
    kinds[special[opens]] = 0
    borders = opens | (kind < _UNUSUAL)
    places, opens = special[borders], opens[borders]
    # a bracket with an ender in it does not close next
    before, after = places[:-1], places[1:]
    likely = opens[:-1] & (kinds[after] != _LINE_END) & (codes[after] != codes[before] + 1)
    hidden: list[int] = []
    done = 0
    for place in before[likely].tolist():
        if place >= done:
            begin, done = text.rfind("\n", 0, place) + 1, text.index("\n", place)
            for brackets in _BRACKETED.finditer(text, begin, done):
                if not _is_sentence(brackets):
                    hidden += (n for n in range(*brackets.span()) if text[n] in ENDERS)
    kinds[hidden] = _UNUSUAL
    return hidden


def _is_sentence(brackets: re.Match[str]) -> bool:
    """Return whether brackets contain whole sentences, and are no part of another one."""
    before, text = brackets.start(), brackets.string
    while before and text[before - 1] in _CLOSING:
        before -= 1
    alone = not before or text[before - 1] in "\n" + ENDERS
    return alone and brackets[0][-2] in ENDERS and brackets[0][0] not in "《〈"


def repair_quotes(sentence: str) -> str:
    """Complete missing quotation marks and delete superfluous ones.

    An unmatched ” is deleted, and so is an unmatched “ at the beginning or right before the
    enders. Any other unmatched “ is closed before the enders: ``他说：“好。`` becomes
    ``他说：“好”。``. So are ‘ ’, 「 」 and 『 』.
    """
    body = sentence.rstrip("）】)")
    enders = len(body.rstrip(ENDERS))
    if enders == len(body):
        enders = len(sentence)
    parts = _QUOTE.split(sentence[:enders])  # each second one is a mark
    opened: list[int] = []
    for place in range(1, len(parts), 2):
        mark = parts[place]
        if mark in QUOTES:
            opened.append(place)
            continue
        for n in range(len(opened) - 1, -1, -1):
            if QUOTES[parts[opened[n]]] == mark:
                del opened[n]
                break
        else:
            parts[place] = ""
    while opened and not any(parts[: opened[0]]):
        parts[opened.pop(0)] = ""
    while opened and not any(parts[opened[-1] + 1 :]):
        parts[opened.pop()] = ""
    closing = [QUOTES[parts[place]] for place in reversed(opened)]
    return "".join([*parts, *closing, sentence[enders:]])
