"""The share of pairs in which each method scores the longer sentence higher.

AULA prefers it by construction: its weights fall with the length, and log-probabilities are
negative (Kaneko and Bollegala, AAAI 2022, equation 4, has no normalisation). The score of the pairs
of equal length is free of this effect.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, percent, share, text, with_interval
from evenhand.metrics.inference import korn_graubard
from evenhand.stereotypes.decisions import decide, tally
from evenhand.stereotypes.read_scores import PairStudy

TABLE = Table(
    "length",
    title="Preference for the longer sentence",
    key=("model", "method"),
    columns=(
        text("model"),
        text("method"),
        integer("unequal_pairs", "Scored pairs whose sentences differ in their number of tokens"),
        integer("prefers_longer", "Of these, pairs whose longer sentence scores higher"),
        share("share_longer", "prefers_longer / unequal_pairs", interval=True, neutral=0.5),
        percent("score_all", "The bias score of all scored pairs"),
        percent(
            "score_equal_length",
            "The bias score of the pairs of equal length",
            interval=True,
            neutral=50,
            items="pair_scores",
        ),
        integer("equal_length_pairs", "Scored pairs of equal length"),
    ),
    source="Kaneko and Bollegala 2022, equation 4",
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model and method."""
    for model in study.trusted:
        lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
        longer = np.sign(lengths[0] - lengths[1])  # NaN where a length is missing
        for method in model.methods:
            decision = decide(study.pairs, model.scores, method)
            unequal = decision.counted() & (np.abs(longer) == 1)
            prefers = unequal & (np.sign(decision.difference) == longer)
            share_longer = prefers.sum() / unequal.sum() if unequal.any() else None
            ends = korn_graubard(decision.total(prefers, unequal))
            equal = tally(decision, longer == 0)
            score = [equal[f"score{end}"] for end in ("", "_low", "_high")]
            yield {
                "model": model.name,
                "method": method,
                "unequal_pairs": int(unequal.sum()),
                "prefers_longer": int(prefers.sum()),
                **with_interval("share_longer", share_longer, *ends),
                "score_all": tally(decision, unequal | True)["score"],
                **with_interval("score_equal_length", *score),
                "equal_length_pairs": equal["scored"],
            }
