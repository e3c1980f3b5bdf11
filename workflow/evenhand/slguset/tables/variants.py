"""The bias per model and way to read a word (`evenhand.slguset.sentence_bias`)."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, text
from evenhand.metrics.inference import sign_flip_interval, total
from evenhand.slguset.bias_tables import VARIANTS, Scored
from evenhand.slguset.tables.models import MEAN_BIAS, degree_columns, degrees

TABLE = Table(
    "variants",
    title="Bias by each way to read a word of several tokens",
    key=("model", "variant", "words"),
    columns=(
        text("model"),
        text("variant", "Of `evenhand.slguset.bias_tables.VARIANTS`"),
        text("words", "all, or several_tokens"),
        integer("n"),
        MEAN_BIAS,
        *degree_columns(),
        integer("sign_changed", "Sentences whose bias has another sign with the whole word"),
    ),
)

#: All words, and those of several tokens.
ALL, SEVERAL = "all", "several_tokens"


def rows(scored: Scored) -> Iterator[Row]:
    """Yield the rows of all models, of all words and of words of several tokens."""
    scored.check_genders()
    for name in scored.gates:
        yield from _rows_of(scored, name)


def _rows_of(scored: Scored, name: str) -> Iterator[Row]:
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
            low, high = sign_flip_interval(total(values, surface_pair[rows]))
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
