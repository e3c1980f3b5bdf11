"""Phrases shared by several packages."""

import difflib
from collections.abc import Collection, Sequence


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: ``1 model``, ``2,000 models``."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; above `most` words ``a, b and 8 others``."""
    if most is not None and len(words) > most:
        rest = len(words) - most
        words = [*words[:most], plural(rest, "other")]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def choice(name: str, known: Collection[str], most: int = 6) -> str:
    """Return a remedy for a name that is none of the known ones: these, and the nearest."""
    meant = [f"did you mean {near}?" for near in nearest(name, known)]
    return "; ".join([f"choose one of {listed([*known], most)}", *meant])


def nearest(name: str, known: Collection[str]) -> list[str]:
    """Return the known name that is most like another one, in any case; none if none is like it."""
    folded = {each.casefold(): each for each in known}
    return [folded[near] for near in difflib.get_close_matches(name.casefold(), folded, n=1)]


class Titles(dict[str, str]):
    """Titles by name; a name without one is its own title, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """Return the title with a capital."""
        return self[name][:1].upper() + self[name][1:]
