"""Phrases shared by several packages."""

from collections.abc import Collection, Sequence

from evenhand.errors import nearest

#: Between the attributes of an intersection, and between its groups.
CROSS = " × "


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: ``1 model``, ``2,000 models``."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; above `most` words ``a, b and 8 others``."""
    if most is not None and len(words) > most:
        rest = len(words) - most
        words = [*words[:most], plural(rest, "other")]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def choice(name: str, known: Collection[str], most: int | None = 6) -> str:
    """Return a remedy for a name that is none of the known ones: these, and the nearest."""
    near = nearest(name, known)
    return f"choose one of {listed([*known], most)}" + (f"; did you mean {near}?" if near else "")


class Titles(dict[str, str]):
    """Titles by name; a name without one is its own title, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """Return the title with a capital."""
        return self[name][:1].upper() + self[name][1:]
