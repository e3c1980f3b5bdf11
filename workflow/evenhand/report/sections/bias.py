"""Section: how far each model leans, per sentence, pair and model."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import InputError
from evenhand.report.figures import Axis, histogram, interval, ruler, ticks_between
from evenhand.report.read import boolean, read_csv
from evenhand.report.render import signed
from evenhand.report.sentences import marked
from evenhand.report.words import gate_meaning

SUMMARY = {
    "model": str,
    "sentences": int,
    "scored": int,
    "with_unknown_tokens": int,
    "mean_bias": float,
    "mean_bias_low": float,
    "mean_bias_high": float,
    "male_degree": float,
    "female_degree": float,
    "mean_degree": float,
    "within_threshold": int,
    "above_threshold": int,
    "below_threshold": int,
    "mean_bias_one_character": float,
    "published_within": int,
    "published_above": int,
    "published_below": int,
    "log_base": float,
    "threshold": float,
    "fill_mask_accuracy": float,
    "fill_mask_baseline": float,
    "trusted": boolean,
    "reason": str,
}
BY_PAIR = {
    "model": str,
    "surface_pair": str,
    "gender": str,
    "direction": str,
    "n": int,
    "mean_bias": float,
    "mean_bias_low": float,
    "mean_bias_high": float,
}
CORRELATIONS = {
    "model_a": str,
    "model_b": str,
    "n": int,
    "pearson": float,
    "spearman": float,
}

#: Bars of the figure of the distribution.
BINS = 60

#: The figure reaches as far as this share of the sentences; its outermost bars hold the rest.
REACH = 0.995

#: Most male and most female sentences shown per model.
EXTREMES = 5


def describe_bias(
    edition: str,
    summary: Path | None,
    by_pair: Path | None,
    correlations: Path | None,
    scores: list[Path],
    dataset: Path | None,
) -> dict[str, Any] | None:
    """One edition's bias; None without a summary.

    Parameters
    ----------
    edition : str
        What the data set is called on the page.
    summary, by_pair, correlations : Path, optional
        The tables of `evenhand.slguset.summarise_bias`.
    scores : list of Path
        ``bias/{model}.parquet``, one per model; the model is the file's name.
    dataset : Path, optional
        ``slguset.parquet``, whose rows the scores belong to.

    Raises
    ------
    InputError
        A model's scores are not those of the data set's sentences.
    """
    if summary is None:
        return None
    models = read_csv(summary, SUMMARY)
    trusted = [row["model"] for row in models if row["trusted"]]
    files = {path.stem: path for path in scores}
    values = {
        model: pq.read_table(files[model], columns=["sentence_id", "bias"])
        for model in trusted
        if model in files
    }
    # A row per model, surface pair, original gender and direction: here those of all sentences.
    pairs = [
        row
        for row in (read_csv(by_pair, BY_PAIR) if by_pair else [])
        if row["model"] in trusted and row["gender"] == row["direction"] == "all"
    ]
    means = [row for row in models if row["trusted"]] + pairs
    ends = [row[end] for row in means for end in ENDS if row[end] is not None]
    threshold = models[0]["threshold"] if models else None
    return {
        "edition": edition,
        "threshold": threshold,
        "log_base": models[0]["log_base"] if models else None,
        "models": [_model(row, ends) for row in models],
        "trusted": trusted,
        "ruler": _ruler(ends),
        "pairs": _by_pair(pairs, ends),
        "correlations": [
            row
            for row in (read_csv(correlations, CORRELATIONS) if correlations else [])
            if row["model_a"] in trusted and row["model_b"] in trusted
        ],
        "has_published": any(row["published_within"] is not None for row in models),
        "distributions": _distributions(values, threshold),
        "extremes": _extremes(values, dataset),
    }


#: The columns that a figure of means has to hold.
ENDS = ("mean_bias", "mean_bias_low", "mean_bias_high")


def _model(row: dict[str, Any], ends: list[float]) -> dict[str, Any]:
    return row | {
        "plot": _plot(row, ends) if row["trusted"] else None,
        "why": [gate_meaning(word) for word in (row["reason"] or "").split(", ") if word],
    }


def _by_pair(pairs: list[dict[str, Any]], ends: list[float]) -> list[dict[str, Any]]:
    """One entry per surface pair, in the table's order, with one row per model."""
    entries: dict[str, dict[str, Any]] = {}
    for row in pairs:
        entry = entries.setdefault(row["surface_pair"], {"pair": row["surface_pair"], "models": {}})
        entry["models"][row["model"]] = row | {"plot": _plot(row, ends)}
    return list(entries.values())


