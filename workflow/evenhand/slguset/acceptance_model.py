"""A logistic regression for the probability that a sentence is as natural with the counterpart."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

#: Inverse strength of the L2 penalty.
STRENGTH = 0.03

#: A feature counts if so many examples have it.
LEAST = 3

#: The weight of a person's label, beside that of a filter's decision.
LABEL_WEIGHT = 10.0


class Example(NamedTuple):
    """A sentence to learn from; `group` is its source, `weight` relative to others of it."""

    features: list[str]
    good: bool
    group: str
    weight: float = 1.0


class Model:
    """The weights of the features; a feature that is not in `weights` has none."""

    def __init__(self, examples: Sequence[Example]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression

        counter = CountVectorizer(analyzer=list, binary=True, min_df=LEAST, dtype=float)
        matrix = counter.fit_transform([example.features for example in examples])
        regression = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0)
        regression.fit(matrix, [example.good for example in examples], balanced(examples))
        names = counter.get_feature_names_out().tolist()
        self.weights = dict(zip(names, regression.coef_[0].tolist(), strict=True))
        self._intercept = float(regression.intercept_[0])

    def score(self, features: Sequence[str]) -> float:
        """Return the probability that a sentence is good, as if half of all sentences were."""
        logit = self._intercept + sum(self.weights.get(feature, 0.0) for feature in features)
        return 1 / (1 + math.exp(-logit))

    def reasons(self, features: Sequence[str], score: float, count: int = 3) -> list[str]:
        """Return the features that move a sentence most to the side of its score."""
        sign = 1 if score > 0.5 else -1
        weighted = sorted((-sign * self.weights.get(feature, 0.0), feature) for feature in features)
        return [
            f"{feature} ({-sign * weight:+.2f})"
            for weight, feature in weighted[:count]
            if weight < 0
        ]


def balanced(examples: Sequence[Example]) -> "np.ndarray":
    """Return the examples' weights: within each source, as much for good ones as for bad ones.

    So a feature that only tells the source tells nothing of the label. A source with one class
    keeps its weights.
    """
    import numpy as np

    totals: dict[tuple[str, bool], float] = defaultdict(float)
    for example in examples:
        totals[example.group, example.good] += example.weight
    shares = {
        (group, good): max(1.0, totals.get((group, not good), 0.0) / total)
        for (group, good), total in totals.items()
    }
    return np.array([example.weight * shares[example.group, example.good] for example in examples])
