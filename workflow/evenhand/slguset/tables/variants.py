"""Per model and way to read a word of several tokens (`evenhand.slguset.masked_bias`).

Over all words and over words of several tokens: n, mean bias with a 95 % interval, degrees, and
how many of the n have another sign than with the whole word.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.slguset.bias_tables import VARIANTS, Scored
from evenhand.slguset.tables.models import degrees

HEADER = [
    "model",
    "variant",
    "words",
    "n",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
    "male_degree",
    "female_degree",
    "mean_degree",
    "sign_changed",
]

#: All words, and those of several tokens.
ALL, SEVERAL = "all", "several_tokens"


def rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    for name in scored.gates:
        yield from _rows_of(scored, name)


def _rows_of(scored: Scored, name: str) -> Iterator[dict[str, Any]]:
    """The variants that the model has; a causal one has the whole word only."""
    scores, whole = scored.scores[name], scored.bias(name)
    surface_pair = scored.sentences["surface_pair"].to_numpy()
    several = (scores[["n_masks", "n_masks_opposite"]] > 1).any(axis=1).to_numpy()
    for column, variant in VARIANTS.items():
        bias = scores[column].to_numpy(dtype=float)
        if not np.isfinite(bias).any():
            continue
        for words, rows in ((ALL, np.isfinite(bias)), (SEVERAL, several)):
            rows = rows & np.isfinite(bias)
            values = bias[rows]
            low, high = interval_of_mean(values, surface_pair[rows], **scored.settings.draw)
            yield {
                "model": name,
                "variant": variant,
                "words": words,
                "n": len(values),
                **degrees(values),
                "mean_bias_low": low,
                "mean_bias_high": high,
                "sign_changed": int((np.sign(values) != np.sign(whole[rows])).sum()),
            }
