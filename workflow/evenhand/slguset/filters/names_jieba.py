"""Reject sentences with personal names, by the tags of jieba.posseg.

A word that jieba.posseg tags nr, nrt or nrfg is a name unless it lies within the keyword.
Without tables of words that jieba tags wrongly, the names are exactly those of jieba.posseg; the
tables raise precision and lower recall. name_stop_words.csv was learned from tagged news;
everyday_words.csv has words of the published sentences, and words of jieba's dictionary that do
not have the form of a name. No word in it was marked as a name in the tagged news.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.core.resources import read_resource
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.names import name_filter, read_rules
from evenhand.slguset.verdicts import Judge
from evenhand.text.posseg import find_names

OPTIONAL = ("name_stop_words.csv", "everyday_words.csv")
FILES = ("surnames.csv", "titles.csv", "roles.csv", "name_stop_words.csv", "everyday_words.csv")
SETTINGS = ("names",)


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    tables = [files[name] for name in OPTIONAL if name in files]
    stop_words = {row["word"] for table in tables for row in read_resource(table, ["word"])}

    def spans(sentences: list[str], words: list[list[str]]) -> list[list[tuple[int, int]]]:
        return [
            [(name.start, name.end) for name in names if name.word not in stop_words]
            for names in find_names(sentences, words)
        ]

    return name_filter(spans, read_rules(files, settings))
