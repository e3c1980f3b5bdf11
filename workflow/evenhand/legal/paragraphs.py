"""Text of a source as the paragraphs of a case: no markup, plain blanks, nothing empty."""

import re
from collections.abc import Iterable

from evenhand.io.markup import strip_html

#: What marks a text as HTML: a tag that is closed, or one that stands alone.
_HTML = re.compile(r"</(?:p|div|span|em|i|b|strong|a|td|li|body|html)\s*>|<(?:br|p|hr)\s*/?>", re.I)
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def tidy(paragraphs: Iterable[str]) -> tuple[str, ...]:
    """Each paragraph with single plain blanks; the empty ones are left out.

    Non-breaking and thin blanks and line ends become blanks; soft hyphens, byte-order marks and
    blanks of no width go.
    """
    plain = (" ".join(one.translate(_INVISIBLE).split()) for one in paragraphs)
    return tuple(one for one in plain if one)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text: between blank lines if there are any, else its lines.

    HTML is recognised by its tags, and its blocks are the paragraphs.
    """
    if _HTML.search(text):
        return tidy(strip_html(text).split("\n"))
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    between = _BLANK_LINES.split(text)
    return tidy(between if len(between) > 1 else text.split("\n"))
