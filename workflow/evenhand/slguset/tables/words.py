"""The subject words of the sentences with obvious bias, by TF-IDF and by TextRank.

All sentences of one model and direction together are one text, as in the authors' study. Words
and their tags are those of jieba.posseg (`evenhand.text.posseg` gives the same ones), weights
are those of jieba.analyse, by its own code:

- TF-IDF: the frequency of a word in the text, times its inverse document frequency in jieba's
  table (a word that is not in it has the median);
- TextRank: the centrality of a word in the graph that links words near each other (a span of
  five). Sources: Mihalcea and Tarau (2004); jieba/analyse/textrank.py.

The gender word itself is first removed from each sentence, with the whole surface word, so that
it cannot rank: 男教师 leaves 教师. No link crosses the border of a sentence or the gap. A table
of stop words removes words without a subject (没有, 可以). We compiled it from the most frequent
nouns and verbs of the authors' file.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from evenhand.core.resources import read_resource
from evenhand.core.tables import NotApplicable, Row, Table, integer, number, text
from evenhand.slguset.bias_tables import Scored
from evenhand.text.posseg import tag_words

TABLE = Table(
    "words",
    title="Subject words of the sentences with obvious bias",
    key=("model", "direction", "method", "rank"),
    columns=(
        text("model"),
        text("direction", "male: bias > threshold; female: bias < -threshold"),
        integer("sentences", "Sentences of this direction"),
        text("method", "tf_idf or textrank"),
        integer("rank"),
        text("word"),
        number("weight", "Comparable within one list only"),
        integer("count", "Occurrences in these sentences"),
        integer("count_opposite", "Occurrences in those of the other direction"),
    ),
)

METHODS = ("tf_idf", "textrank")

#: The parts of speech that jieba's TextRank ranks by default: places, nouns, verbal nouns, verbs.
PARTS_OF_SPEECH = ("ns", "n", "vn", "v")


class Word(NamedTuple):
    """A word and its tag, as jieba.posseg gives them."""

    word: str
    flag: str


#: Stands between sentences, and where a keyword was: as wide as TextRank's span.
GAP = [Word("\n", "x")] * 5


def rows(scored: Scored) -> Iterator[Row]:
    """Yield up to `top` words per trusted model, direction and method; ties by word."""
    scored.check_genders()
    if scored.settings.stop_words is None:
        raise NotApplicable("the pack has no stop_words.csv; words are tagged for Chinese only")
    stopped = {row["word"] for row in read_resource(scored.settings.stop_words, ["word"])}
    obvious = {name: _obvious(scored, name) for name in scored.trusted()}
    words = _words([row for chosen in obvious.values() for some in chosen.values() for row in some])
    for name, chosen in obvious.items():
        texts = {
            direction: [word for row in sentences for word in words[row]]
            for direction, sentences in chosen.items()
        }
        counts = {side: Counter(word.word for word in text) for side, text in texts.items()}
        for direction, opposite in (("male", "female"), ("female", "male")):
            for method in METHODS:
                ranked = rank_words(texts[direction], method, PARTS_OF_SPEECH, stopped)
                for rank, (word, weight) in enumerate(ranked[: scored.settings.top], start=1):
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


def _obvious(scored: Scored, name: str) -> dict[str, list[tuple[str, int, int]]]:
    """The sentences of obvious bias by direction, each with its surface's start and end."""
    bias, threshold = scored.bias(name), scored.settings.threshold
    columns = scored.sentences[["sentence", "surface_start", "surface_end"]]
    return {
        direction: list(columns[beyond].itertuples(index=False, name=None))
        for direction, beyond in (("male", bias > threshold), ("female", bias < -threshold))
    }


def _words(rows: Iterable[tuple[str, int, int]]) -> dict[tuple[str, int, int], list[Word]]:
    """The words of each sentence without the gender word."""
    rows = list(dict.fromkeys(rows))
    parts = [part for text, start, end in rows for part in (text[:start], text[end:])]
    tagged = [[Word(*pair) for pair in part] for part in tag_words(parts)]
    return {
        row: [*before, *GAP, *after, *GAP]
        for row, before, after in zip(rows, tagged[::2], tagged[1::2], strict=True)
    }


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
    weighted = ranker.extract_tags(words, **allowed)
    # Last bits of a sum depend on its order, which is not to decide between equal words.
    return sorted(
        ((w, round(value, 12)) for w, value in weighted), key=lambda pair: (-pair[1], pair[0])
    )


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
