"""Reject sentences with personal names, by the tags of jieba.posseg.

A word that jieba.posseg tags nr, nrt or nrfg is a name unless it lies within the keyword.
Without further tables the names are exactly those of jieba.posseg; the tables raise precision and
lower recall. The words of name_stop_words.csv, learned from tagged news, and of everyday_words.csv
are no names; the latter has words of the published sentences, and words of jieba's dictionary that
do not have the form of a name. No word in it was marked as a name in the tagged news. With
name_weights.csv, form and context must make a name likely (`evenhand.slguset.name_weights`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.slguset.name_weights import read_weights
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import name_filter, read_rules, read_surnames
from evenhand.slguset.verdicts import Judge
from evenhand.text.posseg import find_names

OPTIONAL = ("name_stop_words.csv", "everyday_words.csv", "name_weights.csv")
FILES = (
    "surnames.csv",
    "titles.csv",
    "roles.csv",
    "name_stop_words.csv",
    "everyday_words.csv",
    "name_weights.csv",
)
SETTINGS = ("names",)

#: Tables of words that are no names.
WORD_LISTS = ("name_stop_words.csv", "everyday_words.csv")


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    return name_filter(name_spans(files), read_rules(files, settings))


def name_spans(
    files: Mapping[str, Path],
) -> Callable[[list[str], list[list[str]]], list[list[tuple[int, int]]]]:
    """Return a function that finds the names of sentences, given their words."""
    tables = [files[name] for name in WORD_LISTS if name in files]
    stop_words = {row["word"] for table in tables for row in read_resource(table, ["word"])}
    weights = None
    if table := files.get("name_weights.csv"):
        weights = read_weights(table, read_surnames(files["surnames.csv"]))

    def spans(sentences: list[str], words: list[list[str]]) -> list[list[tuple[int, int]]]:
        sentence_spans = []
        for some, names in zip(words, find_names(sentences, words), strict=True):
            names = [name for name in names if name.word not in stop_words]
            if weights is not None:
                names = [name for name in names if weights.is_name(some, name)]
            sentence_spans.append([(name.start, name.end) for name in names])
        return sentence_spans

    return spans
