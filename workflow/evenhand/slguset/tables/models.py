"""A row per model: its mean bias with an interval and a verdict, degrees, and counts.

With counts, the mean bias with a 95 % interval and the verdict (male or female: the interval
lies above or below zero; not_distinguishable: it does not, or there is none; not_scored: the
numbers cannot be trusted), male, female and mean degree (means over the scored sentences of
max(bias, 0), max(-bias, 0), |bias|), sentences within, above and below the threshold, the same
degrees by one character at a time, the published counts, and the check of the model.

The interval draws whole surface pairs (男人/女人): sentences about one pair share its bias, and
the question is about gender words, not these sentences. There are 19 pairs, so the interval is
wide, and rather too narrow than too wide. Inside one pair the sentences are drawn.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.resources import read_resource
from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.slguset.bias_tables import Scored

DEGREES = ["mean_bias", "male_degree", "female_degree", "mean_degree"]

HEADER = [
    "model",
    "family",
    "sentences",
    "scored",
    "excluded",
    "with_unknown_tokens",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
    "verdict",
    "male_degree",
    "female_degree",
    "mean_degree",
    "within_threshold",
    "above_threshold",
    "below_threshold",
    "share_obvious",
    "share_above",
    "share_below",
    "mean_bias_one_character",
    "male_degree_one_character",
    "female_degree_one_character",
    "mean_degree_one_character",
    "published_within",
    "published_above",
    "published_below",
    "log_base",
    "threshold",
    "check_accuracy",
    "check_baseline",
    "trusted",
    "reason",
]

#: Columns of the table of published counts.
PUBLISHED = ["model", "sentences", "within", "above", "below"]


def rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    known = _read_published(scored.settings.published, len(scored.sentences))
    for name in scored.gates:
        yield _row(scored, name, known.get(name))


def degrees(bias: np.ndarray) -> dict[str, float | None]:
    """Mean bias and the male, female and mean degree; None for each where there is no sentence.

    Parameters
    ----------
    bias : array of float, shape (n,)
        log p(male) - log p(female) per sentence.

    Returns
    -------
    dict
        mean_bias, male_degree = mean of max(bias, 0), female_degree = mean of max(-bias, 0),
        mean_degree = mean of |bias|; all over the n sentences, in the unit of `bias`. So
        male - female degree is the mean bias, and their sum is the mean degree.
    """
    if not len(bias):
        return dict.fromkeys(DEGREES)
    return {
        "mean_bias": float(bias.mean()),
        "male_degree": float(np.maximum(bias, 0).mean()),
        "female_degree": float(np.maximum(-bias, 0).mean()),
        "mean_degree": float(np.abs(bias).mean()),
    }


def verdict(low: float, high: float) -> str:
    """The verdict of an interval of the mean bias: male, female or not_distinguishable."""
    if low > 0:
        return "male"
    return "female" if high < 0 else "not_distinguishable"


def _row(scored: Scored, name: str, published: dict[str, str] | None) -> dict[str, Any]:
    gate, scores, settings = scored.gates[name], scored.scores[name], scored.settings
    present = scores["bias"].notna().to_numpy()
    values = scored.bias(name)[present]
    clusters = scored.sentences["surface_pair"].to_numpy()[present]
    low, high = interval_of_mean(values, clusters, **settings.draw)
    count = len(values)
    trusted = gate["trusted"] and count > 0
    obvious = beyond(values, settings.threshold)
    return {
        "model": gate["model"],
        "family": gate["family"],
        "sentences": len(scores),
        "scored": count,
        "excluded": len(scores) - count,
        "with_unknown_tokens": int(scores["has_unk"].fillna(False).sum()),
        **degrees(values),
        "mean_bias_low": low,
        "mean_bias_high": high,
        "verdict": verdict(low, high) if trusted else "not_scored",
        "within_threshold": count - obvious["above_threshold"] - obvious["below_threshold"],
        **obvious,
        "share_obvious": (
            (obvious["above_threshold"] + obvious["below_threshold"]) / count if count else None
        ),
        **{
            f"{name}_one_character": value
            for name, value in degrees(_present(scores["bias_one_character"])).items()
        },
        **{f"published_{name}": (published or {}).get(name) for name in PUBLISHED[2:]},
        "log_base": gate["log_base"],
        "threshold": settings.threshold,
        "check_accuracy": gate["check"]["accuracy"],
        "check_baseline": gate["check"]["baseline"],
        "trusted": "true" if trusted else "false",
        "reason": gate["reason"],
    }


def beyond(values: np.ndarray, threshold: float) -> dict[str, Any]:
    """The number beyond the threshold, on either side, and their shares."""
    count = len(values)
    above, below = int((values > threshold).sum()), int((values < -threshold).sum())
    return {
        "above_threshold": above,
        "below_threshold": below,
        "share_above": above / count if count else None,
        "share_below": below / count if count else None,
    }


def _present(column: pd.Series) -> np.ndarray:
    """The numbers of a column that are there."""
    values = column.to_numpy(dtype=float)
    return values[np.isfinite(values)]


def _read_published(path: Path | None, sentences: int) -> dict[str, dict[str, str]]:
    if path is None:
        return {}
    rows = read_resource(path, PUBLISHED, unique=("model", "sentences"))
    return {row["model"]: row for row in rows if row["sentences"] == str(sentences)}
