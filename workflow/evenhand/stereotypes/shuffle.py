"""Shuffle the words of a sentence: a control without word order.

Words are found without a dictionary, so that the same rule applies to every language: text between
white space is a word; in scripts without blanks (Han, kana, Thai, Lao, Burmese, Khmer, and the
full-width punctuation of East Asia) each character with its marks is one.
"""

import hashlib
import unicodedata

import numpy as np

#: Unicode blocks of scripts without blanks between words: first and last character.
WITHOUT_BLANKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3000, 0x30FF),  # punctuation of East Asia, kana
    (0x31F0, 0x31FF),  # small kana
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF00, 0xFF65),  # full-width forms
    (0x20000, 0x3FFFF),  # Han, further extensions
)


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
    if sentence.isascii():
        return sentence.split()
    words: list[str] = []
    joined = False  # whether the next character belongs to the word before it
    for character in sentence:
        if character.isspace():
            joined = False
        elif words and joined and unicodedata.category(character).startswith("M"):
            words[-1] += character
        elif without_blanks(character):
            words.append(character)
            joined = True
        elif joined and not without_blanks(words[-1][0]):
            words[-1] += character
        else:
            words.append(character)
            joined = True
    return words


def join_words(words: list[str]) -> str:
    """Join words, with a blank between two words of scripts with blanks."""
    text = ""
    for word in words:
        apart = text and not without_blanks(word[0]) and not without_blanks(text[-1])
        text += (" " if apart else "") + word
    return text


def without_blanks(character: str) -> bool:
    """Return whether a character belongs to a script without blanks between words."""
    return any(first <= ord(character) <= last for first, last in WITHOUT_BLANKS)
