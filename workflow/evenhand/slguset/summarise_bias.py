"""From bias per sentence to tables: per model, per word pair and direction, and between models.

The interval of a model's mean bias draws whole surface pairs (男人/女人): sentences about one
pair share its bias, and what is of interest is gender words, not these sentences. There are
19 pairs, so the interval is wide, and rather too narrow than too wide. Inside one pair the
sentences are drawn.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand import stage
from evenhand.errors import InputError
from evenhand.io.resources import read_resource
from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.stage import Input, Output

#: What is read of a dataset.
DATASET = ["sentence_id", "pair", "surface", "surface_opposite", "gender"]

#: What is read of a bias table.
BIAS = ["sentence_id", "bias", "bias_one_character", "has_unk", "excluded"]

MODELS_HEADER = [
    "model",
    "sentences",
    "scored",
    "excluded",
    "with_unknown_tokens",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
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
    "fill_mask_accuracy",
    "fill_mask_baseline",
    "trusted",
    "reason",
]
PAIRS_HEADER = [
    "model",
    "pair",
    "surface_pair",
    "gender",
    "direction",
    "n",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
]
CORRELATIONS_HEADER = ["model_a", "model_b", "n", "pearson", "spearman"]

#: Columns of the table of published counts.
PUBLISHED = ["model", "sentences", "within", "above", "below"]


def summarise_bias(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    out: Output,
    by_pair: Output,
    correlations: Output,
    published: Input | None = None,
    threshold: float = 0.3,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Any]:
    """Summarise the bias of several models on one dataset.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias : list of path
        A bias table per model, as `score_bias` writes it.
    gates : list of path
        The gate of each model, in the same order.
    out : path
        CSV, a row per model: counts, mean bias with a 95 % interval, male, female and mean
        degree (means over the scored sentences of max(bias, 0), max(-bias, 0), |bias|),
        sentences within, above and below the threshold, the same degrees by the authors'
        one-character variant, the published counts, the fill-mask check, and whether the
        numbers are to be trusted.
    by_pair : path
        CSV, per model, surface pair, gender of the original keyword (or all) and direction
        of the bias (male: > 0, female: < 0, or all): n, mean bias with a 95 % interval.
    correlations : path
        CSV, per two models: Pearson's and Spearman's correlation of the bias over the
        sentences that both scored.
    published : path, optional
        CSV of published counts (model, sentences, within, above, below); they stand beside
        ours where the model's name and the number of sentences are the same.
    threshold : float
        |bias| above this is obvious bias, in the log base of the bias tables.
    resamples : int
        Bootstrap samples per interval.
    seed : int
        Seed of the bootstrap.
    """
    if len(bias) != len(gates) or not bias:
        raise InputError(f"there are {len(bias)} bias tables and {len(gates)} gates")
    sentences = _read(dataset, DATASET)
    if sentences.empty:
        raise InputError("holds no sentence, so there is nothing to summarise", file=dataset)
    sentences["surface_pair"] = _surface_pairs(sentences)
    read = [_read_gate(path) for path in gates]
    names = [gate["model"] for gate in read]
    if len(set(names)) < len(names):
        raise InputError(f"two models have one name: {', '.join(sorted(names))}")
    if len({gate["log_base"] for gate in read}) > 1:
        raise InputError("the models were scored in different log bases", file=gates[0])
    known = _read_published(published, len(sentences))
    scores = {}
    for name, path in zip(names, bias, strict=True):
        scores[name] = _read(path, BIAS)
        if list(scores[name]["sentence_id"]) != list(sentences["sentence_id"]):
            raise InputError(
                "its sentences are not those of the dataset, in the same order",
                file=path,
                remedy=f"score {dataset.name} again",
            )
    draw = {"seed": seed, "resamples": resamples}
    _write_csv(
        out,
        MODELS_HEADER,
        (
            _summarise_model(gate, scores[name], sentences, known.get(name), threshold, draw)
            for name, gate in zip(names, read, strict=True)
        ),
    )
    _write_csv(
        by_pair,
        PAIRS_HEADER,
        (row for name in names for row in _summarise_pairs(name, scores[name], sentences, draw)),
    )
    _write_csv(correlations, CORRELATIONS_HEADER, _correlate(scores))
    return {
        "models": len(names),
        "trusted": sum(gate["trusted"] for gate in read),
        "sentences": len(sentences),
        "scored": {name: int(table["bias"].notna().sum()) for name, table in scores.items()},
    }


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
        return dict.fromkeys(("mean_bias", "male_degree", "female_degree", "mean_degree"))
    return {
        "mean_bias": float(bias.mean()),
        "male_degree": float(np.maximum(bias, 0).mean()),
        "female_degree": float(np.maximum(-bias, 0).mean()),
        "mean_degree": float(np.abs(bias).mean()),
    }


def _summarise_model(
    gate: dict[str, Any],
    scores: pd.DataFrame,
    sentences: pd.DataFrame,
    published: dict[str, str] | None,
    threshold: float,
    draw: dict[str, int],
) -> dict[str, Any]:
    scored = scores["bias"].notna().to_numpy()
    values = scores["bias"].to_numpy(dtype=float)[scored]
    apart = scores["bias_one_character"].to_numpy(dtype=float)[scored]
    low, high = interval_of_mean(values, sentences["surface_pair"].to_numpy()[scored], **draw)
    above, below = int((values > threshold).sum()), int((values < -threshold).sum())
    count = len(values)
    shares = {
        "share_obvious": (above + below) / count if count else None,
        "share_above": above / count if count else None,
        "share_below": below / count if count else None,
    }
    return {
        "model": gate["model"],
        "sentences": len(scores),
        "scored": count,
        "excluded": len(scores) - count,
        "with_unknown_tokens": int(scores["has_unk"].fillna(False).sum()),
        **degrees(values),
        "mean_bias_low": low,
        "mean_bias_high": high,
        "within_threshold": count - above - below,
        "above_threshold": above,
        "below_threshold": below,
        **shares,
        **{f"{name}_one_character": value for name, value in degrees(apart).items()},
        **{f"published_{name}": (published or {}).get(name) for name in PUBLISHED[2:]},
        "log_base": gate["log_base"],
        "threshold": threshold,
        "fill_mask_accuracy": gate["fill_mask"]["accuracy"],
        "fill_mask_baseline": gate["fill_mask"]["baseline"],
        "trusted": "true" if gate["trusted"] and count else "false",
        "reason": gate["reason"],
    }


def _summarise_pairs(
    name: str, scores: pd.DataFrame, sentences: pd.DataFrame, draw: dict[str, int]
) -> Iterable[dict[str, Any]]:
    """Rows by surface pair in the dataset's order; a combination without a sentence has n = 0."""
    bias = scores["bias"].to_numpy(dtype=float)
    gender = sentences["gender"].to_numpy()
    surface_pair = sentences["surface_pair"].to_numpy()
    firsts = sentences.drop_duplicates("surface_pair")
    for pair, surface in zip(firsts["pair"], firsts["surface_pair"], strict=True):
        for original in ("all", "male", "female"):
            rows = (surface_pair == surface) & np.isfinite(bias)
            if original != "all":
                rows &= gender == original
            values = bias[rows]
            for direction, chosen in (
                ("all", values),
                ("male", values[values > 0]),
                ("female", values[values < 0]),
            ):
                low, high = interval_of_mean(chosen, **draw)
                yield {
                    "model": name,
                    "pair": pair,
                    "surface_pair": surface,
                    "gender": original,
                    "direction": direction,
                    "n": len(chosen),
                    "mean_bias": float(chosen.mean()) if len(chosen) else None,
                    "mean_bias_low": low,
                    "mean_bias_high": high,
                }


