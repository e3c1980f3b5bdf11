"""Compare the bias of two models by a paired test over the pairs that both scored.

The less biased model is the one whose score is closer to 50, on either side. The test, the interval
and the verdict are those of `evenhand.metrics.inference` on the difference of the distances, pair
by pair.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.core.tables import NotApplicable, Row, Table, integer, number, percent, share, text
from evenhand.metrics.inference import (
    EQUIVALENT,
    INCONCLUSIVE,
    Inference,
    infer,
    total,
    verdict,
)
from evenhand.metrics.paired import holm
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.decisions import NO_BIAS, decide
from evenhand.stereotypes.read_scores import Model, PairStudy
from evenhand.text.phrases import conclusion

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
        number("delta", "The smallest difference that matters", "percentage points"),
        share("power", "Power of the test at delta"),
        integer("further_clusters", "Further clusters of such sizes for a power of 80 %"),
        text("verdict", "above or below 0, equivalent (within delta) or inconclusive"),
        text("less_biased", "The model closer to 50 if the difference is significant"),
        text("words", "The comparison as a sentence"),
    ),
)


FEW = "no interval, since the pairs swap too few different words"


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per two trusted models and method that both have."""
    couples = list(combinations([model for model in study.models if model.methods], 2))
    comparisons = [row for a, b in couples for row in _compare(a, b, study)]
    if not comparisons:
        raise NotApplicable("no two models have a method in common")
    for method in METHODS:
        of_method = [comparison for comparison in comparisons if comparison[0]["method"] == method]
        adjusted = holm(np.array([row["p_value"] for row, _ in of_method]))
        for (row, difference), p_adjusted in zip(of_method, adjusted.tolist(), strict=True):
            row["p_adjusted"] = p_adjusted
            row["verdict"] = verdict(difference, level=study.level, p_value=p_adjusted)
            nearer = row["model_a"] if row["difference"] < 0 else row["model_b"]
            clear = row["verdict"] not in (EQUIVALENT, INCONCLUSIVE)
            row["less_biased"] = nearer if clear else None
            row["words"] = in_words(row, study.level)
    yield from (row for row, _ in comparisons)


def in_words(row: dict[str, Any], level: float) -> str:
    """Return a comparison as a sentence without its full stop."""
    a, b = row["model_a"], row["model_b"]
    if not row["pairs"]:
        return f"{a} and {b} have no pair that both could score"
    distances = [abs(row[f"score_{side}"] - NO_BIAS) for side in "ab"]
    low, high = row["difference_low"], row["difference_high"]
    if row["less_biased"]:
        other = b if row["less_biased"] == a else a
        ends = (-high, -low) if row["less_biased"] == a else (low, high)
        return (
            f"{row['less_biased']} is less biased than {other}: {abs(row['difference']):.1f} points"
            f" nearer to 50 ({_certainty(ends, row['p_adjusted'], level)})"
        )
    words = conclusion(
        row["verdict"],
        difference=f"difference between {a} and {b}",
        delta=f"{row['delta']:g} points",
        power=row["power"],
        further=row["further_clusters"],
        clusters="swaps",
    )
    return (
        f"{words}. They lie {distances[0]:.1f} and {distances[1]:.1f} points from 50, a difference"
        f" of {row['difference']:.1f} ({_certainty((low, high), row['p_adjusted'], level)})"
    )


def _certainty(ends: tuple[float, float], p_value: float, level: float) -> str:
    if not np.isfinite(p_value):
        return "one cluster, so no test"
    p = "p < .001" if p_value < 0.001 else f"p = {p_value:.2g}".replace("0.", ".", 1)
    known = np.isfinite(ends).all()
    interval = f"{100 * level:g} % interval {ends[0]:.1f} to {ends[1]:.1f}" if known else FEW
    return f"{interval}, {p} after correction"


def _compare(a: Model, b: Model, study: PairStudy) -> Iterator[tuple[dict[str, Any], Inference]]:
    """Yield the rows of two models, without the columns that depend on other comparisons."""
    for method in (method for method in a.methods if method in b.methods):
        decisions = [decide(study.pairs, model.scores, method) for model in (a, b)]
        both = decisions[0].counted() & decisions[1].counted()
        hits = np.stack([decision.hits()[both] for decision in decisions])
        count = hits.shape[1]
        scores = 100 * hits.mean(axis=1) if count else np.full(2, np.nan)
        # the distance from 50 on the side of the score, so that it is a mean over pairs
        side = np.where(scores < NO_BIAS, -1.0, 1.0)
        distances = side @ ([[1], [-1]] * (100 * hits - NO_BIAS))
        totals = total(distances, study.pairs.cluster[both])
        inference = infer(totals, neutral=0, delta=study.delta, level=study.level)
        row = {
            "model_a": a.name,
            "model_b": b.name,
            "method": method,
            "pairs": count,
            "score_a": scores[0],
            "score_b": scores[1],
            "difference": inference.estimate,
            "difference_low": inference.low,
            "difference_high": inference.high,
            **inference.cells("p_value", "power", "further_clusters"),
            "delta": study.delta,
        }
        yield row, inference
