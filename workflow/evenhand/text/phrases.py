"""Phrases shared by several packages."""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

#: Decimals of a number, behind which is the noise of binary arithmetic: 47.65 is 47.649999999…
EXACT = 9


def fixed(value: float, digits: int) -> str:
    """Return a decimal with a true minus sign; a half is rounded away from 0: ``−47.7``."""
    if not math.isfinite(value):
        return f"{value:.{digits}f}"
    rounded = Decimal(f"{value:.{EXACT}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{rounded:f}".replace("-", "−" if rounded else "")


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: ``1 model``, ``2,000 models``."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; above `most` words ``a, b and 8 others``."""
    if most is not None and len(words) > most:
        rest = len(words) - most
        words = [*words[:most], plural(rest, "other")]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


class Titles(dict[str, str]):
    """Titles by name; a name without one is its own title, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """Return the title with a capital."""
        return self[name][:1].upper() + self[name][1:]
