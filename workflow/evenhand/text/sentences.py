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

import numpy as np

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

_QUOTE = re.compile("[“”‘’「」『』]")

#: A sentence without hidden enders whose quotation marks need no repair; any other; a line end.
_PLAIN = f"[^\n\4-\7{ENDERS}“”‘’「」『』\"']"
_QUOTED = "|".join(f"{a}{_PLAIN}*+{b}" for a, b in QUOTES.items())
_BEGIN = f"(?![》〉）】)])(?:{_PLAIN}|(?=[“‘「『]{_PLAIN}))"
_END = f"(?:[{ENDERS}]++[）】)]*+|(?=\n)|\\Z)"
_WHOLE = f"{_BEGIN}{_PLAIN}*+(?:(?:{_QUOTED}){_PLAIN}*+)*+{_END}"
_NEEDS_NO_REPAIR = re.compile(_WHOLE)
_SENTENCE = re.compile(f"(?:({_WHOLE})|([^\n{ENDERS}]*[{ENDERS}]+[）】)]*|[^\n{ENDERS}]+))?(\n?)")

#: The longest title or remark in brackets in which no sentence ends.
_LONGEST_BRACKET = 60
_BRACKETS = ("《》", "〈〉", "（）", "【】", (r"\(", r"\)"))
_BRACKETED = re.compile(
    "|".join(f"{a}[^\n{a}{b}]{{1,{_LONGEST_BRACKET}}}{b}" for a, b in _BRACKETS)
)
#: Brackets that may hold an ender.
_ENDER_INSIDE = re.compile(
    "|".join(f"{a}[^\n{a}{b}{ENDERS}]{{0,{_LONGEST_BRACKET}}}[{ENDERS}]" for a, b in _BRACKETS)
)
#: Placeholders for enders that end no sentence.
_HIDDEN = str.maketrans(ENDERS, "\4\5\6\7")
_SHOWN = str.maketrans("\4\5\6\7", ENDERS)
_IS_HIDDEN = re.compile("[\4-\7]")
_CLOSED = "》〉）】)"
_CLOSING = "》〉）】)" + "".join(QUOTES) + "".join(QUOTES.values())
_BORDERS = ENDERS + "\n"
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
    return normalise_all([text])[0]


def normalise_all(paragraphs: Sequence[str]) -> list[str]:
    """Normalise paragraphs, all at once; see `normalise`."""
    if not paragraphs:
        return []
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
    return text.split("\n")


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
    return split_all([text])[0]


def split_all(paragraphs: Sequence[str]) -> list[list[str]]:
    """Return the sentences of each normalised paragraph; see `split_sentences`."""
    if not paragraphs:
        return []
    text = "\n".join(paragraphs)
    if any(mark in text for mark in _IN_PAIRS):
        text = "\n".join(map(_paired, paragraphs))
    sentences: list[str] = []
    by_paragraph = [sentences]
    for whole, other, line_end in _SENTENCE.findall(_hide_enders(text)):
        if whole:
            sentences.append(whole)
        elif other:
            other = other.translate(_SHOWN) if _IS_HIDDEN.search(other) else other
            sentence = repair_quotes(_paired(other.lstrip(_CLOSED)))
            if sentence != other and not _NEEDS_NO_REPAIR.fullmatch(sentence):
                # the deleted marks may have kept two sentences together
                sentences += split_sentences(sentence)
            elif sentence.strip(_EMPTY):
                sentences.append(sentence)
        if line_end:
            by_paragraph.append(sentences := [])
    return by_paragraph


def _paired(text: str) -> str:
    """Replace ASCII marks that occur an even number of times by opening and closing marks."""
    for mark, pair in _IN_PAIRS.items():
        if mark in text and text.count(mark) % 2 == 0:
            pieces = text.split(mark)
            marks = itertools.chain(itertools.islice(itertools.cycle(pair), len(pieces) - 1), [""])
            text = "".join(map("".join, zip(pieces, marks, strict=True)))
    return text


def _hide_enders(text: str) -> str:
    """Hide the enders inside brackets, except where the brackets contain a whole sentence."""
    if not _ENDER_INSIDE.search(text):
        return text

    def hide(match: re.Match[str]) -> str:
        before = match.start()
        while before and text[before - 1] in _CLOSING:
            before -= 1
        alone = not before or text[before - 1] in _BORDERS
        if alone and match[0][-2] in ENDERS and match[0][0] not in "《〈":
            return match[0]
        return match[0].translate(_HIDDEN)

    return _BRACKETED.sub(hide, text)


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
    characters = list(sentence[:enders])
    opened: list[int] = []
    for match in _QUOTE.finditer(sentence, 0, enders):
        mark, place = match[0], match.start()
        if mark in QUOTES:
            opened.append(place)
            continue
        for n in range(len(opened) - 1, -1, -1):
            if QUOTES[characters[opened[n]]] == mark:
                del opened[n]
                break
        else:
            characters[place] = ""
    while opened and not "".join(characters[: opened[0]]):
        characters[opened.pop(0)] = ""
    while opened and not "".join(characters[opened[-1] + 1 :]):
        characters[opened.pop()] = ""
    closing = [QUOTES[characters[place]] for place in reversed(opened)]
    return "".join([*characters, *closing, sentence[enders:]])
