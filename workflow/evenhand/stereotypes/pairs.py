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
from evenhand.scoring.methods import METHODS

#: One row per pair, in the order of the source.
PAIRS = pa.schema(
    [
        ("pair_id", pa.string()),  # unique in the set
        ("bias_type", pa.string()),  # race-color, profession, ...; SlguSet: the surface pair
        ("direction", pa.string()),  # CrowS-Pairs: stereo or antistereo; else null
        ("cluster", pa.string()),  # CrowS-Pairs, SlguSet: the swapped words; StereoSet: the target
        ("context", pa.string()),  # text before either sentence, which is not scored, or null
        ("more", pa.string()),
        ("less", pa.string()),
        ("unrelated", pa.string()),  # or null
        ("disadvantaged", pa.string()),  # the side about the disadvantaged group, or null
        ("annotators", pa.int32()),  # number of annotators of the pair, or null
        ("agreement", pa.int32()),  # of these, those who named the pair's bias type
        ("agreement_any", pa.int32()),  # of these, those who named any bias
        ("flags", pa.list_(pa.string())),  # data-quality flags, of `FLAGS`; sorted
        ("excluded", pa.string()),  # why the pair cannot be scored at all, of `EXCLUSIONS`
        ("source_position", pa.int64()),  # record of the source, from 1
    ]
)

#: The sides of a pair, which name columns of `PAIRS` and rows of the scores.
SIDES = ("more", "less", "unrelated")

#: Data-quality flags. A flagged pair is scored, and left out of the subset `clean`.
FLAGS = phrases_of(__file__)["flags"]

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


def pair_row(**columns: Any) -> dict[str, Any]:
    """Return a row of `PAIRS` with these columns, no flags, and null in all others."""
    row = dict.fromkeys(PAIRS.names) | {"flags": []} | columns
    if row.keys() != set(PAIRS.names):
        raise ValueError(f"{sorted(row.keys() - set(PAIRS.names))} are no columns of a pair")
    return row


#: Why a method has no value for any sentence of a model.
NO_VALUE = phrases_of(__file__)["no_value"]

#: One row per pair, side and variant, in the order of the pairs and of `SIDES`.
#: Logarithms are natural. Null: not defined (`sss` of a side without a changed token) or not
#: requested. CPS and SSS compare `more` with `less`: `unrelated` has neither. The shuffled variant
#: exists without masks only, and not for `unrelated`.
SCORES = pa.schema(
    [
        ("pair_id", pa.string()),
        ("side", pa.string()),  # more, less, unrelated
        ("variant", pa.string()),  # original, or shuffled (its words in a random order)
        ("n_tokens", pa.int32()),  # scored tokens: without specials and context
        ("n_unknown", pa.int32()),
        *((name, pa.float64()) for name in METHODS),
        ("n_correct", pa.int32()),  # content tokens that the unmasked (or causal) pass ranks first
        ("n_specials", pa.int32()),
        ("n_specials_correct", pa.int32()),
        ("cps_tokens", pa.int32()),  # tokens masked by CPS; cps_correct: those ranked first
        ("cps_correct", pa.int32()),
        ("sss_tokens", pa.int32()),
        ("sss_correct", pa.int32()),
        ("all_masked_correct", pa.int32()),  # of n_tokens
        ("excluded", pa.string()),  # why the sentence has no score, of `EXCLUDED`; or null
    ]
)

#: The same for models with random weights, one block of rows per seed.
NULL_SCORES = pa.schema([("seed", pa.int32()), *SCORES])

#: The token scores: one row per pair, side, variant and pass, in the order of the scores, for
#: sentences with a score. Its log_p are rounded to float32, the scores are not.
TOKENS = pa.schema(
    [
        ("pair_id", pa.string()),
        ("side", pa.string()),
        ("variant", pa.string()),
        ("pass", pa.string()),  # unmasked, cps, sss, all_masked or causal
        ("token", pa.list_(pa.int32())),  # ids of the scored tokens, in order
        ("place", pa.list_(pa.int32())),  # their positions in the input, including specials
        ("log_p", pa.list_(pa.float32())),  # natural logarithm
        ("first", pa.list_(pa.bool_())),  # whether no other token is likelier
        ("entropy", pa.list_(pa.float32())),  # of the prediction, in nats
        ("alpha", pa.list_(pa.float32())),  # attention to the token; unmasked pass only
    ]
)

#: Why a sentence has no score.
EXCLUDED = phrases_of(__file__)["excluded"]
