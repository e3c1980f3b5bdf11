"""Chinese judgments: paragraphs, numbers and dates as courts write them."""

import re
from datetime import date
from itertools import takewhile

#: Digits of a number or year, as courts write them: 一, 1, １, and all forms of zero.
_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")}
_DIGITS |= {c: i for i, c in enumerate("０１２３４５６７８９")} | {str(i): i for i in range(10)}
_DIGITS |= dict.fromkeys("○ΟОOoＯｏ零", 0) | {"两": 2}
_UNITS = {"十": 10, "百": 100}

#: Characters of a number.
NUMBER = f"[{''.join(_DIGITS)}{''.join(_UNITS)}]+"

_YEAR = f"[{''.join(_DIGITS)}]{{4}}"
_DATE = re.compile(rf"({_YEAR})\s*年\s*({NUMBER})\s*月\s*({NUMBER})\s*日")

#: Sources write blanks where the judgment had line ends; inside a line there are some too.
_BORDER = re.compile(r"(?<=[。！？；：”])\s+|[\r\n\u2028\u2029]+")
_BLANKS = re.compile(r"\s+")

#: How the court's reasons begin.
_REASONS = "本院认为"


def paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, cut at line ends and at blanks after a sentence.

    Runs of blanks (wide and non-breaking ones too) become one; blank paragraphs are left out.
    """
    return tuple(filter(None, (_BLANKS.sub(" ", part).strip() for part in _BORDER.split(text))))


def facts_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a source's facts, up to the court's own reasons.

    Some records hold the whole judgment there; from 本院认为 on, the court reasons and decides.
    """
    return tuple(takewhile(lambda part: not part.startswith(_REASONS), paragraphs(text)))


def number_of(words: str) -> int:
    """Return the number that characters of `NUMBER` write: 二十五, 十, 25, ２５, 零六.

    Raises ValueError if they write none (十十).
    """
    if not any(unit in words for unit in _UNITS):
        value = 0
        for character in words:
            value = 10 * value + _DIGITS[character]
        return value
    total = pending = 0
    floor = 1000
    for character in words:
        if character in _UNITS:
            unit = _UNITS[character]
            if unit >= floor:
                raise ValueError(f"{words} is no number")
            total, pending, floor = total + (pending or 1) * unit, 0, unit
        elif pending:
            raise ValueError(f"{words} is no number")
        else:
            pending = _DIGITS[character]
    return total + pending


def dates_of(text: str) -> list[tuple[int, date | None]]:
    """Return where dates begin (二〇一七年六月二十八日, 2017年6月28日), and the dates.

    None is one that no calendar has.
    """
    return [(match.start(), _date(match)) for match in _DATE.finditer(text)]


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(*(number_of(part) for part in match.groups()))
    except ValueError:
        return None
