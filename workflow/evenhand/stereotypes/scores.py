"""Schemas of the sentence scores and of the token scores behind them."""

import pyarrow as pa

from evenhand.core.phrases import phrases_of
from evenhand.io.tables import schema_of
from evenhand.scoring.methods import METHODS

#: Why a method has no value for any sentence of a model.
NO_VALUE = phrases_of(__file__)["no_value"]

#: One row per pair, side and variant, in the order of the pairs and of `SIDES`.
#: Logarithms are natural. Null: not defined (`sss` of a side without a changed token) or not
#: requested. CPS and SSS compare `more` with `less`: `unrelated` has neither. The shuffled variant
#: exists without masks only, and not for `unrelated`.
SCORES = schema_of(
    pair_id="string",
    side="string",  # more, less, unrelated
    variant="string",  # original, or shuffled (its words in a random order)
    n_tokens="int32",  # scored tokens: without specials and context
    n_unknown="int32",
    **dict.fromkeys(METHODS, "float64"),
    n_correct="int32",  # content tokens that the unmasked (or causal) pass ranks first
    n_specials="int32",
    n_specials_correct="int32",
    cps_tokens="int32",  # tokens masked by CPS; cps_correct: those ranked first
    cps_correct="int32",
    sss_tokens="int32",
    sss_correct="int32",
    all_masked_correct="int32",  # of n_tokens
    excluded="string",  # why the sentence has no score, of `EXCLUDED`; or null
)

#: The same for models with random weights, one block of rows per seed.
NULL_SCORES = pa.schema([("seed", pa.int32()), *SCORES])

#: The token scores: one row per pair, side, variant and pass, in the order of the scores, for
#: sentences with a score. Its log_p are rounded to float32, the scores are not.
TOKENS = schema_of(
    pair_id="string",
    side="string",
    variant="string",
    **{"pass": "string"},  # unmasked, cps, sss, all_masked or causal
    token=pa.list_(pa.int32()),  # ids of the scored tokens, in order
    place=pa.list_(pa.int32()),  # their positions in the input, including specials
    log_p=pa.list_(pa.float32()),  # natural logarithm
    first=pa.list_(pa.bool_()),  # whether no other token is likelier
    entropy=pa.list_(pa.float32()),  # of the prediction, in nats
    alpha=pa.list_(pa.float32()),  # attention to the token; unmasked pass only
)

#: Why a sentence has no score.
EXCLUDED = phrases_of(__file__)["excluded"]
