"""Which of two models is less biased: a paired test over the pairs that both scored.

The less biased model is the one whose score lies nearer to 50, on whichever side. The test asks
whether the distances differ by more than other swaps would make them: it gives the clusters'
contributions to the difference random signs.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, percent, text
from evenhand.metrics.bootstrap import percentile_interval, ratio_replicates
from evenhand.metrics.paired import holm, sign_flip_p_values
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.decisions import NO_BIAS, decide
from evenhand.stereotypes.read_scores import Model, Pairs
from evenhand.stereotypes.study import PairStudy

TABLE = Table(
    "model_comparisons",
    title="Which of two models is less biased",
    key=("model_a", "model_b", "method"),
    columns=(
        text("model_a"),
        text("model_b"),
        text("method"),
        integer("pairs", "Pairs that both models scored"),
        percent("score_a", "Bias score of model a on these pairs"),
        percent("score_b", "Bias score of model b on these pairs"),
        number(
            "difference",
            "|score_a - 50| - |score_b - 50|: below 0 if model a is closer to 50",
            "percentage points",
            interval=True,
        ),
        number("p_value", "Two-sided, by random signs of the clusters"),
        number("p_adjusted", "Adjusted by Holm for all comparisons of the method"),
        text("less_biased", "The model closer to 50 if the difference is significant"),
        text("words", "The comparison as a sentence"),
    ),
)


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per two trusted models and method that both have."""
    pairs, level = study.pairs, study.level
    couples = list(combinations([model for model in study.models if model.methods], 2))
    found = [row for a, b in couples for row in _compare(a, b, pairs, study.draw, level)]
    if not found:
        raise NotApplicable("no two models have a method in common")
    for method in METHODS:
        own = [row for row in found if row["method"] == method]
        adjusted = holm(np.array([row["p_value"] for row in own]))
        for row, p_adjusted in zip(own, adjusted.tolist(), strict=True):
            row["p_adjusted"] = p_adjusted
            nearer = row["model_a"] if row["difference"] < 0 else row["model_b"]
            row["less_biased"] = nearer if p_adjusted < 1 - level else None
            row["words"] = in_words(row, level)
    yield from found


def in_words(row: dict[str, Any], level: float) -> str:
    """A comparison as a sentence without its full stop."""
    a, b = row["model_a"], row["model_b"]
    if not row["pairs"]:
        return f"{a} and {b} have no pair that both could score"
    distances = [abs(row[f"score_{one}"] - NO_BIAS) for one in "ab"]
    if not np.isfinite(row["p_adjusted"]) or not np.isfinite(row["difference_low"]):
        return f"{a} and {b} cannot be told apart: the pairs that both scored swap too few words"
    low, high = row["difference_low"], row["difference_high"]
    if row["less_biased"]:
        other = b if row["less_biased"] == a else a
        ends = (-high, -low) if row["less_biased"] == a else (low, high)
        return (
            f"{row['less_biased']} is less biased than {other}: {abs(row['difference']):.1f} points"
            f" nearer to 50 ({_certainty(ends, row['p_adjusted'], level)})"
        )
    return (
        f"{a} and {b} cannot be told apart: they lie {distances[0]:.1f} and {distances[1]:.1f}"
        f" points from 50, a difference of {row['difference']:.1f}"
        f" ({_certainty((low, high), row['p_adjusted'], level)})"
    )


def _certainty(ends: tuple[float, float], p_value: float, level: float) -> str:
    p = "p < .001" if p_value < 0.001 else f"p = {p_value:.2g}".replace("0.", ".", 1)
    return f"{100 * level:g} % interval {ends[0]:.1f} to {ends[1]:.1f}, {p} after correction"


def _compare(
    a: Model, b: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    """The rows of two models, without what depends on the other comparisons."""
    methods = [method for method in a.methods if method in b.methods]
    if not methods:
        return
    decisions = [[decide(pairs, model.scores, method) for method in methods] for model in (a, b)]
    hits = np.stack([[one.hits() for one in own] for own in decisions]).astype(float)
    both = np.stack([[one.counted() for one in own] for own in decisions]).all(axis=0)
    hits *= both  # (2, methods, pairs)
    count = both.sum(axis=1)
    scores = np.full((2, len(methods)), np.nan)
    np.divide(100 * hits.sum(axis=2), count, out=scores, where=count > 0)
    # The distance from 50 on the side on which the score lies, so that it is a sum over pairs.
    side = np.where(scores < NO_BIAS, -1.0, 1.0)[:, :, None]
    distances = side * (hits - 0.5) * both
    p_values = sign_flip_p_values((distances[0] - distances[1]).T, pairs.cluster, seed=draw["seed"])
    replicates = ratio_replicates(
        100 * hits.reshape(-1, hits.shape[2]).T, np.vstack([both, both]).T, pairs.cluster, **draw
    )
    drawn_a, drawn_b = np.split(np.abs(replicates - NO_BIAS), 2, axis=1)
    low, high = percentile_interval(drawn_a - drawn_b, level)
    difference = np.abs(scores[0] - NO_BIAS) - np.abs(scores[1] - NO_BIAS)
    for place, method in enumerate(methods):
        yield {
            "model_a": a.name,
            "model_b": b.name,
            "method": method,
            "pairs": int(count[place]),
            "score_a": scores[0, place],
            "score_b": scores[1, place],
            "difference": difference[place],
            "difference_low": low[place],
            "difference_high": high[place],
            "p_value": p_values[place] if np.isfinite(low[place]) else np.nan,
        }
