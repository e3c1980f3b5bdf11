"""A linear-chain CRF for the probability that a word is (part of) a personal name.

The sequence is that of jieba's words without the hidden Markov model: names that its
dictionary does not know come out as single characters, names that it knows as one word.
Features of a word: itself and its neighbours, in pairs too, its first and last character,
the dictionary's tags and the lengths of all three, and whether jieba.posseg takes the word and
its neighbours for a name: its hidden Markov model knows names that the training text lacks.
Labels: `B` (a name begins in the word), `I` (one goes on), `O`.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from evenhand.text.posseg import dictionary_tags, find_names
from evenhand.text.segmentation import cut_all

OUTSIDE = "O"


def features(sentences: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Yield the features of each word of each sentence, as crfsuite takes them."""
    texts = ["".join(words) for words in sentences]
    for words, names in zip(sentences, find_names(texts, sentences), strict=True):
        yield _features(words, [(name.start, name.end) for name in names])


def _features(words: Sequence[str], names: Sequence[tuple[int, int]]) -> list[list[str]]:
    tags = dictionary_tags()
    padded = ["^", *words, "$", "$"]
    tag = ["^", *[tags.get(word, "x") for word in words], "$"]
    # the name label of each word by jieba.posseg
    guess = ["", *(labels(words, names) if names else [OUTSIDE] * len(words)), ""]
    return [
        [
            f"0{word}",
            f"-{before}",
            f"+{after}",
            f"2{padded[i + 3]}",
            f"a{before[-1]}|{word}",
            f"b{word}|{after}",
            f"t{tag[i]} {tag[i + 1]} {tag[i + 2]}",
            f"u{len(word)}{tag[i + 1]}",
            f"f{word[0]}",
            f"e{word[-1]}",
            f"l{min(len(before), 3)}{min(len(word), 4)}{min(len(after), 3)}",
            f"g{guess[i + 1]}{tag[i + 1]}{min(len(word), 4)}",
            f"h{guess[i]}{guess[i + 1]}{guess[i + 2]}",
            f"i{guess[i + 1]}{before}",
            f"j{guess[i + 1]}{after}",
            f"k{guess[i + 1]}{word[0]}",
        ]
        for i, (before, word, after) in enumerate(zip(padded, words, padded[2:], strict=False))
    ]


def labels(words: Sequence[str], names: Sequence[tuple[int, int]]) -> list[str]:
    """Return the labels of words, where their text has names at the spans `names`."""
    tags = []
    for word, end in zip(words, accumulate(map(len, words)), strict=True):
        begin = end - len(word)
        name = next((start for start, stop in names if start < end and stop > begin), None)
        tags.append(OUTSIDE if name is None else "B" if begin <= name else "I")
    return tags


class NameModel:
    """A trained model, opened for reading."""

    def __init__(self, path: Path) -> None:
        import pycrfsuite

        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(path))

    def words(self, sentences: Sequence[str]) -> Iterator[list[tuple[int, int, float]]]:
        """Yield start, end and P(part of a name) of each word of each sentence."""
        words_of = cut_all(sentences)
        for words, word_features in zip(words_of, features(words_of), strict=True):
            if words:
                self._tagger.set(word_features)
            ends = [*accumulate(map(len, words))]
            yield [
                (end - len(word), end, 1.0 - self._tagger.marginal(OUTSIDE, i))
                for i, (word, end) in enumerate(zip(words, ends, strict=True))
            ]

    def find_names(
        self, sentences: Sequence[str], threshold: float
    ) -> Iterator[list[tuple[int, int]]]:
        """Yield the spans of names: the longest rows of words with P > `threshold`."""
        for words in self.words(sentences):
            spans: list[tuple[int, int]] = []
            for start, end, probability in words:
                if probability > threshold:
                    if spans and spans[-1][1] == start:
                        start, _ = spans.pop()
                    spans.append((start, end))
            yield spans
