"""What the obviously biased sentences are about: subject words by TF-IDF and by TextRank.

All sentences of one model and direction together are one text, as in the authors' study. Words
and their tags are those of jieba.posseg (`evenhand.text.posseg` gives the same ones), weights
are those of jieba.analyse, by its own code:

- TF-IDF: how often a word stands in the text, times its inverse document frequency in jieba's
  table (a word that is not in it has the median);
- TextRank: how central a word is where words that stand near each other (a span of five) are
  linked. Sources: Mihalcea and Tarau (2004); jieba/analyse/textrank.py.

The gender word itself is taken out of each sentence before, with the whole surface word, so
that it cannot win: 男教师 leaves 教师. No link reaches from one sentence into the next, or over
the gap. Words that say nothing of a subject (没有, 可以) are left out by a table; ours was drawn
up for this, by reading the most frequent nouns and verbs of the authors' file.
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.slguset.bias_tables import read_models
from evenhand.text.posseg import tag_words

#: What is read of a dataset beside sentence_id.
DATASET = ["sentence", "surface_start", "surface_end"]

HEADER = [
    "model",
    "direction",
    "sentences",
    "method",
    "rank",
    "word",
    "weight",
    "count",
    "count_opposite",
]

METHODS = ("tf_idf", "textrank")

#: The parts of speech that jieba's TextRank ranks by default: places, nouns, verbal nouns, verbs.
PARTS_OF_SPEECH = ("ns", "n", "vn", "v")


class Word(NamedTuple):
    """A word and its tag, as jieba.posseg gives them."""

    word: str
    flag: str


#: Stands between sentences, and where a keyword was: as wide as TextRank's span.
GAP = [Word("\n", "x")] * 5


def describe_words(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    stop_words: Input,
    out: Output,
    threshold: float = 0.3,
    top: int = 20,
    parts_of_speech: list[str] | None = None,
) -> dict[str, Any]:
    """Rank the subject words of the sentences with obvious bias, for each model and direction.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias, gates : list of path
        A bias table per model, as `evenhand.slguset.score_bias` writes it, and its gate, in the
        same order. A model that is not trusted is left out.
    stop_words : path
        CSV of words that are not ranked (word, note).
    out : path
        CSV, per model, direction (male: bias > threshold, female: < -threshold), method (tf_idf,
        textrank) and rank: word, weight (comparable within one list only), count (how often it
        stands in these sentences), count_opposite (in those of the other direction), and
        sentences (how many there are). Ties by word.
    threshold : float
        |bias| above this is obvious bias, in the log base of the bias tables.
    top : int
        Words per list, at least 1.
    parts_of_speech : list of str, optional
        jieba's tags of the words that are ranked, by both methods; by default those of
        jieba's TextRank. Words have at least two characters.
    """
    if top < 1:
        raise InputError(f"top is {top}", remedy="give at least 1")
    stopped = {row["word"] for row in read_resource(stop_words, ["word"])}
    allowed = tuple(PARTS_OF_SPEECH if parts_of_speech is None else parts_of_speech)
    if not allowed:
        raise InputError("no part of speech is allowed", remedy="name one, such as n")
    sentences, read, scores = read_models(dataset, DATASET, bias, gates)
    trusted = [name for name, gate in read.items() if gate["trusted"]]
    tagged: dict[int, list[Word]] = {}

    def words_of(row: int) -> list[Word]:
        if row not in tagged:
            text, start, end = (sentences[column].iat[row] for column in DATASET)
            tagged[row] = [*_tag(text[:start]), *GAP, *_tag(text[end:]), *GAP]
        return tagged[row]

    def rows() -> Iterator[dict[str, Any]]:
        for name in trusted:
            values = scores[name]["bias"].to_numpy(dtype=float)
            chosen = {
                "male": [int(i) for i in (values > threshold).nonzero()[0]],
                "female": [int(i) for i in (values < -threshold).nonzero()[0]],
            }
            texts = {
                direction: [word for row in found for word in words_of(row)]
                for direction, found in chosen.items()
            }
            counts = {side: Counter(one.word for one in text) for side, text in texts.items()}
            for direction, opposite in (("male", "female"), ("female", "male")):
                for method in METHODS:
                    ranked = rank_words(texts[direction], method, allowed, stopped)[:top]
                    for rank, (word, weight) in enumerate(ranked, start=1):
                        yield {
                            "model": name,
                            "direction": direction,
                            "sentences": len(chosen[direction]),
                            "method": method,
                            "rank": rank,
                            "word": word,
                            "weight": weight,
                            "count": counts[direction][word],
                            "count_opposite": counts[opposite][word],
                        }

    written = write_rows(out, HEADER, rows())
    return {"models": len(trusted), "not_trusted": len(read) - len(trusted), "words": written}


def rank_words(
    words: Sequence[Word], method: str, parts_of_speech: Sequence[str], stop_words: set[str]
) -> list[tuple[str, float]]:
    """The words of a text by jieba's weight.

    Parameters
    ----------
    words : sequence of Word
        The text, in order.
    method : str
        ``tf_idf`` or ``textrank``.
    parts_of_speech : sequence of str
        The tags of the words that count.
    stop_words : set of str
        Words that do not.

    Returns
    -------
    list of (str, float)
        Each word once, by falling weight; equal weights by word.
    """
    ranker = _rankers()[method]
    ranker.stop_words = ranker.STOP_WORDS | stop_words
    allowed = {"allowPOS": tuple(parts_of_speech), "withWeight": True, "topK": None}
    if not any(word.flag in parts_of_speech for word in words):
        return []
    found = ranker.extract_tags(words, **allowed)
    # Last bits of a sum depend on its order, which is not to decide between equal words.
    return sorted(((w, round(value, 12)) for w, value in found), key=lambda one: (-one[1], one[0]))


class _AsTagged:
    """A tokenizer for jieba.analyse, whose texts are words already."""

    @staticmethod
    def cut(words: Sequence[Word]) -> Sequence[Word]:
        return words


@cache
def _rankers() -> dict[str, Any]:
    """The two ranking objects of jieba without its tokenizers, which would parse a dictionary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba leaves files open, and has odd escapes
        import jieba.analyse

        rankers = {"tf_idf": jieba.analyse.TFIDF(), "textrank": jieba.analyse.TextRank()}
    for ranker in rankers.values():
        ranker.tokenizer = ranker.postokenizer = _AsTagged
    return rankers


def _tag(text: str) -> list[Word]:
    return [Word(*pair) for pair in tag_words(text)]


if __name__ == "__main__":
    stage.run(describe_words)
