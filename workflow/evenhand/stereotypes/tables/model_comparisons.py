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
from evenhand.metrics.inference import EQUIVALENT, INCONCLUSIVE, Inference, infer, total, verdict
from evenhand.metrics.paired import holm
from evenhand.scoring.methods import METHODS
from evenhand.stereotypes.decisions import NO_BIAS, decide
from evenhand.stereotypes.read_scores import Model, PairStudy
from evenhand.text.catalogue import conclusion, read_catalogue

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

_say = read_catalogue(__file__, conclusion=conclusion)


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
            row["verdict"] = verdict(difference, p_value=p_adjusted)
            nearer = row["model_a"] if row["difference"] < 0 else row["model_b"]
            clear = row["verdict"] not in (EQUIVALENT, INCONCLUSIVE)
            row["less_biased"] = nearer if clear else None
            row["words"] = _say("comparison", row, difference.clusters)
    yield from (row for row, _ in comparisons)


def _compare(a: Model, b: Model, study: PairStudy) -> Iterator[tuple[dict[str, Any], Inference]]:
    """Yield the rows of two models, without the columns that depend on other comparisons."""
    for method in (method for method in a.methods if method in b.methods):
        decisions = [decide(study.pairs, model.scores, method) for model in (a, b)]
        both = decisions[0].counted() & decisions[1].counted()
        values = np.stack([decision.preferences()[both] for decision in decisions])
        count = values.shape[1]
        scores = 100 * values.mean(axis=1) if count else np.full(2, np.nan)
        # the distance from 50 on the side of the score, so that it is a mean over pairs
        side = np.where(scores < NO_BIAS, -1.0, 1.0)
        distances = side @ ([[1], [-1]] * (100 * values - NO_BIAS))
        pairs = study.pairs
        totals = total(distances, pairs.cluster[both], items=pairs.sentences[both])
        inference = infer(totals, neutral=0, delta=study.delta)
        row = {
            "model_a": a.name,
            "model_b": b.name,
            "method": method,
            "pairs": count,
            "score_a": scores[0],
            "score_b": scores[1],
            **inference.with_interval("difference"),
            **inference.cells("p_value", "power", "further_clusters"),
            "delta": study.delta,
        }
        yield row, inference
