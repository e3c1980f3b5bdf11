"""Chinese words: jieba's segmentation without the hidden Markov model."""

from collections.abc import Callable

from evenhand.text.segmentation import cut


def segmenter(language: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a sentence into words, which joined are the sentence."""
    return cut
