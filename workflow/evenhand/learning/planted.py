"""Planted problems: synthetic texts in which label and attribute each determine some words.

The truth is known: how often label and attribute agree in the training split (`agreement`), that
they are unrelated in the test split, and which words depend on which. The attribute's words are
more reliable than the label's, so that a classifier trained on a spurious correlation uses them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.learning.examples import Examples

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Shares of a text's words that belong to the label and to the attribute.
LABEL_SHARE, ATTRIBUTE_SHARE = 0.25, 0.3

#: Shares of these words that match the case's label and attribute, and not the other value. For the
#: label: by attribute value, of the first and the second half of its words.
LABEL_TRUE, ATTRIBUTE_TRUE = ((0.78, 0.78), (0.78, 0.78)), 0.85

#: Cosine of words of one meaning, in `Planted.word_vectors`.
MEANING = 0.8


@dataclass(frozen=True)
class Planted:
    """Cases with a planted attribute.

    Attributes
    ----------
    examples : Examples
        Two classes; two groups, those of the attribute. Training and development split have the
        planted agreement.
    test : array of int64
        Rows in which label and attribute are unrelated.
    words : array of int64, shape (n, paragraphs, words)
        The numbers of each paragraph's words; 2 n rows `with_counterfactuals`.
    terms, own_terms : int
        Words of the vocabulary. It starts with `own_terms` words of each label, and then of each
        attribute value.
    """

    examples: Examples
    test: np.ndarray
    words: np.ndarray
    terms: int
    own_terms: int

    def with_counterfactuals(self) -> "Planted":
        """Return the cases, followed by those with the words of the other attribute value."""
        terms = np.arange(self.terms)
        # of one value, then of the other
        attribute_terms = slice(2 * self.own_terms, 4 * self.own_terms)
        terms[attribute_terms] = np.roll(terms[attribute_terms], self.own_terms)
        return replace(self, words=np.concatenate([self.words, terms[self.words]]))

    def tfidf(self) -> "csr_matrix":
        """Return the TF-IDF weights of the cases, float32, with rows of length 1."""
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import TfidfTransformer

        n = len(self.words)
        rows = np.repeat(np.arange(n), self.words[0].size)
        ones = np.ones(self.words.size)
        shape = (n, self.terms)
        counts = csr_matrix((ones, (rows, self.words.ravel())), shape=shape)
        weights = TfidfTransformer().fit(counts[self.examples.train]).transform(counts)
        return weights.astype(np.float32)

    def vectors(self, width: int, seed: int) -> np.ndarray:
        """Return paragraph vectors, (n, paragraphs, width): sums over words."""
        table = self.word_vectors(width, seed)
        sums = np.stack([table[case].sum(axis=1) for case in self.words])
        return sums / np.float32(np.sqrt(self.words.shape[2]))

    def word_vectors(self, width: int, seed: int) -> np.ndarray:
        """Return word vectors as of a pretrained encoder, float32, (terms, width).

        They are random, and near those of words of the same label or attribute value.
        """
        generator = np.random.default_rng(seed)
        table = generator.normal(size=(self.terms, width))
        meanings = generator.normal(size=(5, width))
        meanings[4] = 0  # of the other words
        meaning = np.minimum(np.arange(self.terms) // self.own_terms, 4)
        table = MEANING * meanings[meaning] + np.sqrt(1 - MEANING**2) * table
        return table.astype(np.float32)


def plant_cases(
    seed: int,
    agreement: float,
    *,
    sizes: tuple[int, int, int] = (3000, 800, 3000),
    terms: int = 300,
    own_terms: int = 20,
    paragraphs: int = 3,
    words: int = 14,
    label_true: Sequence[Sequence[float]] = LABEL_TRUE,
) -> Planted:
    """Make cases whose attribute agrees with the label by a planted share.

    Parameters
    ----------
    seed : int
        Seed of all random numbers.
    agreement : float
        P(attribute = label) in training and development; 0.5 is no correlation.
    sizes : tuple of int
        Cases of training, development and test.
    terms, own_terms : int
        Words of the vocabulary, and words of each label and each attribute value.
    paragraphs, words : int
        Paragraphs of a case, and words of a paragraph.
    label_true : sequence, shape (2, 2)
        See `LABEL_TRUE`.
    """
    generator = np.random.default_rng(seed)
    n, fitted = sum(sizes), sizes[0] + sizes[1]
    labels = generator.integers(0, 2, n)
    share = np.where(np.arange(n) < fitted, agreement, 0.5)
    attribute = np.where(generator.random(n) < share, labels, 1 - labels)
    shape = (n, paragraphs, words)
    chosen = generator.random(shape)
    # words 0 to 4 own_terms: of label 0, label 1, attribute 0, attribute 1
    term = generator.integers(0, own_terms, shape)
    drawn = generator.integers(4 * own_terms, terms, shape)
    sides = generator.random(shape)
    true_label = np.array(label_true)[attribute[:, None, None], 2 * term // own_terms]
    for first, values, true, low, high in (
        (0, labels, true_label, 0.0, LABEL_SHARE),
        (2, attribute, ATTRIBUTE_TRUE, LABEL_SHARE, LABEL_SHARE + ATTRIBUTE_SHARE),
    ):
        side = np.where(sides < true, values[:, None, None], 1 - values[:, None, None])
        here = (chosen >= low) & (chosen < high)
        drawn[here] = ((first + side) * own_terms + term)[here]
    order = np.arange(n)
    train, dev, test = np.split(order, [sizes[0], fitted])
    examples = Examples(
        ids=[f"case-{row}" for row in order],
        labels=labels,
        classes=2,
        task="multi_class",
        train=train,
        dev=dev,
        groups=attribute,
        group_names=("zero", "one"),
        known_groups=2,
    )
    return Planted(examples, test, drawn, terms, own_terms)
