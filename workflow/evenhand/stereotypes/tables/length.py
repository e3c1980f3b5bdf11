"""How often each method scores the longer sentence higher.

AULA does by construction: its weights fall with the length, and log-probabilities are negative
(Kaneko and Bollegala, AAAI 2022, equation 4, has no normalisation). The score of the pairs of
equal length is free of this.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, percent, share, text
from evenhand.metrics.bootstrap import percentile_interval, ratio_replicates
from evenhand.stereotypes.decisions import decide, score_intervals, tally
from evenhand.stereotypes.read_scores import Model, Pairs
from evenhand.stereotypes.study import PairStudy

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
    """Yield a row per trusted model and method; intervals by bootstrap over clusters."""
    for model in study.models:
        if model.methods:
            yield from _rows(model, study.pairs, study.draw, study.level)


def _rows(model: Model, pairs: Pairs, draw: dict[str, int], level: float) -> Iterator[Row]:
    lengths = [model.scores.column("n_tokens", side) for side in ("more", "less")]
    longer = np.sign(lengths[0] - lengths[1])  # NaN where a length is missing
    decisions = [decide(pairs, model.scores, method) for method in model.methods]
    unequal = np.stack([one.counted() & (np.abs(longer) == 1) for one in decisions], axis=1)
    prefers = np.stack([np.sign(one.difference) == longer for one in decisions], axis=1) & unequal
    low, high = percentile_interval(
        ratio_replicates(prefers, unequal, pairs.cluster, **draw), level
    )
    equal = longer == 0
    intervals = score_intervals(decisions, equal, pairs, draw, level)
    for place, (method, one) in enumerate(zip(model.methods, decisions, strict=True)):
        count, hits = int(unequal[:, place].sum()), int(prefers[:, place].sum())
        same = tally(one, equal)
        yield {
            "model": model.name,
            "method": method,
            "unequal_pairs": count,
            "prefers_longer": hits,
            "share_longer": hits / count if count else None,
            "share_longer_low": low[place],
            "share_longer_high": high[place],
            "score_all": tally(one, np.ones(len(equal), dtype=bool))["score"],
            "score_equal_length": same["score"],
            "equal_length_pairs": same["scored"],
            "score_equal_length_low": intervals[place][0],
            "score_equal_length_high": intervals[place][1],
        }
