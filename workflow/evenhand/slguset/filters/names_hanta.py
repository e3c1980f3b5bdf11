"""Reject German sentences in which the Hanover Tagger (HanTa) finds a person's name.

A name is a word with the tag NE (proper noun). No names are abbreviations (ORF, GfK) and, by
places.csv,

- a `word` for something else, such as a place or a company, and its genitive;
- a word right `after` a preposition of place (in Gloggnitz) or a kind of place (Provinz Mardin);
- a word right `before` a mark behind the place of a message (Gloggnitz – …).
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from HanTa.HanoverTagger import HanoverTagger

from evenhand.core.resources import read_resource
from evenhand.slguset.filters.names_listed import REASONS as REASONS
from evenhand.slguset.verdicts import Finding, Judge

FILES = ("places.csv",)
COLUMNS = ("sentence",)

#: The kinds of rows of places.csv.
KINDS = ("word", "after", "before")

#: The parts of an account: @MartinSchulz.
_CAMEL = re.compile(r"[^\W\d_][a-zß-ÿ]*")

_ABBREVIATION = re.compile(r".+[\dA-ZÀ-Þ].*|.")


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    rows = read_resource(files["places.csv"], ["kind", "word"], choices={"kind": KINDS})
    known = {kind: {row["word"] for row in rows if row["kind"] == kind} for kind in KINDS}
    tagger, cut = HanoverTagger("morphmodel_ger.pgz"), settings["cut"]

    def check(sentence: str) -> Finding | None:
        words = [part for word in cut(sentence) for part in _parts(word)]
        around = zip(["", *words], tagger.tag_sent(words), [*words[1:], ""], strict=False)
        names = [
            word
            for before, (word, _, tag), after in around
            if tag == "NE"
            and not _ABBREVIATION.fullmatch(word)
            and not {word, word.removesuffix("s")} & known["word"]
            and before.lower() not in known["after"]
            and after not in known["before"]
        ]
        return Finding("name", names) if names else None

    return partial(map, check)


def _parts(word: str) -> list[str]:
    """Return the words in a word with hyphens, or in the name of an account."""
    parts = _CAMEL.findall(word) if word.startswith("@") else word.split("-")
    return [part for part in parts if part.strip()]
