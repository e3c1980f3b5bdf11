"""Sentences on the values of a column that may be mistakes."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from evenhand.text.catalogue import read_catalogue

_say = read_catalogue(__file__)


def spelt_alike(values: Iterable[str]) -> list[list[str]]:
    """Return groups of values that look nearly the same."""
    spelt = defaultdict(list)
    for value in values:
        plain = unicodedata.normalize("NFKC", value).casefold()
        seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
        spelt[" ".join(seen.split())].append(value)
    return [some for some in spelt.values() if len(some) > 1]


def spelt_words(name: str | None, values: Iterable[str]) -> list[str]:
    """Return a sentence on all values of a column that look nearly the same.

    The name of the attribute; None for the label.
    """
    return [_say("spelt", values=[*map(repr, some)], name=name) for some in spelt_alike(values)]


def empty_bins_words(name: str, bins: Sequence[str]) -> str:
    """Return a sentence on the bins of an attribute that no row is in."""
    return _say("empty_bins", name=name, bins=bins)


def open_words() -> str:
    """Return the sentence on a file whose last line has no end."""
    return _say("open")


def doubtful_words(name: str, values: Mapping[str, int]) -> str:
    """Return a sentence on the values of a column that may mean missing ones."""
    return _say("doubtful", name=name, values=values)
