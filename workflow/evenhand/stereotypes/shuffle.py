"""Shuffle the words of a sentence: a control without word order.

Words are found without a dictionary, so that the same rule applies to every language: text between
white space is a word; in scripts without blanks (Han, kana, Thai, Lao, Burmese, Khmer, and the
full-width punctuation of East Asia) each character with its marks is one.
"""

import hashlib
import re

import numpy as np

from evenhand.stereotypes.clusters import BLANKLESS, SIGNS

#: Scripts without blanks between words, with the punctuation and full-width forms of East Asia.
_WITHOUT = f"{BLANKLESS}\u3000-\u303f\uff00-\uff65"

_WORD = re.compile(f"(?!\\s)[{_WITHOUT}][{SIGNS}]*|[^\\s{_WITHOUT}]+")
_BLANK_BESIDE = re.compile(f"(?<=[{_WITHOUT}]) | (?=[{_WITHOUT}])")


def shuffle_words(sentence: str, *, seed: int) -> str:
    """Put the words of a sentence in a random order.

    Parameters
    ----------
    sentence : str
        The sentence; leading and trailing white space is ignored.
    seed : int
        Seed, which determines the order together with the text alone.

    Returns
    -------
    str
        The same words. Two of them are joined without a blank if either is a character of a
        script without blanks, and by one blank otherwise. By chance the order may be unchanged.
    """
    words = words_of(sentence)
    digest = hashlib.blake2b(f"{seed} shuffle {sentence}".encode(), digest_size=8).digest()
    order = np.random.default_rng(int.from_bytes(digest)).permutation(len(words))
    return join_words([words[i] for i in order])


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence, in order, as defined in the module's docstring."""
    return _WORD.findall(sentence)


def join_words(words: list[str]) -> str:
    """Join words, with a blank between two words of scripts with blanks."""
    return _BLANK_BESIDE.sub("", " ".join(words))
