"""From bias per sentence to tables: per model, per word pair and direction, and between models.

The interval of a model's mean bias draws whole surface pairs (男人/女人): sentences about one
pair share its bias, and what is of interest is gender words, not these sentences. There are
19 pairs, so the interval is wide, and rather too narrow than too wide. Inside one pair the
sentences are drawn. The verdict on a model is whether its interval excludes zero.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.resources import read_resource
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.metrics.bootstrap import interval_of_mean
from evenhand.slguset.bias_tables import VARIANTS, read_models

#: What is read of a dataset beside sentence_id.
DATASET = ["sentence", "start", "pair", "surface", "surface_opposite", "gender"]

DEGREES = ["mean_bias", "male_degree", "female_degree", "mean_degree"]

MODELS_HEADER = [
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
PAIRS_HEADER = [
    "model",
    "group",
    "pair",
    "surface_pair",
    "gender",
    "direction",
    "n",
    "share",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
    "male_degree",
    "female_degree",
    "mean_degree",
    "mean_bias_one_character",
    "above_threshold",
    "below_threshold",
    "share_above",
    "share_below",
]
VARIANTS_HEADER = [
    "model",
    "variant",
    "words",
    "n",
    "mean_bias",
    "mean_bias_low",
    "mean_bias_high",
    "male_degree",
    "female_degree",
    "mean_degree",
    "sign_changed",
]
CORRELATIONS_HEADER = ["model_a", "model_b", "n", "pearson", "spearman"]

#: Columns of the table of published counts.
PUBLISHED = ["model", "sentences", "within", "above", "below"]

#: The words that the authors look at by themselves.
COMPOUNDS = ("男童/女童",)

#: What a table calls the group of all sentences, pairs and genders.
ALL = "all"


def summarise_bias(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    out: Output,
    by_pair: Output,
    variants: Output,
    correlations: Output,
    published: Input | None = None,
    threshold: float = 0.3,
    compounds: list[str] | None = None,
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
        CSV, a row per model: counts, mean bias with a 95 % interval and the verdict (male or
        female: the interval lies above or below zero; not_distinguishable: it does not, or there
        is none; not_scored: no number is to be trusted), male, female and mean degree (means
        over the scored sentences of max(bias, 0), max(-bias, 0), |bias|), sentences within,
        above and below the threshold, the same degrees by one character at a time, the
        published counts, the check of the model, and whether the numbers are to be trusted.
    by_pair : path
        CSV, per model, group of sentences, gender of the original keyword (or all) and direction
        of the bias (male: > 0, female: < 0, or all). The groups are all sentences, then those of
        each surface pair, then those of each compound. With n, its share of the sentences of
        all directions, mean bias with a 95 % interval, degrees, the mean bias by one character
        at a time, sentences above and below the threshold and their share of n.
    variants : path
        CSV, per model and way to read a word of several tokens (see
        `evenhand.slguset.masked_bias`), over all words and over words of several tokens: n,
        mean bias with a 95 % interval, degrees, and how many of the n have another sign than
        with the whole word.
    correlations : path
        CSV, per two models: Pearson's and Spearman's correlation of the bias over the
        sentences that both scored.
    published : path, optional
        CSV of published counts (model, sentences, within, above, below); they stand beside
        ours where the model's name and the number of sentences are the same.
    threshold : float
        |bias| above this is obvious bias, in the log base of the bias tables.
    compounds : list of str, optional
        Words around a keyword, male and female form (``男童/女童``), whose sentences are a group;
        by default `COMPOUNDS`.
    resamples : int
        Bootstrap samples per interval.
    seed : int
        Seed of the bootstrap.
    """
    words = [_compound(one) for one in (COMPOUNDS if compounds is None else compounds)]
    sentences, read, scores = read_models(dataset, DATASET, bias, gates)
    known = _read_published(published, len(sentences))
    draw = {"seed": seed, "resamples": resamples}
    groups = _groups(sentences, words)
    write_rows(
        out,
        MODELS_HEADER,
        (
            _summarise_model(gate, scores[name], sentences, known.get(name), threshold, draw)
            for name, gate in read.items()
        ),
    )
    write_rows(
        by_pair,
        PAIRS_HEADER,
        (
            row
            for name in read
            for row in _summarise_groups(name, scores[name], sentences, groups, threshold, draw)
        ),
    )
    write_rows(
        variants,
        VARIANTS_HEADER,
        (row for name in read for row in _summarise_variants(name, scores[name], sentences, draw)),
    )
    write_rows(correlations, CORRELATIONS_HEADER, _correlate(scores))
    return {
        "models": len(read),
        "trusted": sum(gate["trusted"] for gate in read.values()),
        "sentences": len(sentences),
        "scored": {name: int(table["bias"].notna().sum()) for name, table in scores.items()},
        "compounds": {
            group["surface_pair"]: int(group["rows"].sum())
            for group in groups
            if group["group"] == "compound"
        },
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
        return dict.fromkeys(DEGREES)
    return {
        "mean_bias": float(bias.mean()),
        "male_degree": float(np.maximum(bias, 0).mean()),
        "female_degree": float(np.maximum(-bias, 0).mean()),
        "mean_degree": float(np.abs(bias).mean()),
    }


def verdict(low: float, high: float) -> str:
    """What an interval of the mean bias says: male, female or not_distinguishable (from none)."""
    if low > 0:
        return "male"
    return "female" if high < 0 else "not_distinguishable"


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
    low, high = interval_of_mean(values, sentences["surface_pair"].to_numpy()[scored], **draw)
    count = len(values)
    trusted = gate["trusted"] and count > 0
    obvious = _beyond(values, threshold)
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
        "threshold": threshold,
        "check_accuracy": gate["check"]["accuracy"],
        "check_baseline": gate["check"]["baseline"],
        "trusted": "true" if trusted else "false",
        "reason": gate["reason"],
    }


