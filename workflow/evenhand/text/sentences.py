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
letters                removed: Latin, Greek, kana, ...         none; “T恤” became “恤”
other signs            removed: bullets, boxes, emoji          none
blanks, controls       removed, line ends too                   none
enders                 。 ？ ！ and ASCII ``?``, in runs            ``?`` ends 51, ``!`` none
“ ”                    repaired (see `repair_quotes`)           ``”。`` 390 after ：“, ``。”`` 19
‘ ’ 《 》 （ ）              left alone                               no repair is visible
=====================  =======================================  ==============================
"""

import re
import unicodedata

#: Characters that end a sentence. An ASCII question mark does in the authors' file (51 sentences
#: end in one, with ” before it, and none goes on after one); an ASCII exclamation mark does not.
ENDERS = "。？！?"

#: Signs (Unicode category So) that are kept: units, and U+FFFD, which must stay to be seen.
_KEPT_SIGNS = frozenset("°℃℉\ufffd")

#: Letters that are no Han characters but belong to Chinese text.
_KEPT_LETTERS = frozenset("々")

# Nearly all characters of a newspaper: kept without a look-up.
_UNUSUAL = re.compile(
    "[^\u4e00-\u9fff0-9，。、“”：；？！《》…—‘’（）【】·×\"#%&'()*+,./:;!?@\\-\\[\\]~]+"
)
_STRAY_DOT = re.compile(r"\.(?:(?![0-9０-９])|(?<![0-9０-９]\.))")
_SENTENCE = re.compile(f"[^{ENDERS}]*[{ENDERS}]+|[^{ENDERS}]+")
_ENDING = re.compile(f"[{ENDERS}]*$")
#: Sentences of only these are dropped.
_EMPTY = "“”" + ENDERS

#: Marks an unmatched “; normalised text holds no control character.
_OPEN = "\0"

_BALANCED = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")


def is_kept(character: str) -> bool:
    """Whether normalised text keeps a character (a stray ``.`` is removed all the same)."""
    category = unicodedata.category(character)
    if category[0] == "L":
        return character in _KEPT_LETTERS or unicodedata.name(character, "").startswith("CJK ")
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
    """Remove blanks, letters and ornaments from a paragraph.

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
    """Cut normalised text behind every run of enders, inside quotes too, and repair the quotes.

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
    sentences = _SENTENCE.findall(text)
    if "“" in text or "”" in text:
        sentences = [
            s if ("“" not in s and "”" not in s) or _BALANCED.fullmatch(s) else repair_quotes(s)
            for s in sentences
        ]
    return [s for s in sentences if s.strip(_EMPTY)]


def repair_quotes(sentence: str) -> str:
    """Complete missing quotation marks and delete superfluous ones.

    An unmatched ” is deleted, and so is an unmatched “ at the beginning or right before the
    enders. Any other unmatched “ is closed before the enders: ``他说：“好。`` becomes
    ``他说：“好”。``. The marks ‘ ’ are ignored.
    """
    enders = _ENDING.search(sentence).start()
    body: list[str] = []
    opened: list[int] = []
    for character in sentence[:enders]:
        if character == "“":
            opened.append(len(body))
        elif character == "”":
            if not opened:
                continue
            opened.pop()
        body.append(character)
    for index in opened:
        body[index] = _OPEN
    repaired = "".join(body).strip(_OPEN)
    return repaired.replace(_OPEN, "“") + "”" * repaired.count(_OPEN) + sentence[enders:]


def _keep(match: re.Match[str]) -> str:
    return match.group().translate(_POLICY)
