"""Sentences on the values of a column that may be mistakes."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from evenhand.core.encodings import REMAINS
from evenhand.text.catalogue import read_catalogue

#: Cyrillic and Greek letters, in this order, that look like Latin ones.
LOOK_ALIKE = str.maketrans(
    "АВСЕНІЈКМОРЅТХУаеосрхуѕіј" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",
    "ABCEHIJKMOPSTXYaeocpxysij" + "ABEZHIKMNOPTYXo",
)

#: A number with a comma.
DECIMAL = re.compile(r"-?\d+,\d+")

_say = read_catalogue(__file__)


def spelt_alike(values: Iterable[str]) -> list[list[str]]:
    """Return groups of values that look nearly the same."""
    spelt = defaultdict(list)
    for value in values:
        plain = unicodedata.normalize("NFKC", value).translate(LOOK_ALIKE).casefold()
        seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
        spelt[" ".join(seen.split())].append(value)
    return [some for some in spelt.values() if len(some) > 1]


def sets_among(values: set[str], known: Collection[str] = ()) -> tuple[str, str] | None:
    """Return the first set of values among values, and what joins it; None if most are none.

    At least two parts of a set are in other values. `known` are single ones, and so are numbers
    with a comma, and names whose parts each have a place (``old;red``, ``new;red``).
    """
    for mark in ";|,":
        parts = {name: [part.strip() for part in name.split(mark)] for name in values}
        times = Counter(part for some in parts.values() for part in {*some})
        joined = [name for name in sorted(values.difference(known)) if len(parts[name]) > 1]
        joined = [name for name in joined if not DECIMAL.fullmatch(name)]
        again = [sum(times[part] > 1 for part in {*parts[name]}) > 1 for name in joined]
        places = {(part, i) for some in parts.values() for i, part in enumerate(some)}
        is_cross = len({*map(len, parts.values())}) == 1 and len(places) == len(times)
        if not is_cross and 2 * sum(again) > len(joined):
            return joined[0], mark
    return None


def spelt_words(name: str | None, values: Iterable[str]) -> list[str]:
    """Return sentences on values that look nearly the same, like sets of others, or damaged.

    The name of the attribute; None for the label.
    """
    sentences, sets = [], []
    for some in spelt_alike(values):
        shared = set.intersection(*map(set, some))
        letters = [_first_unlike(value, shared) for value in some]
        # several blanks in a row would be one on a page
        cells = (repr(value).replace("  ", "\u2423\u2423") for value in some)
        sets.append([*zip(cells, letters, strict=True)])
    if sets:
        sentences.append(_say("spelt", sets=sets, name=name))
    if name and (joined := sets_among({*values})):
        sentences.append(_say("joined", name=name, value=joined[0]))
    if garbled := sorted(filter(REMAINS.search, values)):
        sentences.append(_say("garbled", name=name, value=garbled[0]))
    return sentences


def _first_unlike(value: str, shared: set[str]) -> str:
    """Return number and name of the first visible character that others lack; blank for ASCII."""
    unlike = (char for char in value if char not in shared and char.isprintable())
    char = next((char for char in unlike if not char.isascii()), "")
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() if char else ""


def empty_bins_words(name: str, bins: Sequence[str]) -> str:
    """Return a sentence on the bins of an attribute that no row is in."""
    return _say("empty_bins", name=name, bins=bins)


def open_words() -> str:
    """Return the sentence on a file whose last line has no end."""
    return _say("open")


def doubtful_words(name: str, values: Mapping[str, int]) -> str:
    """Return a sentence on the values of a column that may mean missing ones."""
    return _say("doubtful", name=name, values=values)
