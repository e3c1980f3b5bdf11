"""Traditional Chinese characters and their Simplified forms, for matching only.

Words, criteria and jieba's dictionary are Simplified, so that text is matched in its Simplified
form, character by character: positions stay the same, and the text that is shown stays as written.
The pairs are those of OpenCC, with the variants of Hong Kong and Taiwan
(https://github.com/BYVoid/OpenCC, Apache License 2.0), and 妳, 牠, 姊. Characters that Simplified
text has, too, are converted by the characters beside them: 看著 but not 著名.
"""

import re
from collections.abc import Callable

from evenhand.core.phrases import phrases_of

_PAIRS, _VARIANTS = phrases_of(__file__)["characters"].values()
_TRADITIONAL = dict(zip(_PAIRS[1::2], _PAIRS[::2], strict=True))
_SIMPLIFIED = dict(zip((_PAIRS + _VARIANTS)[::2], (_PAIRS + _VARIANTS)[1::2], strict=True))
#: Traditional characters that are Simplified ones elsewhere, and where they are none.
_BY_CONTEXT = {
    "著": (
        "着",
        "(?<![名显顯原巨专專编編论論卓昭译譯拙遗遺土毛])著(?![名作称稱述录錄]|(?<![看读讀拿捧]著)[书書])"
        "|(?<=[接跟随隨])著",
    ),
    "乾": ("干", "(?<!康)乾(?![隆坤清元安县縣陵])"),
    "徵": ("征", "(?<!角)徵(?!羽)"),
    "覆": ("复", "(?<=[回迴答反重批])覆"),
    "藉": ("借", "(?<![狼慰蕴蘊枕])藉"),
    "瞭": ("了", "瞭(?!望)"),
    "鍊": ("炼", "(?<=[鍛锻精磨])鍊"),
    "彷": ("仿", "彷(?=[佛彿])"),
}
_CONTEXTS = [
    (character, re.compile(where), plain) for character, (plain, where) in _BY_CONTEXT.items()
]
_ANY = re.compile(f"[{''.join([*_SIMPLIFIED, *_BY_CONTEXT])}]")
_TO_SIMPLIFIED, _TO_TRADITIONAL = str.maketrans(_SIMPLIFIED), str.maketrans(_TRADITIONAL)


def matching_form(language: str) -> Callable[[str], str]:
    """Return the function that makes the form of a text of a language that words are sought in."""
    return simplified if language.split("-")[0] == "zh" else str


def simplified(text: str) -> str:
    """Return the Simplified form of a text, of the same length."""
    if not _ANY.search(text):
        return text
    for character, where, plain in _CONTEXTS:
        if character in text:
            text = where.sub(plain, text)
    return text.translate(_TO_SIMPLIFIED)


def traditional(text: str) -> str:
    """Return a Simplified text in Traditional characters, where only one is usual."""
    return text.translate(_TO_TRADITIONAL)


def in_script_of(text: str, word: str) -> str:
    """Return a Simplified word in the script of a text: Traditional if most of its characters are.

    Characters that both scripts have do not count.
    """
    changed = traditional(word)
    if changed == word:
        return word
    forms = zip(text, simplified(text), traditional(text), strict=True)
    balance = sum((character != plain) - (character != full) for character, plain, full in forms)
    return changed if balance > 0 else word
