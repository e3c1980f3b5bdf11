"""Catalogues of sentences: Jinja files with a macro per sentence, which gets its facts.

The catalogues of all modules are in one folder (`evenhand.core.phrases`).
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from evenhand.core.decimals import fixed, p_equals, p_value
from evenhand.core.phrases import MACROS, sentences_file
from evenhand.text.phrases import listed, plural

#: A sentence of a catalogue. Each is compiled with those that it calls: to compile all takes longer
#: than to write a page.
_MACRO = re.compile(r"{%-? macro (\w+).*?{%-? endmacro -?%}", re.S)


def read_catalogue(
    module: str, *, html: bool = False, **filters: Callable[..., Any]
) -> Callable[..., str]:
    """Return the function that fills a sentence: it takes the macro's name, and the facts.

    Parameters
    ----------
    module : str
        The ``__file__`` of the module with the catalogue, which is read with the first sentence.
    html : bool
        Whether sentences are markup, in which facts are escaped.
    **filters
        Functions that format facts, besides ``listed``, ``plural``, ``fixed`` (decimals, with
        the minus sign of tables), ``p_value``, ``p_equals`` and ``short``.
    """

    @cache
    def read() -> tuple[Any, dict[str, str], str]:
        from jinja2 import Environment, StrictUndefined

        environment = Environment(undefined=StrictUndefined, autoescape=html)
        environment.filters |= {
            "listed": listed,
            "plural": plural,
            "fixed": fixed,
            "p_equals": p_equals,
            "p_value": p_value,
            "short": lambda value: f"{value:g}",
        } | filters
        text = sentences_file(module, MACROS).read_text(encoding="utf-8")
        return environment, {macro[1]: macro[0] for macro in _MACRO.finditer(text)}, text

    @cache
    def macro(sentence: str) -> Callable[..., str]:
        environment, macros, text = read()
        used, waiting = set(), {sentence}
        while waiting:
            used |= waiting
            words = set(re.findall(r"\w+", " ".join(macros[name] for name in waiting)))
            waiting = (macros.keys() & words) - used
        needed = _MACRO.sub(lambda macro: macro[0] * (macro[1] in used), text)
        return getattr(environment.from_string(needed).module, sentence)

    def fill(sentence: str, /, *facts: Any, **named: Any) -> str:
        text = macro(sentence)(*facts, **named)
        return type(text)(re.sub("[ \n]+", " ", text).strip())

    return fill


#: From this share of misplaced pairs on, a finding on the pairs may not hold.
MANY_MISPLACED = 0.1

#: From this share of pairs of unequal length on with the same side longer, a preference may be for
#: length.
MOSTLY_LONGER = 0.9

_say = read_catalogue(__file__)


def verdict_words(verdict: str | None) -> str:
    """Return such a verdict for the cell of a table; blank for another word."""
    return _say("verdict", verdict)


def reason(name: str) -> str:
    """Return why a comparison has no test."""
    return _say("reason", name)


def doubt_of(row: Mapping[str, Any]) -> str:
    """Return why a finding on pairs may not hold, without a full stop; blank if nothing shows that.

    Many pairs look misplaced, or a preference may be for length (`is_confounded`). The row has the
    number of ``misplaced`` pairs, of ``pairs`` or, in logs, of ``samples``.
    """
    if _are_misplaced(row):
        return _say("misplaced", count=row["misplaced"], of=_pairs(row))
    if is_confounded(row):
        return _say("one_longer", count=row["one_longer"], of=_unequal(row))
    return ""


def borderline(row: Mapping[str, Any]) -> str:
    """Return that the interval of a significant preference contains 50; blank if it does not."""
    low, high = row.get("score_low"), row.get("score_high")
    if row.get("verdict") not in ("above", "below") or low is None or not low < 50 < high:
        return ""
    return _say("borderline")


def other_data(holds: bool | None) -> str:
    """Return that a significant effect is of the same data; blank unless it is not so of others."""
    return _say("same_data") if holds is False else ""


def control(score: float, is_known: bool = False) -> str:
    """Return that the control with all tokens masked, of this score, prefers the same side.

    If the consequence `is_known`, only the score.
    """
    return _say("control", score, is_known)


def is_confounded(row: Mapping[str, Any]) -> bool:
    """Return whether a preference cannot be told from one for the longer or shorter sentence.

    Misplaced pairs come first. Pairs of equal length do not count, and those with the same side
    longer must be enough for the whole preference, where the row has the ``score``.
    """
    is_significant = row.get("verdict") in ("above", "below")
    count = row.get("one_longer") or 0
    if not count or not is_significant or _are_misplaced(row):
        return False
    beyond = abs((row.get("score") or 50) - 50) / 50 * row["scored"]  # hits more than misses
    return count >= MOSTLY_LONGER * _unequal(row) and count >= beyond


def _unequal(row: Mapping[str, Any]) -> int:
    unequal = row.get("unequal")  # which older results lack
    return row["scored"] if unequal is None else unequal


def _pairs(row: Mapping[str, Any]) -> int:
    return row.get("pairs") or row.get("samples") or 0


def _are_misplaced(row: Mapping[str, Any]) -> bool:
    count = row.get("misplaced") or 0
    return bool(count) and count >= MANY_MISPLACED * _pairs(row)


def conclusion(verdict: str, **facts: Any) -> str:
    """Return a verdict of `evenhand.metrics.inference` in words, without a full stop.

    Parameters
    ----------
    verdict : str
        above, below, equivalent or inconclusive.
    **facts
        ``difference``: the effect that is absent within ``delta`` (with its unit); ``above`` and
        ``below``: the meaning of a significant difference in either direction; ``power`` of the
        test at delta, and ``further`` clusters for 80 %; ``clusters``: their noun;
        ``why`` there is no test, if not for too few clusters.
    """
    return _say("conclusion", verdict, **facts)
