"""Swap the genders of a text by word lists, to make counterfactual pairs.

Limits of word lists: names are not changed, so that Anna may be called he; some words have no
opposite; and facts that only one sex can have (a pregnancy) are not changed, so that a swapped text
may be implausible. A label may rightly differ where the law names a sex. The following word decides
between two opposites of a word: "her" becomes "his" before a word that may start a noun phrase
("her house"), and "him" at the end of a clause or before a word of the list of followers ("saw her
in town"). So "found her guilty" becomes "found his guilty".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.resources import read_resource
from evenhand.errors import InputError

#: The next word on the same line. It may be quoted, and the word before it may be in brackets.
_NEXT_WORD = re.compile(r"\]?[^\S\n]+[\"'“‘«\[]?([^\W\d_]+)")


@dataclass(frozen=True)
class SwapTable:
    """Words and their opposites.

    Attributes
    ----------
    opposites : dict of str to str
        The opposite of each word, spelled as in the table.
    alone : dict of str to str
        The opposite where no noun follows, for words where it differs.
    followers : dict of str to set of str
        The words (lower case) that start no noun phrase after a word of `alone`.
    pattern : re.Pattern
        Matches the words of the table, the longest first.
    """

    opposites: Mapping[str, str]
    alone: Mapping[str, str]
    followers: Mapping[str, frozenset[str]]
    pattern: re.Pattern[str]


def read_swap_table(words: Path, followers: Path | None = None, *, whole: bool) -> SwapTable:
    """Read the word lists.

    Parameters
    ----------
    words : Path
        ``resources/legal/swap_gender_en.csv``: columns word, opposite, opposite_alone (blank: the
        same). A word that is its own opposite stays, and protects its parts (其他). A word in
        lower case matches in any case; one with a capital, such as Miss, only as written.
    followers : Path, optional
        ``swap_gender_en_followers.csv``: columns word, after (the word after which it counts;
        blank: any).
    whole : bool
        Whether to match whole words only, as in English, or the characters anywhere, as in
        Chinese.

    Raises
    ------
    InputError
        A table is not valid, or has a word twice.
    """
    rows = read_resource(
        words,
        ["word", "opposite", "opposite_alone"],
        optional=("opposite_alone",),
        unique=("word",),
    )
    if not rows:
        raise InputError("has no words", file=words)
    opposites = {row["word"]: row["opposite"] for row in rows}
    alone = {row["word"]: row["opposite_alone"] for row in rows if row["opposite_alone"]}
    after: dict[str, set[str]] = {word: set() for word in alone}
    if followers is not None:
        for row in read_resource(followers, ["word", "after"], optional=("after",)):
            if row["after"] and row["after"] not in alone:
                raise InputError(f"{row['after']} has no second opposite", file=followers)
            for word in [row["after"]] if row["after"] else alone:
                after[word].add(row["word"].lower())
    return SwapTable(
        opposites=opposites,
        alone=alone,
        followers={word: frozenset(some) for word, some in after.items()},
        pattern=_pattern(opposites, whole),
    )


def swap_words(text: str, table: SwapTable) -> tuple[str, int]:
    """Replace every word of the table by its opposite; return the text and the number of changes.

    The case of each word (lower, capitalised or upper) is kept.
    """
    changed = 0

    def opposite(match: re.Match[str]) -> str:
        nonlocal changed
        word = match.group()
        new = replaced(match, word)
        changed += new != word
        return new

    def replaced(match: re.Match[str], word: str) -> str:
        key = word if word in table.opposites else word.lower()
        if key not in table.opposites:  # a long s or a dotted I counts as one in any case
            return word
        other = table.opposites[key]
        if key in table.alone and _stands_alone(text, match.end(), table.followers[key]):
            other = table.alone[key]
        return other if word == key else _in_case_of(word, other)

    swapped = table.pattern.sub(opposite, text)
    return swapped, changed


def _stands_alone(text: str, end: int, followers: frozenset[str]) -> bool:
    following = _NEXT_WORD.match(text, end)
    return following is None or following.group(1).lower() in followers


def _in_case_of(word: str, other: str) -> str:
    return other.upper() if word.isupper() else other[:1].upper() + other[1:]


def _pattern(words: Mapping[str, str], whole: bool) -> re.Pattern[str]:
    longest = sorted(words, key=lambda word: (-len(word), word))
    choices = "|".join(
        f"(?i:{re.escape(word)})" if word == word.lower() else re.escape(word) for word in longest
    )
    return re.compile(rf"(?<!\w)(?:{choices})(?!\w)" if whole else choices)