def _correlate(scores: dict[str, pd.DataFrame]) -> Iterable[dict[str, Any]]:
    together = pd.DataFrame({name: table["bias"] for name, table in scores.items()}, dtype=float)
    names = list(scores)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            both = together[[one, other]].dropna()
            varied = len(both) > 1 and both.nunique().min() > 1
            yield {
                "model_a": one,
                "model_b": other,
                "n": len(both),
                "pearson": both.corr("pearson").iloc[0, 1] if varied else None,
                "spearman": both.corr("spearman").iloc[0, 1] if varied else None,
            }


def _surface_pairs(sentences: pd.DataFrame) -> pd.Series:
    """The male and the female surface word of each sentence: ``男人/女人``."""
    male = sentences["gender"] == "male"
    own, other = sentences["surface"], sentences["surface_opposite"]
    return own.where(male, other) + "/" + other.where(male, own)


def _read(path: Path, columns: list[str]) -> pd.DataFrame:
    try:
        present = pq.read_schema(path).names
    except pa.ArrowInvalid as error:
        raise InputError("is not a Parquet file", file=path) from error
    if missing := [name for name in columns if name not in present]:
        raise InputError(f"lacks the column {missing[0]}", file=path)
    return pq.read_table(path, columns=columns).to_pandas()


def _read_gate(path: Path) -> dict[str, Any]:
    try:
        gate = json.loads(path.read_text(encoding="utf-8"))
        return {key: gate[key] for key in ("model", "log_base", "trusted", "reason", "fill_mask")}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is not a gate that score_bias wrote", file=path) from error


def _read_published(path: Path | None, sentences: int) -> dict[str, dict[str, str]]:
    if path is None:
        return {}
    rows = read_resource(path, PUBLISHED, unique=("model", "sentences"))
    return {row["model"]: row for row in rows if row["sentences"] == str(sentences)}


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: _cell(value) for key, value in row.items()})


def _cell(value: Any) -> Any:
    """Numbers with six decimals; blank for what is not there."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6f}"
    return value


if __name__ == "__main__":
    stage.run(summarise_bias)
