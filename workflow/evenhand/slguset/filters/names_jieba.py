"""Reject sentences with personal names, by the tags of jieba.posseg.

A word that jieba.posseg tags nr, nrt or nrfg is a name unless it lies within the keyword.
Without name_stop_words.csv, a table of words that jieba tags wrongly, the names are exactly
those of jieba.posseg; the table raises precision and lowers recall.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import NameRules, judge_names, rules_from
from evenhand.slguset.verdicts import Finding, Judge
from evenhand.text.posseg import find_names

FILES = ("surnames.csv", "titles.csv", "roles.csv", "name_stop_words.csv")
OPTIONAL = ("name_stop_words.csv",)
SETTINGS = ("names",)


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    stop_words = files.get("name_stop_words.csv")
    rules = rules_from(files, settings)
    return make_judge(rules, read_stop_words(stop_words))


def read_stop_words(path: Path | None) -> frozenset[str]:
    """The words of name_stop_words.csv; none without a table."""
    return frozenset(row["word"] for row in read_resource(path, ["word"])) if path else frozenset()


def make_judge(rules: NameRules, stop_words: frozenset[str] = frozenset()) -> Judge:
    """Return the filter: a function of sentences, and starts and ends of their surfaces."""

    def judge(sentences: list[str], starts: list[int], ends: list[int]) -> Iterator[Finding | None]:
        found = find_names(sentences)
        for sentence, start, end, tokens in zip(sentences, starts, ends, found, strict=True):
            names = [(n.start, n.end) for n in tokens if n.word not in stop_words]
            yield judge_names(sentence, (start, end), names, rules)

    return judge
