"""Phrases shared by several packages."""

from collections.abc import Sequence


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; above `most` words ``a, b and 8 others``."""
    if most is not None and len(words) > most:
        rest = len(words) - most
        words = [*words[:most], f"{rest} other{'' if rest == 1 else 's'}"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
