"""How often each model ranks the true token first, in original and in shuffled sentences."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, share, text
from evenhand.metrics.bootstrap import percentile_interval, ratio_replicates
from evenhand.stereotypes.read_scores import (
    Model,
    Pairs,
    Scores,
)
from evenhand.stereotypes.study import PairStudy

TABLE = Table(
    "token_accuracy",
    title="Token accuracy",
    key=("model", "pass", "variant"),
    columns=(
        text("model"),
        text("pass", "unmasked, unmasked_with_specials (published), cps, sss, all_masked; causal"),
        text("variant", "original, shuffled (words in random order) or unrelated sentences"),
        integer("tokens", "Predicted tokens; a sentence counts as often as it occurs"),
        integer("correct", "Tokens that the model ranks first"),
        share("accuracy", "correct / tokens", interval=True),
        share(
            "change",
            "accuracy minus that of the original sentences of the same pairs",
            interval=True,
            neutral=0,
        ),
    ),
)

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


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, pass and variant; intervals by bootstrap over clusters."""
    for model in study.models:
        if model.trusted:
            yield from _rows(model, study.pairs, study.draw, study.level)


def _rows(model: Model, pairs: Pairs, draw: dict[str, int], level: float) -> Iterator[Row]:
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
