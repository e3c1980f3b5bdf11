"""A linear-chain CRF for the probability that a word is (part of) a personal name.

The sequence is that of jieba's words without the hidden Markov model: names that its
dictionary does not know come out as single characters, names that it knows as one word.
Features of a word: itself and its neighbours, in pairs too, its first and last character,
the dictionary's tags and the lengths of all three, and whether jieba.posseg takes the word and
its neighbours for a name: its hidden Markov model knows names that the training text lacks.
Labels: `B` (a name begins in the word), `I` (one goes on), `O`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import InputError
from evenhand.text.posseg import dictionary_tags, find_names
from evenhand.text.segmentation import cut

OUTSIDE = "O"


class NameSpan(NamedTuple):
    """Words in a row that are a name; `probability` is that of the most certain one."""

    start: int
    end: int
    probability: float


def features(sentences: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Yield the features of each word of each sentence, as crfsuite takes them."""
    found = find_names(["".join(words) for words in sentences])
    for words, names in zip(sentences, found, strict=True):
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
    """The labels of words, where their text has names at the spans `names`."""
    out = []
    at = 0
    for word in words:
        end = at + len(word)
        label = OUTSIDE
        for start, stop in names:
            if start < end and stop > at:
                label = "B" if at <= start else "I"
                break
        out.append(label)
        at = end
    return out


class NameModel:
    """A trained model, opened for reading.

    Raises
    ------
    InputError
        The file is no model of crfsuite with our labels.
    """

    def __init__(self, path: Path) -> None:
        import pycrfsuite

        self._tagger = pycrfsuite.Tagger()
        try:
            self._tagger.open(str(path))
        except (OSError, ValueError) as error:
            raise InputError("is no model of crfsuite", file=path) from error
        if OUTSIDE not in self._tagger.labels():
            raise InputError(f"is no model of names: it lacks the label {OUTSIDE}", file=path)

    def probabilities(self, sentences: Sequence[Sequence[str]]) -> Iterator[list[float]]:
        """Yield P(the word is part of a name) for each word of each sentence."""
        marginal = self._tagger.marginal
        for words, known in zip(sentences, features(sentences), strict=True):
            if words:
                self._tagger.set(known)
            yield [1.0 - marginal(OUTSIDE, i) for i in range(len(words))]

    def find_names(self, sentences: Sequence[str], threshold: float) -> Iterator[list[NameSpan]]:
        """Yield the names of each sentence: the longest rows of words with P > `threshold`."""
        cut_up = [cut(sentence) for sentence in sentences]
        for words, probabilities in zip(cut_up, self.probabilities(cut_up), strict=True):
            spans: list[NameSpan] = []
            at = 0
            for word, probability in zip(words, probabilities, strict=True):
                end = at + len(word)
                if probability > threshold:
                    if spans and spans[-1].end == at:
                        start, _, highest = spans.pop()
                        spans.append(NameSpan(start, end, max(highest, probability)))
                    else:
                        spans.append(NameSpan(at, end, probability))
                at = end
            yield spans

    def name_probabilities(
        self, sentences: Sequence[str], exempt: Sequence[tuple[int, int]]
    ) -> Iterator[float]:
        """Yield the highest P of a word that does not lie within the exempt span, by sentence."""
        cut_up = [cut(sentence) for sentence in sentences]
        for words, probabilities, (first, last) in zip(
            cut_up, self.probabilities(cut_up), exempt, strict=True
        ):
            highest = 0.0
            at = 0
            for word, probability in zip(words, probabilities, strict=True):
                end = at + len(word)
                if probability > highest and not (first <= at and end <= last):
                    highest = probability
                at = end
            yield highest


def read_threshold(report: Path) -> float:
    """The threshold that `train_names_crf` chose, from its crf.json."""
    try:
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return float(document["threshold"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "is no report of train_names_crf", file=report, remedy="train the model again"
        ) from error
