"""How often each model ranks the true token first, in original and in shuffled sentences."""

from collections.abc import Iterator

import numpy as np

from evenhand.core.tables import Row, Table, integer, share, text, with_interval
from evenhand.metrics.inference import bounded, interval_around, sign_flip_interval, total
from evenhand.stereotypes.read_scores import Model, Pairs, PairStudy, Scores

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
        ),
    ),
)

#: By family and pass: the columns that add up to the tokens, and to the correct tokens.
PASSES = {
    "masked": {
        "unmasked": (["n_tokens"], ["n_correct"]),
        "unmasked_with_specials": (["n_tokens", "n_specials"], ["n_correct", "n_specials_correct"]),
        "cps": (["cps_tokens"], ["cps_correct"]),
        "sss": (["sss_tokens"], ["sss_correct"]),
        "all_masked": (["n_tokens"], ["all_masked_correct"]),
    },
    "causal": {"causal": (["n_tokens"], ["n_correct"])},
}

#: The sentences of each variant.
VARIANTS = {
    "original": (("more", "original"), ("less", "original")),
    "shuffled": (("more", "shuffled"), ("less", "shuffled")),
    "unrelated": (("unrelated", "original"),),
}


def rows(study: PairStudy) -> Iterator[Row]:
    """Yield a row per trusted model, pass and variant."""
    for model in study.trusted:
        yield from _rows(model, study.pairs)


def _rows(model: Model, pairs: Pairs) -> Iterator[Row]:
    for name, columns in PASSES[model.gate["family"]].items():
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
            interval = sign_flip_interval(total(correct, pairs.cluster, tokens))
            accuracy = correct.sum() / tokens.sum()
            row = {
                "model": model.name,
                "pass": name,
                "variant": variant,
                "tokens": int(tokens.sum()),
                "correct": int(correct.sum()),
                **with_interval("accuracy", accuracy, *bounded(interval, 0.0, 1.0)),
            }
            if variant != "original" and both.any():
                row |= _change(counts[variant], original, both, pairs.cluster)
            yield row


def _change(
    counts: tuple[np.ndarray, np.ndarray],
    original: tuple[np.ndarray, np.ndarray],
    both: np.ndarray,
    clusters: np.ndarray,
) -> Row:
    """Return the change of the accuracy against the original sentences, with its interval."""
    change, influence = 0.0, np.zeros(int(both.sum()))
    for sign, (tokens, correct) in ((1, counts), (-1, original)):
        accuracy = correct[both].sum() / tokens[both].sum()
        change += sign * accuracy
        influence += sign * (correct[both] - accuracy * tokens[both]) / tokens[both].mean()
    interval = interval_around(change, influence, clusters[both])
    return with_interval("change", change, *bounded(interval, -1.0, 1.0))


def _count(
    scores: Scores, sentences: tuple[tuple[str, str], ...], tokens: list[str], correct: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens and the correct tokens of each pair; 0 for sentences that were not read."""
    counts_by_pair = np.zeros((2, len(next(iter(scores.rows.values())))))
    for side, variant in sentences:
        counts = [
            sum(scores.column(name, side, variant) for name in names) for names in (tokens, correct)
        ]
        read = np.isfinite(counts).all(axis=0)
        counts_by_pair[:, read] += np.array(counts)[:, read]
    return counts_by_pair[0], counts_by_pair[1]
