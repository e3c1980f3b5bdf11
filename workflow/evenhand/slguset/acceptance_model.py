"""A logistic regression for the probability that a sentence is as natural with the counterpart.

Its features are what a sentence shows of it: words, tags and names. No feature tells the length,
the punctuation or the end of a sentence, and none is made of words that made a filter reject it:
with those a model would learn the filter, which the sentences to judge have passed. Each feature is
a text that people can read, since it is shown as a reason.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

#: In place of the words that a filter gave as its evidence.
HIDDEN = "◇"

#: Characters of words for people that tell their gender, beside those of the keywords.
_GENDERED = frozenset(
    "娘婆妇嫂姨妻夫郎叔伯兄姐妹弟哥嫁娶妃后帝王僧尼姑舅爹娃婿媳妞仔汉绅爵士胎孕乳须"
)

#: Words around the keyword, and characters on either side of it, that are features.
WORDS, CHARACTERS = 2, 3

#: Odds of a language model, of which all that are reached are features.
ODDS = (2, 10, 100, 1000)

#: Lines of a file that are taken for one document.
LINES = 20


def features(
    rows: Sequence[Mapping[str, Any]], cut: Callable[[str], list[str]], *, chinese: bool = True
) -> list[list[str]]:
    """Return the features of each sentence.

    Parameters
    ----------
    rows : sequence of mapping
        sentence, surface, surface_opposite, surface_start, surface_end, and optionally: hidden
        (words that no feature shows: the evidence of filters that reject it), names (those in other
        sentences of the same document), and odds (how many times as likely as its counterpart a
        language model finds the keyword).
    cut : callable
        Cuts a sentence into words.
    chinese : bool
        Whether they have jieba's tags and names.
    """
    texts = [_veil(row) for row in rows]
    spans = [[]] * len(texts)
    if chinese:
        from evenhand.text.posseg import find_names

        spans = [[(name.start, name.end) for name in names] for names in find_names(texts)]
    return [
        _features(row, veiled, names, cut, chinese)
        for row, veiled, names in zip(rows, texts, spans, strict=True)
    ]


def _features(
    row: Mapping[str, Any],
    veiled: str,
    spans: Sequence[tuple[int, int]],
    cut: Callable[[str], list[str]],
    chinese: bool,
) -> list[str]:
    start, end, surface = row["surface_start"], row["surface_end"], row["surface"]
    made = [f"keyword {surface}"]
    # a kind of comma or of digit would give the source away
    plain = "".join(map(_plain, veiled))
    before, after = "^" + plain[max(0, start - CHARACTERS) : start], plain[end : end + CHARACTERS]
    after += "$"
    for length in range(1, CHARACTERS + 1):
        made += [f"before {before[-length:]}", f"after {after[:length]}"]
    made.append(f"around {before[-1]}{surface}{after[0]}")
    words, left, right = [], [], []
    place = 0
    for word in cut(veiled):
        begin, place = place, place + len(word)
        if not any(map(str.isalpha, word)) or HIDDEN in word:
            continue
        words.append(word)
        if chinese and begin <= start < place and word != surface:
            swapped = word.replace(surface, row["surface_opposite"], 1)
            frequency = _frequency(word, swapped)
            made += [f"within {word}", f"counterpart of the whole word {frequency}"]
        if place <= start:
            left.append(word)
        elif begin >= end:
            right.append(word)
    made += [f"word {word}" for word in words]
    near = [*(("left", w) for w in left[-WORDS:]), *(("right", w) for w in right[:WORDS])]
    made += [f"{side} {word}" for side, word in near]
    if chinese:
        from evenhand.text.posseg import dictionary_tags

        tags = dictionary_tags()
        made += [f"{side} tag {tags.get(word, 'x')}" for side, word in near]
        made += _names(veiled, spans, start, end)
    made += [f"gendered {c}" for c in veiled[:start] + veiled[end:] if c in _GENDERED]
    if not any(map(str.isalnum, veiled[:start])):
        made.append("opens the sentence")
    if any(name in veiled for name in row.get("names", ())):
        made.append("a name of the same document")
    if (odds := row.get("odds")) is not None:
        made += [f"a model finds the keyword {n} times as likely" for n in ODDS if odds >= n]
        made += [
            f"a model finds the counterpart {n} times as likely" for n in ODDS if odds * n <= 1
        ]
    return [feature for feature in dict.fromkeys(made) if HIDDEN not in feature]


def names_by_document(
    rows: Iterable[Mapping[str, Any]], plain: Callable[[str], str] = str
) -> dict[Any, dict[str, str]]:
    """Return the names that filters found, by document, each with a sentence that has it.

    `plain` makes the form of a text in which names are compared.
    """
    names_of: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if "name" in " ".join(row["reasons"]) and row["evidence"]:
            for name in plain(row["evidence"]).split("、"):
                for part in (name, name[1:]) if len(name) == 3 else (name,):
                    if len(part) > 1:
                        names_of[document(row)].setdefault(part, row["sentence_id"])
    return names_of


def document(row: Mapping[str, Any]) -> tuple[str, int]:
    """Return the document of a sentence: some lines, or records, of a file."""
    return row["source"], row["source_position"] // LINES


def _plain(character: str) -> str:
    """Return a letter or `HIDDEN` unchanged, and one sign for all marks, one for all digits."""
    if character.isalpha() or character == HIDDEN:
        return character
    return "0" if character.isalnum() else "|"


def _veil(row: Mapping[str, Any]) -> str:
    """Return the sentence with its hidden words replaced, but for its keyword."""
    sentence, start, end = row["sentence"], row["surface_start"], row["surface_end"]
    veiled = sentence
    for word in row.get("hidden", ()):
        veiled = veiled.replace(word, HIDDEN * len(word))
    return veiled[:start] + sentence[start:end] + veiled[end:]


def _names(sentence: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> list[str]:
    """Return how long the names are that jieba finds, and whether one is near the keyword."""
    spans = [(a, b) for a, b in spans if (b <= start or end <= a) and HIDDEN not in sentence[a:b]]
    gaps = [start - b if b <= start else a - end for a, b in spans]
    beside = ["jieba sees a name beside the keyword"] if min(gaps, default=9) < 3 else []
    return [f"jieba sees a name of {b - a}" for a, b in spans] + beside


def _frequency(word: str, swapped: str) -> str:
    """Return how frequent a word is beside another one, by jieba's dictionary."""
    from evenhand.text.posseg import dictionary_frequencies

    known = dictionary_frequencies()
    if swapped not in known:
        return "unknown" if word in known else "as unknown"
    return "rare" if known[swapped] * 10 < known.get(word, 0) else "known"


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
