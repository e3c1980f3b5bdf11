"""StereoSet's LMS, SS and ICAT of each model and method, on sets with unrelated sentences."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.metrics.bootstrap import percentile_interval
from evenhand.metrics.stereoset import TermScores, macro_scores, score_terms
from evenhand.stereotypes.decisions import bias_types
from evenhand.stereotypes.read_scores import Model, Pairs, read_models, read_pair_set, summary

METRICS = ("lms", "ss", "icat")

HEADER = [
    "model",
    "method",
    "bias_type",
    "terms",
    "triples",
    "scored",
    *(f"{metric}{end}" for metric in METRICS for end in ("", "_low", "_high")),
]


def measure_stereoset(
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
    """Compute LMS, SS and ICAT, macro-averaged over target terms, with intervals.

    Parameters
    ----------
    pairs : Path
        The set; its clusters are the target terms.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted model and method for all triples and each bias type: terms with a scored
        triple, triples, scored triples (with three finite scores), and LMS, SS and ICAT in per
        cent with an interval by bootstrap over the terms. Methods that score no triple have a
        row without numbers, unless they compare the sentences of a pair only (CPS, SSS: a
        third sentence has no score by them). Only the header where the set has no unrelated
        sentences.
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
    has_unrelated = any(("unrelated", "original") in m.scores.rows for m in models if m.trusted)
    reason = None if has_unrelated else "no unrelated sentences"
    return summary(models, len(rows), reason)


#: What compares the two sentences of a pair, so that a third has no score.
BETWEEN_TWO = ("cps", "sss", "sss_compat")


def _measure(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    if not model.trusted or ("unrelated", "original") not in model.scores.rows:
        return
    there = model.scores.rows["unrelated", "original"] >= 0
    for method in model.methods:
        if method in BETWEEN_TWO:
            continue
        sides = np.stack(
            [model.scores.column(method, side) for side in ("more", "less", "unrelated")]
        )
        sides[:, pairs.excluded] = np.nan
        for bias_type in ("all", *bias_types(pairs)):
            chosen = there & ((pairs.bias_type == bias_type) | (bias_type == "all"))
            found = score_terms(*sides[:, chosen], pairs.cluster[chosen])
            yield {
                "model": model.name,
                "method": method,
                "bias_type": bias_type,
                "terms": len(found.term),
                "triples": int(chosen.sum()),
                "scored": int(found.scored.sum()),
                **_scores(found, draw, level),
            }


def _scores(found: TermScores, draw: dict[str, int], level: float) -> dict[str, float | None]:
    """LMS, SS and ICAT with their intervals; None where there is none."""
    terms = len(found.term)
    values = macro_scores(found.lms, found.ss)
    low = high = np.full(len(METRICS), np.nan)
    if terms >= 2:
        generator = np.random.default_rng(draw["seed"])
        drawn = generator.integers(terms, size=(draw["resamples"], terms))
        replicates = macro_scores(found.lms[drawn], found.ss[drawn])
        low, high = percentile_interval(np.stack(replicates, axis=1), level)
    return {
        f"{metric}{end}": float(numbers[place])
        for place, metric in enumerate(METRICS)
        for end, numbers in (("", values), ("_low", low), ("_high", high))
    }


if __name__ == "__main__":
    stage.run(measure_stereoset)
