"""Score texts that the dictionary does not list as names, by characters of the names it lists.

A text is cut into words of the dictionary. Its score is the logarithm of how much more likely it
is as a name than as these words: the characters of a name are independent given their place, and
so are words (a unigram model, with the frequencies of jieba's dictionary). Full names of three
characters have a model of their own; transliterated names have one model for all places.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from evenhand.text.posseg import dictionary_frequencies, dictionary_names, dictionary_tags

#: Names of the dictionary with this first character, from which it counts as a surname.
_SURNAMES_FROM = 15
#: How often a character of transliterated names is in these, and how much more than in words.
_FOREIGN_FROM, _FOREIGN = 10, 0.7
#: Added to the counts of characters.
_SMOOTHED, _CHARACTERS = 0.02, 6000


@cache
def _names() -> tuple[list[Counter[str]], Counter[str]]:
    """Return how often each character is first, second and third in full names; and in others."""
    tags = dictionary_tags()
    full = [word for word, tag in tags.items() if tag == "nr" and len(word) == 3]
    foreign = Counter("".join(word for word, tag in tags.items() if tag == "nrt"))
    return [Counter(word[place] for word in full) for place in range(3)], foreign


def name_surnames() -> str:
    """Return the characters with which full names of the dictionary begin."""
    return "".join(sorted(c for c, n in _names()[0][0].items() if n >= _SURNAMES_FROM))


@cache
def foreign_characters() -> str:
    """Return the characters that are typical of transliterated names: 斯, 尔, 娜."""
    foreign, words = _names()[1], dictionary_frequencies()
    characters = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32)
    by_character = np.repeat([*words.values()], [*map(len, words)])
    all_ = np.bincount(characters, by_character)
    ratio = foreign.total() / all_.sum() * _FOREIGN
    typical = (c for c, n in foreign.items() if n >= _FOREIGN_FROM and n > ratio * all_[ord(c)])
    return "".join(sorted(typical))


def full_name_score(words: Sequence[str]) -> float:
    """Return the score of words of three characters together as a surname and a given name."""
    logs = zip("".join(words), _logs()[0], strict=True)
    return sum(log.get(c, log[""]) for c, log in logs) - _as_words(words)


def foreign_name_score(words: Sequence[str]) -> float:
    """Return the score of words as a transliterated name."""
    log = _logs()[1]
    return sum(log.get(c, log[""]) for c in "".join(words)) - _as_words(words)


def name_scores(text: str) -> dict[str, float]:
    """Return how much likelier a text is a name than words, by kind of name (full, foreign).

    The text has two characters or more; only one of two or three can be a full name. The words are
    the likeliest in it that the dictionary does not list as names. Unlike the functions above, it
    scores texts that the dictionary lists, or that the hidden Markov model joins.
    """
    best = [0.0]
    for end in range(1, len(text) + 1):
        parts = [(start, text[start:end]) for start in range(end)]
        best.append(max(best[at] + _as_words([w]) for at, w in parts if len(w) == 1 or _is_word(w)))
    (first, second, last), foreign = _logs()
    logs = {2: [first, last], 3: [first, second, last]}.get(len(text))
    models = ({"full": logs} if logs else {}) | {"foreign": [foreign] * len(text)}
    return {
        model: sum(log.get(c, log[""]) for c, log in zip(text, places, strict=True)) - best[-1]
        for model, places in models.items()
    }


def _is_word(text: str) -> bool:
    """Whether the dictionary lists a text, and not as a name."""
    return text in dictionary_tags() and text not in dictionary_names()


@cache
def _logs() -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return the logarithms of the probabilities of characters; "" has that of all others."""

    def logs(counts: Counter[str]) -> dict[str, float]:
        total = counts.total() + _SMOOTHED * _CHARACTERS
        return {c: math.log((counts[c] + _SMOOTHED) / total) for c in ["", *counts]}

    full, foreign = _names()
    return [*map(logs, full)], logs(foreign)


def _as_words(words: Sequence[str]) -> float:
    """Return the logarithm of the probability of words."""
    frequencies, total = dictionary_frequencies(), _total()
    return sum(math.log(frequencies.get(word, 0.5) / total) for word in words)


@cache
def _total() -> int:
    return sum(dictionary_frequencies().values())
