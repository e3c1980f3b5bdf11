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
import unicodedata

#: Characters that end a sentence. An ASCII question mark does in the authors' file (51 sentences
#: end in one, with ” before it, and none goes on after one); an ASCII exclamation mark does not.
ENDERS = "。？！?"

#: Signs (Unicode category So) that are kept: units, and U+FFFD, which must stay to be seen.
_KEPT_SIGNS = frozenset("°℃℉\ufffd")

_LATIN = re.compile("(?:FULLWIDTH )?(?:LATIN|FEMININE|MASCULINE)|MODIFIER|KELVIN|ANGSTROM")
#: Combining accents and variation selectors.
_NO_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f\U000e0100-\U000e01ef]")

# Nearly all characters of a newspaper: kept without a look-up.
_UNUSUAL = re.compile(
    "[^\u4e00-\u9fff0-9，。、“”：；？！《》…—‘’（）【】·×\"#%&'()*+,./:;!?@\\-\\[\\]~]+"
)
_STRAY_DOT = re.compile(r"\.(?:(?![0-9０-９])|(?<![0-9０-９]\.))")
_SENTENCE = re.compile(f"[^{ENDERS}]*[{ENDERS}]+[）】)]*|[^{ENDERS}]+")
_ENDING = re.compile(f"(?:[{ENDERS}]+[）】)]*)?$")
#: Opening and closing quotation marks, those of Hong Kong and Taiwan too.
QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』"}

#: Sentences of only these are dropped.
_EMPTY = "".join(QUOTES) + "".join(QUOTES.values()) + ENDERS

#: Marks of unmatched opening quotes; normalised text holds no control character.
_OPEN = dict(zip(QUOTES, "\0\1\2\3", strict=True))
_OPENED = {control: mark for mark, control in _OPEN.items()}

_MARKED = re.compile("[“”‘’「」『』《》〈〉（）【】()\"']")
_QUOTE = re.compile("[“”‘’「」『』]")
_BALANCED = re.compile(
    "[^“”‘’「」『』]*(?:(?:“[^“”‘’「」『』]*”|「[^“”‘’「」『』]*」)[^“”‘’「」『』]*)*"
)

#: The longest title or remark in brackets in which no sentence ends.
_LONGEST_BRACKET = 60
_BRACKETED = re.compile(
    "|".join(
        f"{opening}[^{opening}{closing}]{{1,{_LONGEST_BRACKET}}}{closing}"
        for opening, closing in ("《》", "〈〉", "（）", "【】", (r"\(", r"\)"))
    )
)
#: Placeholders for enders that end no sentence.
_HIDDEN = str.maketrans(ENDERS, "\4\5\6\7")
_SHOWN = str.maketrans("\4\5\6\7", ENDERS)
_CLOSED = re.compile("^[》〉）】)]+")
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


class _Policy(dict[int, int | None]):
    """`is_kept` as a table for `str.translate`, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        value = self[code] = code if is_kept(chr(code)) else None
        return value


_POLICY = _Policy()


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
    if "." in text:
        text = _STRAY_DOT.sub("", text)
    return _UNUSUAL.sub(_keep, text)


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
    if not _MARKED.search(text):
        return [sentence for sentence in _SENTENCE.findall(text) if sentence.strip(_EMPTY)]
    text = _paired(text)
    hidden = _hide_enders(text)
    sentences = _SENTENCE.findall(hidden)
    if hidden is not text:
        sentences = [one.translate(_SHOWN) for one in sentences]
    found = []
    for sentence in sentences:
        if not _MARKED.search(sentence):
            found.append(sentence)
            continue
        mended = _paired(_CLOSED.sub("", sentence))
        if _QUOTE.search(mended) and not _BALANCED.fullmatch(mended):
            mended = repair_quotes(mended)
        if mended == sentence:
            found.append(sentence)
        else:  # the deleted marks may have kept two sentences together
            found += split_sentences(mended)
    return [sentence for sentence in found if sentence.strip(_EMPTY)]


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
    if not _BRACKETED.search(text):
        return text

    def hide(match: re.Match[str]) -> str:
        before = text[: match.start()].rstrip(_CLOSING)
        alone = not before or before[-1] in ENDERS
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
    enders = _ENDING.search(sentence).start()
    body: list[str] = []
    opened: dict[str, list[int]] = {closing: [] for closing in QUOTES.values()}
    for character in sentence[:enders]:
        if character in QUOTES:
            opened[QUOTES[character]].append(len(body))
        elif character in opened:
            if not opened[character]:
                continue
            opened[character].pop()
        body.append(character)
    for index in (one for places in opened.values() for one in places):
        body[index] = _OPEN[body[index]]
    repaired = "".join(body).strip("".join(_OPENED))
    closing = "".join(QUOTES[_OPENED[one]] for one in reversed(repaired) if one in _OPENED)
    return repaired.translate(str.maketrans(_OPENED)) + closing + sentence[enders:]


def _keep(match: re.Match[str]) -> str:
    return match.group().translate(_POLICY)
