"""The score with every token masked, by whom the stereotype is about: a control.

The model sees the length of the sentence and nothing else, so what it prefers here is which
words are common. The paper finds that it prefers stereotypes of advantaged groups.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.stereotypes.decisions import bias_types, decide, score_intervals, tally
from evenhand.stereotypes.read_scores import Model, Pairs, read_models, read_pair_set, summary

HEADER = [
    "model",
    "group",
    "bias_type",
    "pairs",
    "scored",
    "ties",
    "score",
    "score_low",
    "score_high",
]

#: By group, the side that is about the disadvantaged one: `more` is the stereotypical sentence.
GROUPS = {"disadvantaged": "more", "advantaged": "less"}


def measure_all_masked(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Compute the scores of the method all_masked apart for disadvantaged and advantaged groups.

    Parameters
    ----------
    pairs : Path
        The set; its column `disadvantaged` says which side is about the disadvantaged group.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted masked model and group whom the stereotype is about, for all pairs and
        each bias type that the group has: pairs, scored, ties, score in per cent with an
        interval by bootstrap over clusters. Only the header where the set does not say whom a
        pair is about, or the method was not asked for.
    resamples, level, seed
        The bootstrap.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates)
    draw = {"seed": seed, "resamples": resamples}
    rows = [row for model in models for row in _measure(model, pair_set, draw, level)]
    write_rows(out, HEADER, rows)
    known = np.isin(pair_set.disadvantaged, list(GROUPS.values())).any()
    reason = None if rows else "no scores with every token masked" if known else "no groups"
    return summary(models, len(rows), reason)


def _measure(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    if "all_masked" not in model.methods:
        return
    decisions = decide(pairs, model.scores, "all_masked")
    for group, side in GROUPS.items():
        members = pairs.disadvantaged == side
        for bias_type in ("all", *bias_types(pairs)):
            chosen = members & ((pairs.bias_type == bias_type) | (bias_type == "all"))
            if not chosen.any():
                continue
            counts = tally(decisions, chosen)
            counts.pop("unscorable")
            ((low, high),) = score_intervals([decisions], chosen, pairs, draw, level)
            yield {
                "model": model.name,
                "group": group,
                "bias_type": bias_type,
                **counts,
                "score_low": low,
                "score_high": high,
            }


if __name__ == "__main__":
    stage.run(measure_all_masked)
