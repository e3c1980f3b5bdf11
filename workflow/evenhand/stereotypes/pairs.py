"""Sentence pairs: the common format of all sets, and its columns.

A pair is two sentences that make the same statement about two groups. `more` is the stereotypical
one according to the set (in SlguSet: the male one), `less` its counterpart. StereoSet adds a third
sentence on an unrelated topic, `unrelated`.

Each format of a set has a module of `evenhand.stereotypes.sets` with the functions

- ``form(part)``: the properties of the set, as a `Form`;
- ``read(file, part)``: its pairs as rows of `PAIRS`, made by `pair_row`, in the order of the
  source. `evenhand.stereotypes.read_pairs` adds `flags` and `excluded`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from evenhand.core.phrases import phrases_of
from evenhand.io.tables import schema_of
from evenhand.tabular.words import open_words
from evenhand.text.catalogue import read_catalogue

#: One row per pair, in the order of the source.
PAIRS = schema_of(
    pair_id="string",  # unique in the set
    bias_type="string",  # race-color, profession, ...; SlguSet: the surface pair
    direction="string",  # CrowS-Pairs: stereo or antistereo; else null
    cluster="string",  # CrowS-Pairs, SlguSet: the swapped words; StereoSet: the target
    context="string",  # text before either sentence, which is not scored, or null
    more="string",
    less="string",
    unrelated="string",  # or null
    disadvantaged="string",  # the side about the disadvantaged group, or null
    annotators="int32",  # number of annotators of the pair, or null
    agreement="int32",  # of these, those who named the pair's bias type
    agreement_any="int32",  # of these, those who named any bias
    flags=pa.list_(pa.string()),  # data-quality flags, of `FLAGS`; sorted
    excluded="string",  # why the pair cannot be scored at all, of `EXCLUSIONS`
    source_position="int64",  # record of the source, from 1
)

#: The sides of a pair, which name columns of `PAIRS` and rows of the scores.
SIDES = ("more", "less", "unrelated")

#: Data-quality flags. A flagged pair is scored, and left out of the subset `clean`.
FLAGS = phrases_of(__file__)["flags"]

#: The flags that a note on an audit names.
NOTED = ("misplaced", "reversed_pair", "repeated_pair", "lower_case", "unlike")

_say = read_catalogue(__file__)

#: Why a pair is not scored.
EXCLUSIONS = phrases_of(__file__)["exclusions"]


@dataclass(frozen=True)
class Form:
    """The properties of a set.

    Attributes
    ----------
    title : str
        The set's name in the report.
    more_means, less_means : str
        Descriptions of the two sides of a pair.
    flags : tuple of str
        The flags of `FLAGS` that apply to the set.
    """

    title: str
    more_means: str
    less_means: str
    flags: tuple[str, ...]


def sentences_of(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return a key that rows with the same pair share: context, and both sentences."""
    return (row["context"] or "", *sorted((row["more"], row["less"])))


def flag_notes(description: Mapping[str, Any]) -> list[str]:
    """Return a sentence on each flag of `NOTED` that pairs of a described set have.

    Also on a file that may be cut off.
    """
    flags = description.get("flags", {})
    first = {"misplaced": description.get("first_misplaced")}
    sentences = [
        _say("flagged", flags[flag], description["pairs"], FLAGS[flag], first.get(flag))
        for flag in NOTED
        if flags.get(flag)
    ]
    return sentences + [open_words()] * description.get("is_open", False)


def pair_row(**columns: Any) -> dict[str, Any]:
    """Return a row of `PAIRS` with these columns, no flags, and null in all others."""
    row = dict.fromkeys(PAIRS.names) | {"flags": []} | columns
    if row.keys() != set(PAIRS.names):
        raise ValueError(f"{sorted(row.keys() - set(PAIRS.names))} are no columns of a pair")
    return row
