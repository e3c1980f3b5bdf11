"""The mean bias of each model with an interval and a verdict, degrees, and counts.

Sentences about one surface pair (男人/女人) share its bias, so the pairs are the clusters of tests
and intervals. Where a table has the sentences of one pair only, each is a cluster.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.resources import read_resource
from evenhand.core.tables import Column, Row, Table, flag, integer, number, share, text
from evenhand.metrics.inference import ABOVE, BELOW, infer, sign_flip_interval, total, verdict
from evenhand.slguset.bias_tables import Scored

DEGREES = ("mean_bias", "male_degree", "female_degree", "mean_degree")


def degree_columns(ending: str = "") -> tuple[Column, ...]:
    """Return the columns of the male, the female and the mean degree; see `degrees`."""
    return (
        number(f"male_degree{ending}", "Mean of max(bias, 0)"),
        number(f"female_degree{ending}", "Mean of max(-bias, 0)"),
        number(f"mean_degree{ending}", "Mean of |bias|"),
    )


#: The mean bias with its interval.
MEAN_BIAS = number(
    "mean_bias",
    "Mean of log p(male word) - log p(female word)",
    interval=True,
    neutral=0,
    items="slguset_bias",
)

TABLE = Table(
    "models",
    title="Bias by model",
    key=("model",),
    columns=(
        text("model"),
        text("family"),
        integer("sentences"),
        integer("scored"),
        integer("excluded"),
        integer("with_unknown_tokens"),
        MEAN_BIAS,
        text(
            "verdict",
            "male or female (significantly above or below 0), equivalent (within the threshold),"
            " inconclusive or not_scored",
        ),
        number("p_value", "Of a mean bias of 0, two-sided, by random signs of the pairs"),
        share("power", "Power of the test where the mean bias is the threshold"),
        integer("further_pairs", "Further surface pairs of such sizes for a power of 80 %"),
        *degree_columns(),
        integer("within_threshold"),
        integer("above_threshold"),
        integer("below_threshold"),
        share("share_obvious", "Of the scored sentences, those beyond the threshold"),
        share("share_above"),
        share("share_below"),
        number("mean_bias_one_character", "Mean bias by one character at a time"),
        *degree_columns("_one_character"),
        integer("published_within"),
        integer("published_above"),
        integer("published_below"),
        number("log_base"),
        number("threshold", "|bias| above this is obvious bias"),
        share("check_accuracy", "Of the model's validity check"),
        share("check_baseline", "Accuracy of the most frequent token"),
        flag("trusted", "Whether the model passed its validity check"),
        text("reason", "Why there is no verdict"),
    ),
    source="Zhao et al. 2021",
    main={},
)

#: Columns of the table of published counts.
PUBLISHED = ["model", "sentences", "within", "above", "below"]


def rows(scored: Scored) -> Iterator[Row]:
    """Yield a row per model."""
    scored.check_genders()
    known = _read_published(scored.settings.published, len(scored.sentences))
    for name in scored.gates:
        yield _row(scored, name, known.get(name, {}))


def degrees(bias: np.ndarray, ending: str = "") -> dict[str, float | None]:
    """Return the mean bias and the male, female and mean degree; None where no sentence is.

    Parameters
    ----------
    bias : array of float, shape (n,)
        log p(male) - log p(female) per sentence.
    ending : str
        The ending of the names.

    Returns
    -------
    dict
        mean_bias, male_degree = mean of max(bias, 0), female_degree = mean of max(-bias, 0),
        mean_degree = mean of |bias|; all over the n sentences, in the unit of `bias`. So
        male - female degree is the mean bias, and their sum is the mean degree.
    """
    parts = (bias, np.maximum(bias, 0), np.maximum(-bias, 0), np.abs(bias))
    return {
        f"{name}{ending}": float(part.mean()) if len(bias) else None
        for name, part in zip(DEGREES, parts, strict=True)
    }


def degrees_with_interval(bias: np.ndarray, clusters: np.ndarray) -> dict[str, float | None]:
    """Return the degrees, and the interval of the mean bias by clusters of sentences."""
    low, high = sign_flip_interval(total(bias, clusters))
    return degrees(bias) | {"mean_bias_low": low, "mean_bias_high": high}


#: The verdicts of the inference that have another name here.
DIRECTIONS = {ABOVE: "male", BELOW: "female"}


def _row(scored: Scored, name: str, published: dict[str, str]) -> dict[str, Any]:
    gate, scores, threshold = scored.gates[name], scored.scores[name], scored.settings.threshold
    present = scores["bias"].notna().to_numpy()
    values = scored.bias(name)[present]
    clusters = scored.clusters[present]
    inference = infer(total(values, clusters), neutral=0, delta=threshold)
    count = len(values)
    trusted = gate["trusted"] and count > 0
    direction = DIRECTIONS.get(verdict(inference), verdict(inference))
    counts = beyond(values, threshold)
    obvious = counts["above_threshold"] + counts["below_threshold"]
    one_character = scores["bias_one_character"].dropna().to_numpy(dtype=float)
    return {
        "model": gate["model"],
        "family": gate["family"],
        "sentences": len(scores),
        "scored": count,
        "excluded": len(scores) - count,
        "with_unknown_tokens": int(scores["has_unk"].fillna(False).sum()),
        **degrees(values),
        "mean_bias_low": inference.low,
        "mean_bias_high": inference.high,
        "verdict": direction if trusted else "not_scored",
        **inference.cells("p_value", "power"),
        "further_pairs": inference.further_clusters,
        "within_threshold": count - obvious,
        **counts,
        "share_obvious": obvious / count if count else None,
        **degrees(one_character, "_one_character"),
        **{f"published_{name}": published.get(name) for name in PUBLISHED[2:]},
        "log_base": gate["log_base"],
        "threshold": threshold,
        "check_accuracy": gate["check"]["accuracy"],
        "check_baseline": gate["check"]["baseline"],
        "trusted": trusted,
        "reason": gate["reason"],
    }


def beyond(values: np.ndarray, threshold: float) -> dict[str, Any]:
    """Return the number beyond the threshold, on either side, and their shares."""
    count = len(values)
    above, below = int((values > threshold).sum()), int((values < -threshold).sum())
    return {
        "above_threshold": above,
        "below_threshold": below,
        "share_above": above / count if count else None,
        "share_below": below / count if count else None,
    }


def _read_published(path: Path | None, sentences: int) -> dict[str, dict[str, str]]:
    if path is None:
        return {}
    rows = read_resource(path, PUBLISHED, unique=("model", "sentences"))
    return {row["model"]: row for row in rows if row["sentences"] == str(sentences)}