def _axis(ends: list[float]) -> Axis:
    """From as far below zero as above it, so that neither direction looks larger."""
    reach = max((abs(end) for end in ends), default=0) * 1.05 or 1
    return Axis(-reach, reach)


def _ruler(ends: list[float]) -> Any:
    if not ends:
        return ""
    axis = _axis(ends)
    return ruler(axis, ticks_between(axis.low, axis.high, 5), "Scale of mean bias")


def _plot(row: dict[str, Any], ends: list[float]) -> Any:
    if row["mean_bias"] is None:
        return None
    label = f"mean {signed(row['mean_bias'])}"
    if row["mean_bias_low"] is not None:
        label += f", interval {signed(row['mean_bias_low'])} to {signed(row['mean_bias_high'])}"
    return interval(
        _axis(ends), row["mean_bias"], row["mean_bias_low"], row["mean_bias_high"], label
    )


def _distributions(values: dict[str, pa.Table], threshold: float | None) -> list[dict[str, Any]]:
    """A histogram per model, all on one scale."""
    biases = {
        model: np.asarray(table["bias"].drop_null(), dtype=float) for model, table in values.items()
    }
    biases = {model: bias for model, bias in biases.items() if len(bias)}
    if not biases:
        return []
    reach = max(float(np.quantile(np.abs(bias), REACH)) for bias in biases.values()) or 1.0
    edges = np.linspace(-reach, reach, BINS + 1)
    counts = {
        model: np.histogram(np.clip(bias, -reach, reach), edges)[0]
        for model, bias in biases.items()
    }
    top = max(float(n.max() / n.sum()) for n in counts.values())
    ticks = ticks_between(-reach, reach, 6)
    return [
        {
            "model": model,
            "n": int(n.sum()),
            "without": values[model].num_rows - int(n.sum()),
            "figure": histogram(
                n.tolist(),
                edges.tolist(),
                f"{model}: bias of {n.sum():,} sentences.",
                top=top,
                ticks=ticks,
                marks=(-threshold, threshold) if threshold else (),
                signs=True,
            ),
        }
        for model, n in counts.items()
    ]


def _extremes(values: dict[str, pa.Table], dataset: Path | None) -> list[dict[str, Any]]:
    """The most male and the most female sentences of each model; ties by sentence_id."""
    if dataset is None:
        return []
    ids = pq.read_table(dataset, columns=["sentence_id"])["sentence_id"]
    chosen = {}
    for model, table in values.items():
        if not table["sentence_id"].equals(ids):
            raise InputError(
                f"the scores of {model} are not of these sentences, one by one",
                file=dataset,
                remedy="score the data set again",
            )
        scored = [
            (bias, sentence_id, row)
            for row, (bias, sentence_id) in enumerate(
                zip(table["bias"].to_pylist(), ids.to_pylist(), strict=True)
            )
            if bias is not None
        ]
        male = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))
        female = sorted(one for one in scored if one[0] < 0)
        chosen[model] = {"male": male[:EXTREMES], "female": female[:EXTREMES]}
    wanted = {row for sides in chosen.values() for side in sides.values() for _, _, row in side}
    texts = _rows(dataset, wanted)
    return [
        {
            "model": model,
            "sides": {
                side: [texts[row] | {"bias": bias} for bias, _, row in rows]
                for side, rows in sides.items()
            },
        }
        for model, sides in chosen.items()
    ]


def _rows(dataset: Path, wanted: set[int]) -> dict[int, dict[str, Any]]:
    """These rows of the data set, with their marks."""
    columns = [
        "sentence",
        "surface",
        "surface_opposite",
        "gender",
        "start",
        "end",
        "surface_start",
        "surface_end",
        "source",
        "source_position",
    ]
    found = sorted(wanted)
    rows = pq.read_table(dataset, columns=columns).take(pa.array(found, pa.int64())).to_pylist()
    return {number: row | {"pieces": marked(row)} for number, row in zip(found, rows, strict=True)}
