"""Sentence pairs: the one form that every set is brought to, and what its columns mean.

A pair is two sentences that say the same of two groups. `more` is the one that the set calls
stereotypical (in SlguSet: the male one), `less` its counterpart. StereoSet adds a third
sentence that has nothing to do with the matter, `unrelated`.

A set's form is known to one module of `evenhand.stereotypes.sets`, which has the functions

- ``form(part)``: what the set is, as a `Form`;
- ``read(file, part)``: its pairs as rows of `PAIRS`, made by `pair_row`, in the order of the
  source. `evenhand.stereotypes.read_pairs` adds `flags` and `excluded`.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

#: One row per pair, in the order of the source.
PAIRS = pa.schema(
    [
        ("pair_id", pa.string()),  # unique in the set
        ("bias_type", pa.string()),  # race-color, profession, ...; SlguSet: the surface pair
        ("direction", pa.string()),  # CrowS-Pairs: stereo or antistereo; else null
        ("cluster", pa.string()),  # CrowS-Pairs, SlguSet: the swapped words; StereoSet: the target
        ("context", pa.string()),  # text before either sentence, given and not scored, or null
        ("more", pa.string()),
        ("less", pa.string()),
        ("unrelated", pa.string()),  # or null
        ("disadvantaged", pa.string()),  # the side that is about the disadvantaged group, or null
        ("annotators", pa.int32()),  # people who rated the pair, or null
        ("agreement", pa.int32()),  # of these, who named the pair's own bias type
        ("agreement_any", pa.int32()),  # of these, who saw any bias at all
        ("flags", pa.list_(pa.string())),  # doubts about the data, of `FLAGS`; sorted
        ("excluded", pa.string()),  # why the pair cannot be scored at all, of `EXCLUSIONS`
        ("source_position", pa.int64()),  # record of the source, from 1
    ]
)

#: The sides of a pair, which name columns of `PAIRS` and rows of the scores.
SIDES = ("more", "less", "unrelated")

#: Doubts about a pair; it is scored, and left out of the subset `clean`.
FLAGS = {
    "unequal_length": "the two sentences have different numbers of words",
    "several_edits": "the sentences differ in more than one place",
    "insertion_only": "no word is replaced by another: words are added or removed, or are the same",
    "repeated_swap": "more than 20 pairs of the set swap the same words",
    "low_agreement": "fewer than 3 annotators named the pair's bias type",
    "duplicate": "a sentence of the pair occurs in another pair too",
}

#: Why a pair is not scored.
EXCLUSIONS = {
    "empty": "a sentence is empty",
    "identical": "both sentences are the same",
}


@dataclass(frozen=True)
class Form:
    """What a set is.

    Attributes
    ----------
    title : str
        What the page calls it.
    more_means, less_means : str
        What the two sides of a pair are.
    flags : tuple of str
        Those of `FLAGS` that make sense for it.
    """

    title: str
    more_means: str
    less_means: str
    flags: tuple[str, ...]


def pair_row(**columns: Any) -> dict[str, Any]:
    """A row of `PAIRS` with these columns, no flags, and null in all others."""
    row = dict.fromkeys(PAIRS.names) | {"flags": []} | columns
    if row.keys() != set(PAIRS.names):
        raise ValueError(f"{sorted(row.keys() - set(PAIRS.names))} are no columns of a pair")
    return row
