"""The bias per model and way to read a word (`evenhand.slguset.sentence_bias`)."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, text
from evenhand.slguset.bias_tables import VARIANTS, Scored
from evenhand.slguset.tables.models import MEAN_BIAS, degree_columns, degrees_with_interval

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


def rows(scored: Scored) -> Iterator[Row]:
    """Yield the rows of each model's variants, of all words and of words of several tokens."""
    scored.check_genders()
    clusters = scored.clusters
    for name, scores in scored.scores.items():
        several = (scores[["n_masks", "n_masks_opposite"]] > 1).any(axis=1).to_numpy()
        for column, variant in VARIANTS.items():
            bias = scores[column].to_numpy(dtype=float)
            finite = np.isfinite(bias)
            # a causal model has the whole word only
            groups = {"all": finite, "several_tokens": several & finite} if finite.any() else {}
            for words, group in groups.items():
                changed = np.sign(bias[group]) != np.sign(scored.bias(name)[group])
                yield {
                    "model": name,
                    "variant": variant,
                    "words": words,
                    "n": int(group.sum()),
                    **degrees_with_interval(bias[group], clusters[group]),
                    "sign_changed": int(changed.sum()),
                }
