"""How often each model ranks the true token first, by pass, and what shuffled words change."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.core import stage
from evenhand.core.stage import Input, Output, Source
from evenhand.io.csv_tables import write_rows
from evenhand.metrics.bootstrap import percentile_interval, ratio_replicates
from evenhand.stereotypes.read_scores import (
    Model,
    Pairs,
    Scores,
    read_models,
    read_pair_set,
    summary,
)

HEADER = [
    "model",
    "pass",
    "variant",
    "tokens",
    "correct",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "change",
    "change_low",
    "change_high",
]

#: By family and pass: the columns whose sum is the tokens, and those of the correct ones.
PASSES = {
    "masked": {
        "unmasked": (["n_tokens"], ["n_correct"]),
        "unmasked_with_specials": (
            ["n_tokens", "n_specials"],
            ["n_correct", "n_specials_correct"],
        ),
        "cps": (["cps_tokens"], ["cps_correct"]),
        "sss": (["sss_tokens"], ["sss_correct"]),
        "all_masked": (["n_tokens"], ["all_masked_correct"]),
    },
    "causal": {"causal": (["n_tokens"], ["n_correct"])},
}

#: By variant, which sentences it is measured on.
VARIANTS = {
    "original": (("more", "original"), ("less", "original")),
    "shuffled": (("more", "shuffled"), ("less", "shuffled")),
    "unrelated": (("unrelated", "original"),),
}


def measure_accuracy(
    *,
    pairs: Input,
    scores: list[Source],
    gates: list[Source],
    out: Output,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Compute token accuracies, and their change for shuffled and for unrelated sentences.

    Parameters
    ----------
    pairs : Path
        The set.
    scores, gates : list of Path
        What `score_pairs` wrote of each model; the files' names are the models'.
    out : Path
        CSV, per trusted model, pass and variant:

        - tokens asked about, and correct: those that the model ranks first; each sentence of a
          pair counts, as often as it occurs;
        - accuracy (0 to 1) with an interval by bootstrap over clusters;
        - change: accuracy minus that of the original sentences, over the pairs that have both,
          with an interval on the same draws; blank for the variant original.

        Passes: unmasked, unmasked_with_specials (as the published numbers count), cps, sss,
        all_masked; causal. Variants: original (`more` and `less`), shuffled (the same with
        their words in random order), unrelated (the sentence with an unrelated word). What a
        model was not asked for has no row.
    resamples, level, seed
        The bootstrap.
    """
    pair_set = read_pair_set(pairs)
    models = read_models(pair_set, scores, gates)
    draw = {"seed": seed, "resamples": resamples}
    rows = [row for model in models for row in _measure(model, pair_set, draw, level)]
    write_rows(out, HEADER, rows)
    return summary(models, len(rows))


def _measure(
    model: Model, pairs: Pairs, draw: dict[str, int], level: float
) -> Iterator[dict[str, Any]]:
    if not model.trusted:
        return
    for name, columns in PASSES[model.family].items():
        counts = {
            variant: _count(model.scores, sentences, *columns)
            for variant, sentences in VARIANTS.items()
        }
        kept = [variant for variant, (tokens, _) in counts.items() if tokens.any()]
        if not kept:
            continue
        original = counts["original"]
        for variant in kept:
            tokens, correct = counts[variant]
            both = (tokens > 0) & (original[0] > 0)
            below = np.stack([tokens, tokens * both, original[0] * both], axis=1)
            above = np.stack([correct, correct * both, original[1] * both], axis=1)
            replicates = ratio_replicates(above, below, pairs.cluster, **draw)
            changes = (replicates[:, 1] - replicates[:, 2])[:, None]
            low, high = percentile_interval(np.hstack([replicates[:, :1], changes]), level)
            row = {
                "model": model.name,
                "pass": name,
                "variant": variant,
                "tokens": int(tokens.sum()),
                "correct": int(correct.sum()),
                "accuracy": correct.sum() / tokens.sum(),
                "accuracy_low": low[0],
                "accuracy_high": high[0],
            }
            if variant != "original" and both.any():
                own, first = above[:, 1:].sum(axis=0) / below[:, 1:].sum(axis=0)
                row |= {"change": own - first, "change_low": low[1], "change_high": high[1]}
            yield row


def _count(
    scores: Scores, sentences: tuple[tuple[str, str], ...], tokens: list[str], correct: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and correct ones of each pair; a sentence that was not read counts none."""
    found = np.zeros((2, len(next(iter(scores.rows.values())))))
    for side, variant in sentences:
        counts = [
            sum(scores.column(name, side, variant) for name in names) for names in (tokens, correct)
        ]
        read = np.isfinite(counts).all(axis=0)
        found[:, read] += np.array(counts)[:, read]
    return found[0], found[1]


if __name__ == "__main__":
    stage.run(measure_accuracy)
