"""The length artefact: how often each method prefers the sentence with more tokens.

AULA does by construction: its weights fall with the length, and log-probabilities are negative
(Kaneko and Bollegala, AAAI 2022, equation 4, has no normalisation). Beside it stands the score
on pairs of equal length, where no method can.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.metrics.bootstrap import percentile_interval, ratio_replicates
from evenhand.stereotypes.decisions import decide, score_intervals, tally
from evenhand.stereotypes.read_scores import Model, Pairs, read_models, read_pair_set, summary

HEADER = [
    "model",
    "method",
    "unequal_pairs",
    "prefers_longer",
    "share_longer",
    "share_longer_low",
    "share_longer_high",
    "score_all",
    "score_equal_length",
    "equal_length_pairs",
    "score_equal_length_low",
    "score_equal_length_high",
]


def measure_length(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    methods: list[str] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure how often each method prefers the longer sentence, and the scores without that.

    Parameters
    ----------
    pairs : Path
        The set.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted model and method, of its scored pairs: unequal_pairs, with different
        numbers of tokens; prefers_longer, those of them whose longer sentence is likelier;
        share_longer (0 to 1, one half is no preference) with an interval by bootstrap over
        clusters; score_all, and score_equal_length over the equal_length_pairs with its
        interval, in per cent.
    methods : list of str, optional
        The methods that were asked for; by default those that the gates name.
    resamples, level, seed
        The bootstrap.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates, (), methods or ())
    draw = {"seed": seed, "resamples": resamples}
    rows = [row for model in models for row in _measure(model, pair_set, draw, level)]
    write_rows(out, HEADER, rows)
    return summary(models, len(rows))


def _measure(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    if not model.methods:
        return
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


if __name__ == "__main__":
    stage.run(measure_length)