def _beyond(values: np.ndarray, threshold: float) -> dict[str, Any]:
    """How many lie beyond the threshold, on either side, and their shares."""
    count = len(values)
    above, below = int((values > threshold).sum()), int((values < -threshold).sum())
    return {
        "above_threshold": above,
        "below_threshold": below,
        "share_above": above / count if count else None,
        "share_below": below / count if count else None,
    }


def _groups(sentences: pd.DataFrame, compounds: list[dict[str, str]]) -> list[dict[str, Any]]:
    """All sentences, those of each surface pair in the dataset's order, those of each compound."""
    surface_pair = sentences["surface_pair"].to_numpy()
    firsts = sentences.drop_duplicates("surface_pair")
    groups = [
        {"group": ALL, "pair": ALL, "surface_pair": ALL, "rows": np.ones(len(sentences), bool)}
    ]
    groups += [
        {"group": "surface_pair", "pair": pair, "surface_pair": name, "rows": surface_pair == name}
        for pair, name in zip(firsts["pair"], firsts["surface_pair"], strict=True)
    ]
    for one in compounds:
        offset = next(i for i, (a, b) in enumerate(zip(*one.values(), strict=False)) if a != b)
        rows = np.array(
            [
                start >= offset and text.startswith(one[gender], start - offset)
                for text, start, gender in zip(
                    sentences["sentence"], sentences["start"], sentences["gender"], strict=True
                )
            ]
        )
        found = sentences["pair"].to_numpy()[rows]
        groups.append(
            {
                "group": "compound",
                "pair": found[0] if len(found) else None,
                "surface_pair": "/".join(one.values()),
                "rows": rows,
            }
        )
    return groups


def _compound(text: str) -> dict[str, str]:
    male, _, female = text.partition("/")
    if not male or not female or all(a == b for a, b in zip(male, female, strict=False)):
        raise InputError(
            f"{text!r} is not a compound",
            remedy="give its male and its female form with a slash between: 男童/女童",
        )
    return {"male": male, "female": female}


def _summarise_groups(
    name: str,
    scores: pd.DataFrame,
    sentences: pd.DataFrame,
    groups: list[dict[str, Any]],
    threshold: float,
    draw: dict[str, int],
) -> Iterable[dict[str, Any]]:
    """A combination without a sentence has n = 0."""
    bias = scores["bias"].to_numpy(dtype=float)
    apart = scores["bias_one_character"].to_numpy(dtype=float)
    gender = sentences["gender"].to_numpy()
    surface_pair = sentences["surface_pair"].to_numpy()
    for group in groups:
        for original in (ALL, "male", "female"):
            rows = group["rows"] & np.isfinite(bias)
            if original != ALL:
                rows &= gender == original
            whole = int(rows.sum())
            for direction, chosen in (
                (ALL, rows),
                ("male", rows & (bias > 0)),
                ("female", rows & (bias < 0)),
            ):
                values = bias[chosen]
                clusters = surface_pair[chosen] if group["group"] == ALL else None
                low, high = interval_of_mean(values, clusters, **draw)
                yield {
                    "model": name,
                    "group": group["group"],
                    "pair": group["pair"],
                    "surface_pair": group["surface_pair"],
                    "gender": original,
                    "direction": direction,
                    "n": len(values),
                    "share": len(values) / whole if whole else None,
                    **degrees(values),
                    "mean_bias_low": low,
                    "mean_bias_high": high,
                    "mean_bias_one_character": degrees(apart[chosen])["mean_bias"],
                    **_beyond(values, threshold),
                }


def _summarise_variants(
    name: str, scores: pd.DataFrame, sentences: pd.DataFrame, draw: dict[str, int]
) -> Iterable[dict[str, Any]]:
    """Rows of the variants that the model has; a causal one has the whole word only."""
    whole = scores["bias"].to_numpy(dtype=float)
    surface_pair = sentences["surface_pair"].to_numpy()
    several = (scores[["n_masks", "n_masks_opposite"]] > 1).any(axis=1).to_numpy()
    for column, variant in VARIANTS.items():
        bias = scores[column].to_numpy(dtype=float)
        if not np.isfinite(bias).any():
            continue
        for words, rows in ((ALL, np.isfinite(bias)), ("several_tokens", several)):
            rows = rows & np.isfinite(bias)
            values = bias[rows]
            low, high = interval_of_mean(values, surface_pair[rows], **draw)
            yield {
                "model": name,
                "variant": variant,
                "words": words,
                "n": len(values),
                **degrees(values),
                "mean_bias_low": low,
                "mean_bias_high": high,
                "sign_changed": int((np.sign(values) != np.sign(whole[rows])).sum()),
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


def _present(column: pd.Series) -> np.ndarray:
    """The numbers of a column that are there."""
    values = column.to_numpy(dtype=float)
    return values[np.isfinite(values)]


def _read_published(path: Path | None, sentences: int) -> dict[str, dict[str, str]]:
    if path is None:
        return {}
    rows = read_resource(path, PUBLISHED, unique=("model", "sentences"))
    return {row["model"]: row for row in rows if row["sentences"] == str(sentences)}


if __name__ == "__main__":
    stage.run(summarise_bias)
