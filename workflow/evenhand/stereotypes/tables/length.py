"""The share of pairs in which each method scores the longer sentence higher.

AULA prefers it by construction: its weights fall with the length, and log-probabilities are
negative (Kaneko and Bollegala, AAAI 2022, equation 4, has no normalisation). The score of the pairs
of equal length is free of this effect.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, percent, share, text
from evenhand.stereotypes.decisions import decide, score_interval, share_interval, tally
from evenhand.stereotypes.read_scores import Model, Pairs, PairStudy

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
        ),
        integer("equal_length_pairs", "Scored pairs of equal length"),
    ),
    source="Kaneko and Bollegala 2022, equation 4",
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model and method."""
    for model in study.models:
        if model.methods:
            yield from _rows(model, study.pairs, study.level)


def _rows(model: Model, pairs: Pairs, level: float) -> Iterator[Row]:
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    longer = np.sign(lengths[0] - lengths[1])  # NaN where a length is missing
    decisions = [decide(pairs, model.scores, method) for method in model.methods]
    unequal = np.stack(
        [decision.counted() & (np.abs(longer) == 1) for decision in decisions], axis=1
    )
    prefers = (
        np.stack([np.sign(decision.difference) == longer for decision in decisions], axis=1)
        & unequal
    )
    equal = longer == 0
    for place, (method, decision) in enumerate(zip(model.methods, decisions, strict=True)):
        count, hits = int(unequal[:, place].sum()), int(prefers[:, place].sum())
        same = tally(decision, equal)
        borders = share_interval(prefers[:, place], unequal[:, place], pairs.cluster, level)
        score = score_interval(decision, equal, pairs, level)
        yield {
            "model": model.name,
            "method": method,
            "unequal_pairs": count,
            "prefers_longer": hits,
            "share_longer": hits / count if count else None,
            "share_longer_low": borders[0],
            "share_longer_high": borders[1],
            "score_all": tally(decision, np.ones(len(equal), dtype=bool))["score"],
            "score_equal_length": same["score"],
            "equal_length_pairs": same["scored"],
            "score_equal_length_low": score[0],
            "score_equal_length_high": score[1],
        }
