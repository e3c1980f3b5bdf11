"""Masking a keyword, and exchanging it for its opposite, by offsets."""


def mask(sentence: str, start: int, end: int, token: str = "[MASK]") -> str:
    """The sentence with each character from `start` to `end` (exclusive) replaced by a mask.

    Raises
    ------
    ValueError
        The offsets do not mark at least one character of the sentence.
    """
    _check(sentence, start, end)
    return sentence[:start] + token * (end - start) + sentence[end:]


def swap(sentence: str, start: int, end: int, opposite: str) -> str:
    """The sentence with the characters from `start` to `end` (exclusive) replaced by `opposite`.

    The replaced part of the result ends at ``start + len(opposite)``; swapping it back gives
    the sentence again.

    Raises
    ------
    ValueError
        The offsets do not mark at least one character of the sentence.
    """
    _check(sentence, start, end)
    return sentence[:start] + opposite + sentence[end:]


def _check(sentence: str, start: int, end: int) -> None:
    if not 0 <= start < end <= len(sentence):
        raise ValueError(f"no characters {start} to {end} in a text of {len(sentence)}")
